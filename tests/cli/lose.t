#!/bin/sh
# lose.t - hold, requeue and cancel say what work would be lost; a hold can be taken back. The jobs
# are not to be suspended: pause.t has those that are, when they are held.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=3
export POLLUX_SLOTS
command -v script >/dev/null || skip_all 'there is no script(1) to make a terminal'
cleanup() {
	touch "$TMP/go"
	end_jobs
}
state_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
no_stop() { # no_stop JOB: nobody asked its run to stop
	[ "$(store "SELECT stop_reason FROM runs WHERE job_id = $1 AND state <> 'ended'")" = none ]
}
# answer WORD COMMAND...: the command on a terminal, at which a person types the word.
answer() {
	word=$1
	shift
	{ sleep 1; echo "$word"; sleep 1; } |
		script -qec "'$POLLUX' $*; echo status \$?" /dev/null | tr -d '\r'
}

# Until told to, it does not leave.
cat >stays <<'END'
trap 'while [ -e stays ] && [ ! -e go ]; do sleep 0.1; done; exit 1' TERM
touch "started$POLLUX_JOB_ID"
while [ -e stays ]; do sleep 0.1; done
END
"$POLLUX" submit -q --grace 60 --suspend never -- sh stays >/dev/null
"$POLLUX" submit -q --grace 60 --checkpoint-dir saved -- sh stays >/dev/null
"$POLLUX" submit -q --grace 60 --retries 0 -- sh stays >/dev/null
"$POLLUX" schedule
wait_for 20 [ -e started1 ] && wait_for 20 [ -e started2 ] && wait_for 20 [ -e started3 ]
given_run all launch_boot_s-=72790

lost='has saved nothing; 20h13m of work would be lost'
for command in hold requeue; do
	never=''
	[ "$command" = requeue ] || never='; it cannot be suspended: its --suspend is never'
	status "$command refuses a job that saves nothing" 1 "$POLLUX" "$command" 1
	is "$command says what would be lost" "pollux: job 1 $lost$never; --force goes on" "$err"
	status "$command --dry-run succeeds" 0 "$POLLUX" "$command" --dry-run 1 2
	like "$command --dry-run says what would be lost" \
		"^job 1 would be asked to stop, .*; it $lost\$" "$out"
	like "$command --dry-run says that a job that can resume loses nothing" \
		'^job 2 would be asked to stop, to be [a-z ]*$' "$out"
	like "$command asks on a terminal" "^pollux: job 1 $lost$never\$" "$(answer n "$command" 1)"
	like "$command leaves the job if the answer is no" \
		'^pollux: job 1 was left as it is$' "$(answer n "$command" 1)"
	ok "$command without a yes does not stop the job" no_stop 1
done
status 'cancel --dry-run succeeds' 0 "$POLLUX" cancel -n 1
is 'cancel --dry-run says what would be lost' \
	"job 1 would be asked to stop, to be cancelled; it $lost" "$out"
ok 'cancel --dry-run does not stop the job' no_stop 1
like 'cancel asks on a terminal' "^pollux: job 1 $lost\$" "$(answer n cancel 1)"
ok 'cancel without a yes does not stop the job' no_stop 1
given_run 3 launch_boot_s+=72490
unlike 'cancel does not ask for minutes' 'lost' "$(answer n cancel 3)"
like 'hold goes on after a yes' 'status 0' "$(answer y hold 1)"

# --- a hold is taken back while the job still stops ---
like 'status says that the job stops in order to be held' \
	' 1 +sh +stopping .* stopping to be held, .* of 1m00s' "$("$POLLUX" status)"
like 'status of the job says that it stops in order to be held' \
	'^ *reason +stopping to be held, .* of 1m00s' "$("$POLLUX" status 1)"
status 'requeue fails for a job that is being held' 1 "$POLLUX" requeue --force 1
is 'requeue says that the hold wins' \
	"pollux: job 1 is being held, which wins; 'pollux release 1' has it queued again" "$err"
status 'hold fails for a job that is being cancelled' 1 "$POLLUX" hold --force 3
like 'hold says that the cancellation wins' \
	'job 3 is being stopped for good, which wins: cancelled' "$err"
status 'release --dry-run succeeds for a job that is being held' 0 "$POLLUX" release --dry-run 1
is 'release --dry-run says what would happen' \
	'job 1 would be released: queued again when it has stopped' "$out"
status 'release takes the hold back' 0 "$POLLUX" release 1
like 'status says that the job stops in order to be queued again' 'stopping to be queued again' \
	"$("$POLLUX" status 1)"
touch go
ok 'the cancelled job is cancelled' wait_for 20 state_is 3 cancelled
ended() { [ "$(store "SELECT count(*) FROM runs WHERE job_id = 1 AND state = 'ended'")" = 1 ]; }
ok 'the run ends whose hold was taken back' wait_for 20 ended
unlike 'the job whose hold was taken back is not held' held \
	"$(store 'SELECT state FROM jobs WHERE id = 1')"
"$POLLUX" cancel 1 2
ok 'cancel ends a job without a question in a script' wait_for 20 state_is 1 cancelled
ok 'both jobs end' wait_for 20 no_supervisor
finish
