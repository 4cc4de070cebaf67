-- What an attempt has counted, and in status what all ended attempts of the task add up to: name=value,
-- divided by blanks; NULL: nothing. What jobs add up to is in the states of jobs.
ALTER TABLE status ADD COLUMN counts TEXT;
ALTER TABLE attempt ADD COLUMN counts TEXT;
-- The step of its task that it was; NULL: its job has none.
ALTER TABLE attempt ADD COLUMN step TEXT;

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
  attempt.backoff AS backoff_sec,
  CASE WHEN attempt.waited >= 0 THEN attempt.waited END AS waited_ms,
  datetime(nullif(attempt.process_started, 0) / 1000, 'unixepoch') AS process_started_utc,
  attempt.counts AS counts,
  attempt.step AS step
FROM status
JOIN job ON job.id = status.job
JOIN attempt ON attempt.id BETWEEN status.ring * 20 AND status.ring * 20 + 19
LEFT JOIN worker ON worker.id = attempt.worker;

PRAGMA user_version = 12;
