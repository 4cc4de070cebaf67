#!/bin/bash
# Rehearses docs/production.md on one machine: certificates, tokens, a MariaDB server, two schedulers of which one leads,
# and three workers; then the leader is killed, a worker is drained and replaced, and the store is backed up, lost and
# restored. In the end every shard was worked on once.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs 'mariadb-server-core mariadb-client openssl jq curl perl' \
  mariadbd mariadb mariadb-dump mariadb-install-db openssl jq curl perl
umask 077
etc=$work/etc
mkdir "$etc"
export WORK_DONE=$work/done TZ=UTC
touch "$WORK_DONE"
# All are held at once, so that they differ.
read -r db_port a_http a_thrift b_http b_thrift < <(perl -MIO::Socket::INET -e '
  my @held = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 5;
  print join(" ", map { $_->sockport } @held), "\n"')

echo '--- secrets: an authority, a certificate for each member, tokens, the secret of the workers'
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=our espalier' \
    -keyout "$etc/ca.key" -out "$etc/ca.pem" 2>>"$work/openssl.err"
}
# member NAME: its certificate is good for being called and for calling
member() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$etc/$1.key" -out "$etc/$1.csr" \
    2>>"$work/openssl.err"
  openssl x509 -req -in "$etc/$1.csr" -CA "$etc/ca.pem" -CAkey "$etc/ca.key" -CAcreateserial -days 825 -out "$etc/$1.pem" \
    -extfile <(echo 'subjectAltName=DNS:localhost,IP:127.0.0.1') 2>>"$work/openssl.err"
}
authority
for name in scheduler-a scheduler-b w1 w2 w3; do member "$name"; done
openssl rand -hex 32 >"$etc/cluster-secret"
openssl rand -hex 24 >"$etc/db-password"
admin=$(openssl rand -hex 32)
watcher=$(openssl rand -hex 32)
printf 'ada admin %s\nprometheus viewer %s\n' "$admin" "$watcher" >"$etc/tokens"
echo "$admin" >"$etc/ada.token"

echo '--- the status store'
db() { mariadb --no-defaults --socket="$work/db.sock" --user="$(id -un)" --batch --skip-column-names "$@"; }
# A server that starts deletes the temporary tables of all servers in its directory for them.
mkdir "$work/db.tmp"
start_store() {
  mariadbd --no-defaults ${RUN_AS_ROOT:+--user=root} --bind-address=127.0.0.1 --skip-name-resolve --datadir="$work/db" \
    --tmpdir="$work/db.tmp" --port="$db_port" --socket="$work/db.sock" --pid-file="$work/db.pid" >>"$work/db.err" 2>&1 </dev/null &
  running+=($!)
  until_so 60 db -e 'SELECT 1' >/dev/null 2>&1
}
[ "$(id -u)" != 0 ] || RUN_AS_ROOT=yes
TMPDIR="$work/db.tmp" mariadb-install-db --no-defaults ${RUN_AS_ROOT:+--user=root} --datadir="$work/db" --skip-test-db \
  --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" >"$work/install.err" 2>&1
start_store
db <<SQL
CREATE DATABASE espalier CHARACTER SET utf8mb4;
CREATE USER espalier@'127.0.0.1' IDENTIFIED BY '$(<"$etc/db-password")';
GRANT ALL ON espalier.* TO espalier@'127.0.0.1';
SQL
store=(--status-store "mysql://espalier@127.0.0.1:$db_port/espalier" --store-password-file "$etc/db-password")

declare -A scheduler_of=()
# start_member NAME HTTP THRIFT
start_member() {
  "$espalier" scheduler --config "$here/site.json" --runner remote --ha store "${store[@]}" --protocol-timers quick \
    --data-dir "$work/$1" --http "127.0.0.1:$2" --thrift "127.0.0.1:$3" \
    --tokens-file "$etc/tokens" --token-file "$etc/cluster-secret" \
    --tls-cert "$etc/$1.pem" --tls-key "$etc/$1.key" --tls-ca "$etc/ca.pem" 2>>"$work/$1.err" &
  scheduler_of[$1]=$!
  running+=($!)
}
start_guarded_worker() {
  for_workers=127.0.0.1:$a_thrift,127.0.0.1:$b_thrift
  start_worker "$1" --command-dir "$here" --http 127.0.0.1:0 --tokens-file "$etc/tokens" --token-file "$etc/cluster-secret" \
    --tls-cert "$etc/$1.pem" --tls-key "$etc/$1.key" --tls-ca "$etc/ca.pem"
}
asked() { curl --silent --fail --cacert "$etc/ca.pem" -H "Authorization: Bearer $watcher" "$@"; }
is_ready() { asked "https://127.0.0.1:$1/readyz" >/dev/null; }
leads() { asked "https://127.0.0.1:$1/metrics" | grep -q '^espalier_leader{.*} 1'; }
on() { "$espalier" "$@" --server "https://127.0.0.1:$port" --token-file "$etc/ada.token" --tls-ca "$etc/ca.pem"; }
ended() { [ "$(grep -c '^end' "$WORK_DONE")" -ge "$1" ]; }
is_over() { on jobs --json 2>>"$work/asking.err" | jq -e '.jobs[0].state == "succeeded" and .jobs[0].progress.done == 60' >/dev/null; }

echo '--- two schedulers, three workers'
start_member scheduler-a "$a_http" "$a_thrift"
until_so 60 leads "$a_http"
start_member scheduler-b "$b_http" "$b_thrift"
until_so 60 is_ready "$b_http"
"$espalier" ha-check "${store[@]}" --token-file "$etc/ada.token" --tls-ca "$etc/ca.pem" | tee "$work/check"
for name in w1 w2 w3; do start_guarded_worker "$name"; done
port=$a_http
until_so 60 ended 6
on workers
watched=$(printed "$work/w1.err" 'listening on')
asked "$watched/metrics" | grep '^espalier_worker_in_service 1'
if curl --silent --fail --cacert "$etc/ca.pem" "$watched/metrics" >/dev/null; then fail 'metrics without a token'; fi

echo '--- the leader is killed'
at=$(date +%s)
before=$(grep -c '^begin' "$WORK_DONE")
killed "${scheduler_of[scheduler-a]}"
port=$b_http
goes_on() { [ "$(grep -c '^begin' "$WORK_DONE")" -ge "$((before + 4))" ]; }
until_so 120 leads "$b_http"
until_so 60 goes_on
echo "the other one leads and starts tasks, $(($(date +%s) - at)) s later"
start_member scheduler-a "$a_http" "$a_thrift"

echo '--- a worker is drained and replaced, as for an upgrade'
on drain w2 --wait
wait "${worker[w2]}"
start_guarded_worker w2

until_so 180 is_over
on jobs
echo '--- a backup is made, the store is lost, and restored'
mariadb-dump --no-defaults --socket="$work/db.sock" --user="$(id -un)" --single-transaction espalier >"$work/backup.sql"
killed "${scheduler_of[@]}" "${worker[@]}"
db -e 'DROP DATABASE espalier; CREATE DATABASE espalier CHARACTER SET utf8mb4'
db espalier <"$work/backup.sql"
start_member scheduler-b "$b_http" "$b_thrift"
until_so 180 is_over

echo '--- what was worked on'
awk '
  $1 == "begin" { begun[$2]++ }
  END {
    for (shard in begun) { shards++; if (begun[shard] > 1) { print shard ": " begun[shard] " times"; wrong++ } }
    print shards + 0 " shards, " wrong + 0 " of them more than once"
    exit wrong || shards != 60
  }' "$WORK_DONE"
echo 'all of it ended well'
