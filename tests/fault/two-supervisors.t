#!/bin/sh
# two-supervisors.t - somebody removes the lock file of a run that waits for its device, and a
# second supervisor comes. Both wait. One claims the run, and the other leaves it alone.
# shellcheck disable=SC2016,SC2317 # words for the job's shell; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=1

lock=$POLLUX_DIR/run/1.lock
supervisor() { setsid "$POLLUX" supervise 1 2>>"$POLLUX_DIR/supervisor.log" & }
has_lock() { # has_lock PID: it has the file that is there open
	find "/proc/$1/fd" -lname "$lock" 2>/dev/null | grep -q .
}
one_is_left() { [ "$(supervisors_alive | wc -l)" = 1 ]; }

# Run 1 waits: the device is in use by run 2, in the store.
job=$("$POLLUX" submit -q --grace 60s -- sh -c 'trap "" TERM; echo up
	while [ ! -e go ]; do sleep 0.1; done')
other=$("$POLLUX" submit -q -- true)
boot=$(cat /proc/sys/kernel/random/boot_id)
columns='state, job_id, number, replicas, accumulation_steps, learning_rate_scale, boot_id,
	assigned_time_s, assigned_boot_s'
query "INSERT INTO runs ($columns) VALUES ('assigned', $job, 1, 1, 1, 1, '$boot', 0, 0);
	INSERT INTO runs ($columns) VALUES ('ended', $other, 1, 1, 1, 1, '$boot', 0, 0);
	INSERT INTO run_devices (run_id, position, device, kind, binding, cores, in_use)
		VALUES (1, 0, 'cpu:0', 'a core', '0', 1, 0), (2, 0, 'cpu:0', 'a core', '0', 1, 1);
	UPDATE jobs SET state = iif(id = $job, 'running', 'done')"
supervisor
first=$!
ok 'a supervisor waits' wait_for 10 has_lock "$first"
kill -STOP "$first"
rm "$lock"
supervisor
second=$!
ok 'its lock is removed, and another one comes' wait_for 10 has_lock "$second"
kill -CONT "$first"
query 'UPDATE run_devices SET in_use = 0 WHERE run_id = 2'
ok 'one starts the run' wait_for 10 logged "$job" '^up'
ok 'the other leaves' wait_for 10 one_is_left
"$POLLUX" hold --force "$job"
sleep 1
is 'a wish to stop is left to the first' 'stopping running' "$(query "SELECT r.state, j.state
	FROM runs r JOIN jobs j ON j.id = job_id WHERE r.id = 1" | tr '|' ' ')"
touch go
ok 'the job ends' wait_for 20 nothing_alive
is 'in one run' '1 1' "$(query "SELECT count(*), sum(id) FROM runs WHERE job_id = $job" |
	tr '|' ' ')"
like 'once' '^1$' "$(grep -c '^up' "$POLLUX_DIR/logs/$job.log")"
finish
