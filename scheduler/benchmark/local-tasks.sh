#!/bin/sh
# P5: /bin/true N times, through `espalier run` (statuses, logs and events kept) and through `xargs -P 64`.
# Usage: scheduler/benchmark/local-tasks.sh [N]
set -eu
tasks=${1:-3000}
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/true.json" <<CONFIG
{"bistro_settings": {
   "nodes": {"levels": ["task"], "node_sources": [
     {"source": "range_label", "prefs": {"parent_level": "instance", "start": 1, "end": $tasks}}]},
   "resources": {"instance": {"slots": {"default": 1, "limit": 64}}}},
 "bistro_job->true": {"owner": "benchmark", "command": ["/bin/true"], "status_from": "exit_code"}}
CONFIG

# seconds COMMAND...: how long it takes
seconds() {
  begin=$(date +%s%N)
  "$@" >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
  end=$(date +%s%N)
  echo "$begin $end" | awk '{printf "%.2f", ($2 - $1) / 1e9}'
}

seconds "$home/espalier" --version >/dev/null # builds, warms the class-data archive
for round in 1 2 3; do
  xargs_took=$(seconds sh -c "seq $tasks | xargs -P 64 -n 1 /bin/true")
  start=$(seconds "$home/espalier" run "$work/true.json" --data-dir "$work/data$round")
  idle=$(seconds "$home/espalier" run "$work/true.json" --data-dir "$work/data$round")
  echo "$tasks $xargs_took $start $idle" | awk '{
    printf "xargs %.0f/s, espalier run %.0f/s (%.0f/s without the %.1f s that a run with nothing to do takes)\n",
      $1 / $2, $1 / $3, $1 / ($3 - $4), $4}'
done
