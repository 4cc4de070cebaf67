-- What an attempt has counted, and in status what all ended attempts of the task add up to: name=value,
-- divided by blanks; NULL: nothing. What jobs add up to is in the states of jobs.
ALTER TABLE status ADD COLUMN counts TEXT;
ALTER TABLE attempt ADD COLUMN counts TEXT;

PRAGMA user_version = 11;
