#!/bin/sh
# One step of the backup of a volume, what undoes it, or what verifies it. BACKUP_DIR is where everything lies.
set -eu
volume=$1
what=$ESPALIER_TASK_STEP
if [ "$ESPALIER_TASK_PHASE" = compensate ]; then what=undo-$what; fi
mkdir -p "$BACKUP_DIR/dumps" "$BACKUP_DIR/vault"
dump=$BACKUP_DIR/dumps/$volume copy=$BACKUP_DIR/vault/$volume
echo "$volume $what" >>"$BACKUP_DIR/steps"
sleep 0.3
# Whatever is done twice does no harm: each file appears at once or not at all.
case $what in
  dump) echo "all of $volume" >"$dump.new" && mv "$dump.new" "$dump" ;;
  ship) cp "$dump" "$copy.new" && mv "$copy.new" "$copy" ;;
  check)
    cmp "$dump" "$copy"
    # One volume has a fault that only this step finds.
    if [ "$volume" = host2-v3 ]; then echo "the copy of $volume is damaged" >&2 && exit 1; fi
    ;;
  verify) test -s "$copy" ;;
  undo-ship) rm -f "$copy" ;;
  undo-dump) rm -f "$dump" ;;
esac
