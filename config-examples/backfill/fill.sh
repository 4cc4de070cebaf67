#!/bin/sh
# Task: fills a column of all rows of a shard, in batches, and can be stopped at any time.
#
# $1 is the shard, $2 takes progress and status, $3 is the JSON with the job's config and the checkpoint.
set -eu
shard=$1
status=$2

# The first number after a key of the JSON; for more than this take a real JSON parser.
number() {
  printf '%s' "$json" | sed -n "s/.*\"$1\":\"\\{0,1\\}\\([0-9][0-9]*\\).*/\\1/p"
}
json=$3
rows=$(number rows)
batch=$(number rows_per_batch)
row=$(number cursor)

if [ -n "$row" ]; then
  echo "attempt $ESPALIER_TASK_ATTEMPT goes on after row $row, connecting with password=secret"
else
  row=0
fi

while [ "$row" -lt "$rows" ]; do
  row=$((row + batch))
  # The work. Doing a batch again must do no harm: an attempt may be stopped between it and the next line.
  echo "$row" >"filled-$shard"
  sleep "${BATCH_PAUSE:-0.2}"
  echo "{\"progress\": {\"done\": $row, \"total\": $rows, \"cursor\": \"$row\"}}" >>"$status"
done
echo 'done' >>"$status"
