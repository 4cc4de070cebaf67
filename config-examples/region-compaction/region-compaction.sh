#!/bin/bash
# 2,000 regions of 20 servers are compacted through calls of a small real service, while two of three workers and the
# scheduler are killed. The service loses answers meanwhile. In the end its log is looked at: each region was compacted
# once, never twice at a time, and never more than four of one server at once.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
espalier=$here/../../espalier
for tool in jq java; do
  command -v "$tool" >/dev/null || {
    echo "$tool is missing" >&2
    exit 77
  }
done
"$espalier" --version >/dev/null # builds it, the first time
work=$(mktemp -d)
running=()

cleanup() {
  { kill -9 "${running[@]}" && wait; } 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# killed PID...: without a word of the shell about it
killed() { { kill -9 "$@" && wait "$@"; } 2>/dev/null || true; }

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

echo '--- the service'
java "$here/RegionServer.java" 0 200 "$work/compactions" >"$work/service.out" 2>"$work/service.err" &
running+=($!)
port=$(printed "$work/service.out" 'listening on')
sed "s/127.0.0.1:18080/127.0.0.1:$port/" "$here/compaction.json" >"$work/compaction.json"
"$espalier" validate "$work/compaction.json"

start_scheduler() {
  "$espalier" scheduler --config "$work/compaction.json" --runner remote --protocol-timers quick \
    --thrift "127.0.0.1:$1" --http 127.0.0.1:0 --data-dir "$work/scheduler" 2>"$work/scheduler.err" &
  scheduler=$!
  running+=("$scheduler")
  server=$(printed "$work/scheduler.err" 'listening on')
  for_workers=$(printed "$work/scheduler.err" 'workers are expected at')
}
declare -A worker=()
start_worker() {
  "$espalier" worker --scheduler "$for_workers" --shard-id "$1" --data-dir "$work/$1" 2>>"$work/$1.err" &
  worker[$1]=$!
  running+=($!)
}
done_of() {
  "$espalier" jobs --server "$server" --json | jq -e --argjson least "$1" '.jobs[0].progress.done >= $least' >/dev/null
}

echo '--- the scheduler and three workers'
start_scheduler 0
for name in w1 w2 w3; do start_worker "$name"; done

until_so 120 done_of 200
echo '--- w1 and w2 are killed; the scheduler asks about their calls'
killed "${worker[w1]}" "${worker[w2]}"
start_worker w1

until_so 120 done_of 800
echo '--- the scheduler is killed; the next one finds what was called'
killed "$scheduler"
start_scheduler "${for_workers##*:}"
start_worker w2

until_so 300 done_of 2000
"$espalier" jobs --server "$server"

echo '--- what the service has seen'
awk '
  { regions[$1 " " $2]++; if ($6 != "true") together++; begin[NR] = $4; end[NR] = $5; of[NR] = $1 }
  END {
    for (region in regions) { total++; if (regions[region] > 1) { twice++; print region " " regions[region] " times" } }
    for (i = 1; i <= NR; i++) {
      at = 0
      for (j = 1; j <= NR; j++) if (of[j] == of[i] && begin[j] <= begin[i] && begin[i] < end[j]) at++
      if (at > most) most = at
    }
    print total " regions compacted, " twice + 0 " more than once, " together + 0 " twice at a time, at most " most " of a server at once"
    exit total == 2000 && twice + together == 0 && most <= 4 ? 0 : 1
  }' "$work/compactions"
echo 'all of it ended well'
