-- Limits of resources by an operator's word, in place of the configured ones. node: '' for all of the level;
-- ends: when the override ends by itself, epoch milliseconds; 0: never. Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_limit_override (
  level VARBINARY(255) NOT NULL,
  long_level LONGBLOB,
  resource VARBINARY(255) NOT NULL,
  long_resource LONGBLOB,
  node VARBINARY(255) NOT NULL,
  long_node LONGBLOB,
  slots INT NOT NULL,
  author LONGTEXT NOT NULL,
  reason LONGTEXT NOT NULL,
  since BIGINT NOT NULL,
  ends BIGINT NOT NULL,
  PRIMARY KEY (level, resource, node)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A task that was made to run again is a row that says unstarted.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW espalier_task AS
SELECT
  CONVERT(COALESCE(j.long_name, j.name) USING utf8mb4) AS job,
  CONVERT(COALESCE(s.long_node, s.node) USING utf8mb4) AS node,
  CASE s.bits & 63
    WHEN 1 THEN 'unstarted'
    WHEN 2 THEN 'running'
    WHEN 4 THEN 'done'
    WHEN 8 THEN 'incomplete'
    WHEN 16 THEN 'failed'
    WHEN 32 THEN 'error'
  END AS status,
  s.attempts AS attempts,
  FROM_UNIXTIME(s.since / 1000) AS since,
  CASE WHEN s.bits & 64 THEN FROM_UNIXTIME(s.since / 1000 + s.backoff) END AS ready,
  s.data AS data
FROM espalier_status s
JOIN espalier_job j ON j.id = s.job
WHERE j.name IS NOT NULL;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 2 WHERE id = 1;
