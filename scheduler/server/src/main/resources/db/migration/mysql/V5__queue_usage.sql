-- What queues had used lately: decayed dominant shares, as of a time in epoch milliseconds. Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_queue_usage (
  queue VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  value DOUBLE NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (queue)
) ENGINE = InnoDB;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 5 WHERE id = 1;
