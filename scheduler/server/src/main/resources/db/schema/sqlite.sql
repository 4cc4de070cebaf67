-- An empty store, generated from the migrations: see SqliteSchemaTest.
CREATE TABLE "flyway_schema_history" (
    "installed_rank" INT NOT NULL PRIMARY KEY,
    "version" VARCHAR(50),
    "description" VARCHAR(200) NOT NULL,
    "type" VARCHAR(20) NOT NULL,
    "script" VARCHAR(1000) NOT NULL,
    "checksum" INT,
    "installed_by" VARCHAR(100) NOT NULL,
    "installed_on" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    "execution_time" INT NOT NULL,
    "success" BOOLEAN NOT NULL
);
CREATE INDEX "flyway_schema_history_s_idx" ON "flyway_schema_history" ("success");
CREATE TABLE meta (
  name TEXT NOT NULL PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
, incarnation INTEGER NOT NULL DEFAULT 0, absent_since INTEGER NOT NULL DEFAULT 0);
CREATE TABLE status (
  job INTEGER NOT NULL REFERENCES job (id),
  node TEXT NOT NULL,
  bits INTEGER NOT NULL,
  since INTEGER NOT NULL,
  backoff INTEGER NOT NULL,
  position INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  started INTEGER NOT NULL,
  data TEXT, worker INTEGER NOT NULL DEFAULT 0, ring INTEGER, ended INTEGER NOT NULL DEFAULT 0, cpu INTEGER NOT NULL DEFAULT 0, waited INTEGER NOT NULL DEFAULT -1, total_ran INTEGER NOT NULL DEFAULT 0, total_waited INTEGER NOT NULL DEFAULT 0, counts TEXT,
  PRIMARY KEY (job, node)
) WITHOUT ROWID;
CREATE TABLE pause (
  job TEXT NOT NULL PRIMARY KEY,
  operator TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE event (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL,
  body TEXT NOT NULL
, newest INTEGER NOT NULL DEFAULT 0);
CREATE VIEW task AS
SELECT
  job.name AS job,
  node,
  CASE bits & 63
    WHEN 2 THEN 'running'
    WHEN 4 THEN 'done'
    WHEN 8 THEN 'incomplete'
    WHEN 16 THEN 'failed'
    WHEN 32 THEN 'error'
  END AS status,
  attempts,
  datetime(since / 1000, 'unixepoch') AS since_utc,
  CASE WHEN bits & 64 THEN datetime(since / 1000 + backoff, 'unixepoch') END AS ready_utc,
  data
FROM status
JOIN job ON job.id = status.job;
CREATE TABLE worker (
  id INTEGER PRIMARY KEY,
  shard TEXT NOT NULL,
  instance INTEGER NOT NULL,
  UNIQUE (shard, instance)
);
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  worker INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  bits INTEGER NOT NULL,
  exit_code INTEGER,
  signal INTEGER,
  core_dumped INTEGER NOT NULL,
  stop_reason INTEGER,
  cpu INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  read INTEGER NOT NULL,
  written INTEGER NOT NULL,
  message TEXT,
  fingerprint TEXT
, got_on INTEGER NOT NULL DEFAULT 0, backoff INTEGER NOT NULL DEFAULT 0, waited INTEGER NOT NULL DEFAULT -1, process_started INTEGER NOT NULL DEFAULT 0, counts TEXT, step TEXT);
CREATE TABLE worker_hold (
  shard TEXT NOT NULL PRIMARY KEY,
  drain INTEGER NOT NULL,
  operator TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE gone_job (
  id INTEGER PRIMARY KEY
);
CREATE TABLE limit_override (
  level TEXT NOT NULL,
  resource TEXT NOT NULL,
  node TEXT NOT NULL,
  slots INTEGER NOT NULL,
  author TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  ends INTEGER NOT NULL,
  PRIMARY KEY (level, resource, node)
) WITHOUT ROWID;
CREATE TABLE job_standing (
  job TEXT NOT NULL PRIMARY KEY,
  body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE queue_usage (
  queue TEXT NOT NULL PRIMARY KEY,
  value REAL NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE brake (
  target TEXT NOT NULL,
  level TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (target, level, name)
) WITHOUT ROWID;
CREATE VIEW task_attempt AS
SELECT
  job.name AS job,
  status.node AS node,
  attempt.number AS number,
  attempt.epoch || '.' || attempt.sequence AS invocation,
  coalesce(worker.shard, '') AS worker,
  datetime(attempt.started / 1000, 'unixepoch') AS started_utc,
  datetime(attempt.ended / 1000, 'unixepoch') AS ended_utc,
  CASE attempt.bits & 63
    WHEN 4 THEN 'done'
    WHEN 8 THEN 'incomplete'
    WHEN 16 THEN 'failed'
    WHEN 32 THEN 'error'
  END AS outcome,
  attempt.exit_code AS exit_code,
  attempt.signal AS signal,
  attempt.cpu AS cpu_ms,
  attempt.memory AS peak_memory_bytes,
  attempt.message AS message,
  attempt.fingerprint AS fingerprint,
  attempt.got_on AS made_progress,
  attempt.backoff AS backoff_sec,
  CASE WHEN attempt.waited >= 0 THEN attempt.waited END AS waited_ms,
  datetime(nullif(attempt.process_started, 0) / 1000, 'unixepoch') AS process_started_utc,
  attempt.counts AS counts,
  attempt.step AS step
FROM status
JOIN job ON job.id = status.job
JOIN attempt ON attempt.id BETWEEN status.ring * 20 AND status.ring * 20 + 19
LEFT JOIN worker ON worker.id = attempt.worker;
CREATE TABLE notification (
  notifier TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (notifier, sequence)
) WITHOUT ROWID;
CREATE TABLE rollout (
  job TEXT NOT NULL,
  part INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (job, part)
) WITHOUT ROWID;
CREATE TABLE quarantine (
  level TEXT NOT NULL,
  node TEXT NOT NULL,
  job TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (level, node, job)
) WITHOUT ROWID;
CREATE TABLE answer (
  request TEXT NOT NULL PRIMARY KEY,
  since INTEGER NOT NULL,
  body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE duration (
  job TEXT NOT NULL PRIMARY KEY,
  done TEXT NOT NULL,
  stopped TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('epoch', 0);
INSERT INTO meta (name, value) VALUES ('store_id', lower(hex(randomblob(16))));
INSERT INTO flyway_schema_history VALUES (1, '1', 'task statuses', 'SQL', 'V1__task_statuses.sql', 667334223, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (2, '2', 'attempts', 'SQL', 'V2__attempts.sql', -1788705322, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (3, '3', 'worker holds', 'SQL', 'V3__worker_holds.sql', 786067483, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (4, '4', 'retention', 'SQL', 'V4__retention.sql', -482026993, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (5, '5', 'limit overrides', 'SQL', 'V5__limit_overrides.sql', 1130203312, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (6, '6', 'retries', 'SQL', 'V6__retries.sql', -74525986, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (7, '7', 'job standings', 'SQL', 'V7__job_standings.sql', -350909483, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (8, '8', 'queue usage', 'SQL', 'V8__queue_usage.sql', -688770074, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (9, '9', 'store id', 'SQL', 'V9__store_id.sql', -1086956820, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (10, '10', 'waits', 'SQL', 'V10__waits.sql', 243517825, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (11, '11', 'brakes', 'SQL', 'V11__brakes.sql', 725191622, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (12, '12', 'counters', 'SQL', 'V12__counters.sql', -384344862, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (13, '13', 'notifications', 'SQL', 'V13__notifications.sql', -1215976875, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (14, '15', 'rollouts', 'SQL', 'V15__rollouts.sql', 1341449515, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (15, '16', 'absent jobs', 'SQL', 'V16__absent_jobs.sql', 2134547982, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (16, '19', 'quarantines', 'SQL', 'V19__quarantines.sql', 46601734, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (17, '20', 'answers', 'SQL', 'V20__answers.sql', -2091077969, '', CURRENT_TIMESTAMP, 0, 1);
INSERT INTO flyway_schema_history VALUES (18, '21', 'durations', 'SQL', 'V21__durations.sql', -193225226, '', CURRENT_TIMESTAMP, 0, 1);
PRAGMA application_id = 1163087937;
PRAGMA user_version = 21;
