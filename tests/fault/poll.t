#!/bin/sh
# poll.t - poll() fails each time that a supervisor waits for something to happen. The
# supervisor goes on with its work, and rests between its looks: it does not spin.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
[ -r "$FAULT/preload_poll.so" ] || skip_all "$FAULT/preload_poll.so is not built: make check"

POLL_COUNT_FILE=$TMP/polls
export POLL_COUNT_FILE
without_poll() { # a command, and the supervisors that it starts
	ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
		LD_PRELOAD=$FAULT/preload_poll.so "$@"
}
polls() { wc -c <"$POLL_COUNT_FILE"; }
now() { date +%s; }

job=$(submit -- sh -c 'sleep 2; exit 3')
start=$(now)
: >"$POLL_COUNT_FILE"
without_poll "$POLLUX" schedule
ok 'the end of the command is seen' wait_for 20 query_is failed \
	"SELECT state FROM jobs WHERE id = $job"
ok 'the exit status of the command is known' \
	query_is 3 "SELECT exit_code FROM runs WHERE job_id = $job"
seconds=$(($(now) - start + 1))
polled=$(polls)
ok 'poll() was asked, and failed' [ "$polled" -gt 0 ]
# Ten times a second while it waits, more often while it starts and sweeps.
ok "poll() was asked at most 40 times a second ($polled in $seconds s)" \
	[ "$polled" -le $((40 * seconds)) ]
ok 'the log says once that poll() fails' \
	[ "$(grep -c 'cannot poll: Cannot allocate memory' "$POLLUX_DIR/supervisor.log")" = 1 ]

job=$(submit -- "$work" -n 20000 -s 5)
without_poll "$POLLUX" schedule
ok 'another job runs' wait_for 10 logged "$job" 'step 5 '
kill_now "$(query "SELECT $supervisor_pid FROM runs WHERE job_id = $job")"
without_poll "$POLLUX" schedule
ok 'a supervisor that adopts a run sees its end' wait_for 20 query_is ended \
	"SELECT state FROM runs WHERE job_id = $job AND number = 1"
"$POLLUX" cancel "$job"
ok 'the job of the adopted run can be cancelled' wait_for 20 query_is cancelled \
	"SELECT state FROM jobs WHERE id = $job"
ok 'no process is left' wait_for 10 nothing_alive
finish
