#!/bin/bash
# "Twelve schedulers, each with its part" in docs/benchmarks.md: a real MariaDB on loopback fills a table of ROWS shards by
# itself. Of the twelve schedulers that divide it (--shard I/12), the first PARTS run, one after the other, and ask only for
# their own part (push_down). How many rows each was sent, the server counts. With all twelve, these must be all rows, each
# once. Up to 9,000,000 rows, a scheduler without push_down follows; beyond, one fetch cannot have them all.
# With REST, each scheduler lives on for so many seconds, and its memory is looked at again.
# Usage: scheduler/benchmark/push-down.sh [ROWS [PARTS [REST]]]
# 10^8 rows take 6 GB of disk in TMPDIR. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
rows=${1:-1000000}
parts=${2:-12}
rest=${3:-0}
here=$(cd "$(dirname "$0")" && pwd -P)
PATH=$PATH:/usr/local/sbin:/usr/sbin
# shellcheck source=config-examples/common.sh
. "$here/../../config-examples/common.sh"
needs 'mariadb-server-core mariadb-client-core curl jq perl' mariadbd mariadb mariadb-install-db curl jq perl
umask 077

# As many hosts as shards on each.
hosts=$(awk -v rows="$rows" 'BEGIN { print int(sqrt(rows)) }')
each=$(((rows + hosts - 1) / hosts))

db() { mariadb --no-defaults --socket="$work/db.sock" --user="$(id -un)" --batch --skip-column-names "$@"; }
milliseconds() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# start_server: with no wish for safety, which generated rows do not need
start_server() {
  local as_root=()
  [ "$(id -u)" != 0 ] || as_root=(--user=root)
  mkdir "$work/db.tmp"
  TMPDIR="$work/db.tmp" mariadb-install-db --no-defaults "${as_root[@]}" --datadir="$work/db" --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" >"$work/install.err" 2>&1
  port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
  mariadbd --no-defaults "${as_root[@]}" --bind-address=127.0.0.1 --skip-name-resolve --datadir="$work/db" \
    --tmpdir="$work/db.tmp" --port="$port" --socket="$work/db.sock" --pid-file="$work/db.pid" \
    --innodb-buffer-pool-size=512M --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --userstat=1 \
    >>"$work/db.err" 2>&1 </dev/null &
  running+=($!)
  until_so 60 db -e 'SELECT 1' >/dev/null 2>&1
}

fill() {
  local from to step=1000000
  head -c 18 /dev/urandom | base64 >"$work/password"
  db <<SQL
CREATE DATABASE fleet CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE fleet.hosts (name VARCHAR(20) PRIMARY KEY);
CREATE TABLE fleet.shards (host VARCHAR(20), name VARCHAR(30), PRIMARY KEY (host, name));
CREATE USER reader@'127.0.0.1' IDENTIFIED BY '$(<"$work/password")';
GRANT SELECT ON fleet.* TO reader@'127.0.0.1';
USE fleet;
INSERT INTO hosts SELECT CONCAT('h', LPAD(seq, 5, 0)) FROM seq_0_to_$((hosts - 1));
SQL
  for ((from = 0; from < rows; from += step)); do
    to=$((from + step < rows ? from + step : rows))
    db fleet -e "INSERT INTO shards SELECT host, CONCAT(host, '-', LPAD(seq % $each, 5, 0))
      FROM (SELECT seq, CONCAT('h', LPAD(seq DIV $each, 5, 0)) AS host FROM seq_${from}_to_$((to - 1))) AS all_of_it"
  done
}

# config PREFERENCE: the preference is that of the source of shards
config() {
  cat >"$work/fleet.json" <<CONFIG
{"bistro_settings": {
   "nodes": {"levels": ["host", "shard"], "node_sources": [
     {"source": "sql", "prefs": {"parent_level": "instance", "url": "jdbc:mysql://127.0.0.1:$port/fleet",
       "user": "reader", "password_file": "password", "query": "SELECT name FROM hosts"}},
     {"source": "sql", "prefs": {"parent_level": "host", "url": "jdbc:mysql://127.0.0.1:$port/fleet", $1
       "user": "reader", "password_file": "password",
       "query": "SELECT name, host AS parent FROM shards WHERE host IN ({parents})"}}]},
   "resources": {"host": {"slots": {"default": 1, "limit": 2}}}},
 "bistro_job->nothing": {"owner": "benchmark", "enabled": false, "command": ["/bin/true"]}}
CONFIG
}

# tasks SERVER: how many tasks it has; fails while it has no tree
tasks() { curl -fs "http://$1/api/v1/summary" | jq -e '.jobs[0].progress.total | select(. > 0)'; }
megabytes() { awk -v of="$1:" '$1 == of { printf "%d", $2 / 1024 }' "/proc/$scheduler/status"; }

# measure SHARD NOTE: a line of the table. Sets sent and has.
measure() {
  local began took server address
  db -e 'FLUSH USER_STATISTICS'
  : >"$work/scheduler.err" # otherwise the address of the one before it may be found
  began=$(milliseconds)
  "$espalier" scheduler --config "$work/fleet.json" --shard "$1" --runner local --http 127.0.0.1:0 \
    --data-dir "$work/data" 2>"$work/scheduler.err" &
  scheduler=$!
  running+=("$scheduler")
  server=$(printed "$work/scheduler.err" 'listening on')
  address=${server#http://}
  until_so 900 tasks "$address" >/dev/null
  took=$(($(milliseconds) - began))
  has=$(tasks "$address")
  sent=$(db -e "SELECT rows_sent FROM information_schema.user_statistics WHERE user = 'reader'")
  awk -v stat="$(cut -d ')' -f 2- "/proc/$scheduler/stat")" -v hz="$(getconf CLK_TCK)" -v ms="$took" -v shard="$1" \
    -v note="$2" -v has="$has" -v sent="$sent" -v most="$(megabytes VmHWM)" 'BEGIN {
      split(stat, of, " ")
      printf "| %s%s | %d | %d | %.1f | %.1f | %d |", shard, note, sent, has, ms / 1000, (of[12] + of[13]) / hz, most }'
  if [ "$rest" -gt 0 ]; then
    sleep "$rest"
    printf ' %d |' "$(megabytes VmRSS)"
  fi
  echo
  killed "$scheduler"
  rm -rf "$work/data"
  [ "$((sent - hosts - has))" -ge 0 ] && [ "$((sent - hosts - has))" -lt 100 ] ||
    [ -n "$2" ] || fail "scheduler $1 has $has tasks and was sent $sent rows, $hosts of them hosts"
}

start_server
began=$(milliseconds)
fill
echo "$rows shards on $hosts hosts, filled in $((($(milliseconds) - began) / 1000)) s," \
  "$(du -sm "$work/db" | cut -f 1) MB on disk; load $(cut -d ' ' -f 1-3 /proc/loadavg)"
echo
after=''
line=''
[ "$rest" = 0 ] || after=" MB $rest s later |" line='---|'
echo "| scheduler | rows sent to it | its tasks | seconds until its tree is in force | seconds of processor time | most MB |$after"
echo "|---|---|---|---|---|---|$line"
config '"push_down": "one_parent",'
all=0
for ((part = 0; part < parts; part++)); do
  measure "$part/12" ''
  all=$((all + has))
done
if [ "$parts" = 12 ] && [ "$all" != "$rows" ]; then fail "the twelve have $all tasks"; fi
if [ "$rows" -le 9000000 ]; then
  config ''
  measure 0/12 ' without push_down'
fi
echo
[ "$parts" != 12 ] || echo "the twelve have $all tasks in all, each row of the table once"
echo 'all of it ended well'
