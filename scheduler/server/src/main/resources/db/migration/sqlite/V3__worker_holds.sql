-- Workers that get no new tasks, by an operator's word. drain: they are to be stopped once empty.
CREATE TABLE worker_hold (
  shard TEXT NOT NULL PRIMARY KEY,
  drain INTEGER NOT NULL,
  operator TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 3;
