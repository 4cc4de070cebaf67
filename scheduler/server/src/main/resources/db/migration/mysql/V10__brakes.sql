-- Brakes that operators have set. target: all, node, queue, set or job; level: of a node, otherwise ''; body: a JSON object.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_brake (
  target VARBINARY(255) NOT NULL,
  long_target LONGBLOB,
  level VARBINARY(255) NOT NULL,
  long_level LONGBLOB,
  name VARBINARY(255) NOT NULL,
  long_name LONGBLOB,
  body LONGTEXT NOT NULL,
  PRIMARY KEY (target, level, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 10 WHERE id = 1;
