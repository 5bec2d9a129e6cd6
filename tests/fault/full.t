#!/bin/sh
# full.t - the disk is full: a submission fails and leaves nothing half-written, running
# jobs go on, and their end is recorded when there is room again.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/mounts.sh"
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

POLLUX_SLICE=1h	# a pass finds nothing to write, not a slice that has ended
mkdir disk checkpoints-1 checkpoints-2 checkpoints-3
mount -t tmpfs -o size=1m none disk || skip_all 'cannot mount a small disk'
POLLUX_DIR=$TMP/disk/store
cleanup() {
	kill_all
	cd /
	wait_for 5 umount "$TMP/disk"
}
fill() { dd if=/dev/zero of=disk/filler bs=4k count=2000 2>/dev/null || :; }
room() { rm disk/filler; }
full='^pollux: cannot use the store .*: database or disk is full$'
refuses() { # refuses COMMAND...: status 74, one line, nothing on stdout
	run "$POLLUX" "$@"
	is "$1: fails with status 74" 74 "$rc"
	is "$1: nothing is printed" '' "$out"
	like "$1: the line says that the disk is full" "$full" "$err"
	is "$1: it is told in one line" 1 "$(printf '%s\n' "$err" | wc -l)"
}

# --- no store yet --------------------------------------------------------------------------

fill
refuses submit -- true
room
is 'the first job with room is job 1' 1 "$("$POLLUX" submit -q --hold -- true)"

# --- submissions until it is full ------------------------------------------------------------

# Each with an environment of 40 kB of its own: a few fit.
LARGE=$(head -c 40000 /dev/zero | tr '\0' x)
export LARGE
last=1
while [ "$last" -lt 100 ]; do
	run "$POLLUX" submit -q --hold --env LAST="$last" -- true
	[ "$rc" = 0 ] || break
	last=$out
done
is 'submissions fail with status 74 when the disk is full' 74 "$rc"
like 'the message says that the disk is full' "$full" "$err"
ok 'some submissions succeeded before' [ "$last" -gt 2 ]
is 'the store has every job that was told, and no other' "$last $last" \
	"$(query 'SELECT count(*), max(id) FROM jobs' | tr '|' ' ')"
is 'the store has the command of every job' "$last" "$(query 'SELECT count(*) FROM commands')"
is 'the full store is intact' ok "$(query 'PRAGMA integrity_check; PRAGMA foreign_key_check')"
unset LARGE
rm -rf "$POLLUX_DIR"

# --- a job runs meanwhile ------------------------------------------------------------------

touch paused
job=$(submit --checkpoint-dir "$TMP/checkpoints-1" -- "$work" -n 700 -s 5 -h "$TMP/paused")
pass
ok 'a job runs' wait_for 10 logged "$job" 'step 5 '
next=$(submit --checkpoint-dir "$TMP/checkpoints-2" -- "$work" -n 20 -s 5)
killat -f -n "$SUPERVISOR_FORK" "$POLLUX" schedule	# assigned, not started
fill
refuses submit -- true
status 'a job that nobody has started cannot be cancelled' 74 "$POLLUX" cancel "$next"
like 'cancel says that the job was not stopped' \
	"^pollux: job $next was not stopped \(its supervisor has not started it \
yet\): cannot use the store .*: database or disk is full$" "$err"
status 'status works on a full disk' 0 "$POLLUX" status
like 'status shows the job running' "^ *$job +work +running" "$out"
status 'a pass with nothing to write works on a full disk' 0 "$POLLUX" schedule
rm paused
last_words() { grep -q "^done $1 " "$WITNESS/ledger"; }
ok 'the job goes on to its end' wait_for 30 last_words "$job"
ok 'the log of the job has no room' [ "$(grep -c '^step' "$POLLUX_DIR/logs/$job.log")" -lt 700 ]
sleep 1
is 'the other job has not started' '' "$(grep "^start $next " "$WITNESS/ledger")"
is 'the store is intact on the full disk' \
	ok "$(query 'PRAGMA integrity_check; PRAGMA foreign_key_check')"
room
ok 'the end of the job is recorded when there is room' wait_for 30 job_is "$job" "done"
settle 30 'the other job runs and ends when there is room'
exact 'the first job has exactly its samples' "$job" 700
exact 'the second job has exactly its samples' "$next" 20
sound 'all is well after a full disk'

# --- jobs are stopped all the same ----------------------------------------------------------------

