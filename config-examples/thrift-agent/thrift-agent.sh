#!/bin/bash
# 200 tasks are calls over Thrift and TLS of an agent in Python, which loses answers; the scheduler is killed meanwhile
# and started again. In the end the agent's log has each task once.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
python=/usr/bin/python3
needs 'jq openssl thrift-compiler python3' jq openssl thrift "$python"
"$python" -c 'import thrift.Thrift' 2>/dev/null || {
  echo 'SKIPPED, nothing was tested: the thrift module is missing (apt-get install python3-thrift)' >&2
  exit 77
}

echo '--- the agent'
thrift --gen py -out "$work" "$here/../../thrift/src/main/thrift/agent.thrift"
: >"$work/log"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=agent \
  -addext subjectAltName=IP:127.0.0.1 -keyout "$work/agent.key" -out "$work/agents-ca.pem" 2>/dev/null
openssl rand -hex 32 >"$work/agents-secret"
PYTHONPATH=$work "$python" "$here/agent.py" "$work/log" "$work/agents-ca.pem" "$work/agent.key" "$work/agents-secret" \
  >"$work/agent.out" 2>"$work/agent.err" &
running+=($!)
port=$(printed "$work/agent.out" 'listening on')
sed "s/19090/$port/; s,/etc/espalier,$work," "$here/thrift-agent.json" >"$work/thrift-agent.json"
"$espalier" validate "$work/thrift-agent.json"

echo '--- the scheduler is killed amid the calls, and goes on'
"$espalier" run "$work/thrift-agent.json" --data-dir "$work/data" --http 127.0.0.1:0 >/dev/null 2>"$work/first.err" &
scheduler=$!
running+=("$scheduler")
worked() { [ "$(wc -l <"$work/log")" -ge "$1" ]; }
until_so 60 worked 60
killed "$scheduler"
"$espalier" run "$work/thrift-agent.json" --data-dir "$work/data" --http 127.0.0.1:0 --json 2>"$work/second.err" |
  jq -e '.jobs.scrub.done == 200'

echo '--- what the agent has seen'
twice=$(cut -d ' ' -f 1 "$work/log" | sort | uniq -d)
lost=$(grep -c '^lost an answer' "$work/agent.out" || true)
reported=$(grep -c '^reported 200' "$work/agent.out" || true)
echo "$(wc -l <"$work/log") tasks, more than once: ${twice:-none}, reported by the agent: $reported, answers lost: $lost"
[ "$(wc -l <"$work/log")" -eq 200 ] && [ -z "$twice" ] && [ "$reported" -gt 0 ] && [ "$lost" -gt 0 ]
echo 'all of it ended well'
