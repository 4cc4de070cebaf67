#!/bin/bash
# Runs the five case studies of the paper in miniature, each in the mode that the paper has for it: one scheduler or several,
# with workers anywhere, on the hosts of the data, or none. What their tasks wrote is counted afterwards: no limit was
# passed, nothing ran twice, every task ran where it belongs, and the work is done.
# Leaves nothing behind; ports are any that are free. Exit code: 0 all is right, 1 it is not, 77 something is missing on
# this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs 'curl jq python3' curl jq python3

declare -A at=() expected_at=()

# study NAME: begins one; its configuration is NAME.json
study() {
  echo "--- $1"
  name=$1
  export CASE_DIR=$work/$name
  mkdir "$CASE_DIR"
}

# scheduler NAME [OPTION...]: sets at[NAME], where it answers people
scheduler() {
  : >"$work/$name-$1.err"
  "$espalier" scheduler --config "$here/$name.json" --data-dir "$CASE_DIR/$1" --http 127.0.0.1:0 "${@:2}" \
    </dev/null 2>"$work/$name-$1.err" &
  running+=($!)
  at[$1]=$(printed "$work/$name-$1.err" 'listening on')
}

# with_workers NAME [OPTION...]: a scheduler with workers; sets expected_at[NAME] too
with_workers() {
  scheduler "$1" --runner remote --protocol-timers quick --thrift 127.0.0.1:0 "${@:2}"
  expected_at[$1]=$(printed "$work/$name-$1.err" 'workers are expected at')
}

# workers SCHEDULER HOST...: starts a worker of that scheduler on each host
workers() {
  local host
  for host in "${@:2}"; do
    "$espalier" worker --scheduler "${expected_at[$1]}" --shard-id "$host" --host-name "$host" --command-dir "$here" \
      --data-dir "$CASE_DIR/worker-$host" </dev/null 2>"$work/$name-$host.err" &
    running+=($!)
  done
}

# has_ended SCHEDULER: whether it has done all tasks of all its jobs
has_ended() {
  curl -fs "${at[$1]}/api/v1/jobs" |
    jq -e '.jobs != [] and all(.jobs[]; .state == "succeeded" and .progress.total > 0 and .progress.done == .progress.total)' >/dev/null
}

# ended SCHEDULER...: waits until they have done all, and stops everything that runs
ended() {
  local each
  for each in "$@"; do
    until_so 120 has_ended "$each"
  done
  stopped
}

stopped() {
  killed "${running[@]}"
  running=()
}

# counted DIRECTORY [OPTION]: whether the tasks that wrote their log there kept to the limits
counted() { "$here/count.py" "$here/$name.json" "$1/log" "${@:2}" || fail "the limits of $name"; }

# same NUMBER WHAT LINES: the lines are so many, and no two are the same
same() {
  local lines
  lines=$(sort -u <<<"$3" | wc -l)
  if [ "$(wc -l <<<"$3")" != "$1" ] || [ "$lines" != "$1" ]; then
    fail "$lines $2 instead of $1"
  fi
  echo "  $1 $2, each once"
}

# One scheduler, workers anywhere.
study database-iterator
with_workers scheduler
workers scheduler w1 w2
ended scheduler
counted "$CASE_DIR" --workers 2
same 3600 'rows of 12 databases by 3 programs' "$(<"$CASE_DIR/out")"
same 144 'slices' "$(awk '$2 == "+"' "$CASE_DIR/log")"

# One scheduler, workers anywhere.
study scraping
with_workers scheduler
workers scheduler w1 w2
ended scheduler
counted "$CASE_DIR" --workers 2
same 12 'databases loaded' "$(<"$CASE_DIR/out")"
! grep -v ' replica$' "$CASE_DIR/out" || fail 'a primary was dumped'

# One scheduler, a worker on each host that has data.
study storage-migration
with_workers scheduler
workers scheduler rack{1,2}-host{1,2}
ended scheduler
counted "$CASE_DIR" --beside
same 24 'volumes moved' "$(ls "$CASE_DIR/new")"
[ -z "$(ls "$CASE_DIR/old")" ] || fail 'a volume was not removed'
same 25 'comparisons, one of a damaged copy' "$(awk '$2 == "+" && $3 == "compare"' "$CASE_DIR/log")"

# Several schedulers, each with its part of the hosts and with workers of its own.
study video-encoding
for part in 0 1; do
  with_workers "part$part" --shard "$part/2" --instance-node-name "part$part"
  workers "part$part" "w$part"
done
ended part0 part1
counted "$CASE_DIR" --workers 2
same 72 'films and thumbnails' "$(gzip -l "$CASE_DIR"/*.gz | awk '$1 ~ /^[0-9]+$/ && $4 != "(totals)" {print $4}')"
same 6 'hosts, each of one scheduler' "$(sed -n 's/.*"\(part[01]\)".*"\(store[0-9]*\)".*/\1 \2/p' "$CASE_DIR/log" | sort -u)"

# Several schedulers, one on each host that has data, without workers.
study region-compression
began=$(date +%s)
all=$CASE_DIR
for server in server1 server2 server3; do
  export CASE_DIR=$all/$server
  mkdir "$CASE_DIR"
  scheduler "$server" --runner local --instance-node-name "$server"
done
are_compressed() { [ "$(sort -u "$all"/*/out 2>/dev/null | wc -l)" -ge 96 ]; }
until_so 120 are_compressed
# The first region to move has moved by then.
has_moved() { [ "$(($(date +%s) - began))" -gt 5 ] && [ -n "$(sort "$all"/*/out | uniq -d)" ]; }
until_so 120 has_moved
stopped
for server in server1 server2 server3; do
  echo " $server"
  counted "$all/$server" --unfinished
done
echo "  24 regions compressed at 4 times; $(sort "$all"/*/out | uniq -d | wc -l) of these 96 once more, after the region had moved"
echo 'all of it ended well'
