#!/bin/sh
# Task: makes a film or a thumbnail of a video.
set -eu
node=$1 status=$2
echo "$node" | gzip -9 >"$CASE_DIR/$ESPALIER_TASK_JOB-$node.gz"
sleep 0.15
echo 'done' >>"$status"
