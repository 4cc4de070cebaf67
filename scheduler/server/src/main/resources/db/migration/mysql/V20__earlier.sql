-- What the store knows of earlier schedulers: KNOWN: all that may be alive, as without a row; NEW_STORE:
-- nothing was outwaited since it was made; UNKNOWN: an earlier scheduler is being outwaited. One row.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_earlier (
  id TINYINT NOT NULL,
  known VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 20 WHERE id = 1;
