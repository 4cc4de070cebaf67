#!/bin/sh
# Probe: how many seconds the replicas on each host lag. A real one would ask them; here those of
# db3 are always behind.
for host in db1 db2; do
  echo "{\"name\": \"$host\", \"attributes\": {\"value\": 0.4}}"
done
echo '{"name": "db3", "attributes": {"value": 7.2}}'
