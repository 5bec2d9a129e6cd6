#!/bin/sh
# crowd.t - 49 processes write into the store at the same time, on a disk that takes 300 ms to keep
# a transaction. None of them fails, and each waits for those that came before.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
[ -r "$FAULT/preload_fsync.so" ] || skip_all "$FAULT/preload_fsync.so is not built: make check"

WRITERS=49
slowly() {
	ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
		LD_PRELOAD=$FAULT/preload_fsync.so "$@"
}
job=$(submit --hold -- true)
i=0
while [ $i -lt $WRITERS ]; do
	slowly "$POLLUX" submit -q --hold -- true 2>"crowd.$i" >/dev/null &
	i=$((i + 1))
done
wait
is 'no writer fails' '' "$(cat crowd.* | head -n 5)"
is 'each writer has its job' $((WRITERS + job)) "$(query 'SELECT count(*) FROM jobs')"

# --- somebody keeps the lock for ever: who waits first says so after 10 s ---
mkfifo hold
sqlite3 "$POLLUX_DIR/pollux.db" <hold >held &
exec 8>hold
echo 'BEGIN IMMEDIATE; SELECT 1;' >&8
wait_for 10 test -s held
status 'a store that stays locked is told as temporary' 75 "$POLLUX" submit -q --hold -- true
like 'the message says who keeps the store locked' \
	"^pollux: cannot use the store '$POLLUX_DIR/pollux.db': database is locked, \
by process [0-9]+ \\(sqlite3\\)\$" "$err"
echo 'ROLLBACK;' >&8
exec 8>&-
wait
status 'the store is as before when it is unlocked' 0 "$POLLUX" submit -q --hold -- true
finish
