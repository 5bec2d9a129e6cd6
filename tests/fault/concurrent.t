#!/bin/sh
# concurrent.t - many passes, submissions, supervisors and cancellations at once. A pass
# that finds another at work leaves at once, silently.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

at_once() { # at_once COUNT COMMAND...: runs them together; $results: status and output of each
	count=$1
	shift
	rm -f out-*
	for i in $(seq "$count"); do
		{
			rc=0
			"$@" >"text-$i" 2>&1 || rc=$?
			echo "$rc:$(cat "text-$i")" >"out-$i"
		} &
		pids="${pids-} $!"
	done
	# shellcheck disable=SC2086  # several
	wait $pids
	pids=
	results=$(cat out-* | sort | uniq -c | sed 's/^ *//')
}

# --- while one pass is at work, the others leave -----------------------------------------

for _ in 1 2 3; do submit -- "$work" -n 20 -s 5 >number; done
# The store's write lock keeps a pass where it is.
hold_store
"$POLLUX" schedule -v >first 2>&1 &
first=$!
# Not before it has the lock of passes: otherwise the one that asks would be the one that waits.
wait_for 10 has_schedule_lock "$first"
at_work() { "$POLLUX" schedule -v | grep -q '^another pass is at work$'; }
ok 'a pass waits for the store' wait_for 10 at_work
start_ns=$(date +%s%N)
at_once 2 "$POLLUX" schedule
is 'two more passes have nothing to say, and succeed' '2 0:' "$results"
at_once 10 "$POLLUX" schedule
is 'ten more passes have nothing to say, and succeed' '10 0:' "$results"
ok 'none of the other passes waited' \
	[ $((($(date +%s%N) - start_ns) / 1000000)) -lt $((5000 * TIME_SCALE)) ]
is 'the first pass still waits' '' "$(cat first)"
status 'a dry run succeeds beside a pass' 0 "$POLLUX" schedule --dry-run
let_store_go ROLLBACK
rc=0
wait "$first" || rc=$?
is 'the first pass does its work when it can' '0 2' "$rc $(grep -c '^start job [12] ' first)"
settle 30 'the jobs of that pass end'
sound 'all is well after passes beside one'

# A pass that has decided already does not see what comes now: another pass follows it. Here the
# first pass is held where it starts a supervisor.
submit -- "$work" -n 100 -s 600 >number
killat -f -n "$SUPERVISOR_FORK" -h decided "$POLLUX" schedule -v >first 2>&1 &
first=$!
wait_for 10 [ -e decided ]
late=$(submit -- "$work" -n 100 -s 600)
ok 'a pass has decided and waits' at_work
is 'a job that comes late is queued' queued "$(query "SELECT state FROM jobs WHERE id = $late")"
rm decided
wait "$first"
is 'another pass follows and starts the job that came late' 1 "$(grep -c "^start job $late " first)"
is 'one lock of passes is there' \
	"$POLLUX_DIR/schedule.lock" "$(find "$POLLUX_DIR" -name 'schedule.*')"
settle 30 'both jobs end'

# --- storms -----------------------------------------------------------------------------

at_once 10 "$POLLUX" submit -q --preempt --suspend never -- "$work" -n 40 -s 5
is 'ten submissions at once have ten numbers' '6 7 8 9 10 11 12 13 14 15' \
	"$(cat out-* | sed 's/^0://' | sort -n | tr '\n' ' ' | sed 's/ $//')"
storms=$((FAULT_ROUNDS / 10))
failures=0
for _ in $(seq $storms); do
	at_once 10 "$POLLUX" schedule
	[ "$results" = '10 0:' ] || { failures=$((failures + 1)); echo "# $results"; }
done
is "$storms times ten passes at once succeed" 0 "$failures"
settle 60 'every job ends after the storms'
is 'every job has exactly its samples' '' "$(inexact 40 'id > 5')"
sound 'all is well after the storms'

# --- ten supervisors for one run -----------------------------------------------------------

