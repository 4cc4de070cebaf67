-- How long the tasks of jobs with windows have taken. done, stopped: histograms, bucket and count in turn.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_duration (
  job VARBINARY(255) NOT NULL,
  long_job LONGBLOB,
  done TEXT NOT NULL,
  stopped TEXT NOT NULL,
  PRIMARY KEY (job)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 21 WHERE id = 1;
