-- Roll-outs of jobs in stages. part: 0 for how far it is, from 1 on for the members of its stages; body: a JSON object.
CREATE TABLE rollout (
  job TEXT NOT NULL,
  part INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (job, part)
) WITHOUT ROWID;

PRAGMA user_version = 15;
