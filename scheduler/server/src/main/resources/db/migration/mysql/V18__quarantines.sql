-- Nodes below which nothing starts because tasks fail there. job: '' for all jobs; body: a JSON object.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_quarantine (
  level VARBINARY(255) NOT NULL,
  long_level LONGBLOB,
  node VARBINARY(255) NOT NULL,
  long_node LONGBLOB,
  job VARBINARY(255) NOT NULL,
  long_job LONGBLOB,
  body LONGTEXT NOT NULL,
  PRIMARY KEY (level, node, job)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 18 WHERE id = 1;
