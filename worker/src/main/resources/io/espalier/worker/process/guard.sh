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
questions=

# Hundredths of a second that are left of the lease.
left() {
  read -r uptime rest < /proc/uptime
  left=$((until_uptime - ${uptime%.*}${uptime#*.}))
  clock=$(((until_clock - $(date +%s%3N)) / 10))
  [ "$clock" -ge "$left" ] || left=$clock
}

# Takes all lines that are there, waiting for the first; returns 1 when the lease has run out and nothing else was said,
# 2 at the end of file. All at once: a guard that gets little of the processor must not act on leases that were renewed
# long ago, nor fall behind further with each.
take_lines() {
  while [ -n "$until_uptime" ]; do
    left
    last=no
    if [ "$left" -le 0 ]; then
      # Before it kills, what came while it was late.
      last=yes
      left=5
    elif [ "$left" -gt 200 ]; then
      # Not for long, because clocks jump.
      left=200
    fi
    lines=$(timeout -s KILL "$((left / 100)).$(printf '%02d' "$((left % 100))")" dd bs=65536 count=1 2>/dev/null)
    case $? in
      0)
        [ -n "$lines" ] && return 0
        return 2
        ;;
      124 | 137) ;;
      *) return 2 ;;
    esac
    [ "$last" = no ] || return 1
  done
  lines=$(dd bs=65536 count=1 2>/dev/null)
  [ -n "$lines" ] || return 2
}

# The newest lease counts. Questions are answered while it is in force, or after the killing.
heed_lines() {
  leases=no
  while read -r word one two rest; do
    case $word in
      done) exit 0 ;;
      lease)
        case $one.$two in
          *[!0-9.]* | .* | *.) continue ;;
        esac
        leases=yes
        until_uptime=$one
        until_clock=$two
        ;;
      sync) questions="$questions $one" ;;
    esac
  done <<LINES
$lines
LINES
  [ "$leases" = no ] || leased=yes
  if [ -n "$until_uptime" ]; then
    left
    [ "$left" -gt 0 ] || return 0
    [ "$leases" = no ] || [ -e "$gate" ] || : > "$gate"
  fi
  answer
}

answer() {
  for question in $questions; do
    echo "synced $question"
  done
  questions=
}

# First nothing new, then nothing old.
run_out() {
  rm -f "$gate"
  until_uptime=
  kill_all
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
  take_lines
  case $? in
    0) heed_lines ;;
    1)
      run_out
      answer
      ;;
    *)
      run_out
      exit 0
      ;;
  esac
done
