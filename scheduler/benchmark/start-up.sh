#!/bin/sh
# P11 and P12 in docs/benchmarks.md: processor time of short commands, beside that of Java itself, and of a scheduler until it
# answers and at rest, with its resident memory. A line per figure: name, median, lowest and highest of ROUNDS.
# Usage: scheduler/benchmark/start-up.sh [ROUNDS]
set -eu
rounds=${1:-7}
port=${PORT:-18081}
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d)
pid=
finish() {
  [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
  [ -z "$pid" ] || wait "$pid" 2>/dev/null || :
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# used COMMAND...: seconds of processor time of a command and its children
used() {
  (
    "$@" >/dev/null 2>&1 </dev/null || :
    # The second line is that of the children of this shell. A pipe would begin another one.
    times >"$work/times"
    awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%.2f\n", u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$work/times"
  )
}

# figure NAME: of the numbers on standard input
figure() {
  sort -n | awk -v name="$1" '{ v[NR] = $1 } END { printf "| %s | %s | %s to %s |\n", name, v[int((NR + 1) / 2)], v[1], v[NR] }'
}

# measure NAME COMMAND...
measure() {
  name=$1
  shift
  round=0
  while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    used "$@"
  done | figure "$name"
}

cat >"$work/one.json" <<'CONFIG'
{"bistro_settings": {
   "nodes": {"levels": ["node"], "node_sources": [{"source": "manual", "prefs": {"one": []}}]},
   "resources": {"node": {"slots": {"default": 1, "limit": 1}}}},
 "bistro_job->nothing": {"owner": "benchmark", "command": ["/bin/true"], "status_from": "exit_code"}}
CONFIG
cd "$work"
"$home/espalier" run one.json --data-dir data >/dev/null 2>&1 # builds, warms the class-data archive

echo '| seconds of processor time | median | range |'
echo '|---|---|---|'
measure 'java -version' "$java" -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -version
measure 'espalier --version' "$home/espalier" --version
measure 'espalier --help' "$home/espalier" --help
measure 'espalier run with nothing to do' "$home/espalier" run one.json --data-dir data

ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  rm -rf "$work/daemon"
  "$home/espalier" scheduler --config one.json --data-dir daemon --http "127.0.0.1:$port" 2>log &
  pid=$!
  until curl -fs "http://127.0.0.1:$port/healthz" >/dev/null; do
    kill -0 "$pid" || {
      cat log
      exit 1
    }
    sleep 0.02
  done
  ticks >>ready
  if [ "$round" -lt "$rounds" ]; then
    kill "$pid"
    wait "$pid" || :
  fi
done
awk -v hz="$(getconf CLK_TCK)" '{ printf "%.2f\n", $1 / hz }' ready | figure 'espalier scheduler until it answers'
measure 'espalier jobs' "$home/espalier" jobs --server "127.0.0.1:$port"
sleep 60
before=$(ticks)
sleep 60
after=$(ticks)
awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "| a scheduler at rest, per cent of a core | %.2f | over one minute |\n", t / hz / 60 * 100 }'
awk '/^VmRSS/ { printf "| resident memory of a scheduler at rest, MB | %.0f | |\n", $2 / 1024 }' "/proc/$pid/status"
