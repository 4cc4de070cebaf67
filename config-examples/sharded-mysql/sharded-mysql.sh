#!/bin/bash
# A schema change on 72 schemas of three database servers, while a task, a server and the scheduler are killed.
#
# Starts three MariaDB servers on loopback, fills them, runs migration.json on them, kills -9 one thing after the other,
# and looks at every row in the end. Leaves nothing behind; ports are any that are free. Exit code: 0 all is right,
# 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
espalier=$here/../../espalier
PATH=$PATH:/usr/local/sbin:/usr/sbin
for tool in mariadbd mariadb mariadb-install-db jq curl perl; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is missing; on Debian: apt-get install mariadb-server-core mariadb-client-core jq curl perl" >&2
    exit 77
  fi
done

hosts=(db1 db2 db3)
schemas=36 # on each host, and one that is retired
rows=2000  # in each schema
export TZ=UTC
"$espalier" --version >/dev/null # builds it, the first time
umask 077                       # there are passwords in some of these files
work=$(mktemp -d)
site=$work/site
declare -A server=() port=()
scheduler='' watch=''

say() { printf '\n--- %4.1f s: %s\n' "$(since_start)" "$*"; }
began=$(date +%s.%N)
since_start() { awk -v from="$began" -v to="$(date +%s.%N)" 'BEGIN { print to - from }'; }

