#!/bin/sh
# Task: pretends to scan volume $1, and prints a secret that the configuration has hidden.
set -eu
volume=$1
status=$2
echo "scanning $volume with ticket=T-$$"
sleep 0.3
echo "done" >"$status"
