-- Times are RFC 3339 text: lossless, and legible to any tool. Ids are the 16 bytes of a UUID.

-- The one row that numbers events; taken inside the write transaction, it leaves no gap.
CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL CHECK (seq >= 0)
) STRICT;
INSERT INTO head (only, seq) VALUES (1, 0);

CREATE TABLE commands (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    digest TEXT NOT NULL,
    answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    id BLOB NOT NULL CHECK (length(id) = 16),
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    data TEXT NOT NULL,
    command BLOB REFERENCES commands (id)
) STRICT;

CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL CHECK (version > 0)
) STRICT;

CREATE TABLE memberships (
    seq INTEGER NOT NULL REFERENCES events (seq),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    stream INTEGER NOT NULL REFERENCES streams (id),
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (seq, ordinal),
    UNIQUE (stream, version)
) STRICT, WITHOUT ROWID;

-- `settled` is the head of the log after the append that carried the outcome.
CREATE TABLE intents (
    seq INTEGER NOT NULL REFERENCES events (seq),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    kind TEXT NOT NULL,
    lane TEXT NOT NULL,
    data TEXT NOT NULL,
    settled INTEGER,
    PRIMARY KEY (seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX intents_open ON intents (seq, ordinal) WHERE settled IS NULL;

-- Only the latest snapshot of a stream is kept.
CREATE TABLE snapshots (
    stream INTEGER PRIMARY KEY REFERENCES streams (id),
    version INTEGER NOT NULL CHECK (version > 0),
    format INTEGER NOT NULL,
    data TEXT NOT NULL
) STRICT;

CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token BLOB NOT NULL CHECK (length(token) = 16),
    since TEXT NOT NULL,
    expires TEXT NOT NULL
) STRICT, WITHOUT ROWID;
