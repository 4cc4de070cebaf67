# Kills the tasks of a scheduler or worker that has died, or whose lease has run out.
# Arguments: journal, cookie, gate. Stdin is a pipe from the one that is guarded:
#   done        a clean end
#   lease U W   tasks may live until /proc/uptime says U (in 1/100 s) or the clock W (in ms), whichever comes first
#   sync N      is answered by "synced N" once nothing is being killed
# End of file means death. Without a lease line there is no deadline. While there is a lease the gate, a file, exists:
# no task can be started without it.
trap '' HUP INT QUIT TERM PIPE
cd /
journal=$1
cookie=$2
gate=$3
leased=no
until_uptime=
until_clock=

# Hundredths of a second that are left of the lease.
left() {
  read -r uptime rest < /proc/uptime
  left=$((until_uptime - ${uptime%.*}${uptime#*.}))
  clock=$(((until_clock - $(date +%s%3N)) / 10))
  [ "$clock" -ge "$left" ] || left=$clock
}

# Waits for a line; returns 1 when the lease has run out, 2 at the end of file.
next_line() {
  while [ -n "$until_uptime" ]; do
    left
    [ "$left" -gt 0 ] || return 1
    # Not for long, because clocks jump.
    [ "$left" -lt 200 ] || left=200
    # shellcheck disable=SC2016
    line=$(timeout -s KILL "$((left / 100)).$(printf '%02d' "$((left % 100))")" sh -c 'IFS= read -r line && echo "$line"')
    case $? in
      0) return 0 ;;
      124 | 137) ;;
      *) return 2 ;;
    esac
  done
  IFS= read -r line || return 2
}

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

kill_all() {
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
      # Somebody else may start what had a lease: it must be dead, whatever its job asks for.
      [ "$leased" = no ] || signal=9
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
      [ "$quiet" -ge 3 ] && return
    else
      quiet=0
    fi
    round=$((round + 1))
    sleep 0.1
  done
}

while :; do
  next_line
  case $? in
    1)
      # First nothing new, then nothing old.
      rm -f "$gate"
      until_uptime=
      kill_all
      ;;
    2)
      rm -f "$gate"
      kill_all
      exit 0
      ;;
    *)
      # shellcheck disable=SC2086
      set -- $line
      case ${1-} in
        done) exit 0 ;;
        lease)
          case ${2-}.${3-} in
            *[!0-9.]* | .* | *.) continue ;;
          esac
          leased=yes
          until_uptime=$2
          until_clock=$3
          [ -e "$gate" ] || : > "$gate"
          ;;
        sync) echo "synced ${2-}" ;;
      esac
      ;;
  esac
done
