-- Since when a job with rows has not been configured, epoch milliseconds; 0: it is, or that is not known yet.
-- Every statement may run again: a column is added where there is none.
SET @alter = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'espalier_job' AND column_name = 'absent_since') = 0,
  'ALTER TABLE espalier_job ADD COLUMN absent_since BIGINT NOT NULL DEFAULT 0', 'DO 0');
PREPARE espalier_alter FROM @alter;
EXECUTE espalier_alter;
DEALLOCATE PREPARE espalier_alter;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 15 WHERE id = 1;
