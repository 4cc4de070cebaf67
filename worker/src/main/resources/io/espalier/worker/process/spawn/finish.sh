# The last thing before a task. Arguments: where the marks go, the secret, program, its arguments.
mark=$1
secret=$2
shift 2
echo "+$secret" >> "$mark" || exit 125
trap 'code=$?; echo "-$secret $code" >> "$mark"' EXIT
# Otherwise bash forgets its trap when it cannot exec.
# shellcheck disable=SC3044
[ -z "${BASH_VERSION-}" ] || shopt -s execfail
exec "$@"
exit 126
