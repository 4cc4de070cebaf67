#!/bin/bash
# Rehearses migration.json: a schema change on three database servers with a replica each, with all that protects them.
#
#   sharded-mysql.sh [SCHEMAS]     so many on each server (12); with 200 it takes about a quarter of an hour
#
# Starts six MariaDB servers, a receiver of notifications, a scheduler and two workers on loopback, and lets them go
# through a night: a window that opens, closes and opens again, a first schema, a server that refuses the change, a replica
# that falls behind, a brake, a scheduler and a worker that are killed. In the end it looks at every row, and checks from
# what the tasks wrote themselves that no limit was passed and that nothing began when nothing should.
# Leaves nothing behind; ports are any that are free. Exit code: 0 all is right, 1 it is not, 77 something is missing on
# this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs 'mariadb-server-core mariadb-client-core python3 curl jq perl' \
  mariadbd mariadb mariadb-install-db python3 curl jq perl

hosts=(db1 db2 db3)
schemas=${1:-12} # on each host, and one that is retired
rows=2000        # in each schema
all=$((${#hosts[@]} * schemas))
export TZ=UTC
umask 077 # there are passwords in some of these files
site=$work/site
told=$work/notifications
ledger=$site/ledger.txt rules=$work/rules
declare -A mariadb_of=() port=()

say() { printf '\n--- %4.1f s: %s\n' "$(awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { print to - from }')" "$*"; }
began=$EPOCHREALTIME

# fail WHY: with what the scheduler and the tasks have to say
fail() {
  echo "FAILED: $*" >&2
  {
    on jobs || true
    on tasks migrate --status error_backoff || true
    on logs migrate --stream stderr --limit 20 || true
    tail -n 5 "$told" "$work"/{scheduler,w1,w2,receiver}.err
  } >&2
  exit 1
}

# ---- Three servers with a replica each -------------------------------------------------------------------------------

# start_server NAME
start_server() {
  # A server that starts deletes the temporary tables of all servers in its directory for them.
  mkdir -p "$work/$1.tmp"
  mariadbd --defaults-file="$work/server.cnf" --datadir="$work/$1" --port="${port[$1]}" --socket="$work/$1.sock" \
    --tmpdir="$work/$1.tmp" --pid-file="$work/$1.pid" --server-id="${port[$1]}" >>"$work/$1.err" 2>&1 </dev/null &
  mariadb_of[$1]=$!
  running+=($!)
}

# admin NAME: runs the SQL of its standard input. The server knows this account by the socket, it has no password.
admin() {
  mariadb --no-defaults --socket="$work/$1.sock" --user="$(id -un)" --batch --skip-column-names
}

answers() {
  kill -0 "${mariadb_of[$1]}" || fail "$1 has ended"
  admin "$1" <<<'SELECT 1' >/dev/null 2>&1
}

make_servers() {
  local host name free
  {
    echo '[mysqld]'
    [ "$(id -u)" != 0 ] || echo 'user = root'
    echo 'bind_address = 127.0.0.1'
    echo 'skip_name_resolve = ON'
    echo 'innodb_log_file_size = 16M'
    echo 'innodb_buffer_pool_size = 32M'
    echo 'log_bin = binlog'
    echo 'binlog_format = ROW'
    echo 'skip_slave_start = ON'
  } >"$work/server.cnf"
  mkdir "$work/install.tmp"
  TMPDIR="$work/install.tmp" mariadb-install-db --defaults-file="$work/server.cnf" --datadir="$work/empty" \
    --skip-test-db --skip-log-bin --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" >"$work/install.err" 2>&1 ||
    fail 'mariadb-install-db'
  # All are held at once, so that they differ.
  read -ra free < <(perl -MIO::Socket::INET -e '
    my @held = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 6;
    print join(" ", map { $_->sockport } @held), "\n"')
  for host in "${hosts[@]}"; do
    for name in "$host" "${host}_replica"; do
      port[$name]=${free[${#port[@]}]}
      cp -r "$work/empty" "$work/$name"
      start_server "$name"
    done
  done
  for name in "${!port[@]}"; do until_so 60 answers "$name"; done
}

# The SQL that fills a host. A trigger counts how often anybody changes a row: the tasks do not know of it.
data_of() {
  local i schema
  for ((i = 1; i <= schemas + 1; i++)); do
    schema=$(printf 'shop_%03d' "$i")
    cat <<SQL
CREATE DATABASE $schema;
USE $schema;
CREATE TABLE orders (id BIGINT PRIMARY KEY, total DECIMAL(10, 2) NOT NULL, touched INT NOT NULL DEFAULT 0) ENGINE = InnoDB;
CREATE TRIGGER orders_touched BEFORE UPDATE ON orders FOR EACH ROW SET NEW.touched = OLD.touched + 1;
SQL
    awk -v rows="$rows" -v seed="$RANDOM" 'BEGIN {
      srand(seed)
      printf "INSERT INTO orders (id, total) VALUES"
      for (i = 1; i <= rows; i++) {
        id += 1 + int(rand() * 9)
        printf "%s (%d, %.2f)", (i > 1 ? "," : ""), id, rand() * 10000
      }
      print ";"
    }'
  done
}

new_password() { head -c 18 /dev/urandom | base64 | tr '+/' '-_'; }

# Accounts may do what they must. Here passwords travel by standard input and files of mode 600.
fill_servers() {
  local reader migrator monitor replicator host pid i filling=()
  reader=$(new_password) migrator=$(new_password) monitor=$(new_password) replicator=$(new_password)
  for host in "${hosts[@]}"; do
    {
      data_of "$host"
      cat <<SQL
CREATE USER migrator@127.0.0.1 IDENTIFIED BY '$migrator';
-- MySQL wants INSERT and CREATE too for an ALTER TABLE.
GRANT SELECT, UPDATE, ALTER, INSERT, CREATE ON \`shop\\_%\`.* TO migrator@127.0.0.1;
CREATE DATABASE fleet;
CREATE TABLE fleet.heartbeat (at TIMESTAMP(6) NOT NULL);
INSERT INTO fleet.heartbeat VALUES (NOW(6));
CREATE USER monitor@127.0.0.1 IDENTIFIED BY '$monitor';
GRANT SELECT, UPDATE ON fleet.heartbeat TO monitor@127.0.0.1;
CREATE USER replicator@127.0.0.1 IDENTIFIED BY '$replicator';
GRANT REPLICATION SLAVE ON *.* TO replicator@127.0.0.1;
SQL
    } | admin "$host" &
    filling+=($!)
    admin "${host}_replica" <<SQL
CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${port[$host]}, MASTER_USER = 'replicator',
  MASTER_PASSWORD = '$replicator', MASTER_USE_GTID = slave_pos;
SQL
  done
  for pid in "${filling[@]}"; do wait "$pid"; done
  for host in "${hosts[@]}"; do admin "${host}_replica" <<<'START SLAVE'; done

  # The catalogue of the fleet is on the first.
  {
    cat <<SQL
USE fleet;
CREATE TABLE host (name VARCHAR(60) PRIMARY KEY);
CREATE TABLE shard (host VARCHAR(60), name VARCHAR(60), retired BOOLEAN NOT NULL, PRIMARY KEY (host, name));
CREATE USER reader@127.0.0.1 IDENTIFIED BY '$reader';
GRANT SELECT ON fleet.* TO reader@127.0.0.1;
SQL
    for host in "${hosts[@]}"; do
      echo "INSERT INTO host VALUES ('$host');"
      for ((i = 1; i <= schemas + 1; i++)); do
        printf "INSERT INTO shard VALUES ('%s', 'shop_%03d', %d);\n" "$host" "$i" $((i > schemas))
      done
    done
  } | admin "${hosts[0]}"

  # What the scheduler, the workers and the probe need, beside the configuration.
  mkdir "$site"
  cp "$here"/{add-column,backfill,lag,noted}.sh "$site"
  echo "$reader" >"$site/reader.password"
  new_password >"$site/hook.key"
  {
    printf '[client]\nuser = migrator\npassword = "%s"\n' "$migrator"
    printf '[mysql]\nconnect-timeout = 5\n'
    for host in "${hosts[@]}"; do
      printf '[client_%s]\nhost = 127.0.0.1\nport = %d\n' "$host" "${port[$host]}"
    done
  } >"$site/clients.cnf"
  {
    printf '[client]\nuser = monitor\npassword = "%s"\n' "$monitor"
    for host in "${hosts[@]}"; do
      printf '[client_%s]\nhost = 127.0.0.1\nport = %d\n' "$host" "${port[$host]}"
      printf '[client_%s_replica]\nhost = 127.0.0.1\nport = %d\n' "$host" "${port[${host}_replica]}"
    done
  } >"$site/monitor.cnf"
}

# followed HOST: whether its replica has everything
followed() {
  local position
  position=$(admin "$1" <<<'SELECT @@gtid_binlog_pos')
  [ "$(admin "$1_replica" <<<"SELECT MASTER_GTID_WAIT('$position', 0)")" = 0 ]
}

# facts SERVER FIRST LAST EXPRESSIONS: a line for each of these schemas, with these facts of its orders
facts() {
  local i
  for ((i = $2; i <= $3; i++)); do
    printf "SELECT '%s.shop_%03d', %s FROM shop_%03d.orders;\n" "$1" "$i" "$4" "$i"
  done | admin "$1"
}

original='COUNT(*), SUM(CRC32(CONCAT_WS(" ", id, total)))'

# ---- The night -------------------------------------------------------------------------------------------------------

# zone SECONDS: the time zone in which it is ten at night at that second since 1970
zone() {
  local ahead=$(((22 * 3600 - $1 % 86400 + 86400) % 86400)) sign=+
  [ "$ahead" -le 43200 ] || { sign=- ahead=$((86400 - ahead)); }
  printf '%s%02d:%02d:%02d' "$sign" $((ahead / 3600)) $((ahead / 60 % 60)) $((ahead % 60))
}

# configure SECONDS: the configuration of this fleet. Its window opens at that second for a minute, and ten seconds
# later until five in the morning. What takes minutes elsewhere takes seconds here.
configure() {
  local again=$(($1 + 70))
  "$espalier" convert "$here/migration.json" --to json |
    sed "s/catalogue\.example:3306/127.0.0.1:${port[db1]}/" |
    jq --arg receiver "http://127.0.0.1:$receiver" --arg key "$site/hook.key" --arg first "22:00-22:01 $(zone "$1")" --arg second "22:00-05:00 $(zone "$again")" '
      .bistro_settings |= (
        .nodes.node_sources[].prefs.refresh_sec = 2
        | .probes.lag += {"every": "1s", "max_age": "20s"}
        | .notifications.ops.webhook += {"url": $receiver, "secret_file": $key, "allow_private": true})
      | .["bistro_job->migrate"] |= (
        .windows = [$first, $second]
        | .rollout.soak = "2s"
        | .steps[].command |= ["./noted.sh"] + .)' >"$work/migration.json"
  mv "$work/migration.json" "$site" # at once: the scheduler may be reading it
  printf 'window %d %d\n' "$1" $(($1 + 60)) "$again" $((again + 7 * 3600)) >"$rules"
}

on() { "$espalier" "$@" --server "$server"; }
knows_its_nodes() { on jobs --json 2>"$work/asking.err" | jq -e --argjson all "$all" '.jobs[0].progress.total == $all' >/dev/null; }
is_told() { jq -e --slurp "[.[] | select($2)] | length >= $1" "$told" >/dev/null; }
stage_is() { on jobs --json | jq -e --argjson stage "$1" '.jobs[0].rollout.stage == $stage' >/dev/null; }
is_done() { on jobs --json 2>/dev/null | jq -e --argjson least "$1" '.jobs[0].progress.done >= $least' >/dev/null; }
begun() { [ "$(grep -c ' + ' "$ledger")" -ge "$1" ]; }
quiet() { echo "quiet $*" >>"$rules"; }

# The tasks that have begun and not ended: process and node
open_tasks() { awk '$2 == "+" { open[$3] = $4 } $2 == "-" { delete open[$3] } END { for (pid in open) print pid, open[pid] }' "$ledger"; }

progress() { on jobs --json | jq --arg what "$1" '.jobs[0].progress[$what]'; }
something_runs() { [ "$(progress running)" -gt 0 ]; }
nothing_runs() { [ "$(progress running)" = 0 ]; }

# limit_is HOST LIMIT: whether that is what the probe has left of its limit, and how much of it is in use, if that is given
limit_is() {
  on node show host "$1" --json | jq -e --argjson limit "$2" --argjson used "${3:-null}" \
    '.resources[] | select(.resource == "migrations") | .limit == $limit and ($used == null or .used == $used)' >/dev/null
}

# behind HOST: how many seconds its replica is, as the servers say
behind() {
  awk -v host="$(admin "$1" <<<'SELECT UNIX_TIMESTAMP(at) FROM fleet.heartbeat')" \
    -v replica="$(admin "$1_replica" <<<'SELECT UNIX_TIMESTAMP(at) FROM fleet.heartbeat')" 'BEGIN { printf "%.1f\n", host - replica }'
}

# throttle HOST: from now on its replica needs four milliseconds for each row that a task changes: some 240 rows a second,
# where two tasks change up to 700. Triggers of a replica do not run for changes that come by replication, unless told; the
# one of the shop, which runs too then, counts from the same value to the same value.
throttle() {
  local i
  {
    echo 'SET GLOBAL slave_run_triggers_for_rbr = ENFORCE; STOP SLAVE SQL_THREAD;'
    for ((i = 1; i <= schemas; i++)); do
      printf 'CREATE TRIGGER shop_%03d.slow BEFORE UPDATE ON shop_%03d.orders FOR EACH ROW SET @slow = SLEEP(0.004);\n' "$i" "$i"
    done
    echo 'START SLAVE SQL_THREAD;'
  } | admin "$1_replica"
}

unthrottle() {
  admin "$1_replica" <<<'STOP SLAVE SQL_THREAD; SET GLOBAL slave_run_triggers_for_rbr = NO; START SLAVE SQL_THREAD;'
}

# samples HOST: writes when its replica was how far behind, twice a second, until it is killed
samples() {
  while true; do
    echo "$EPOCHREALTIME $(behind "$1")"
    sleep 0.5
  done
}

say "three servers with a replica each; on each server $schemas schemas with $rows rows, and one that is retired"
make_servers
fill_servers
for host in "${hosts[@]}"; do facts "$host" 1 $((schemas + 1)) "$original" >>"$work/before"; done
for host in "${hosts[@]}"; do until_so 60 followed "$host"; done
touch "$told" "$ledger"
"$here/receiver.py" "$site/hook.key" "$told" >"$work/receiver.out" 2>"$work/receiver.err" &
receiver_process=$!
running+=("$receiver_process")
receiver=$(printed "$work/receiver.out" 'listening on')

configure $(($(date +%s) + 3600)) # until all are there
start_scheduler "$site/migration.json" 0
until_so 60 knows_its_nodes
for name in w1 w2; do start_worker "$name" --command-dir "$site"; done
are_healthy() { on workers --json | jq -e '[.workers[] | select(.state == "healthy")] | length == 2' >/dev/null; }
until_so 60 are_healthy
opens=$(($(date +%s) + 15))
configure "$opens"
say "the window opens $((opens - $(date +%s))) s from now; until then nothing starts"
on jobs

until_so 90 begun 1
canary=$(awk '{ print $4; exit }' "$ledger") canary_host=${canary%%.*}
for host in "${hosts[@]}"; do [ "$host" = "$canary_host" ] || bad=$host; done
admin "$bad" <<<"REVOKE ALTER ON \`shop\\_%\`.* FROM migrator@127.0.0.1"
say "$canary goes first; meanwhile somebody takes the right to change tables away on $bad"
until_so 60 is_told 1 '.kind == "rollout_stage_passed"'

until_so 90 is_told 1 '.kind == "rollout_halted"'
halted=$EPOCHREALTIME
say 'the second stage is halted'
until_so 60 nothing_runs
on tasks migrate --status error_backoff
admin "$bad" <<<"GRANT ALTER ON \`shop\\_%\`.* TO migrator@127.0.0.1"
quiet halt all "$halted" "$EPOCHREALTIME"
on resume migrate --reason "repaired: migrator may change tables on $bad"

until_so 120 is_told 2 '.kind == "rollout_stage_passed"'
slow=$canary_host
samples "$slow" >"$work/lag" &
sampling=$!
running+=("$sampling")
throttle "$slow"
say "$(progress "done") of $all schemas are done, the last stage begins; the replica of $slow can hardly follow one task, and not two"
until_so 90 limit_is "$slow" 0
since=$EPOCHREALTIME before=$(grep -c ' + ' "$ledger")
say "it is $(behind "$slow") s behind, and nothing starts on $slow"
on probes
until_so 60 begun $((before + 6))
unthrottle "$slow"
say "the others go on; nothing slows the replica of $slow any more"
caught_up_at() { awk -v since="$since" '$1 > since && $2 < 2 { print $1; exit }' "$work/lag"; }
has_caught_up() { [ -n "$(caught_up_at)" ]; }
until_so 60 has_caught_up
quiet lag "$slow" "$since" "$(caught_up_at)"
until_so 60 limit_is "$slow" 2
killed "$sampling"
say "it is $(behind "$slow") s behind, and $slow has its limit again"

# On a slow machine few tasks are left by now, and the window may be closed.
until_so 60 something_runs
on brake --reason 'the shop is slow'
since=$EPOCHREALTIME
say "a brake; $(progress running) tasks go on. kill -9: the scheduler, process $scheduler"
killed "$scheduler"
start_scheduler "$site/migration.json" "${for_workers##*:}"
until_so 60 knows_its_nodes
until_so 60 nothing_runs
say 'the scheduler is back; what ran has ended, and the brake holds'
on brakes
[ "$(progress "done")" -lt "$all" ] || fail 'nothing was left to be braked'
quiet brake all "$since" "$EPOCHREALTIME"
on release

# has_victim: sets victim to a task on w2 whose checkpoint the scheduler knows, and which has work left, as its server says
has_victim() {
  local node filled
  for node in $(curl --silent --fail "$server/api/v1/running?worker=w2" |
    jq -r '.running[] | select(.progress.done >= 250).node'); do
    filled=$(admin "${node%%.*}" <<<"SELECT COUNT(total_cents) FROM ${node#*.}.orders")
    if [ "$filled" -le 1500 ]; then
      victim=$node
      return
    fi
  done
  return 1
}
until_so 60 has_victim
# A task runs in a directory of its worker.
open_tasks | while read -r pid node; do
  [[ $(readlink "/proc/$pid/cwd") != "$work/w2/"* ]] || echo "$node"
done >"$work/cut-short"
killed "${worker[w2]}"
say "kill -9: the worker w2, process ${worker[w2]}, which is at $victim"
# Its guard kills its tasks; what was killed could not write its end.
cut_short_have_ended() {
  open_tasks | while read -r pid node; do
    if [ ! -e "/proc/$pid" ]; then
      echo "$EPOCHREALTIME - $pid $node killed" >>"$ledger"
    fi
  done
  ! open_tasks | cut -d ' ' -f 2 | grep -qxFf "$work/cut-short"
}
until_so 15 cut_short_have_ended
until_so 60 is_told 1 '.kind == "worker_changed"'
start_worker w2 --command-dir "$site"
victim_goes_on() { on tasks migrate "$victim" --json | jq -e '.status == "done" and .attempts > 1' >/dev/null; }
# Its turn may come after all others on its server.
until_so $((90 + 2 * all)) victim_goes_on
on logs migrate "$victim" | tee "$work/victim.log"
grep -q 'attempt [2-9].*, from id [1-9]' "$work/victim.log" || fail "$victim has started over"

until_so $((120 + 2 * all)) is_done "$all"
until_so 60 is_told 1 '.kind == "job_state" and .data.to == "succeeded"'
say 'all is done'
on jobs

# ---- Is it right? ----------------------------------------------------------------------------------------------------

say 'what the receiver was told'
jq -r '"\(.severity)\t\(.summary)"' "$told"
for kind in leader_changed rollout_stage_opened rollout_stage_passed rollout_halted limit_at_floor limit_recovered \
  brake_set brake_released worker_changed job_state; do
  is_told 1 ".kind == \"$kind\"" || fail "nobody was told of $kind"
done

say 'when tasks began and ended, as they wrote themselves'
printf 'limit all 5\nlimit host 2\nlimit schema 1\n' >>"$rules"
"$here/check-ledger.py" "$ledger" "$rules" || fail 'a limit, a window or a pause'

say "how far the replica of $slow was behind while it was slow, as its servers said"
# Five seconds until the limit goes down, a look or two, and what two tasks that run have still to change.
awk '$2 > most { most = $2 } END { printf "%d samples, at most %.1f s behind (bound: 30 s)\n", NR, most; exit !(NR >= 10 && most > 5 && most <= 30) }' \
  "$work/lag" || fail 'the lag of the replica'

say 'every row, on the servers and on their replicas'
for host in "${hosts[@]}"; do
  until_so 60 followed "$host"
  for name in "$host" "${host}_replica"; do
    facts "$name" 1 "$schemas" "$original, SUM(total_cents = total * 100), SUM(touched = 1)" >>"$work/after"
    # Retired: nobody has touched it. The last two are right when there is no such column.
    facts "$name" $((schemas + 1)) $((schemas + 1)) "$original, COUNT(*), SUM(touched = 0)" >>"$work/after"
    echo "SELECT CONCAT('$name.', table_schema) FROM information_schema.columns WHERE column_name = 'total_cents';" |
      admin "$name" >>"$work/changed"
  done
done
awk -v all="$all" -v hosts="${#hosts[@]}" '
  FILENAME ~ /before$/ { rows[$1] = $2; sum[$1] = $3; next }
  FILENAME ~ /changed$/ { changed++; next }
  {
    origin = $1; sub(/_replica/, "", origin)
    seen++; total += $2; filled += $4; once += $5
    if ($2 != rows[origin] || $3 != sum[origin] || $4 != $2 || $5 != $2) { bad++; print $1 " is wrong: " $0 }
  }
  END {
    printf "%d rows in %d schemas: %d are filled and right, %d were changed as often as they should: once, in retired schemas never\n", total, seen, filled, once
    printf "%d schemas have the new column, %d should\n", changed, 2 * all
    exit bad > 0 || seen != 2 * (all + hosts) || changed != 2 * all
  }' "$work/before" "$work/changed" "$work/after" || fail 'the data'

say 'the workers, the scheduler and the receiver are told to stop'
kill "${worker[@]}"
for name in w1 w2; do wait "${worker[$name]}"; done
kill "$scheduler"
wait "$scheduler"
killed "$receiver_process"
! pgrep -f "$site" || fail 'processes of tasks are left'
echo 'all of it ended well'
