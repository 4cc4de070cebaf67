# Before a task: control groups and umask. Arguments: mask or nothing, number of files, the files,
# then "exec" and a command that goes on, or "go on" and the arguments of finish.sh.
mask=$1
count=$2
shift 2
failed=
while [ "$count" -gt 0 ]; do
  # All of them, so that one look at the output tells everything that is wrong.
  { echo 0 > "$1"; } || { echo "cannot join the control group $1" >&2; failed=yes; }
  shift
  count=$((count - 1))
done
[ -z "$failed" ] || exit 125
[ -z "$mask" ] || umask "$mask"
way=$1
shift
[ "$way" != exec ] || exec "$@"
