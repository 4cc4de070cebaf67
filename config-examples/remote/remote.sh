#!/bin/bash
# One scheduler and three workers on loopback: runs the jobs of remote.json through them, drains a worker meanwhile, and
# stops everything. Leaves nothing behind; ports are any that are free.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs jq jq
examples=$here/..

echo '--- the scheduler'
start_scheduler "$examples/remote.json" 0
echo "people: $server, workers: $for_workers"

echo '--- three workers'
start_worker w1 --command-dir "$examples"
start_worker w2 --command-dir "$examples"
start_worker w3 --command-dir "$examples"

are_healthy() {
  "$espalier" workers --server "$server" --json | jq -e '[.workers[] | select(.state == "healthy")] | length == 3' >/dev/null
}

until_so 60 are_healthy
"$espalier" workers --server "$server"

echo '--- w2 is drained; it ends by itself, and nothing is lost'
until_so 60 has_done scan 5
"$espalier" drain w2 --wait --reason 'new kernel' --server "$server"
wait "${worker[w2]}"
"$espalier" workers --server "$server"

echo '--- the others go on; w2 comes back as another process'
start_worker w2 --command-dir "$examples"
"$espalier" uncordon w2 --server "$server"
until_so 60 are_healthy
until_so 120 has_done scan 48
until_so 60 has_done report 48
"$espalier" jobs --server "$server"

echo '--- what tasks have printed, wherever they ran: secrets are hidden'
"$espalier" logs scan --limit 5 --server "$server"
"$espalier" logs scan host3-v2 --server "$server" | grep -F 'ticket=[redacted]'

echo '--- the workers are told to stop, then the scheduler'
kill "${worker[@]}"
for name in w1 w2 w3; do
  wait "${worker[$name]}"
done
kill "$scheduler"
wait "$scheduler"
running=()
echo 'all of it ended well'
