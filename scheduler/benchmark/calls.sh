#!/bin/bash
# "Calls in flight" in docs/benchmarks.md: many calls over HTTP on one real worker, with the launcher's defaults. The service
# answers each call with 202, and is asked about it every 10 to 30 s.
# Usage: scheduler/benchmark/calls.sh [CALLS [SECONDS]]
set -euo pipefail
calls=${1:-10000}
seconds=${2:-120}
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=config-examples/common.sh
. "$here/../../config-examples/common.sh"
needs 'jq default-jdk-headless' jq java

"${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m "$here/AcceptingService.java" >"$work/service.out" 2>"$work/service.err" &
running+=($!)
port=$(printed "$work/service.out" 'listening on')
cat >"$work/calls.json" <<CONFIG
{"bistro_settings": {
   "nodes": {"levels": ["region"], "node_sources": [{"source": "range_label",
     "prefs": {"parent_level": "instance", "start": 1, "end": $calls, "format": "r{i}"}}]},
   "resources": {}},
 "bistro_job->compact": {"owner": "benchmark", "call": {"http": {
   "url": "http://127.0.0.1:$port/compact/{region}",
   "poll": {"url": "http://127.0.0.1:$port/invocations/{invocation}", "every_sec": 10, "up_to_sec": 30}}}}}
CONFIG

# resident: megabytes of the worker and of the processes that it has started
resident() {
  ps -o rss= --pid "${worker[w1]}" --ppid "${worker[w1]}" | awk '{ kb += $1 } END { printf "%d", kb / 1024 }'
}
sent() { [ "$("$espalier" jobs --server "$server" --json | jq '.jobs[0].progress.running')" -ge "$calls" ]; }

start_scheduler "$work/calls.json" 0
start_worker w1
began=$(date +%s.%N)
until_so 300 sent
echo "$calls calls in flight after $(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }') s, start of the worker included"
echo '| seconds | MB resident |'
echo '|---|---|'
most=0
for ((second = 0; second <= seconds; second += 10)); do
  now=$(resident)
  [ "$now" -le "$most" ] || most=$now
  echo "| $second | $now |"
  [ "$second" -ge "$seconds" ] || sleep 10
done
sent || fail 'calls have ended meanwhile'
echo "at most $most MB"
