#!/bin/sh
# Task: compresses the cold files of volume $1, those not written to for 180 days.
#
# It may be killed at any point and run again: a file is replaced only by a whole compressed one, that was unpacked and
# compared with the manifest.
set -eu
volume=$1
status=$2

cd ../../datacentre/*/*/"$volume"
echo "compressing the cold files of $(pwd)"

find . -name 'log.*' ! -name '*.gz*' -mtime +180 | sort | while read -r file; do
  file=${file#./}
  gzip -9 -c "$file" >"$file.gz.new"
  sum=$(gzip -dc "$file.gz.new" | sha256sum)
  if ! grep -qx "${sum%% *}  $file" MANIFEST.sha256; then
    echo "$file does not match its manifest" >&2
    exit 1 # of the loop: no status is written, so the task backs off and is tried again
  fi
  mv "$file.gz.new" "$file.gz"
  rm "$file"
done

echo 'done' >"$status"
