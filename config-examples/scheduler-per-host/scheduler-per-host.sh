#!/bin/bash
# Five schedulers on loopback, each with the configuration and the data of "its host", and `espalier ui` over them: runs
# the jobs of host.json everywhere, finds the host with other settings, acts on all, loses one. Leaves nothing behind;
# ports are any that are free.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs 'curl jq' curl jq
hosts=(host1 host2 host3 host4 host5)
declare -A schedulers=()

# api PATH [JSON]: asks the page over all schedulers, or tells it something
api() {
  if [ $# -eq 1 ]; then
    curl -sS --fail-with-body --max-time 20 "$page/api/v1/fleet/$1"
  else
    curl -sS --fail-with-body --max-time 20 -H 'Content-Type: application/json' -d "$2" "$page/api/v1/fleet/$1"
  fi
}

# so PATH FILTER: whether what is answered there is as the filter of jq says
so() {
  api "$1" | jq -e "$2" >/dev/null
}

echo '--- five schedulers'
for host in "${hosts[@]}"; do
  mkdir "$work/$host"
  cp "$here/host.json" "$here/sweep.sh" "$work/$host"
done
# Somebody has edited the file of one of them.
sed -i 's/"priority": 1/"priority": 3/' "$work/host4/host.json"
for host in "${hosts[@]}"; do
  "$espalier" scheduler --config "$work/$host/host.json" --runner local --instance-node-name "$host" \
    --data-dir "$work/$host/data" --http 127.0.0.1:0 2>"$work/$host.err" &
  schedulers[$host]=$!
  running+=($!)
done
{
  echo '# name=host:port; read again when it changes'
  for host in "${hosts[@]}"; do
    echo "$host=$(printed "$work/$host.err" 'listening on http:\/\/')"
  done
} >"$work/schedulers.txt"
cat "$work/schedulers.txt"

echo '--- the page over all of them'
"$espalier" ui --schedulers "$work/schedulers.txt" --http 127.0.0.1:0 --poll-ms 500 2>"$work/ui.err" &
ui=$!
running+=("$ui")
page=$(printed "$work/ui.err" 'listening on')
echo "$page"
until_so 60 so overview '.schedulers.states.answered == 5 and .jobs_total == 2'

echo '--- every disk of every host is swept and verified'
until_so 120 so overview '[.jobs[] | .progress.total, .progress.done] == [40, 40, 40, 40]'
api jobs | jq -r '.jobs[] | "\(.name): \(.progress.done) of \(.progress.total) done on \(.schedulers) schedulers"'

echo '--- one of them has other settings'
api jobs/sweep | jq -r '.configs[] | select(.majority | not) | "\(.hosts[]): \(.differences[] | "\(.path) is \(.here), not \(.majority)")"' |
  tee "$work/differing"
[ "$(cat "$work/differing")" = 'host4: priority is 3, not 1' ]

echo '--- what tasks have printed, merged by time'
api 'logs?job=sweep&limit=5' | jq -r '.lines[] | "\(.host) \(.node): \(.text | rtrimstr("\n"))"'
so 'logs?job=sweep&limit=200' '(.lines | length) == 40 and .missing_total == 0 and ([.lines[].time_ms] | . == (sort | reverse))'

echo '--- all are told to pause a job; first: who is meant?'
so_many=$(api jobs/sweep/pause '{"preview": true}' | jq .meant)
api jobs/sweep/pause "{\"reason\": \"disks are exchanged\", \"expect_hosts\": $so_many}" | jq -c .results
until_so 20 so jobs/sweep '.paused_on == 5'
api jobs/sweep/resume '{}' | jq -c .results
until_so 20 so jobs/sweep '.paused_on == 0'

echo '--- the page of one of them lies below its name'
curl -sS --fail "$page/s/host3/api/v1/jobs/sweep" | jq -c '{name, done: .progress.done}'
curl -sS --fail "$page/s/host3/" | grep -q '<title>Espalier'

echo '--- one scheduler dies: the others are shown, and what was known of it'
killed "${schedulers[host2]}"
unset 'schedulers[host2]'
until_so 30 so overview '.schedulers.states == {"waiting": 0, "answered": 4, "slow": 0, "dead": 1, "refused": 0, "error": 0}'
so overview '.schedulers.from_memory == 1 and .progress.total == 80'
api problems | jq -r '.problems[] | select(.kind == "connection") | "\(.message): \(.hosts | join(", "))"'
api jobs/sweep/pause '{"reason": "a test"}' | tee "$work/partial" | jq -c '.results, (.hosts[] | select(.result != "ok"))'
jq -e '.results.ok == 4 and .results.unreachable == 1 and .finished' "$work/partial" >/dev/null

echo '--- it is taken off the list'
sed -i '/^host2=/d' "$work/schedulers.txt"
until_so 20 so overview '.schedulers.total == 4 and .schedulers.states.answered == 4 and .progress.total == 64'

echo '--- all are told to stop'
kill "$ui"
wait "$ui"
for host in "${!schedulers[@]}"; do
  kill "${schedulers[$host]}"
done
for host in "${!schedulers[@]}"; do
  wait "${schedulers[$host]}"
done
running=()
echo 'all of it ended well'