mkdir checkpoints-4 checkpoints-5
one=$(submit --checkpoint-dir "$TMP/checkpoints-4" -- "$work" -n 100000 -s 5)
two=$(submit --checkpoint-dir "$TMP/checkpoints-5" -- "$work" -n 100000 -s 5)
pass
ok 'the second of two jobs runs' wait_for 10 logged "$two" 'step 5 '
ok 'the first of two jobs runs' wait_for 10 logged "$one" 'step 5 '
fill
stops() { # stops COMMAND JOB WHAT
	run "$POLLUX" "$1" "$2"
	is "$1 fails with status 74" 74 "$rc"
	is "$1 says what it did" \
		"pollux: job $2 is being stopped, but it is not recorded yet that \
it was to be $3: its supervisor records that when it can: cannot use the store \
'$POLLUX_DIR/pollux.db': database or disk is full" "$err"
}
stops cancel "$one" cancelled
stops hold "$two" held
stopped() { [ "$(grep -c "^stop [$one$two] " "$WITNESS/ledger")" = 2 ]; }
ok 'both jobs stop in order' wait_for 20 stopped
room
ok 'the first job is recorded as cancelled when there is room' wait_for 30 job_is "$one" cancelled
ok 'the second job is recorded as held when there is room' wait_for 30 job_is "$two" held
ok 'no process is left of the two jobs' wait_for 10 nothing_alive
sound 'all is well after stops on a full disk'

# --- a wish that comes after the end of the run ---------------------------------------------------

job=$(submit --retries 9 -- sh -c 'echo up; while [ ! -e go ]; do sleep 0.1; done; exit 3')
pass
ok 'a job runs that will fail' wait_for 10 logged "$job" '^up'
supervisor=$(query "SELECT $supervisor_pid FROM runs WHERE job_id = $job")
fill
touch go
waits_for_room() { grep -q "job $job .*cannot record the end yet" "$POLLUX_DIR/supervisor.log" ||
	[ -z "$(jobs_alive)" ]; } # the log may have no room either
ok 'the end of the failed job waits for room' wait_for 20 waits_for_room
sleep 1
stops cancel "$job" cancelled
kill -TERM "$supervisor"
sleep 1
is 'the supervisor stays until the end of the failed job is recorded' \
	"$supervisor" "$(supervisors_alive)"
room
ok 'the failed job is cancelled when there is room, not retried' wait_for 30 job_is "$job" cancelled
is 'the exit status of the failed job is known' 'failed 3 cancel' \
	"$(query "SELECT outcome, exit_code, stop_reason FROM runs WHERE job_id = $job" |
		tr '|' ' ')"
ok 'no process is left of the failed job' wait_for 10 nothing_alive

# --- nearly full ---------------------------------------------------------------------------------

mkdir checkpoints-6
mount -o remount,size=64m "$TMP/disk"
dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null \
	count=$(($(df -k --output=avail "$TMP/disk" | tail -n 1) - 400)) || :
next=$(submit --checkpoint-dir "$TMP/checkpoints-6" -- "$work" -n 20 -s 5)
pass
is 'no run starts with less than 1 % of the disk free' \
	'queued|no run starts while the disk is nearly full' \
	"$(query "SELECT state, reason FROM jobs WHERE id = $next")"
like 'status says that the disk is nearly full' \
	"^No run starts: the disk of '.*' is nearly full: 0\.[0-9] MiB of 64\.0 MiB" \
	"$("$POLLUX" status)"
room
settle 30 'the run starts and ends when there is room'
mount -o remount,size=1m "$TMP/disk"
sound 'all is well after a disk that was nearly full'

# --- the job's checkpoint does not fit ---------------------------------------------------------

job=$(submit --checkpoint-dir "$TMP/disk" -- "$work" -n 5 -s 5 \
	sh -c 'dd if=/dev/zero of=disk/filler bs=4k count=512; exit 1')
pass
filled() { [ -e disk/filler ] && ! run_is "$(query 'SELECT max(id) FROM runs')" assigned; }
ok 'a job fills the disk itself, and fails' wait_for 20 filled
sleep 1
room
settle 30 'the job that filled the disk ends when there is room'
is 'the reason of the failure is the full disk' 'failed|exit status 1: disk full' \
	"$(query "SELECT state, reason FROM jobs WHERE id = $job" | sed 's/|failed: /|/')"
sound 'all is well after a job that filled the disk'
finish
