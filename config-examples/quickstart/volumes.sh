#!/bin/sh
# Node source: the volumes of the host in $1, such as north-1-a. A real one would ask the host or an inventory.
#
# This one also makes what it lists, so that there is something to work on: ESPALIER_DATA_DIR/datacentre/RACK/HOST/VOLUME,
# each with files of log lines, half of them old. A volume that exists is left alone. Without ESPALIER_DATA_DIR (that
# is, for `espalier nodes`) it only lists.
set -eu
host=$1
rack=${host%-*}

# Writes the files of a new volume into the directory $1.
fill() {
  cd "$1"
  # About 2.5 MB of log lines with enough noise in them to give gzip something to do.
  awk -v host="$host" -v seed="$(printf '%s' "$volume" | cksum | cut -d ' ' -f 1)" 'BEGIN {
    srand(seed % 65536)
    for (line = 0; line < 40000; line++) {
      printf "%s request=%08x%08x status=%d bytes=%d\n", host, rand() * 4294967295, rand() * 4294967295, 200 + int(rand() * 5), rand() * 1000000
    }
  }' | split -b 16384 - log.
  # Cold are the files that nobody has written to for years.
  touch -t 202101010000 log.[a-c]*
}

for letter in a b c d e f g h; do
  volume=$host-$letter
  if [ -n "${ESPALIER_DATA_DIR-}" ]; then
    place=$ESPALIER_DATA_DIR/datacentre/$rack/$host
    if [ ! -d "$place/$volume" ]; then
      # Made aside and then renamed: whatever interrupts us, a volume is there with all its files or not at all.
      rm -rf "$place/.new-$volume"
      mkdir -p "$place/.new-$volume"
      (fill "$place/.new-$volume")
      mv "$place/.new-$volume" "$place/$volume"
    fi
  fi
  echo "$volume"
done
