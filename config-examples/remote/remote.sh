#!/bin/bash
# One scheduler and three workers on loopback: runs the jobs of remote.json through them, drains a worker meanwhile, and
# stops everything. Leaves nothing behind; ports are any that are free.
set -euo pipefail
examples=$(cd "$(dirname "$0")/.." && pwd)
espalier=$examples/../espalier
work=$(mktemp -d)
running=()

cleanup() {
  [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap cleanup EXIT

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
    sleep 0.3
  done
}

"$espalier" --version >"$work/version" # builds it, the first time

echo '--- the scheduler'
"$espalier" scheduler --config "$examples/remote.json" --runner remote --protocol-timers quick \
  --thrift 127.0.0.1:0 --http 127.0.0.1:0 --data-dir "$work/scheduler" 2>"$work/scheduler.err" &
running+=($!)
server=$(printed "$work/scheduler.err" 'listening on')
for_workers=$(printed "$work/scheduler.err" 'workers are expected at')
echo "people: $server, workers: $for_workers"

echo '--- three workers'
declare -A worker
start_worker() {
  "$espalier" worker --scheduler "$for_workers" --shard-id "$1" --command-dir "$examples" \
    --data-dir "$work/$1" 2>>"$work/$1.err" &
  worker[$1]=$!
  running+=($!)
}
start_worker w1
start_worker w2
start_worker w3

done_of() {
  "$espalier" jobs --server "$server" --json | jq -e --arg job "$1" --argjson least "$2" \
    'any(.jobs[]; .name == $job and .progress.done >= $least)' >/dev/null
}

are_healthy() {
  "$espalier" workers --server "$server" --json | jq -e '[.workers[] | select(.state == "healthy")] | length == 3' >/dev/null
}

until_so 60 are_healthy
"$espalier" workers --server "$server"

echo '--- w2 is drained; it ends by itself, and nothing is lost'
until_so 60 done_of scan 5
"$espalier" drain w2 --wait --reason 'new kernel' --server "$server"
wait "${worker[w2]}"
"$espalier" workers --server "$server"

echo '--- the others go on; w2 comes back as another process'
start_worker w2
"$espalier" uncordon w2 --server "$server"
until_so 60 are_healthy
until_so 120 done_of scan 48
until_so 60 done_of report 48
"$espalier" jobs --server "$server"

echo '--- what tasks have printed, wherever they ran: secrets are hidden'
"$espalier" logs scan --limit 5 --server "$server"
"$espalier" logs scan host3-v2 --server "$server" | grep -F 'ticket=[redacted]'

echo '--- the workers are told to stop, then the scheduler'
kill "${worker[@]}"
for name in w1 w2 w3; do
  wait "${worker[$name]}"
done
kill "${running[0]}"
wait "${running[0]}"
running=()
echo 'all of it ended well'
