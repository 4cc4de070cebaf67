#!/bin/sh
# Task: dump writes what the warehouse wants of a database, load takes that in and removes it.
set -eu
node=$1 status=$2
dump=$CASE_DIR/$node.dump
case $ESPALIER_TASK_JOB in
  dump) echo "$node from $ESPALIER_TASK_PARENT $ESPALIER_TASK_ROLE" >"$dump" ;;
  load) cat "$dump" >>"$CASE_DIR/out" && rm "$dump" ;;
esac
sleep 0.2
echo 'done' >>"$status"
