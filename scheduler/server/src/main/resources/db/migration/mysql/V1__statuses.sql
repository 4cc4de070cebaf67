-- Runs on MySQL 8 and MariaDB alike. Every statement may run again: these servers cannot undo half a
-- migration.
--
-- Names are binary, so that they differ by case and by trailing blanks. A name of up to 254 bytes is its
-- own key; of a longer one the key is its first 223 bytes and its SHA-256, and the name stands beside it.
-- Times are epoch milliseconds, back-offs seconds; bits as in docs/task-status.md; data is JSON.

CREATE TABLE IF NOT EXISTS espalier_job (
  id INT NOT NULL AUTO_INCREMENT,
  -- NULL: a job that was forgotten, whose rows wait to be deleted.
  name VARBINARY(255),
  long_name LONGBLOB,
  PRIMARY KEY (id),
  UNIQUE KEY name (name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- ring: where the history of the task lies in espalier_attempt; none before its first end.
CREATE TABLE IF NOT EXISTS espalier_status (
  job INT NOT NULL,
  node VARBINARY(255) NOT NULL,
  long_node LONGBLOB,
  bits INT NOT NULL,
  since BIGINT NOT NULL,
  backoff INT NOT NULL,
  position INT NOT NULL,
  attempts INT NOT NULL,
  epoch BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  started BIGINT NOT NULL,
  data LONGTEXT,
  worker INT NOT NULL,
  ring BIGINT,
  ended BIGINT NOT NULL DEFAULT 0,
  cpu BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (job, node)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The last 20 ends of each task, in a ring of 20 numbers: attempt n of ring r has id 20 * r + n % 20.
-- cpu is milliseconds; memory, bytes_read and bytes_written bytes; -1: unknown.
CREATE TABLE IF NOT EXISTS espalier_attempt (
  id BIGINT NOT NULL,
  number INT NOT NULL,
  epoch BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  started BIGINT NOT NULL,
  ended BIGINT NOT NULL,
  worker INT NOT NULL,
  kind VARCHAR(32) NOT NULL,
  bits INT NOT NULL,
  exit_code INT,
  signal_number INT,
  core_dumped TINYINT NOT NULL,
  stop_reason VARCHAR(64),
  cpu BIGINT NOT NULL,
  memory BIGINT NOT NULL,
  bytes_read BIGINT NOT NULL,
  bytes_written BIGINT NOT NULL,
  message LONGTEXT,
  fingerprint VARCHAR(64),
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Which process ran what. 0 stands for the scheduler's own.
CREATE TABLE IF NOT EXISTS espalier_worker (
  id INT NOT NULL AUTO_INCREMENT,
  shard VARBINARY(255) NOT NULL,
  long_shard LONGBLOB,
  instance BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY shard (shard, instance)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS espalier_worker_hold (
  shard VARBINARY(255) NOT NULL,
  long_shard LONGBLOB,
  drain TINYINT NOT NULL,
  operator LONGTEXT NOT NULL,
  reason LONGTEXT NOT NULL,
  since BIGINT NOT NULL,
  PRIMARY KEY (shard)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS espalier_pause (
  job VARBINARY(255) NOT NULL,
  long_job LONGBLOB,
  operator LONGTEXT NOT NULL,
  reason LONGTEXT NOT NULL,
  since BIGINT NOT NULL,
  ends BIGINT NOT NULL,
  PRIMARY KEY (job)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Events in pieces as they were committed: first and last sequence, the time of the newest, and
-- [[sequence, time, kind, data], ...].
CREATE TABLE IF NOT EXISTS espalier_event (
  first BIGINT NOT NULL,
  last BIGINT NOT NULL,
  newest BIGINT NOT NULL,
  body LONGTEXT NOT NULL,
  PRIMARY KEY (first)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row: the leader in force, the mark of its last commit, the version of this schema. Every
-- transaction that writes begins with it, which is what keeps an older leader out.
CREATE TABLE IF NOT EXISTS espalier_store (
  id TINYINT NOT NULL,
  version INT NOT NULL,
  epoch BIGINT NOT NULL,
  mark BIGINT NOT NULL,
  source LONGTEXT,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- For people with a mysql shell.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW espalier_task AS
SELECT
  CONVERT(COALESCE(j.long_name, j.name) USING utf8mb4) AS job,
  CONVERT(COALESCE(s.long_node, s.node) USING utf8mb4) AS node,
  CASE s.bits & 63
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
  a.fingerprint AS fingerprint
FROM espalier_status s
JOIN espalier_job j ON j.id = s.job
JOIN espalier_attempt a ON a.id BETWEEN s.ring * 20 AND s.ring * 20 + 19
LEFT JOIN espalier_worker w ON w.id = a.worker
WHERE j.name IS NOT NULL;

-- Last: with this row the store is complete.
INSERT IGNORE INTO espalier_store (id, version, epoch, mark, source) VALUES (1, 1, 0, 0, NULL);
