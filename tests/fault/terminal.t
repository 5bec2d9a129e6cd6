#!/bin/sh
# terminal.t - a submission that leads the session of its terminal, as under 'ssh -t', starts its
# job although the terminal is gone when the submission has ended.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
[ -r "$FAULT/preload_setsid.so" ] || skip_all "$FAULT/preload_setsid.so is not built: make check"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo SHELL=/bin/sh
export POLLUX_SLOTS POLLUX_POLICY SHELL
cleanup() { end_jobs; }
on_terminal() { # on_terminal COMMAND: which becomes the leader of the session
	ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
		POLLUX_SUBMIT_PASS=yes script -qec "LD_PRELOAD='$FAULT/preload_setsid.so' exec $1" \
		/dev/null </dev/null | tr -d '\r'
}
is_done() { [ "$(query "SELECT state FROM jobs WHERE id = $1")" = 'done' ]; }

on_terminal "'$POLLUX' submit -- true" >said
like 'a job is submitted on a terminal' 'Submitted job 1' "$(cat said)"
ok 'the job runs, though the terminal is gone' wait_for 20 is_done 1
wait_for 20 no_supervisor

# --- what is said there, and only there ---
mkdir bin
printf '#!/bin/sh\necho "no crontab for somebody" >&2; exit 1\n' >bin/crontab
chmod +x bin/crontab
PATH=$TMP/bin:$PATH
rm -f "$POLLUX_DIR/schedule.lock"
on_terminal "'$POLLUX' submit --hold -- true" >said
like 'submit on a terminal says how passes come, without a cron line' \
	"'pollux cron --install' adds" \
	"$(cat said)"
printf '#!/bin/sh\necho "cannot" >&2; exit 1\n' >bin/crontab
wait_for 20 no_supervisor
rm -f "$POLLUX_DIR/schedule.lock"
on_terminal "'$POLLUX' submit --hold -- true" >said
like 'submit on a terminal says how passes come without cron' \
	"'pollux schedule --watch 10' runs them" "$(cat said)"
wait_for 20 no_supervisor
rm -f "$POLLUX_DIR/schedule.lock"
"$POLLUX" submit --hold -- true >said 2>&1
is 'submit in a script does not say how passes come' 0 "$(grep -c 'pollux: passes come' said)"
finish
