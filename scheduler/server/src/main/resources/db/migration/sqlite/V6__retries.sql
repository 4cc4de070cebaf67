-- Whether an attempt made progress, and how many seconds its task had to wait after it.
ALTER TABLE attempt ADD COLUMN got_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN backoff INTEGER NOT NULL DEFAULT 0;

DROP VIEW task_attempt;

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
  attempt.fingerprint AS fingerprint,
  attempt.got_on AS made_progress,
  attempt.backoff AS backoff_sec
FROM status
JOIN job ON job.id = status.job
JOIN attempt ON attempt.id BETWEEN status.ring * 20 AND status.ring * 20 + 19
LEFT JOIN worker ON worker.id = attempt.worker;

PRAGMA user_version = 6;
