#!/bin/sh
# Task: compresses a region on the server that has it now.
set -eu
node=$1 status=$2
echo "$node on $ESPALIER_TASK_PARENT" >>"$CASE_DIR/out"
sleep 0.4
echo 'done' >>"$status"
