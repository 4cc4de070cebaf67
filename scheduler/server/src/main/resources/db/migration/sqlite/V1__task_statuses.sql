-- Names of jobs once, names of nodes in the key: measured against node ids (slower to write, since
-- every new name needs a second look-up) and against two text keys (slower to read, larger).

CREATE TABLE meta (
  name TEXT NOT NULL PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('epoch', 0);

CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- Times are epoch milliseconds, back-offs seconds; bits as in docs/task-status.md; data is JSON.
CREATE TABLE status (
  job INTEGER NOT NULL REFERENCES job (id),
  node TEXT NOT NULL,
  bits INTEGER NOT NULL,
  since INTEGER NOT NULL,
  backoff INTEGER NOT NULL,
  position INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  started INTEGER NOT NULL,
  data TEXT,
  PRIMARY KEY (job, node)
) WITHOUT ROWID;

CREATE TABLE pause (
  job TEXT NOT NULL PRIMARY KEY,
  operator TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;

-- One row per commit: first and last sequence, and the events as [[sequence, time, kind, data], ...].
CREATE TABLE event (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL,
  body TEXT NOT NULL
);

-- For people with an sqlite3 shell.
CREATE VIEW task AS
SELECT
  job.name AS job,
  node,
  CASE bits & 63
    WHEN 2 THEN 'running'
    WHEN 4 THEN 'done'
    WHEN 8 THEN 'incomplete'
    WHEN 16 THEN 'failed'
    WHEN 32 THEN 'error'
  END AS status,
  attempts,
  datetime(since / 1000, 'unixepoch') AS since_utc,
  CASE WHEN bits & 64 THEN datetime(since / 1000 + backoff, 'unixepoch') END AS ready_utc,
  data
FROM status
JOIN job ON job.id = status.job;

PRAGMA application_id = 1163087937;
PRAGMA user_version = 1;
