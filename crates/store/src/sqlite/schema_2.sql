-- Lists say again, in short, what the events add up to: an append writes the rows that its events change. `seq` is the head
-- of the log when a row was written. A list that is not in `lists` in the format asked for has to be built from the log.

CREATE TABLE lists (
    name TEXT PRIMARY KEY,
    format INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rows (
    list TEXT NOT NULL,
    key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (list, key)
) STRICT, WITHOUT ROWID;
