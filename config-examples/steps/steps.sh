#!/bin/bash
# 30 volumes are backed up in three steps each, while a worker and the scheduler are killed. In the end the order of the
# steps is looked at: none began before the one before it, and none again once a later one had begun. One volume fails
# its check, and what was made of it is gone.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
espalier=$here/../../espalier
command -v jq >/dev/null || {
  echo 'jq is missing' >&2
  exit 77
}
"$espalier" --version >/dev/null # builds it, the first time
work=$(mktemp -d)
export BACKUP_DIR=$work/backups
mkdir "$BACKUP_DIR"
touch "$BACKUP_DIR/steps"
running=()

cleanup() {
  { kill -9 "${running[@]}" && wait; } 2>/dev/null || true
  sleep 0.5 # what the guards of the workers kill
  rm -rf "$work"
}
trap cleanup EXIT

# killed PID: without a word of the shell about it
killed() { { kill -9 "$1" && wait "$1"; } 2>/dev/null || true; }

# printed FILE PATTERN: waits until the file has a line with that, and prints what follows it
printed() {
  local i found
  for ((i = 0; i < 600; i++)); do
    found=$(sed -n "s/^.*$2 *//p" "$1" | head -n 1)
    if [ -n "$found" ]; then
      echo "$found"
      return
    fi
    sleep 0.1
  done
  echo "nobody said '$2':" >&2
  cat "$1" >&2
  return 1
}

# until_so SECONDS COMMAND...: waits until the command succeeds
until_so() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ "$SECONDS" -ge "$end" ]; then
      echo "not within its time: $*" >&2
      tail -n 5 "$work"/*.err >&2
      return 1
    fi
    sleep 0.2
  done
}

start_scheduler() {
  "$espalier" scheduler --config "$here/backup.json" --runner remote --protocol-timers quick \
    --thrift "127.0.0.1:$1" --http 127.0.0.1:0 --data-dir "$work/scheduler" 2>"$work/scheduler.err" &
  scheduler=$!
  running+=("$scheduler")
  server=$(printed "$work/scheduler.err" 'listening on')
  for_workers=$(printed "$work/scheduler.err" 'workers are expected at')
}
start_worker() {
  "$espalier" worker --scheduler "$for_workers" --shard-id "$1" --command-dir "$here" --data-dir "$work/$1" 2>>"$work/$1.err" &
  last_worker=$!
  running+=($!)
}
begun() { [ "$(wc -l <"$BACKUP_DIR/steps")" -ge "$1" ]; }
is_over() {
  "$espalier" jobs --server "$server" --json |
    jq -e '.jobs[0] | .state == "succeeded" and .progress.done == 29' >/dev/null
}

echo '--- a scheduler and two workers'
start_scheduler 0
start_worker w1
start_worker w2

until_so 60 begun 20
echo '--- a worker is killed'
killed "$last_worker"
until_so 60 begun 30
echo '--- the scheduler is killed; the next one goes on where each volume was'
killed "$scheduler"
start_scheduler "${for_workers##*:}"
start_worker w3

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
