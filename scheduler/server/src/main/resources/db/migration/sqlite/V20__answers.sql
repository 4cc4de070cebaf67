-- Answers to requests with a key. request: a hash of the caller and its key; body: a JSON object.
CREATE TABLE answer (
  request TEXT NOT NULL PRIMARY KEY,
  since INTEGER NOT NULL,
  body TEXT NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 20;
