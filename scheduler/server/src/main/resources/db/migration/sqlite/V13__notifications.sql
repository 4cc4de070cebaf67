-- Notifications that receivers do not have yet. sequence: of the event; body: a JSON object.
CREATE TABLE notification (
  notifier TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (notifier, sequence)
) WITHOUT ROWID;

PRAGMA user_version = 13;
