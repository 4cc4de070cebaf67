#!/bin/sh
# Task: copies a volume, compares the copy with it, or removes the volume. Each may be done again without harm.
set -eu
node=$1 status=$2
old=$CASE_DIR/old/$node new=$CASE_DIR/new/$node
case $ESPALIER_TASK_JOB in
  copy)
    # As if there had been volumes before.
    mkdir -p "$CASE_DIR/old" "$CASE_DIR/new"
    [ -e "$old" ] || echo "photos of $node" >"$old"
    cp "$old" "$new.part" && mv "$new.part" "$new"
    ;;
  compare)
    # The first look at one volume finds a copy that was damaged on its way.
    if [ "$node" = rack1-host2-volume3 ] && [ "$ESPALIER_TASK_ATTEMPT" = 1 ]; then
      echo "the copy of $node differs" >&2
      exit 1
    fi
    cmp "$old" "$new"
    ;;
  remove) rm -f "$old" ;;
esac
sleep 0.2
echo 'done' >>"$status"
