-- What queues had used lately: decayed dominant shares, as of a time in epoch milliseconds.
CREATE TABLE queue_usage (
  queue TEXT NOT NULL PRIMARY KEY,
  value REAL NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 8;
