#!/bin/sh
# Task: pretends to sweep disk $1.
set -eu
disk=$1
status=$2
echo "sweeping $disk"
sleep 0.3
echo "done" >"$status"
