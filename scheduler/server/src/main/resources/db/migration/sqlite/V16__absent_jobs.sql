-- Since when a job with rows has not been configured, epoch milliseconds; 0: it is, or that is not known yet.
ALTER TABLE job ADD COLUMN absent_since INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 16;
