-- Limits of resources by an operator's word, in place of the configured ones. node: '' for all of the level;
-- ends: when the override ends by itself, epoch milliseconds; 0: never.
CREATE TABLE limit_override (
  level TEXT NOT NULL,
  resource TEXT NOT NULL,
  node TEXT NOT NULL,
  slots INTEGER NOT NULL,
  author TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  ends INTEGER NOT NULL,
  PRIMARY KEY (level, resource, node)
) WITHOUT ROWID;

-- From this version on status.bits may be 1, unstarted: a task that was made to run again.
PRAGMA user_version = 5;
