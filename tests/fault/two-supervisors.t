#!/bin/sh
# two-supervisors.t - somebody removes the lock file of a run that waits for its device, and a
# second supervisor comes. Both wait. One claims the run, and the other leaves it alone.
# shellcheck disable=SC2016,SC2317 # words for the job's shell; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=1

supervisor() { setsid "$POLLUX" supervise "$run" 2>>"$POLLUX_DIR/supervisor.log" & }
# has_lock PID: it has the file that is there open, and SIGTERM no longer kills it
has_lock() {
	find "/proc/$1/fd" -lname "$lock" 2>/dev/null | grep -q . &&
		grep -q '^SigBlk:.*[4-7c-f]...$' "/proc/$1/status"
}
one_is_left() { [ "$(supervisors_alive | wc -l)" = 1 ]; }

# A run that waits: its device is in use, in the store, by a run that has ended. The run's command
# is up until the file go is there.
assign() { # sets job, run and lock
	rm -f go
	job=$("$POLLUX" submit -q --grace 60s --retries 9 -- sh -c 'trap "" TERM; echo up
		while [ ! -e go ]; do sleep 0.1; done')
	other=$("$POLLUX" submit -q -- true)
	boot=$(cat /proc/sys/kernel/random/boot_id)
	past_run "$other" boot_id="$boot"
	had_device "$run" cpu:0 'a core' binding=0 in_use=1
	given_job "$other" state=done
	past_run "$job" boot_id="$boot" state=assigned
	had_device "$run" cpu:0 'a core' binding=0
	given_job "$job" state=running
	lock=$POLLUX_DIR/run/$run.lock
}
free_device() { given_devices all in_use=0; }
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
# Stops a process where it keeps nobody from the store: without a lock of SQLite's to write.
stopped_aside() {
	kill -STOP "$1"
	until is_stopped "$1"; do sleep 0.01; done
	grep -q "POSIX .* WRITE $1 " /proc/locks || return 0
	kill -CONT "$1"
	return 1
}
stop() { ok 'a supervisor is stopped' wait_for 10 stopped_aside "$1"; }
ends_once() {
	touch go
	ok 'the job ends' wait_for 20 nothing_alive
	is 'the job had one run' '1' "$(query "SELECT count(*) FROM runs WHERE job_id = $job")"
	is 'the program was started once' 1 "$(grep -c '^up' "$POLLUX_DIR/logs/$job.log")"
}

# --- one claims the run ---

assign
supervisor
first=$!
ok 'a first supervisor waits for the device' wait_for 10 has_lock "$first"
stop "$first"
rm "$lock"
supervisor
second=$!
ok 'a second supervisor comes when the lock is removed' wait_for 10 has_lock "$second"
kill -CONT "$first"
free_device
ok 'one supervisor starts the run' wait_for 10 logged "$job" '^up'
ok 'the other supervisor leaves the run alone' wait_for 10 one_is_left
"$POLLUX" hold --force "$job"
states() { query "SELECT r.state, j.state FROM runs r JOIN jobs j ON j.id = job_id
	WHERE r.id = $run" | tr '|' ' '; }
is_stopping() { [ "$(states)" = 'stopping running' ]; }
ok 'a wish to stop comes to the first supervisor' wait_for 10 is_stopping
sleep 1
is 'the wish to stop is left to the first supervisor' 'stopping running' "$(states)"
ends_once

# --- the other one is told to end when the first has claimed the run ---

assign
supervisor
first=$!
ok 'a first supervisor of another run waits' wait_for 10 has_lock "$first"
stop "$first"
rm "$lock"
supervisor
second=$!
ok 'a second supervisor of that run waits' wait_for 10 has_lock "$second"
stop "$second"
free_device
kill -CONT "$first"
ok 'the first supervisor starts that run' wait_for 10 logged "$job" '^up'
kill -TERM "$second"
kill -CONT "$second"
ok 'the second supervisor leaves when told to end' wait_for 10 one_is_left
is 'the run of the first supervisor goes on' \
	'running none' "$(query "SELECT state, coalesce(stop_reason, 'none')
	FROM runs WHERE id = $run" | tr '|' ' ')"
ends_once

# --- the run is claimed while the other one waits to write that it was not started ---

assign
supervisor
second=$!
ok 'a supervisor of a third run waits' wait_for 10 has_lock "$second"
hold_store
kill -TERM "$second"
waits_to_write() { grep -q "job $job .*cannot record the end yet: .*locked" \
	"$POLLUX_DIR/supervisor.log"; }
ok 'the supervisor gives the run up, and waits for the store' wait_for 20 waits_to_write
let_store_go "$(run_sql "run:$run" state=running launch_boot_s=1) COMMIT"
ok 'the supervisor that gave up leaves' wait_for 20 nothing_alive
is 'the run is left to the one who claimed it' \
	running "$(query "SELECT state FROM runs WHERE id = $run")"
finish
