-- How long the tasks of jobs with windows have taken. done, stopped: histograms, bucket and count in turn.
CREATE TABLE duration (
  job TEXT NOT NULL PRIMARY KEY,
  done TEXT NOT NULL,
  stopped TEXT NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 21;
