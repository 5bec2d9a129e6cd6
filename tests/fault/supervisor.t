#!/bin/sh
# supervisor.t - a supervisor killed with SIGKILL while its job runs, waits for its
# devices, or is being stopped, and at each call that matters. The next pass finds the
# orphan, stops it by its own signal so that it saves, and requeues it.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

supervisor_of() { query "SELECT $supervisor_pid FROM runs WHERE id = $1"; }
kill_supervisor() { # kill_supervisor RUN
	pid=$(supervisor_of "$1")
	kill -9 "$pid" && wait_for 10 is_gone "$pid"
}
is_gone() { ! grep -qs '^State:.*[^ZX] (' "/proc/$1/status"; }
run_of() { query "SELECT max(id) FROM runs WHERE job_id = $1"; }
ending() { # ending RUN: outcome, reason, own status of an ended run
	query "SELECT outcome, stop_reason, ifnull(exit_code, '-'), printf('%d', lost_samples)
		FROM runs WHERE id = $1" | tr '|' ' '
}
grown() { [ "$(wc -c <"$POLLUX_DIR/logs/$1.log")" -gt "$2" ]; }

process_of() { # process_of RUN: its supervisor, whether or not it has got to the store
	for pid in $(supervisors_alive); do
		[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" != "pollux supervise $1 " ] || echo "$pid"
	done
}
preempted() { # preempted RUN: a pass in whose decision it is
	pass && query_is preempt "SELECT stop_reason FROM runs WHERE id = $1"
}
other_supervisors() {
	[ -n "$(process_of "$run_one")" ] && [ -n "$(process_of "$run_two")" ]
}

# --- while it runs: the real trainer --------------------------------------------------

samples=50000
if [ -d "$FASHION_MNIST" ]; then
	# Its own stop signal; the log has a line for each step.
	job=$(submit --stop-signal INT -b 50 --samples $samples -- "$work" "$TRAIN" \
		--data "$FASHION_MNIST" --subset 6000 --hidden 16 --log-every 0 --samples $samples \
		--update-delay 2)
	pass
	ok 'the trainer is under way' wait_for 60 logged "$job" '^step 100 '
	run=$(run_of "$job")
	leader=$(query "SELECT $leader_pid FROM runs WHERE id = $run")
	ok 'the supervisor of the trainer is killed' kill_supervisor "$run"
	size=$(wc -c <"$POLLUX_DIR/logs/$job.log")
	ok 'the trainer goes on without a supervisor' wait_for 10 grown "$job" "$size"
	is 'the trainer is the same process' "$leader" "$(jobs_alive)"
	pass
	ok 'a pass stops the orphan' wait_for 30 run_is "$run" ended
	is 'the trainer was stopped as an orphan' 'stopped orphan 75 0' "$(ending "$run")"
	ok 'the trainer has saved itself before it stopped' logged "$job" '^stopped samples [0-9]+'
	stopped=$(sed -n 's/^stopped samples \([0-9]*\).*/\1/p' "$POLLUX_DIR/logs/$job.log")
	is 'the store knows how far the trainer came' "$stopped $stopped" "$(query "SELECT
		printf('%d %d', checkpoint_samples, last_samples) FROM runs WHERE id = $run")"
	settle 60 'the trainer ends'
	is 'the trainer resumed exactly where it stopped' "$stopped" \
		"$(sed -n 's/^resumed samples \([0-9]*\).*/\1/p' "$POLLUX_DIR/logs/$job.log" |
			head -n 1)"
	is 'the trainer has exactly its samples' "$samples $((samples / 50))" \
		"$(sed -n 's/^done samples \([0-9]*\) .* steps \([0-9]*\)$/\1 \2/p' \
			"$POLLUX_DIR/logs/$job.log")"
	is 'no step was done twice' '' \
		"$(sed -n 's/^step \([0-9]*\) .*/\1/p' "$POLLUX_DIR/logs/$job.log" |
		sort -n | uniq -d)"
	is 'no sample of the trainer counts as lost' '' "$(inexact $samples 1)"
	sound 'all is well after the trainer'
