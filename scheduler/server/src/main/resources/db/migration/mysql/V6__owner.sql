-- Which store this is, and who has it. Every statement may run again.
--
-- One row. store: made with the store, never changed. owner: who has it: a machine and a data directory, or
-- a group of schedulers. process: the newest process of it; label: the same for people; since: when that
-- began, epoch milliseconds by its clock. proof: how long each of its proofs counts; lease: how long the
-- leases that it grants may last; both milliseconds. beat: changed by the process about once a second,
-- which is its proof; ended: whether it has ended in order, and nothing of it may be alive.
CREATE TABLE IF NOT EXISTS espalier_owner (
  id TINYINT NOT NULL,
  store VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner LONGTEXT NOT NULL,
  process VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  label LONGTEXT NOT NULL,
  since BIGINT NOT NULL,
  proof BIGINT NOT NULL,
  lease BIGINT NOT NULL,
  beat BIGINT NOT NULL,
  ended TINYINT NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO espalier_owner (id, store, owner, process, label, since, proof, lease, beat, ended)
VALUES (1, REPLACE(UUID(), '-', ''), '', '', '', 0, 0, 0, 0, 1);

-- The schedulers that could lead by --ha store, in the order in which they came. body: where each is, as
-- JSON; beat: changed by each about once a second.
CREATE TABLE IF NOT EXISTS espalier_candidate (
  place BIGINT NOT NULL AUTO_INCREMENT,
  process VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body LONGTEXT NOT NULL,
  beat BIGINT NOT NULL,
  PRIMARY KEY (place),
  UNIQUE KEY process (process)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 6 WHERE id = 1;
