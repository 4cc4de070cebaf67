#!/bin/bash
# 2,000 regions of 20 servers are compacted through calls of a small real service, while two of three workers and the
# scheduler are killed. The service loses answers meanwhile. In the end its log is looked at: each region was compacted
# once, never twice at a time, and never more than four of one server at once.
# Leaves nothing behind. Exit code: 0 all is right, 1 it is not, 77 something is missing on this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=config-examples/common.sh
. "$here/../common.sh"
needs 'jq default-jdk-headless' jq java

echo '--- the service'
java "$here/RegionServer.java" 0 200 "$work/compactions" >"$work/service.out" 2>"$work/service.err" &
running+=($!)
port=$(printed "$work/service.out" 'listening on')
sed "s/127.0.0.1:18080/127.0.0.1:$port/" "$here/compaction.json" >"$work/compaction.json"
"$espalier" validate "$work/compaction.json"

echo '--- the scheduler and three workers'
start_scheduler "$work/compaction.json" 0
for name in w1 w2 w3; do start_worker "$name"; done

until_so 120 has_done compact 200
echo '--- w1 and w2 are killed; the scheduler asks about their calls'
killed "${worker[w1]}" "${worker[w2]}"
start_worker w1

until_so 120 has_done compact 800
echo '--- the scheduler is killed; the next one finds what was called'
killed "$scheduler"
start_scheduler "$work/compaction.json" "${for_workers##*:}"
start_worker w2

until_so 300 has_done compact 2000
"$espalier" jobs --server "$server"

echo '--- what the service has seen'
awk '
  { regions[$1 " " $2]++; if ($6 != "true") together++; begin[NR] = $4; end[NR] = $5; of[NR] = $1 }
  END {
    for (region in regions) { total++; if (regions[region] > 1) { twice++; print region " " regions[region] " times" } }
    for (i = 1; i <= NR; i++) {
      at = 0
      for (j = 1; j <= NR; j++) if (of[j] == of[i] && begin[j] <= begin[i] && begin[i] < end[j]) at++
      if (at > most) most = at
    }
    print total " regions compacted, " twice + 0 " more than once, " together + 0 " twice at a time, at most " most " of a server at once"
    exit total == 2000 && twice + together == 0 && most <= 4 ? 0 : 1
  }' "$work/compactions"
echo 'all of it ended well'
