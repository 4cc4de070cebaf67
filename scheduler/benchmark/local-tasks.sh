#!/bin/sh
# P5 in docs/benchmarks.md: N times /bin/true through `espalier run` (statuses, logs and events kept, durably), and through the habits it is
# to replace: `xargs -P 64`, GNU parallel, and a bare C loop around posix_spawn and waitpid with two in flight, which is
# the most this machine can do. What is not installed (parallel, cc) is left out and said.
# Usage: scheduler/benchmark/local-tasks.sh [N [ROUNDS]]
set -eu
tasks=${1:-5000}
rounds=${2:-5}
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
cat >"$work/loop.c" <<'C'
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
int main(int argc, char **argv) {
  long left = atol(argv[1]), flying = 0;
  char *args[] = {"/bin/true", 0};
  pid_t pid;
  int status;
  while (left > 0 || flying > 0) {
    while (left > 0 && flying < 2) {
      if (posix_spawn(&pid, args[0], 0, 0, args, environ)) return 1;
      left--, flying++;
    }
    if (wait(&status) < 0) return 1;
    flying--;
  }
  return 0;
}
C

# seconds COMMAND...: how long it takes
seconds() {
  begin=$(date +%s%N)
  "$@" >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
  end=$(date +%s%N)
  echo "$begin $end" | awk '{printf "%.3f", ($2 - $1) / 1e9}'
}

loop=
if cc -O2 -o "$work/loop" "$work/loop.c" 2>/dev/null; then loop=$work/loop; else echo "no C compiler: no bare loop"; fi
parallel=
if command -v parallel >/dev/null; then parallel=parallel; else echo "no GNU parallel"; fi

seconds "$home/espalier" --version >/dev/null # builds, warms the class-data archive
round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  xargs_took=$(seconds sh -c "seq $tasks | xargs -P 64 -n 1 /bin/true")
  whole=$(seconds "$home/espalier" run "$work/true.json" --data-dir "$work/data$round")
  idle=$(seconds "$home/espalier" run "$work/true.json" --data-dir "$work/data$round")
  parallel_took=0 loop_took=0
  # GNU parallel is slow enough for a fifth of the tasks.
  [ -z "$parallel" ] || parallel_took=$(seconds sh -c "seq $((tasks / 5)) | parallel --will-cite -j64 /bin/true")
  [ -z "$loop" ] || loop_took=$(seconds "$loop" "$tasks")
  echo "$tasks $xargs_took $whole $idle $parallel_took $loop_took" | awk '{
    printf "xargs %.0f/s, GNU parallel %.0f/s, C loop %.0f/s; espalier run %.0f/s (%.0f/s without the %.1f s of a run with nothing to do)\n",
      $1 / $2, ($5 > 0 ? $1 / 5 / $5 : 0), ($6 > 0 ? $1 / $6 : 0), $1 / $3, $1 / ($3 - $4), $4}'
done
