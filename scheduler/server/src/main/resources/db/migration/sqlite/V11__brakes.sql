-- Brakes that operators have set. target: all, node, queue, set or job; level: of a node, otherwise ''; body: a JSON object.
CREATE TABLE brake (
  target TEXT NOT NULL,
  level TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (target, level, name)
) WITHOUT ROWID;

PRAGMA user_version = 11;
