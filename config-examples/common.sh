# shellcheck shell=bash
# What the programs of the examples share; they source it. Sets espalier (the command) and work (a directory that is
# removed in the end, when all processes in running are killed). Exit code 77: something is missing on this machine.
set -euo pipefail
espalier=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/espalier
# A Debian package has the command elsewhere than its examples.
[ -x "$espalier" ] || espalier=$(readlink -f "$(command -v espalier)")
running=()

# needs PACKAGES TOOL...: ends here when a tool is missing
needs() {
  local packages=$1 tool
  shift
  for tool in "$@"; do
    command -v "$tool" >/dev/null || {
      echo "SKIPPED, nothing was tested: $tool is missing (on Debian: apt-get install $packages)" >&2
      exit 77
    }
  done
}

cleanup() {
  killed "${running[@]}"
  sleep 0.5 # what the guards of workers kill
  rm -rf "$work"
}

# killed PID...: kills them without a word of the shell about it
killed() { { kill -9 "$@" && wait "$@"; } 2>/dev/null || true; }

fail() {
  echo "FAILED: $*" >&2
  tail -n 5 "$work"/*.err >&2
  exit 1
}

# printed FILE PATTERN: waits until the file has a line with that, and prints what follows it
printed() {
  local i found
  for ((i = 0; i < 900; i++)); do
    found=$(sed -n "s/^.*$2 *//p" "$1" | head -n 1)
    if [ -n "$found" ]; then
      echo "$found"
      return
    fi
    sleep 0.1
  done
  fail "nobody said '$2' in $1"
}

# until_so SECONDS COMMAND...: waits until the command succeeds
until_so() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || fail "not within its time: $*"
    sleep 0.2
  done
}

# start_scheduler CONFIG PORT: starts one for workers, which reach it at that port (0: any). Sets scheduler (its process),
# server (for people) and for_workers.
start_scheduler() {
  : >"$work/scheduler.err" # otherwise what the one before it printed may be found
  "$espalier" scheduler --config "$1" --runner remote --protocol-timers quick --thrift "127.0.0.1:$2" \
    --http 127.0.0.1:0 --data-dir "$work/scheduler" 2>"$work/scheduler.err" &
  scheduler=$!
  running+=("$scheduler")
  server=$(printed "$work/scheduler.err" 'listening on')
  for_workers=$(printed "$work/scheduler.err" 'workers are expected at')
}

# start_worker NAME [OPTION...]: sets worker[NAME] (its process)
declare -A worker=()
start_worker() {
  "$espalier" worker --scheduler "$for_workers" --shard-id "$1" --data-dir "$work/$1" "${@:2}" 2>>"$work/$1.err" &
  # shellcheck disable=SC2034 # the programs read it
  worker[$1]=$!
  running+=($!)
}

# has_done JOB NUMBER: whether that many of its tasks are done
has_done() {
  "$espalier" jobs --server "$server" --json | jq -e --arg job "$1" --argjson least "$2" \
    'any(.jobs[]; .name == $job and .progress.done >= $least)' >/dev/null
}

"$espalier" --version >/dev/null # builds it, the first time
work=$(mktemp -d)
trap cleanup EXIT
