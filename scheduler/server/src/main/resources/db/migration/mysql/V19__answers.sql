-- Answers to requests with a key. request: a hash of the caller and its key; body: a JSON object.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_answer (
  request VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  since BIGINT NOT NULL,
  body LONGTEXT NOT NULL,
  PRIMARY KEY (request)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 19 WHERE id = 1;
