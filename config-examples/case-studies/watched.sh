#!/bin/sh
# watched.sh PROGRAM NODE STATUS_FILE JSON: runs a program of this directory as a task, and writes to $CASE_DIR/log when it
# began and ended and what it used, so that somebody who does not trust the scheduler can count (count.py).
set -eu
program=$(dirname "$0")/$1
shift
echo "$(date +%s%N) + $ESPALIER_TASK_JOB $1 $3" >>"$CASE_DIR/log"
code=0
"$program" "$@" || code=$?
# Before the process ends, and so before anything else starts in its place.
echo "$(date +%s%N) - $ESPALIER_TASK_JOB $1" >>"$CASE_DIR/log"
exit "$code"
