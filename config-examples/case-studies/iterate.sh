#!/bin/sh
# Task: handles the next 25 of the 100 rows of a database. The bookmark is the checkpoint that the scheduler stores.
set -eu
node=$1 status=$2 json=$3
row=$(printf '%s' "$json" | sed -n 's/.*"cursor":"\([0-9]*\)".*/\1/p')
row=${row:-0}
end=$((row + 25))
while [ "$row" -lt "$end" ]; do
  row=$((row + 1))
  echo "$ESPALIER_TASK_JOB $node $row" >>"$CASE_DIR/out"
done
sleep 0.05
echo "{\"progress\": {\"done\": $row, \"total\": 100, \"cursor\": \"$row\"}}" >>"$status"
if [ "$row" -lt 100 ]; then echo incomplete >>"$status"; else echo 'done' >>"$status"; fi
