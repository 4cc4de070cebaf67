#!/bin/bash
# 30 volumes are backed up in three steps each, while a worker and the scheduler are killed. In the end the order of the
# steps is looked at: none began before the one before it, and none again once a later one had begun. One volume fails
# its check, and what was made of it is gone.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs jq jq
export BACKUP_DIR=$work/backups
mkdir "$BACKUP_DIR"
touch "$BACKUP_DIR/steps"

begun() { [ "$(wc -l <"$BACKUP_DIR/steps")" -ge "$1" ]; }
is_over() {
  "$espalier" jobs --server "$server" --json |
    jq -e '.jobs[0] | .state == "succeeded" and .progress.done == 29' >/dev/null
}

echo '--- a scheduler and two workers'
start_scheduler "$here/backup.json" 0
start_worker w1 --command-dir "$here"
start_worker w2 --command-dir "$here"

until_so 60 begun 20
echo '--- a worker is killed'
killed "${worker[w2]}"
until_so 60 begun 30
echo '--- the scheduler is killed; the next one goes on where each volume was'
killed "$scheduler"
start_scheduler "$here/backup.json" "${for_workers##*:}"
start_worker w3 --command-dir "$here"

until_so 120 is_over
"$espalier" jobs --server "$server"
"$espalier" tasks backup host2-v3 --server "$server"
"$espalier" tasks backup host2-v3 --server "$server" --json >"$work/damaged.json"

echo '--- what the steps have left'
jq -e '.status == "failed" and .data.compensated == true' "$work/damaged.json" >/dev/null
[ "$(find "$BACKUP_DIR/vault" -type f | wc -l)" = 29 ]
[ ! -e "$BACKUP_DIR/dumps/host2-v3" ]
awk '
  BEGIN { split("dump ship check undo-ship undo-dump", names); for (i in names) place[names[i]] = i }
  $2 == "verify" { if (at[$1] != 3) { print $1 ": verified too early"; wrong++ } verified++; next }
  place[$2] < at[$1] { print $1 ": " $2 " again"; wrong++ }
  place[$2] > at[$1] + 1 { print $1 ": " $2 " too early"; wrong++ }
  { at[$1] = place[$2] }
  END {
    for (volume in at) { total++; if (at[volume] != (volume == "host2-v3" ? 5 : 3)) { print volume " has not come to its end"; wrong++ } }
    print NR " steps of " total " volumes, " wrong + 0 " out of order, " verified + 0 " verifications"
    exit wrong || total != 30 || verified < 2
  }' "$BACKUP_DIR/steps"
echo 'all of it ended well'
