#!/bin/bash
# Tries nginx.conf of this directory on one machine: a real nginx with TLS in front of a scheduler with TLS, and requests
# of people with different roles, of nobody, and of somebody who lies about who he is. In place of oauth2-proxy, which
# needs a provider of accounts, a second server of the same nginx says for a cookie who has signed on.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs 'nginx-light openssl curl jq perl' nginx openssl curl jq perl
umask 077
etc=$work/etc
mkdir "$etc" "$work/temp"
# Both are held at once, so that they differ.
read -r gate_port accounts_port < <(perl -MIO::Socket::INET -e '
  my @held = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1 .. 2;
  print join(" ", map { $_->sockport } @held), "\n"')

echo '--- secrets: an authority, certificates of the scheduler and of nginx, the token of nginx, who is who'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=our espalier' \
  -keyout "$etc/ca.key" -out "$etc/espalier-ca.pem" 2>>"$work/openssl.err"
# member FILE HOST
member() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$etc/$1.key" -out "$etc/$1.csr" \
    2>>"$work/openssl.err"
  openssl x509 -req -in "$etc/$1.csr" -CA "$etc/espalier-ca.pem" -CAkey "$etc/ca.key" -CAcreateserial -days 2 \
    -out "$etc/$1.pem" -extfile <(echo "subjectAltName=DNS:$2") 2>>"$work/openssl.err"
}
member scheduler scheduler.example.com
member espalier espalier.example.com
gate=$(openssl rand -hex 32)
cat >"$etc/tokens" <<END
gate               proxy     sha256:$(printf %s "$gate" | sha256sum | cut -d' ' -f1)
ada@example.com    admin     sso
dan@example.com    operator  sso
vera@example.com   viewer    sso
END

echo '--- a scheduler'
cp -r "$here/../getting-started.json" "$here/../getting-started" "$work"
"$espalier" scheduler --config "$work/getting-started.json" --runner simulated --test-task-duration 100 \
  --http 127.0.0.1:0 --data-dir "$work/data" --tokens-file "$etc/tokens" --allowed-hosts espalier.example.com \
  --tls-cert "$etc/scheduler.pem" --tls-key "$etc/scheduler.key" 2>"$work/scheduler.err" &
running+=($!)
server=$(printed "$work/scheduler.err" 'listening on')
echo "$server"

echo '--- nginx, with the configuration of this directory'
# As root nginx would serve as another user, who may read nothing of this directory.
[ "$(id -u)" != 0 ] || as_user='user root;'
# Only places and ports are others than those in the file.
sed -e "s#listen 443 ssl#listen 127.0.0.1:$gate_port ssl#; s#/etc/nginx/#$etc/#; s#127.0.0.1:4180#127.0.0.1:$accounts_port#" \
  -e "s#https://127.0.0.1:8080#$server#" "$here/nginx.conf" >"$etc/site.conf"
# shellcheck disable=SC2016 # the variable is one of nginx
echo 'set $espalier_token "'"$gate"'";' >"$etc/espalier-token.conf"
cat >"$etc/nginx.conf" <<END
${as_user-}
daemon off;
master_process off; # one process, which a kill ends
pid $work/nginx.pid;
error_log $work/nginx.err;
events {}
http {
  access_log off;
  client_body_temp_path $work/temp/body;
  proxy_temp_path $work/temp/proxy;
  fastcgi_temp_path $work/temp/fastcgi;
  uwsgi_temp_path $work/temp/uwsgi;
  scgi_temp_path $work/temp/scgi;
  include $etc/site.conf;
  # In place of oauth2-proxy: the cookie names somebody of example.com.
  server {
    listen 127.0.0.1:$accounts_port;
    location = /oauth2/sign_in { return 200 "please sign in\n"; }
    location = /oauth2/auth {
      if (\$cookie_session = "") { return 401; }
      add_header X-Auth-Request-Email "\$cookie_session@example.com" always;
      return 202;
    }
  }
}
END
nginx -c "$etc/nginx.conf" -e "$work/nginx.err" 2>"$work/nginx-start.err" &
nginx=$!
running+=("$nginx")
page=https://espalier.example.com:$gate_port

