-- Roll-outs of jobs in stages. part: 0 for how far it is, from 1 on for the members of its stages; body: a JSON object.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_rollout (
  job VARBINARY(255) NOT NULL,
  long_job LONGBLOB,
  part INT NOT NULL,
  body LONGTEXT NOT NULL,
  PRIMARY KEY (job, part)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 14 WHERE id = 1;
