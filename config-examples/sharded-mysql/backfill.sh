#!/bin/bash
# Second step: fills orders.total_cents of a schema, in batches along the primary key. It may be killed at any time.
#
# $1 is HOST.SCHEMA, $2 takes progress and status, $3 is JSON with the job's config and the checkpoint.
set -euo pipefail
host=${1%%.*} schema=${1#*.} status=$2

# Address and password are in the option file, not on the command line, where everybody could read them.
sql() {
  mariadb --defaults-file="$(dirname "$0")/clients.cnf" --defaults-group-suffix="_$host" \
    --batch --skip-column-names --database="$schema"
}

# What the last attempt said of itself, in its newest line of progress; nothing at the first.
read -r batch pause after filled < <(jq -r \
  '[.config.batch, .config.pause_sec, (.checkpoint.cursor // 0), (.checkpoint.done // 0)] | map(tonumber) | @tsv' <<<"$3")
echo "attempt $ESPALIER_TASK_ATTEMPT, from id $after on"
total=$(sql <<<'SELECT COUNT(*) FROM orders')

while true; do
  # One statement changes the rows of a batch, so all of them or none. Between its commit and the line of progress
  # this process may be killed, and the batch is done again: then its rows are filled, and IS NULL leaves them alone.
  # It also holds where the server still works on a batch whose client is dead: the second waits for the first.
  answer=$(sql <<SQL
SET @after = $after;
SELECT MAX(id), COUNT(*) INTO @upto, @rows FROM (SELECT id FROM orders WHERE id > @after ORDER BY id LIMIT $batch) AS batch;
UPDATE orders SET total_cents = total * 100 WHERE id > @after AND id <= @upto AND total_cents IS NULL;
SELECT @upto, @rows, ROW_COUNT();
SQL
  )
  read -r upto rows changed <<<"$answer"
  [ "$rows" -gt 0 ] || break
  filled=$((filled + rows))
  echo "{\"progress\": {\"done\": $filled, \"total\": $total, \"cursor\": \"$upto\"}}" >>"$status"
  echo "batch $after..$upto: $changed of $rows rows changed"
  after=$upto
  sleep "$pause" # replicas and other users want a turn too
done

# Rows may have come in behind the cursor, from a transaction that took long: then once more from the start.
left=$(sql <<<'SELECT COUNT(*) FROM orders WHERE total_cents IS NULL')
if [ "$left" -gt 0 ]; then
  echo "$left rows have come in behind"
  echo '{"progress": {"done": 0, "cursor": "0"}}' >>"$status"
  echo incomplete_backoff >>"$status"
else
  echo 'done' >>"$status"
fi
