#!/bin/sh
# lose.t - hold, requeue and cancel say what work would be lost; a hold can be taken back.
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
"$POLLUX" submit -q --grace 60 -- sh stays >/dev/null
"$POLLUX" submit -q --grace 60 --checkpoint-dir saved -- sh stays >/dev/null
"$POLLUX" submit -q --grace 60 --retries 0 -- sh stays >/dev/null
"$POLLUX" schedule
wait_for 20 [ -e started1 ] && wait_for 20 [ -e started2 ] && wait_for 20 [ -e started3 ]
store "UPDATE runs SET launch_boot_s = launch_boot_s - 72790"

lost='has saved nothing; 20h13m of work would be lost'
for command in hold requeue; do
	status "$command of a job that saves nothing is refused" 1 "$POLLUX" "$command" 1
	is "$command says what would be lost" "pollux: job 1 $lost; --force goes on" "$err"
	status "$command --dry-run" 0 "$POLLUX" "$command" --dry-run 1 2
	like "$command --dry-run says so" "^job 1 would be asked to stop, .*; it $lost\$" "$out"
	like "$command --dry-run: a job that can resume loses nothing" \
		'^job 2 would be asked to stop, to be [a-z ]*$' "$out"
	like "$command asks on a terminal" "^pollux: job 1 $lost\$" "$(answer n "$command" 1)"
	like "$command leaves the job if the answer is no" \
		'^pollux: job 1 was left as it is$' "$(answer n "$command" 1)"
	ok "and the job runs" no_stop 1
done
status 'cancel --dry-run' 0 "$POLLUX" cancel -n 1
is 'says so too' "job 1 would be asked to stop, to be cancelled; it $lost" "$out"
ok 'and the job runs' no_stop 1
like 'cancel asks on a terminal' "^pollux: job 1 $lost\$" "$(answer n cancel 1)"
ok 'and the job runs' no_stop 1
store "UPDATE runs SET launch_boot_s = launch_boot_s + 72490 WHERE job_id = 3"
unlike 'cancel does not ask for minutes' 'lost' "$(answer n cancel 3)"
like 'a yes goes on' 'status 0' "$(answer y hold 1)"

# --- a hold is taken back while the job still stops ---
like 'status says why it stops now' ' 1 +sh +stopping .* stopping to be held, .* of 1m00s' \
	"$("$POLLUX" status)"
like 'status ID does so as well' '^ *reason +stopping to be held, .* of 1m00s' \
	"$("$POLLUX" status 1)"
status 'a requeue does not win' 1 "$POLLUX" requeue --force 1
is 'and says so' "pollux: job 1 is being held, which wins; 'pollux release 1' has it queued again" \
	"$err"
status 'nor does a hold of a cancelled job' 1 "$POLLUX" hold --force 3
like 'which is said' 'job 3 is being stopped for good, which wins: cancelled' "$err"
status 'release --dry-run' 0 "$POLLUX" release --dry-run 1
is 'says what would be' 'job 1 would be released: queued again when it has stopped' "$out"
status 'the hold is taken back' 0 "$POLLUX" release 1
like 'status says so' 'stopping to be queued again' "$("$POLLUX" status 1)"
touch go
ok 'the cancelled one is cancelled' wait_for 20 state_is 3 cancelled
ended() { [ "$(store "SELECT count(*) FROM runs WHERE job_id = 1 AND state = 'ended'")" = 1 ]; }
ok 'the run ends' wait_for 20 ended
unlike 'the job is not held' held "$(store 'SELECT state FROM jobs WHERE id = 1')"
"$POLLUX" cancel 1 2
ok 'a script cancels what saves nothing' wait_for 20 state_is 1 cancelled
ok 'and both end' wait_for 20 no_supervisor
finish