# as NAME PATH [OPTION...]: a request of somebody who has signed on, of nobody if the name is empty
as() {
  local cookie=()
  [ -z "$1" ] || cookie=(--cookie "session=$1")
  curl -sS --max-time 60 --cacert "$etc/espalier-ca.pem" --resolve "espalier.example.com:$gate_port:127.0.0.1" \
    "${cookie[@]}" "${@:3}" "$page$2"
}
# status STATUS NAME PATH [OPTION...]: fails unless that is the status of the answer
status() {
  local is
  is=$(as "${@:2}" -o "$work/answer" -w '%{http_code}')
  [ "$is" = "$1" ] || fail "expected $1, not $is, for ${*:2}: $(<"$work/answer")"
}
pause=(-X POST -H 'Content-Type: application/json' -d '{"reason": "a try"}')
there() { [ "$(as '' / -o /dev/null -w '%{http_code}' 2>/dev/null)" = 403 ]; }
until_so 30 there

echo '--- who has not signed on sees nothing, not even the page'
for path in / /api/v1/jobs /api/v1/settings /metrics /healthz /ui/api.js; do
  status 403 '' "$path"
  grep -qx 'please sign in' "$work/answer" || fail "nobody is asked to sign on at $path: $(<"$work/answer")"
done
status 403 '' /api/v1/jobs/hello/pause "${pause[@]}"

echo '--- a header that the client forges is dropped'
status 403 '' /api/v1/jobs -H 'X-Espalier-User: ada@example.com'
status 403 '' /api/v1/jobs -H "Authorization: Bearer $gate" -H 'X-Espalier-User: ada@example.com'
# is NAME ROLE [OPTION...]: fails unless the scheduler takes vera, who gives these options, for that
is() {
  status 200 vera /api/v1/me "${@:3}"
  jq -e --arg name "$1" --arg role "$2" '.name == $name and .role == $role' "$work/answer" >/dev/null ||
    fail "the scheduler takes vera for $(<"$work/answer")"
}
is vera@example.com viewer
is vera@example.com viewer -H 'X-Espalier-User: ada@example.com'
is vera@example.com viewer -H 'X-Espalier-User: ada@example.com' -H 'Authorization: Bearer nonsense'
# Past the proxy, the name alone opens nothing.
direct=$(curl -sS --max-time 20 --cacert "$etc/espalier-ca.pem" --connect-to "scheduler.example.com::${server#https://}" -o /dev/null \
  -w '%{http_code}' -H 'X-Espalier-User: ada@example.com' https://scheduler.example.com/api/v1/jobs)
case $direct in
  401 | 403) ;;
  *) fail "without the token of nginx the scheduler answers $direct" ;;
esac

echo '--- who has signed on and is not in the tokens file may do nothing'
status 403 eve /api/v1/jobs

echo '--- a viewer looks and cannot act; an operator can; jobs are changed by an admin'
status 200 vera /
status 200 vera /api/v1/jobs
status 403 vera /api/v1/jobs/hello/pause "${pause[@]}"
status 200 dan /api/v1/jobs/hello/pause "${pause[@]}"
status 403 dan /api/v1/jobs/other -X PUT -H 'Content-Type: application/json' -d '{"owner": "dan", "command": ["/bin/true"]}'
as ada /api/v1/jobs | jq -e '.jobs[0].paused' >/dev/null || fail 'the operator has paused nothing'

echo '--- the stream of events that the page follows comes through, line by line'
# The answer has no end: what is in the file came while it was open. Without X-Accel-Buffering, which the scheduler says,
# nginx would keep it until there are some kilobytes of it.
as vera /api/v1/events -N -D "$work/events.head" -H 'Accept: text/event-stream' >"$work/events" 2>/dev/null &
stream=$!
running+=("$stream")
resumed() { grep -q '^data:.*hello' "$work/events"; }
opened() { grep -qis '^content-type: text/event-stream' "$work/events.head"; }
until_so 20 opened
status 200 dan /api/v1/jobs/hello/resume "${pause[@]}"
until_so 10 resumed
kill -0 "$stream" 2>/dev/null || fail 'the stream has ended'

echo '--- the audit log has the people, not the proxy'
as ada /api/v1/audit >"$work/audit.json"
jq -e '[.. | objects | select(has("who")) | .who] | any(. == "dan@example.com") and all(. != "gate")' \
  "$work/audit.json" >/dev/null || fail "the audit log does not say who it was: $(<"$work/audit.json")"

echo '--- a scheduler with another certificate gets neither the token nor the request'
kill -TERM "$nginx"
{ wait "$nginx"; } 2>/dev/null || true
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=another' \
  -keyout "$etc/another.key" -out "$etc/espalier-ca-2.pem" 2>>"$work/openssl.err"
sed -i "s#$etc/espalier-ca.pem#$etc/espalier-ca-2.pem#" "$etc/site.conf"
nginx -c "$etc/nginx.conf" -e "$work/nginx.err" 2>"$work/nginx-start.err" &
running+=($!)
until_so 30 there
status 502 vera /api/v1/jobs

echo 'all of it ended well'
