-- Every page that an append changes is written twice, to the WAL and to the file, so an append changes one: that of its
-- event, which says everything by itself. `places` and `intents` say the same in another order; what comes after the
-- event in `entered` waits to be entered there, for many events at once. The head of the log is its last event. No row
-- of these tables refers to another by a foreign key, which would be looked up at every append; `verify` finds what
-- hangs on nothing.

CREATE TABLE commands (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    digest TEXT NOT NULL,
    answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `at` is in nanoseconds since 1970 began in UTC, or RFC 3339 text where that does not fit 64 bits (before 1677, after
-- 2262). `streams` has the names in the order given, parted by spaces. `asked` has a line for each
-- intent that it asks for: kind, lane and data, parted by spaces. `settled` has the ids of those that it settles.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    id BLOB NOT NULL CHECK (length(id) = 16),
    at ANY NOT NULL CHECK (typeof(at) IN ('integer', 'text')),
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    streams TEXT NOT NULL,
    asked TEXT,
    settled TEXT,
    data TEXT NOT NULL,
    command BLOB REFERENCES commands (id)
) STRICT;

CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- The places of a stream: which event has which version.
CREATE TABLE places (
    stream INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    seq INTEGER NOT NULL,
    PRIMARY KEY (stream, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE entered (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    seq INTEGER NOT NULL CHECK (seq >= 0)
) STRICT;

-- Open intents alone.
CREATE TABLE intents (
    seq INTEGER NOT NULL,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
    kind TEXT NOT NULL,
    lane TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (seq, ordinal)
) STRICT, WITHOUT ROWID;

-- Only the latest snapshot of a stream is kept, packed.
CREATE TABLE snapshots (
    stream INTEGER PRIMARY KEY REFERENCES streams (id),
    version INTEGER NOT NULL CHECK (version > 0),
    format INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

-- Times are RFC 3339 text: lossless, and legible to any tool.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token BLOB NOT NULL CHECK (length(token) = 16),
    since TEXT NOT NULL,
    expires TEXT NOT NULL
) STRICT, WITHOUT ROWID;
