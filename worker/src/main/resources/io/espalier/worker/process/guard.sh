# Kills the tasks of a scheduler or worker that has died. Arguments: journal, cookie.
# Stdin is a pipe from the one that is guarded: "done" means a clean end, end of file means death.
trap '' HUP INT QUIT TERM PIPE
cd /
journal=$1
cookie=$2

while read -r line; do
  if [ "$line" = "done" ]; then
    exit 0
  fi
done

# Invocations without an end: "invocation pid ticks signal"; pid 0: not known.
live() {
  awk '
    $1 == "s" { entry[$2] = $2 " 0 0 9" }
    $1 == "p" && NF == 5 { entry[$2] = $2 " " $3 " " $4 " " $5 }
    $1 == "e" { delete entry[$2] }
    END { for (i in entry) print entry[i] }' "$journal" 2>/dev/null
}

# Start time of a process in clock ticks; nothing when it is gone.
ticks() {
  { read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086
  set -- $stat
  echo "${20}"
}

round=0
quiet=0
while [ "$round" -lt 100 ]; do
  found=0
  doomed=" "
  # Whoever deleted the journal with its directory does not want the tasks either.
  all=no
  [ -r "$journal" ] || all=yes
  while read -r invocation pid started signal; do
    [ -n "$invocation" ] || continue
    [ "$signal" = 0 ] && continue
    # Another signal than KILL is sent once; what the task does with it is up to the task.
    [ "$signal" != 9 ] && [ "$round" -gt 0 ] && continue
    [ "$signal" = 9 ] && doomed="$doomed$invocation "
    if [ "$pid" != 0 ] && [ "$(ticks "$pid")" = "$started" ]; then
      kill "-$signal" -- "-$pid" 2>/dev/null
    fi
  done <<LIVE
$(live)
LIVE
  for file in $(grep -l -s -F "ESPALIER_TASK_COOKIE=$cookie" /proc/[0-9]*/environ); do
    pid=${file#/proc/}
    pid=${pid%/environ}
    invocation=$(tr '\0' '\n' < "$file" 2>/dev/null | sed -n 's/^ESPALIER_TASK_INVOCATION=//p')
    case $all$doomed in
      yes* | *" $invocation "*)
        found=1
        kill -9 "$pid" 2>/dev/null
        ;;
    esac
  done
  # Three times nothing: a start may have been under way when its parent died.
  if [ "$found" = 0 ]; then
    quiet=$((quiet + 1))
    [ "$quiet" -ge 3 ] && exit 0
  else
    quiet=0
  fi
  round=$((round + 1))
  sleep 0.1
done
