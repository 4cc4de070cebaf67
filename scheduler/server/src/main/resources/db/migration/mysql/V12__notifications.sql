-- Notifications that receivers do not have yet. sequence: of the event; body: a JSON object.
-- Every statement may run again.
CREATE TABLE IF NOT EXISTS espalier_notification (
  notifier VARBINARY(255) NOT NULL,
  long_notifier LONGBLOB,
  sequence BIGINT NOT NULL,
  body LONGTEXT NOT NULL,
  PRIMARY KEY (notifier, sequence)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 12 WHERE id = 1;
