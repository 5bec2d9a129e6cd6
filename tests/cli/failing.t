#!/bin/sh
# failing.t - a group of which three runs in a row fail at once is held, and that is told once;
# requeue --failed brings back what has failed.
# shellcheck disable=SC2016,SC2317 # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=1 POLLUX_POLICY=fifo
cleanup() { end_jobs; }

states() { # states GROUP
	store "SELECT group_concat(state, ' ') FROM (SELECT state FROM jobs WHERE group_id = $1
		ORDER BY id)"
}
are() { # are GROUP STATES: after passes, as cron makes them
	"$POLLUX" schedule >/dev/null
	[ "$(states "$1")" = "$2" ]
}
told() { cat told 2>/dev/null; }
told_is() { [ "$(told)" = "$1" ]; }

mkdir -m 700 store
echo "on_failure = echo \"\$POLLUX_JOB \$POLLUX_STATE \$POLLUX_GROUP \$POLLUX_NAME\" >>$TMP/told" \
	>store/config
"$POLLUX" submit -q -n sweep --array 0-5 -- sh -c 'exit 3' >/dev/null
ok 'three failures in a row hold a group' \
	wait_for 60 are 1 'failed failed failed held held held'
is 'a job that is held says why' "3 runs of its group in a row failed at once; 'pollux release \
group:1' lets it go on" "$("$POLLUX" status --json 4 | json 'print $d->{jobs}[0]{reason}')"
is 'the third has the event' "group:1 is held: 3 of its runs in a row failed within a minute of \
their start; 'pollux release group:1' lets it go on" \
	"$(store "SELECT text FROM events WHERE job_id = 3 AND kind = 'hold'")"
ok 'on_failure tells the hold once, instead of the third failure' wait_for 60 told_is \
	"1 failed 1 sweep
2 failed 1 sweep
3 held 1 sweep"
: >told
ok 'a group that is held is released' "$POLLUX" release --yes group:1
ok 'three more failures hold it again' wait_for 60 are 1 'failed failed failed failed failed failed'
ok 'where none is left to hold, each failure is told' wait_for 60 eval '[ "$(wc -l <told)" = 3 ]'
is 'and nothing is held' 0 "$(grep -c held told)"

# --- a success in between, failures later than a minute, and what is no run's own failure ---

"$POLLUX" submit -q --array 0-5 -- sh -c '[ {index} = 2 ]' >/dev/null
ok 'a success in between counts' wait_for 60 are 2 'failed failed done failed failed failed'
is 'that group was not held' 0 "$(store 'SELECT count(*) FROM job_groups WHERE id = 2 AND
	held_for IS NOT NULL')"
# One run each: of one job with retries there are three failures, but no three jobs.
"$POLLUX" submit -q --retries 3 --array 0-1 --max-running 1 -- sh -c 'exit 4' >/dev/null
first=$(store 'SELECT min(id) FROM jobs WHERE group_id = 3')
runs() { # runs JOB N: it has had so many
	"$POLLUX" schedule >/dev/null
	[ "$(store "SELECT count(*) FROM runs WHERE job_id = $1 AND state = 'ended'")" -ge "$2" ]
}
ok 'the first job of a group fails' wait_for 60 runs "$first" 1
is 'one job that fails again and again holds no group' 0 \
	"$(store "SELECT count(*) FROM jobs WHERE group_id = 3 AND state = 'held'")"
"$POLLUX" cancel --yes group:3 2>/dev/null
"$POLLUX" submit -q --retries 1 --array 0-3 -- sh -c 'exit 4' >/dev/null
ok 'jobs with retries are held, too' wait_for 60 are 4 'held held held held'
"$POLLUX" cancel --yes group:4

# --- requeue --failed --dependents ---

"$POLLUX" submit -q --array 0-1 -- sh -c '[ {index} = 0 ] || [ -e mended ]' >/dev/null
last=$(store 'SELECT max(id) FROM jobs')
"$POLLUX" submit -q --after "ok:$last" -- true >/dev/null
"$POLLUX" submit -q --after "ok:$((last + 1))" -- true >/dev/null
ended() {
	"$POLLUX" schedule >/dev/null
	[ "$(store "SELECT group_concat(state, ' ') FROM (SELECT state FROM jobs
		WHERE id >= $last - 1 ORDER BY id)")" = "$1" ]
}
ok 'jobs behind a failure are cancelled' wait_for 60 ended 'done failed cancelled cancelled'
: >mended
is 'a dry run of requeue --failed --dependents names them' "job $last would be queued again
job $((last + 1)) would be queued again
job $((last + 2)) would be queued again" \
	"$("$POLLUX" requeue --dry-run --failed --dependents group:5)"
ok 'requeue --failed --dependents' "$POLLUX" requeue --yes --failed --dependents group:5
ok 'brings back what failed, and what was cancelled for that' \
	wait_for 60 ended 'done done done done'
run "$POLLUX" requeue --yes --failed group:5
is 'nothing has failed any more' 66 "$rc"
run "$POLLUX" requeue --failed --state 'done' group:5
is '--failed and --state are one' \
	"64:pollux: give one of --failed and --state; see 'pollux requeue --help'" "$rc:$err"

# --- a hold while there was no on_failure is not told later ---

mv store/config config
"$POLLUX" submit -q --array 0-3 -- sh -c 'exit 5' >/dev/null
group=$(store 'SELECT max(id) FROM job_groups')
ok 'a group is held while nobody wants to know' wait_for 20 are "$group" 'failed failed failed held'
"$POLLUX" cancel --yes "group:$group"
"$POLLUX" schedule >/dev/null
mv config store/config
: >told
"$POLLUX" tell
is 'it is not told later' '' "$(told)"

finish
