-- Which process ran what: few of them, so statuses and attempts name them by number. 0: our own.
CREATE TABLE worker (
  id INTEGER PRIMARY KEY,
  shard TEXT NOT NULL,
  instance INTEGER NOT NULL,
  UNIQUE (shard, instance)
);

-- ring: where the history of the task lies in the table attempt; none before its first end.
ALTER TABLE status ADD COLUMN worker INTEGER NOT NULL DEFAULT 0;
ALTER TABLE status ADD COLUMN ring INTEGER;
ALTER TABLE status ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE status ADD COLUMN cpu INTEGER NOT NULL DEFAULT 0;

-- The last 20 ends of each task, in a ring of 20 numbers: attempt n of ring r has id 20 * r + n % 20.
-- So history needs no index, trims itself, and first ends are appended in order: measured against an
-- index over (job, node), which costs a second random page per end. cpu is milliseconds; memory,
-- read and written bytes; -1: unknown.
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  worker INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  bits INTEGER NOT NULL,
  exit_code INTEGER,
  signal INTEGER,
  core_dumped INTEGER NOT NULL,
  stop_reason INTEGER,
  cpu INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  read INTEGER NOT NULL,
  written INTEGER NOT NULL,
  message TEXT,
  fingerprint TEXT
);

-- For people with an sqlite3 shell.
CREATE VIEW task_attempt AS
SELECT
  job.name AS job,
  status.node AS node,
  attempt.number AS number,
  attempt.epoch || '.' || attempt.sequence AS invocation,
  coalesce(worker.shard, '') AS worker,
  datetime(attempt.started / 1000, 'unixepoch') AS started_utc,
  datetime(attempt.ended / 1000, 'unixepoch') AS ended_utc,
  CASE attempt.bits & 63
    WHEN 4 THEN 'done'
    WHEN 8 THEN 'incomplete'
    WHEN 16 THEN 'failed'
    WHEN 32 THEN 'error'
  END AS outcome,
  attempt.exit_code AS exit_code,
  attempt.signal AS signal,
  attempt.cpu AS cpu_ms,
  attempt.memory AS peak_memory_bytes,
  attempt.message AS message,
  attempt.fingerprint AS fingerprint
FROM status
JOIN job ON job.id = status.job
JOIN attempt ON attempt.id BETWEEN status.ring * 20 AND status.ring * 20 + 19
LEFT JOIN worker ON worker.id = attempt.worker;

PRAGMA user_version = 2;