job=$(submit -- "$work" -n 20 -s 5)
killat -f -n "$SUPERVISOR_FORK" "$POLLUX" schedule
run=$(query "SELECT id FROM runs WHERE state = 'assigned'")
at_once 10 "$POLLUX" supervise "$run"
is 'ten supervisors for one run succeed and say nothing' '10 0:' "$results"
settle 20 'the job of ten supervisors ends'
exact 'the job of ten supervisors has exactly its samples' "$job" 20
status 'an eleventh supervisor comes too late and succeeds' 0 "$POLLUX" supervise "$run"
is 'the eleventh supervisor says nothing' '' "$out$err"
is 'the job of ten supervisors had one run' 1 "$(query "SELECT runs FROM jobs WHERE id = $job")"
sound 'all is well after ten supervisors'

# --- a job that is cancelled, held and requeued by many while passes come and go -----------

job=$(submit -- "$work" -n 3000 -s 5)
for _ in 1 2 3 4 5; do
	"$POLLUX" schedule &
	"$POLLUX" requeue "$job" >out 2>&1 &
	"$POLLUX" hold "$job" >out 2>&1 &
	"$POLLUX" schedule &
	"$POLLUX" release "$job" >out 2>&1 &
	sleep 0.2
done
wait
"$POLLUX" cancel "$job" >out 2>&1
cancelled() { pass; job_is "$job" cancelled && nothing_alive; }
ok 'a job of many wishes is cancelled in the end' wait_for 20 cancelled
sound 'all is well after many wishes'
# --- others write after a pass has read, and before it can write: the pass reads again ------

gone=$(submit -- "$work" -n 20 -s 5)
stays=$(submit -- "$work" -n 20 -s 5)
hold_store
"$POLLUX" schedule -v >first 2>&1 &
first=$!
ok 'a pass waits for the store while a job is cancelled' wait_for 10 has_schedule_lock "$first"
sleep 1	# it reads, and decides
let_store_go "$(job_sql "$gone" state=cancelled end_time_s=1) COMMIT"
wait "$first"
is 'a pass starts no job that was cancelled meanwhile' "start job $stays" \
	"$(grep -o '^start job [0-9]*' first)"
settle 30 'the other job ends'
sound 'all is well after a change beside a pass'

# --- a profile ends after a pass has found its process gone, and before the pass can write --------

job=$(submit -- true)
given_job "$job" profile=1 state=running
hold_store
"$POLLUX" schedule >first 2>&1 &
first=$!
ok 'a pass waits for the store while a profile ends' wait_for 10 has_schedule_lock "$first"
sleep 1	# it looks for the profile's process
let_store_go "$(job_sql "$job" state=done reason=measured end_time_s=1) COMMIT"
wait "$first"
is 'the result of a profile that ends beside a pass stays' 'done|measured' \
	"$(query "SELECT state, reason FROM jobs WHERE id = $job")"

# --- a job comes after a pass has found no job to look at the devices for ------------------------

runs=$(submit -- "$work" -n 10000 -s 50)
pass
ok 'a job runs' wait_for 10 query_is running "SELECT state FROM runs WHERE job_id = $runs"
late=$(submit -- "$work" -n 20 -s 5)
given_job "$runs $late" state=held	# the run goes on
echo 'slow 5' >answers
hold_store
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$PWD/answers \
	env -u POLLUX_SLOTS "$POLLUX" schedule -v >first 2>&1 3>&- &	# asks NVML; outlives 3
first=$!
ok 'a pass waits for the store while a job comes' wait_for 10 has_schedule_lock "$first"
sleep 1	# it reads
let_store_go "$(job_sql "$late" state=queued) COMMIT"
sleep 1
writes() { # supervisors write for a moment, too
	for _ in 1 2 3 4 5 6; do
		command sqlite3 "$POLLUX_DIR/pollux.db" 'BEGIN IMMEDIATE; ROLLBACK' 2>/dev/null &&
			return
		sleep 0.1
	done
	return 1
}
ok 'others can write while a pass looks at the devices' writes
wait "$first"
is 'the pass starts the job that came meanwhile' \
	"start job $late" "$(grep -o '^start job [0-9]*' first)"
given_job "$runs" state=running
"$POLLUX" cancel "$runs" >out 2>&1
settle 30 'both of the last jobs end'
sound 'all is well at the end'
finish
