#!/bin/bash
# The tasks of two jobs are calls over Thrift and TLS, of an agent in Python and of one in Java, which lose answers; the
# scheduler is killed meanwhile and started again. In the end each agent's log has each of its 200 tasks once.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
python=/usr/bin/python3
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
needs 'jq openssl thrift-compiler python3 openjdk-17-jdk-headless' jq openssl thrift "$python" "$java" "${java}c"
"$python" -c 'import thrift.Thrift' 2>/dev/null || {
  echo 'SKIPPED, nothing was tested: the thrift module is missing (apt-get install python3-thrift)' >&2
  exit 77
}

echo '--- the agents'
idl=$here/../../thrift/src/main/thrift/agent.thrift
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=agent \
  -addext subjectAltName=IP:127.0.0.1 -keyout "$work/agent.key" -out "$work/agents-ca.pem" 2>/dev/null
openssl rand -hex 32 >"$work/agents-secret"

mkdir "$work/python" "$work/java"
thrift --gen py -out "$work" "$idl"
touch "$work/python/log"
PYTHONPATH=$work "$python" "$here/agent.py" "$work/python/log" "$work/agents-ca.pem" "$work/agent.key" "$work/agents-secret" \
  >"$work/python/out" 2>"$work/python.err" &
running+=($!)

"$espalier" --version >/dev/null # builds it, where that was not done yet
home=$(dirname "$espalier")
lib=$home/lib
[ -d "$lib" ] || lib=$home/scheduler/cli/target/dist/lib
libraries=$(printf '%s:' "$lib"/{libthrift,slf4j-api}-*.jar)
thrift --gen java:generated_annotations=suppress -out "$work/java" "$idl"
# Debian's compiler is older than the library.
"$java" "$here/../../thrift/tools/LiftGenerated.java" "$work/java"
"${java}c" -nowarn -d "$work/java" -cp "$libraries" "$here/HostAgent.java" "$work"/java/io/espalier/agent/*.java
openssl pkcs12 -export -in "$work/agents-ca.pem" -inkey "$work/agent.key" -passout pass:example -out "$work/agent.p12"
"$java" -cp "$work/java:$libraries" HostAgent "$work/java/log" "$work/agent.p12" example "$work/agents-secret" \
  >"$work/java/out" 2>"$work/java.err" &
running+=($!)

sed "s/19090/$(printed "$work/python/out" 'listening on')/; s/19091/$(printed "$work/java/out" 'listening on')/
  s,/etc/espalier,$work," "$here/thrift-agent.json" >"$work/thrift-agent.json"
"$espalier" validate "$work/thrift-agent.json"

echo '--- the scheduler is killed amid the calls, and goes on'
"$espalier" run "$work/thrift-agent.json" --data-dir "$work/data" --http 127.0.0.1:0 >/dev/null 2>"$work/first.err" &
scheduler=$!
running+=("$scheduler")
worked() { [ "$(cat "$work"/{python,java}/log | wc -l)" -ge "$1" ]; }
until_so 60 worked 120
killed "$scheduler"
"$espalier" run "$work/thrift-agent.json" --data-dir "$work/data" --http 127.0.0.1:0 --json 2>"$work/second.err" |
  jq -e '.jobs | .scrub.done == 200 and .audit.done == 200'

echo '--- what the agents have seen'
for agent in python java; do
  log=$work/$agent/log
  twice=$(cut -d ' ' -f 1 "$log" | sort | uniq -d)
  lost=$(grep -c '^lost an answer' "$work/$agent/out" || true)
  reported=$(grep -c '^reported 200' "$work/$agent/out" || true)
  echo "$agent: $(wc -l <"$log") tasks, more than once: ${twice:-none}, reported by the agent: $reported, answers lost: $lost"
  [ "$(wc -l <"$log")" -eq 200 ] && [ -z "$twice" ] && [ "$reported" -gt 0 ] && [ "$lost" -gt 0 ]
done
echo 'all of it ended well'