else
	echo "# skipped: the trainer, without Fashion-MNIST in $FASHION_MNIST"
fi

# --- while it waits for devices, and while it stops its job -------------------------------

rm -rf "$POLLUX_DIR"
: >"$WITNESS/ledger"
export POLLUX_SLOTS=1
touch paused
one=$(submit --stop-signal USR1 -- "$work" -n 400 -s 5 -h "$TMP/paused")
two=$(submit -- "$work" -n 50 -s 5)
pass
ok 'the first of two jobs runs' wait_for 10 logged "$one" 'step 50 '
run_one=$(run_of "$one")
ok 'the first job is to make room for the second' wait_for 10 preempted "$run_one"
run_two=$(run_of "$two")
ok 'the first job is saving itself' wait_for 10 run_is "$run_one" stopping
is 'the second job waits for the first' \
	'assigned' "$(query "SELECT state FROM runs WHERE id = $run_two")"
waiting=$(process_of "$run_two")
stopping=$(process_of "$run_one")
ok 'both jobs have a supervisor' [ -n "$waiting" -a -n "$stopping" ]
kill -9 "$waiting" "$stopping"
ok 'the supervisor of the second job is killed' wait_for 10 is_gone "$waiting"
ok 'the supervisor of the first job is killed' wait_for 10 is_gone "$stopping"
sleep 0.3
is 'nobody starts the second job without a pass' \
	'stopping assigned' "$(query "SELECT group_concat(state, ' ')
	FROM (SELECT state FROM runs ORDER BY id)")"
pass
ok 'a pass gives both jobs a new supervisor' wait_for 10 other_supervisors
is 'the first job is still to make room' \
	'stopping assigned' "$(query "SELECT group_concat(state, ' ')
	FROM (SELECT state FROM runs ORDER BY id)")"
rm paused
settle 60 'both jobs end'
is 'the first job was preempted once' 'stopped preempt 75 0' "$(ending "$run_one")"
is 'the second job had one run' 1 "$(query "SELECT runs FROM jobs WHERE id = $two")"
exact 'the first job has exactly its samples' "$one" 400
exact 'the second job has exactly its samples' "$two" 50
sound 'all is well after both supervisors were killed'
POLLUX_SLOTS=2

# --- at each of its calls -------------------------------------------------------------------

# A pass decides and dies; the supervisor that it would have started is started here.
assign() { # assign JOB: sets $run
	killat -f -n "$SUPERVISOR_FORK" "$POLLUX" schedule
	run=$(query "SELECT id FROM runs WHERE job_id = $1 AND state = 'assigned'")
	[ -n "$run" ] || echo "# job $1 was not assigned"
}
conclude() { # conclude CALL
	settled 20 || echo "# call $1: job $job did not end"
	note_unsound "$2 killed at call $1" "$(inexact "$3" "id = $job"
		grep -v 'its supervisor is gone' "$POLLUX_DIR/supervisor.log")"
	: >"$POLLUX_DIR/supervisor.log"
}
supervisor_round() {
	job=$(submit -- "$work" -n 5 -b 2)
	assign "$job"
	round_rc=0
	killat -n "$1" "$POLLUX" supervise "$run" 2>>"$POLLUX_DIR/supervisor.log" || round_rc=$?
	conclude "$1" supervisor 5
	return "$round_rc"
}
each_call 'a supervisor' true supervisor_round

# The one that takes over dies too.
adopter_round() {
	for _ in 1 2 3 4 5; do	# on a busy machine the job may end before its supervisor is killed
		job=$(submit --stop-signal USR2 -- "$work" -n 60 -s 5)
		pass
		run=$(run_of "$job")
		wait_for 10 logged "$job" 'step 3 ' || echo "# job $job did not start"
		kill_supervisor "$run" 2>/dev/null && break
	done
	round_rc=0
	killat -n "$1" "$POLLUX" supervise "$run" 2>>"$POLLUX_DIR/supervisor.log" || round_rc=$?
	conclude "$1" 'a supervisor that takes over' 60
	return "$round_rc"
}
each_call 'a supervisor that takes over' true adopter_round
finish
