#!/bin/sh
# "Limits that follow probes" in docs/benchmarks.md: processor time of a scheduler at rest whose limits follow the values of many
# hosts, beside one without the probe. Each value is new each time, and one in ten is bad.
# Usage: scheduler/benchmark/probes.sh [HOSTS [SECONDS]]
set -eu
hosts=${1:-10000}
seconds=${2:-120}
port=${PORT:-18082}
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
work=$(mktemp -d)
pid=
writer=
finish() {
  [ -z "$writer" ] || kill "$writer" 2>/dev/null || :
  [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
  [ -z "$pid" ] || wait "$pid" 2>/dev/null || :
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
cd "$work"

# values SEED: a value of each host, replaced as a whole
values() {
  awk -v n="$hosts" -v seed="$1" 'BEGIN {
    srand(seed); print "name,value"
    for (i = 1; i <= n; i++) printf "h%d,%.2f\n", i, rand() < 0.1 ? 9 + rand() : rand()
  }' >lag.new
  mv lag.new lag.csv
}

# config PROBES FOLLOWS
config() {
  cat >site.json <<CONFIG
{"bistro_settings": {
   "nodes": {"levels": ["host"], "node_sources": [{"source": "range_label",
     "prefs": {"parent_level": "instance", "start": 1, "end": $hosts, "format": "h{i}"}}]},
   $1
   "resources": {"host": {"slots": {"default": 1, "limit": 8 $2}}}},
 "bistro_job->nothing": {"owner": "benchmark", "enabled": false, "command": ["/bin/true"]}}
CONFIG
}

ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

# measure NAME: a line with what a scheduler uses
measure() {
  rm -rf data
  "$home/espalier" scheduler --runner local --config site.json --data-dir data --http "127.0.0.1:$port" 2>log &
  pid=$!
  until curl -fs "http://127.0.0.1:$port/healthz" >/dev/null; do
    kill -0 "$pid" || {
      cat log
      exit 1
    }
    sleep 0.1
  done
  sleep 60 # until what is used often is compiled
  before=$(ticks)
  sleep "$seconds"
  after=$(ticks)
  curl -fs "http://127.0.0.1:$port/api/v1/probes" | head -c 400 >shown
  kill "$pid"
  wait "$pid" || :
  pid=
  awk -v name="$1" -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" -v s="$seconds" \
    'BEGIN { printf "| %s | %.2f |\n", name, t / hz / s * 100 }'
}

echo '| | per cent of a core |'
echo '|---|---|'
config '' ''
measure "$hosts hosts without a probe"
values 1
(
  seed=1
  while :; do
    sleep 10
    seed=$((seed + 1))
    values "$seed"
  done
) &
writer=$!
config '"probes": {"lag": {"level": "host", "source": "file", "prefs": {"path": "lag.csv"}, "every": "10s", "bad_above": 5,
   "good_below": 2}},' ', "follows": ["lag"]'
measure "$hosts hosts, each with a value every 10 s"
grep -o '"fresh":[0-9]*' shown || cat shown
