-- How jobs stand: a JSON object with state, reason, since_ms and what an operator or a failure rule decided.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_job_standing (
  job VARBINARY(255) NOT NULL PRIMARY KEY,
  long_job LONGBLOB,
  body LONGTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 4 WHERE id = 1;
