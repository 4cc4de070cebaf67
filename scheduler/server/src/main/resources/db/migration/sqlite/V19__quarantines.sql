-- Nodes below which nothing starts because tasks fail there. job: '' for all jobs; body: a JSON object.
CREATE TABLE quarantine (
  level TEXT NOT NULL,
  node TEXT NOT NULL,
  job TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (level, node, job)
) WITHOUT ROWID;

PRAGMA user_version = 19;
