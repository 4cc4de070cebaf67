-- When the newest event of a row happened, epoch milliseconds; 0: before this was noted.
ALTER TABLE event ADD COLUMN newest INTEGER NOT NULL DEFAULT 0;

-- Which job of its name: its create_time; 0: not known.
ALTER TABLE job ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;

-- Numbers of jobs that were forgotten, while their rows wait to be deleted. Never given out again before.
CREATE TABLE gone_job (
  id INTEGER PRIMARY KEY
);

PRAGMA user_version = 4;
