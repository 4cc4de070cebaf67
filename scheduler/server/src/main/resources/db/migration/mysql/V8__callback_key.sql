-- The key with which callbacks of services are signed: random, secret, never changed. Every statement may run
-- again. One row, made when it is first needed.
CREATE TABLE IF NOT EXISTS espalier_callback (
  id TINYINT NOT NULL,
  secret VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 8 WHERE id = 1;
