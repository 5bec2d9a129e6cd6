#!/bin/sh
# readonly.t - the store on a disk that became read-only: commands that would write fail
# with one line and a documented status, the others work, running jobs go on and end, and
# the end is recorded when the disk is writable again.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/mounts.sh"
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

refuses() { # refuses STATUS PATTERN COMMAND...: one line, nothing on stdout
	want=$1 pattern=$2
	shift 2
	run "$POLLUX" "$@"
	is "$1: fails with status $want" "$want" "$rc"
	is "$1: nothing is printed" '' "$out"
	is "$1: it is told in one line" 1 "$(printf '%s\n' "$err" | wc -l)"
	like "$1: the line says why" "$pattern" "$err"
}
works() { # works COMMAND...
	status "$1 works" 0 "$POLLUX" "$@"
	is "$1 says nothing on standard error" '' "$err"
}
read_only_for_commands() {
	refuses 77 "^pollux: cannot use the store '.*': attempt to write a readonly database$" \
		submit -- true
	refuses 73 "^pollux: cannot open '.*': (Read-only file system|Operation not permitted)$" \
		schedule
	refuses 77 "^pollux: cannot use the store '.*': attempt to write a readonly database$" \
		cancel "$held"
	works status
	like 'status shows the job running' "^ *$job +work +running" "$out"
	works status "$job"
	works status --json
	is 'status --json prints valid JSON' 1 "$(printf '%s\n' "$out" >json
		sqlite3 :memory: "SELECT json_valid(CAST(readfile('json') AS TEXT))")"
	works log -n 1 "$job"
	works schedule --dry-run
	is 'a dry run of a pass has nothing to do' '' "$out"
}

# --- a read-only mount over the store: what is open stays writable ----------------------

mkdir checkpoints
touch paused
held=$(submit --hold -- true)
stopped=$(submit -- "$work" -n 100000 -s 5)
job=$(submit --checkpoint-dir "$TMP/checkpoints" -- "$work" -n 300 -s 5 -h "$TMP/paused")
pass
ok 'the job that will be held runs' wait_for 10 logged "$stopped" 'step 5 '
ok 'the job that will go on runs' wait_for 10 logged "$job" 'step 5 '
mount --bind -o ro "$POLLUX_DIR" "$POLLUX_DIR"
read_only_for_commands
run "$POLLUX" requeue --force "$job"
is 'requeue of a running job fails' 77 "$rc"
like 'requeue says that the job runs on' "^pollux: job $job runs on: stopped now, it could not be \
started again: .*: attempt to write a readonly database$" "$err"
is 'the job runs on after requeue' 'running none' "$(query "SELECT state, stop_reason FROM runs
	WHERE job_id = $job" | tr '|' ' ')"
run "$POLLUX" hold "$stopped"
is 'hold of a running job fails' 77 "$rc"
like 'hold says that it stops the run all the same' \
	"^pollux: job $stopped is being stopped, but it is not \
recorded yet that it was to be held: .*: attempt to write a readonly database$" "$err"
ok 'the supervisor can still write, and records the hold' wait_for 20 job_is "$stopped" held
rm paused
ok 'the job goes on to its end' wait_for 20 logged "$job" '^\[exited with status 0\]'
shown_done() { [ "$("$POLLUX" status -a | awk -v job="$job" '$1 == job { print $3 }')" = "done" ]; }
ok 'status shows the job done' wait_for 10 shown_done
umount "$POLLUX_DIR"
settle 20 'the store settles when it is writable again'
exact 'the job that went on has exactly its samples' "$job" 300
sound 'all is well after the read-only mount'

# The first submission of all.
mkdir other
mount --bind -o ro other other
POLLUX_DIR=$TMP/other/store refuses 73 \
	"^pollux: cannot create directory '.*': Read-only file system$" \
	submit -- true
POLLUX_DIR=$TMP/other/store works schedule
POLLUX_DIR=$TMP/other/store works status
umount other

# --- immutable files: supervisors cannot write either ------------------------------------

mutable() { chattr -R -f -i "$POLLUX_DIR" 2>/dev/null || :; }
cleanup() {
	mutable
	kill_all
}
mkdir checkpoints-2
: >probe
if chattr +i probe 2>/dev/null && chattr -i probe; then
	touch paused
	job=$(submit --checkpoint-dir "$TMP/checkpoints-2" -- "$work" -n 600 -s 5 -h "$TMP/paused")
	pass
	ok 'a job runs before the files become immutable' wait_for 10 logged "$job" 'step 200 '
	chattr -R -f +i "$POLLUX_DIR"
	read_only_for_commands
	supervisor=$(supervisors_alive)
	rm paused
	finished() { grep -q "^done $job " "$WITNESS/ledger" && [ -z "$(jobs_alive)" ]; }
	ok 'the job goes on to its end beside immutable files' wait_for 30 finished
	sleep 1
	is 'the supervisor waits to record the end' "$supervisor" "$(supervisors_alive)"
	is 'the store has the job running until then' \
		running "$(query "SELECT state FROM jobs WHERE id = $job")"
	mutable
	ok 'the supervisor records the end when it can write again' wait_for 30 job_is "$job" "done"
	settle 20 'the supervisor leaves'
	exact 'the job beside immutable files has exactly its samples' "$job" 600
	sound 'all is well after the immutable files'
else
	echo "# skipped: supervisors that cannot write, as chattr +i does not work in $TMP"
fi
finish
