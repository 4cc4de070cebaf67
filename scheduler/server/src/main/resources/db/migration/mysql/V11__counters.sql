-- What an attempt has counted, and in status what all ended attempts of the task add up to: name=value,
-- divided by blanks; NULL: nothing. What jobs add up to is in the states of jobs.
-- Every statement may run again: a column is added where there is none.
SET @alter = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'espalier_status' AND column_name = 'counts') = 0,
  'ALTER TABLE espalier_status ADD COLUMN counts LONGTEXT', 'DO 0');
PREPARE espalier_alter FROM @alter;
EXECUTE espalier_alter;
DEALLOCATE PREPARE espalier_alter;

SET @alter = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'espalier_attempt' AND column_name = 'counts') = 0,
  'ALTER TABLE espalier_attempt ADD COLUMN counts LONGTEXT', 'DO 0');
PREPARE espalier_alter FROM @alter;
EXECUTE espalier_alter;
DEALLOCATE PREPARE espalier_alter;

-- The step of its task that it was; NULL: its job has none.
SET @alter = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'espalier_attempt' AND column_name = 'step') = 0,
  'ALTER TABLE espalier_attempt ADD COLUMN step LONGTEXT', 'DO 0');
PREPARE espalier_alter FROM @alter;
EXECUTE espalier_alter;
DEALLOCATE PREPARE espalier_alter;

CREATE OR REPLACE SQL SECURITY INVOKER VIEW espalier_task_attempt AS
SELECT
  CONVERT(COALESCE(j.long_name, j.name) USING utf8mb4) AS job,
  CONVERT(COALESCE(s.long_node, s.node) USING utf8mb4) AS node,
  a.number AS number,
  CONCAT(a.epoch, '.', a.sequence) AS invocation,
  COALESCE(CONVERT(COALESCE(w.long_shard, w.shard) USING utf8mb4), '') AS worker,
  FROM_UNIXTIME(a.started / 1000) AS started,
  FROM_UNIXTIME(a.ended / 1000) AS ended,
  CASE a.bits & 63
    WHEN 4 THEN 'done'
    WHEN 8 THEN 'incomplete'
    WHEN 16 THEN 'failed'
    WHEN 32 THEN 'error'
  END AS outcome,
  a.exit_code AS exit_code,
  a.signal_number AS signal_number,
  a.cpu AS cpu_ms,
  a.memory AS peak_memory_bytes,
  a.message AS message,
  a.fingerprint AS fingerprint,
  a.got_on AS made_progress,
  a.backoff AS backoff_sec,
  CASE WHEN a.waited >= 0 THEN a.waited END AS waited_ms,
  FROM_UNIXTIME(NULLIF(a.process_started, 0) / 1000) AS process_started,
  a.counts AS counts,
  a.step AS step
FROM espalier_status s
JOIN espalier_job j ON j.id = s.job
JOIN espalier_attempt a ON a.id BETWEEN s.ring * 20 AND s.ring * 20 + 19
LEFT JOIN espalier_worker w ON w.id = a.worker
WHERE j.name IS NOT NULL;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 11 WHERE id = 1;
