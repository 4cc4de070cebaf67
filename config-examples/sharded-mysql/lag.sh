#!/bin/bash
# Probe: how many seconds the replica of each host is behind, as one line of JSON for each host that answers.
#
# The time is written into a table of the host each time, and the replica is asked for it the next time: so it has had
# that long to follow, and a replica that has stopped is as visible as one that is slow.
set -uo pipefail
clients=$(dirname "$0")/monitor.cnf

# sql GROUP STATEMENTS: the group of the option file has the address, a password is on no command line
sql() {
  mariadb --defaults-file="$clients" --defaults-group-suffix="_$1" --connect-timeout=3 \
    --batch --skip-column-names --execute="$2" fleet
}

lag() {
  local before
  before=$(sql "$1" 'SELECT UNIX_TIMESTAMP(at) FROM heartbeat; UPDATE heartbeat SET at = NOW(6)') &&
    printf '{"name": "%s", "attributes": {"value": %s}}\n' "$1" \
      "$(sql "$1_replica" "SELECT GREATEST(0, $before - UNIX_TIMESTAMP(at)) FROM heartbeat")"
}

while read -r host; do
  lag "$host" & # all at once, so that one that is away holds up nobody
done < <(sed -n 's/^\[client_\(.*\)_replica\]$/\1/p' "$clients")
wait
