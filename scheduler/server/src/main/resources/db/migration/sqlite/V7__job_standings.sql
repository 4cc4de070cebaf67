-- How jobs stand: a JSON object with state, reason, since_ms and what an operator or a failure rule decided.
CREATE TABLE job_standing (
  job TEXT NOT NULL PRIMARY KEY,
  body TEXT NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 7;
