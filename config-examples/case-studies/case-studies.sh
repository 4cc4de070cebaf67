#!/bin/bash
# Runs the five case studies of the paper in miniature. What their tasks wrote is counted afterwards: no limit was passed,
# nothing ran twice, and the work is done.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs python3 python3

study() {
  echo "--- $1"
  export CASE_DIR=$work/$1
  mkdir "$CASE_DIR"
  "$espalier" run "$here/$1.json" --data-dir "$CASE_DIR/data" </dev/null 2>"$work/$1.err" ||
    fail "$1"
  "$here/count.py" "$here/$1.json" "$CASE_DIR/log" || fail "the limits of $1"
}

# same NUMBER WHAT LINES: the lines are so many, and no two are the same
same() {
  local lines
  lines=$(sort -u <<<"$3" | wc -l)
  if [ "$(wc -l <<<"$3")" != "$1" ] || [ "$lines" != "$1" ]; then
    fail "$lines $2 instead of $1"
  fi
  echo "  $1 $2, each once"
}

study database-iterator
same 3600 'rows of 12 databases by 3 programs' "$(<"$CASE_DIR/out")"
same 144 'slices' "$(awk '$2 == "+"' "$CASE_DIR/log")"

study scraping
same 12 'databases loaded' "$(<"$CASE_DIR/out")"
! grep -v ' replica$' "$CASE_DIR/out" || fail 'a primary was dumped'

study storage-migration
same 24 'volumes moved' "$(ls "$CASE_DIR/new")"
[ -z "$(ls "$CASE_DIR/old")" ] || fail 'a volume was not removed'
same 25 'comparisons, one of a damaged copy' "$(awk '$2 == "+" && $3 == "compare"' "$CASE_DIR/log")"

study video-encoding
same 72 'films and thumbnails' "$(gzip -l "$CASE_DIR"/*.gz | awk '$1 ~ /^[0-9]+$/ && $4 != "(totals)" {print $4}')"

study region-compression
same 40 'regions compressed' "$(cut -d ' ' -f 1 "$CASE_DIR/out")"
# Regions 0, 4, 8 ... are always on the same server as each other: on more than one only because they moved.
servers=$(awk 'substr($1, 7) % 4 == 0 { print $3 }' "$CASE_DIR/out" | sort -u | wc -l)
[ "$servers" -gt 1 ] || fail 'no region has moved'
echo 'all of it ended well'