fail() {
  echo "FAILED: $*" >&2
  tail -n 5 "$work"/*.err >&2
  [ -z "$scheduler" ] || for job in add-column backfill; do
    "$espalier" tasks "$job" --server "$url" --status error_backoff --limit 3 >&2 || true
    "$espalier" logs "$job" --server "$url" --stream stderr --limit 5 >&2 || true
  done
  exit 1
}

# end PID SIGNAL: returns when it is gone
end() {
  { kill "-$2" "$1" && wait "$1"; } 2>/dev/null || true
}

cleanup() {
  [ -z "$watch" ] || end "$watch" TERM
  [ -z "$scheduler" ] || end "$scheduler" TERM # and its tasks
  for pid in "${server[@]}"; do
    end "$pid" KILL # their data is thrown away
  done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# until_so SECONDS COMMAND...: waits until the command succeeds
until_so() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || fail "not within its time: $*"
    sleep 0.1
  done
}

# ---- Three servers ---------------------------------------------------------------------------------------------------

start_server() {
  mariadbd --defaults-file="$work/server.cnf" --datadir="$work/$1" --port="${port[$1]}" --socket="$work/$1.sock" \
    --pid-file="$work/$1.pid" >>"$work/$1.err" 2>&1 </dev/null &
  server[$1]=$!
  until_so 60 answers "$1"
}

# admin HOST: runs the SQL of its standard input. The server knows this account by the socket, it has no password.
admin() {
  mariadb --no-defaults --socket="$work/$1.sock" --user="$(id -un)" --batch --skip-column-names
}

answers() {
  kill -0 "${server[$1]}" || fail "$1 has ended"
  admin "$1" <<<'SELECT 1' >/dev/null 2>&1
}

make_servers() {
  local host free
  {
    echo '[mysqld]'
    [ "$(id -u)" != 0 ] || echo 'user = root'
    echo 'bind_address = 127.0.0.1'
    echo 'skip_name_resolve = ON'
    echo 'innodb_log_file_size = 16M'
    echo 'innodb_buffer_pool_size = 32M'
  } >"$work/server.cnf"
  mariadb-install-db --defaults-file="$work/server.cnf" --datadir="$work/empty" --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" >"$work/install.err" 2>&1 ||
    fail 'mariadb-install-db'
  # One more for the scheduler. All are held at once, so that they differ.
  read -ra free < <(perl -MIO::Socket::INET -e '
    my @held = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 4;
    print join(" ", map { $_->sockport } @held), "\n"')
  url=http://127.0.0.1:${free[3]}
  for host in "${hosts[@]}"; do
    port[$host]=${free[${#port[@]}]}
    cp -r "$work/empty" "$work/$host"
    start_server "$host"
  done
}

# The SQL that fills a host. A trigger counts how often anybody changes a row: the tasks do not know of it.
data_of() {
  local i schema
  for ((i = 1; i <= schemas + 1; i++)); do
    schema=$(printf 'shop_%02d' "$i")
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

# Accounts may do what they must. Here passwords travel by standard input and files of mode 600.
fill_servers() {
  local reader migrator host pid filling=()
  reader=$(new_password)
  migrator=$(new_password)
  for host in "${hosts[@]}"; do
    {
      data_of "$host"
      echo "CREATE USER migrator@127.0.0.1 IDENTIFIED BY '$migrator';"
      # MySQL wants INSERT and CREATE too for an ALTER TABLE.
      echo "GRANT SELECT, UPDATE, ALTER, INSERT, CREATE ON \`shop\\_%\`.* TO migrator@127.0.0.1;"
    } | admin "$host" &
    filling+=($!)
  done
  for pid in "${filling[@]}"; do wait "$pid"; done

  # The catalogue of the fleet is on the first.
  {
    cat <<SQL
CREATE DATABASE fleet;
USE fleet;
CREATE TABLE host (name VARCHAR(60) PRIMARY KEY);
CREATE TABLE shard (host VARCHAR(60), name VARCHAR(60), retired BOOLEAN NOT NULL, PRIMARY KEY (host, name));
CREATE USER reader@127.0.0.1 IDENTIFIED BY '$reader';
GRANT SELECT ON fleet.* TO reader@127.0.0.1;
SQL
    for host in "${hosts[@]}"; do
      echo "INSERT INTO host VALUES ('$host');"
      for ((i = 1; i <= schemas + 1; i++)); do
        printf "INSERT INTO shard VALUES ('%s', 'shop_%02d', %d);\n" "$host" "$i" $((i > schemas))
      done
    done
  } | admin "${hosts[0]}"

  # What the scheduler needs: the configuration with the address of the catalogue, the tasks, and the passwords.
  mkdir "$site"
  cp "$here"/{add-column,backfill}.sh "$site"
  sed "s/catalogue\.example:3306/127.0.0.1:${port[${hosts[0]}]}/" "$here/migration.json" >"$site/migration.json"
  echo "$reader" >"$site/reader.password"
  {
    printf '[client]\nuser = migrator\npassword = "%s"\n' "$migrator"
    printf '[mysql]\nconnect-timeout = 5\n'
    for host in "${hosts[@]}"; do
      printf '[client_%s]\nhost = 127.0.0.1\nport = %d\n' "$host" "${port[$host]}"
    done
  } >"$site/clients.cnf"
}

new_password() { head -c 18 /dev/urandom | base64 | tr '+/' '-_'; }

# facts HOST FIRST LAST EXPRESSIONS: a line for each of these schemas of the host, with these facts of its orders
facts() {
  local i
  for ((i = $2; i <= $3; i++)); do
    printf "SELECT '%s.shop_%02d', %s FROM shop_%02d.orders;\n" "$1" "$i" "$4" "$i"
  done | admin "$1"
}

original='COUNT(*), SUM(CRC32(CONCAT_WS(" ", id, total)))'

# ---- The scheduler, and what runs ------------------------------------------------------------------------------------

# It works until nothing is left to do. Started again, it goes on where it was.
start_scheduler() {
  "$espalier" run "$site/migration.json" --data-dir "$work/data" --http "${url#http://}" \
    >>"$work/scheduler.out" 2>>"$work/scheduler.err" </dev/null &
  scheduler=$!
  until_so 60 is_up
}

ask() { curl --silent --fail --max-time 5 "$url/api/v1/$1"; }

is_up() {
  kill -0 "$scheduler" 2>/dev/null || fail 'the scheduler has ended'
  [ "$(progress backfill total)" = $((${#hosts[@]} * schemas)) ]
}

# progress JOB WHAT: how many of its tasks are done, or waiting, ...
progress() {
  ask jobs 2>/dev/null | jq --arg job "$1" --arg what "$2" '.jobs[] | select(.name == $job) | .progress[$what]'
}

done_at_least() {
  local now
  now=$(progress "$1" "done")
  [ "${now:-0}" -ge "$2" ]
}

show_jobs() {
  ask jobs | jq -r '.jobs[] | "\(.name): \(.progress.done) of \(.progress.total) done, \(.progress.running) running, \(.progress.waiting) waiting"'
}

# The processes of tasks, whatever the scheduler says of them: pid and node. Subshells of a task look like it.
task_processes() {
  ps -ww -eo pid=,ppid=,args= | awk -v tasks="$site/" '
    index($4, tasks) == 1 { parent[$1] = $2; node[$1] = $5 }
    END { for (pid in parent) if (!(parent[pid] in parent)) print pid, node[pid] }'
}

# All the while: which tasks there are at once. A look takes its time; what is still there after it was there at its end.
watch_tasks() {
  local sample=0 pid node argument
  while sleep 0.25; do
    sample=$((sample + 1))
    task_processes >"$work/seen"
    while read -r pid node; do
      if read -r -d '' argument <"/proc/$pid/cmdline" && [ -n "$argument" ]; then
        echo "$sample $node"
      fi 2>/dev/null
    done <"$work/seen" >>"$work/samples"
  done
}

# ---- The play --------------------------------------------------------------------------------------------------------

say "three servers with $schemas schemas each, and one that is retired; $rows rows in each"
make_servers
fill_servers
for host in "${hosts[@]}"; do
  echo "$host: 127.0.0.1:${port[$host]}, process ${server[$host]}"
  facts "$host" 1 $((schemas + 1)) "$original" >>"$work/before"
done

say 'the scheduler starts; it reads hosts and schemas from the catalogue'
start_scheduler
watch_tasks &
watch=$!
show_jobs

until_so 60 done_at_least backfill 4
has_got_on() {
  victim=$(ask running | jq -r '[.running[] | select(.job == "backfill" and .progress.done >= 250 and .progress.done <= 1250)][0].node // empty')
  [ -n "$victim" ] && pid=$(task_processes | awk -v node="$victim" '$2 == node { print $1 }') && [ -n "$pid" ]
}
until_so 30 has_got_on
kill -9 "$pid"
say "kill -9: the task backfill of $victim, process $pid"
victim_goes_on() {
  ask "jobs/backfill/tasks/$victim" | jq -e '.status == "done" and .attempts > 1' >/dev/null
}
until_so 30 victim_goes_on
"$espalier" logs backfill "$victim" --server "$url" | tee "$work/victim.log"
grep -q 'attempt 2, from id [1-9]' "$work/victim.log" || fail "$victim has started over"

until_so 60 done_at_least backfill 12
end "${server[db1]}" KILL
say "kill -9: the server db1, process ${server[db1]}; the catalogue is on it too"
before=$(progress backfill "done")
the_others_go_on() {
  done_at_least backfill $((before + 6)) && ask problems | jq -e '.errors != []' >/dev/null
}
until_so 30 the_others_go_on
show_jobs
echo 'what the scheduler has to say of it:'
ask problems | jq -r '.errors[].message' | fold -s -w 120
start_server db1
say "db1 is back, process ${server[db1]}"

until_so 60 done_at_least backfill $(($(progress backfill "done") + 8))
before=$(progress backfill "done")
cut_short=$(task_processes)
end "$scheduler" KILL
say "kill -9: the scheduler, process $scheduler, with $before backfills done and $(wc -l <<<"$cut_short") tasks running"
no_task_is_left() { [ -z "$(task_processes)" ]; }
until_so 10 no_task_is_left
echo 'its tasks have ended with it'
start_scheduler
[ "$(progress backfill "done")" -ge "$before" ] || fail 'it has forgotten what was done'
say 'the scheduler is back and goes on'
show_jobs

wait "$scheduler" || fail "the scheduler ended with $?"
scheduler=''
end "$watch" TERM
watch=''
say 'the scheduler ends by itself: all is done'
cat "$work/scheduler.out"

# ---- Is it right? ----------------------------------------------------------------------------------------------------

say 'verification, by the administrator of the servers'
for host in "${hosts[@]}"; do
  facts "$host" 1 "$schemas" "$original, SUM(total_cents = total * 100), SUM(touched = 1)" >>"$work/after"
  # Retired: nobody has touched it. The last two are right when there is no such column.
  facts "$host" $((schemas + 1)) $((schemas + 1)) "$original, COUNT(*), SUM(touched = 0)" >>"$work/after"
  echo "SELECT CONCAT('$host.', table_schema) FROM information_schema.columns WHERE column_name = 'total_cents';" |
    admin "$host" >>"$work/changed"
done
awk -v hosts="${#hosts[@]}" -v schemas="$schemas" '
  FILENAME ~ /before$/ { rows[$1] = $2; sum[$1] = $3; next }
  FILENAME ~ /changed$/ { changed++; next }
  {
    seen++; all += $2; filled += $4; once += $5
    if ($2 != rows[$1] || $3 != sum[$1] || $4 != $2 || $5 != $2) { bad++; print $1 " is wrong: " $0 }
  }
  END {
    printf "%d rows in %d schemas: %d are filled and right, %d were changed as often as they should: once, in retired schemas never\n", all, seen, filled, once
    printf "%d schemas have the new column, %d should\n", changed, hosts * schemas
    exit bad > 0 || seen != hosts * (schemas + 1) || changed != hosts * schemas
  }' "$work/before" "$work/changed" "$work/after" || fail 'the data'

awk '
  { split($2, part, "."); host[$1 " " part[1]]++; schema[$1 " " $2]++ }
  function peak(name, used, limit,   key, most) {
    for (key in used) if (used[key] > most) most = used[key]
    printf "tasks at once per %s: at most %d of %d\n", name, most, limit
    if (most > limit) bad = 1
  }
  END { peak("host", host, 2); peak("schema", schema, 1); exit bad || NR < 100 }' "$work/samples" || fail 'the limits'

# A batch that an attempt had done without being able to say so comes again. It has changed nothing, as was just seen.
"$espalier" logs backfill --data-dir "$work/data" --limit 100000 >"$work/log"
awk '
  $3 == "attempt" { attempts++ }
  $3 == "batch" { batches++; if (seen[$2 " " $4]++) again++ }
  END { printf "%d attempts, %d batches, of which %d came again after a kill\n", attempts, batches, again }' "$work/log"
say 'all of it is right'
