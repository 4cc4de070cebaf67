#!/bin/bash
# noted.sh PROGRAM ARGUMENT...: runs a task, and writes into ledger.txt beside it when it began and when it ended, so that
# somebody who does not trust the scheduler can count (check-ledger.py).
set -euo pipefail
note() { echo "$EPOCHREALTIME $1 $$ $node $ESPALIER_TASK_ATTEMPT" >>"$(dirname "$0")/ledger.txt"; }
program=$1 node=$2
shift
note +
code=0
"$(dirname "$0")/$program" "$@" || code=$?
# Before the process ends, and so before anything else starts in its place.
note -
exit "$code"
