#!/bin/sh
# P13 in docs/benchmarks.md: N tasks of no work through `espalier run`, in batches of 200 (statuses, logs and events kept,
# durably), and beside them the processes alone: the same program as often, each with a file of 200 lines.
# Usage: scheduler/benchmark/batched-tasks.sh [N [ROUNDS]]
set -eu
tasks=${1:-200000}
rounds=${2:-3}
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/done.sh" <<'TASK'
#!/bin/sh
exec sed 's/{"node":\("[^"]*"\).*/{"node":\1,"status":"done"}/' "$1" >"$2"
TASK
chmod +x "$work/done.sh"
cat >"$work/batches.json" <<CONFIG
{"bistro_settings": {
   "nodes": {"levels": ["task"], "node_sources": [
     {"source": "range_label", "prefs": {"parent_level": "instance", "start": 1, "end": $tasks}}]},
   "resources": {"instance": {"slots": {"default": 1, "limit": 1600}}}},
 "bistro_job->none": {"owner": "benchmark", "command": ["./done.sh"], "batch": {"max": 200}}}
CONFIG
for line in $(seq 200); do echo "{\"node\":\"instance__$line\",\"attempt\":1,\"path_to_node\":[]}"; done >"$work/lines"

# seconds COMMAND...: how long it takes
seconds() {
  begin=$(date +%s%N)
  "$@" >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
  end=$(date +%s%N)
  echo "$begin $end" | awk '{printf "%.3f", ($2 - $1) / 1e9}'
}

seconds "$home/espalier" --version >/dev/null # builds, warms the class-data archive
round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  alone=$(seconds sh -c "seq $((tasks / 200)) | xargs -P 8 -I {} '$work/done.sh' '$work/lines' '$work/status'")
  whole=$(seconds "$home/espalier" run "$work/batches.json" --data-dir "$work/data$round")
  idle=$(seconds "$home/espalier" run "$work/batches.json" --data-dir "$work/data$round")
  rm -rf "$work/data$round"
  echo "$tasks $alone $whole $idle" | awk '{
    printf "the processes alone %.0f/s; espalier run %.0f/s (%.0f/s without the %.1f s of a run with nothing to do)\n",
      $1 / $2, $1 / $3, $1 / ($3 - $4), $4}'
done
