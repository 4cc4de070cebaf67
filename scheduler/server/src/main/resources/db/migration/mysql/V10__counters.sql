-- What an attempt has counted, and in status what all ended attempts of the task add up to: name=value,
-- divided by blanks; NULL: nothing. What jobs add up to is in the states of jobs.
-- Every statement may run again: a column is added where there is none.
SET @alter = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'espalier_status' AND column_name = 'counts') = 0,
  'ALTER TABLE espalier_status ADD COLUMN counts LONGTEXT', 'DO 0');
PREPARE espalier_alter FROM @alter;
EXECUTE espalier_alter;
DEALLOCATE PREPARE espalier_alter;

SET @alter = IF(
  (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'espalier_attempt' AND column_name = 'counts') = 0,
  'ALTER TABLE espalier_attempt ADD COLUMN counts LONGTEXT', 'DO 0');
PREPARE espalier_alter FROM @alter;
EXECUTE espalier_alter;
DEALLOCATE PREPARE espalier_alter;

-- Last: with this the store is complete.
UPDATE espalier_store SET version = 10 WHERE id = 1;
