#!/bin/sh
# The whole scheduler on the shape that Bistro's own benchmark has: HOSTS hosts of 25 shards, two tasks at a time on a host, one on a shard, round
# robin, tasks of 5 s on average that the scheduler itself imagines (--runner simulated). Per number of jobs: tasks done per second of those that the
# limits allow, cores used, and memory. Statuses in memory, as Bistro's benchmark has them, and in SQLite.
# Usage: scheduler/benchmark/beside-bistro.sh [HOSTS [SECONDS]]
set -eu
hosts=${1:-12000}
seconds=${2:-30}
port=${PORT:-18080}
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
work=$(mktemp -d)
pid=
finish() {
  [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
  [ -z "$pid" ] || wait "$pid" 2>/dev/null || :
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

done_tasks() {
  curl -fs "http://127.0.0.1:$port/api/v1/jobs" | jq '[.jobs[].progress.done] | add // 0'
}

# Clock ticks of processor time of the scheduler so far.
ticks() {
  awk '{ print $14 + $15 }' "/proc/$pid/stat"
}

now() {
  date +%s.%N
}

possible=$(awk -v h="$hosts" 'BEGIN { print h * 2 / 5 }')
echo "| jobs | shards | statuses | possible per second | done per second | part | cores | resident memory |"
echo "|---|---|---|---|---|---|---|---|"
for store in memory sqlite; do
  for jobs in 1 5 10; do
    {
      cat <<CONFIG
{"bistro_settings": {
   "nodes": {"levels": ["host", "shard"], "node_sources": [
     {"source": "range_label", "prefs": {"parent_level": "instance", "start": 1, "end": $hosts, "format": "h{i}"}},
     {"source": "range_label", "prefs": {"parent_level": "host", "start": 1, "end": 25}}]},
   "resources": {"host": {"tasks": {"default": 1, "limit": 2}}, "shard": {"one": {"default": 1, "limit": 1}}}}
CONFIG
      job=0
      while [ "$job" -lt "$jobs" ]; do
        job=$((job + 1))
        echo ",\"bistro_job->job$job\": {\"owner\": \"benchmark\"}"
      done
      echo "}"
    } >"$work/config.json"
    rm -rf "$work/data"
    "$home/espalier" scheduler --config "$work/config.json" --data-dir "$work/data" --status-store "$store" \
      --runner simulated --test-task-duration 5000 --http "127.0.0.1:$port" 2>"$work/log" &
    pid=$!
    # The first tasks of all started at the same time: let that wear off.
    count=0
    until [ "${count:-0}" -gt "$((hosts * 8))" ]; do
      kill -0 "$pid"
      sleep 0.5
      count=$(done_tasks 2>/dev/null) || :
    done
    from=$(now) first=$(done_tasks) used=$(ticks)
    sleep "$seconds"
    to=$(now) last=$(done_tasks)
    awk -v from="$from" -v to="$to" -v first="$first" -v last="$last" -v used="$used" -v ticks="$(ticks)" -v hz="$(getconf CLK_TCK)" \
      -v rss="$(awk '/VmHWM/ { print $2 / 1024 }' "/proc/$pid/status")" -v possible="$possible" -v jobs="$jobs" -v shards="$((hosts * 25))" -v store="$store" 'BEGIN {
        rate = (last - first) / (to - from)
        printf "| %d | %d | %s | %.0f | %.0f | %.1f %% | %.2f | %.0f MB |\n", jobs, shards, store, possible, rate, 100 * rate / possible, (ticks - used) / hz / (to - from), rss }'
    kill "$pid"
    wait "$pid" || :
    pid=
  done
done
