#!/bin/bash
# First step: adds the column orders.total_cents to a schema. $1 is HOST.SCHEMA, $2 takes the status.
set -euo pipefail
host=${1%%.*} schema=${1#*.} status=$2

# Address and password are in the option file, not on the command line, where everybody could read them.
sql() {
  mariadb --defaults-file="$(dirname "$0")/clients.cnf" --defaults-group-suffix="_$host" \
    --batch --skip-column-names --database="$schema"
}

there=$(sql <<<"SELECT COUNT(*) FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'orders' AND column_name = 'total_cents'")
if [ "$there" = 1 ]; then
  echo 'it is there already: an attempt before this one was killed after its work was done'
else
  # INSTANT: where the server would have to copy or lock the table, it says no instead. The time limit: whoever waits
  # for the table makes all others wait behind; better to give up soon and to come again.
  sql <<'SQL'
SET lock_wait_timeout = 5;
ALTER TABLE orders ADD COLUMN total_cents BIGINT NULL, ALGORITHM = INSTANT;
SQL
  echo 'added'
fi
echo 'done' >>"$status"
