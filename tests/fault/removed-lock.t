#!/bin/sh
# removed-lock.t - somebody removes or replaces the lock file of a run under its supervisor: the
# job runs on, and the file is made anew.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

touch paused
mkdir checkpoints
job=$(submit --checkpoint-dir "$TMP/checkpoints" -- "$work" -n 300 -s 5 -h "$TMP/paused")
pass
ok 'a job runs' wait_for 10 logged "$job" 'step 5 '
run=$(query "SELECT max(id) FROM runs WHERE job_id = $job")
lock=$POLLUX_DIR/run/$run.lock
supervisor=$(query "SELECT $supervisor_pid FROM runs WHERE id = $run")
others_left() { [ "$(supervisors_alive)" = "$supervisor" ]; }
holds_file() { # the supervisor has the file that is there open
	find "/proc/$supervisor/fd" -lname "$lock" 2>/dev/null | grep -q .
}

for how in 'rm -f' 'cp --remove-destination /dev/null'; do
	$how "$lock"
	pass
	ok "$how: a pass starts no second supervisor that stays" wait_for 20 others_left
	ok "$how: the supervisor makes the file anew" wait_for 20 holds_file
	is "$how: the run goes on" 'running|none' "$(query "SELECT state, stop_reason FROM runs
		WHERE id = $run")"
done
like 'the supervisor says that its lock file was removed' 'its lock file was removed: made anew' \
	"$(cat "$POLLUX_DIR/supervisor.log")"
rm paused
settle 20 'the job ends'
exact 'the job has exactly its samples' "$job" 300
is 'the job had one run' 1 "$(query "SELECT count(*) FROM runs WHERE job_id = $job")"
sound 'all is well after the removals'
finish
