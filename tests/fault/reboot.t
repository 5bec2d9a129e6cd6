#!/bin/sh
# reboot.t - the machine goes down without a word, as far as that can be had without
# doing it: everything is killed at once, and what the store knows belongs to another
# boot, whose clock had run longer. Jobs go back to the queue and on from their
# checkpoints; processes that bear an old number by chance are left alone.
# shellcheck disable=SC2016,SC2317 # words for other shells; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

reboot() {
	kill_all
	wait_for 10 nothing_alive
	given_run all boot_id=00000000-0000-0000-0000-000000000000 assigned_boot_s+=1e6 \
		launch_boot_s+=1e6 stop_boot_s+=1e6 checkpoint_boot_s+=1e6 end_boot_s+=1e6 \
		handle=@"$as_bystander"
}
state_of() { query "SELECT state, runs FROM jobs WHERE id = $1" | tr '|' ' '; }

# It has got the numbers of what ran before.
sleep 1000 &
bystander=$!
as_bystander="CAST('local supervisor=$bystander leader=$bystander'
	|| substr(CAST(handle AS TEXT), instr(handle, ' start=')) AS BLOB)"
cleanup() {
	kill "$bystander" 2>/dev/null || :
	kill_all
}

# --- every state a job can be in --------------------------------------------------------

trained=$(submit -- "$work" -n 20000 -s 5)
failed=$(submit --retries 1 -- "$work" -n 5 -e 3)
pass
ok 'the first of two jobs runs' wait_for 10 logged "$trained" 'step 5 '
ok 'the second of two jobs fails' \
	wait_for 10 query_is 1 "SELECT failures FROM jobs WHERE id = $failed"
"$POLLUX" requeue "$trained"
ok 'the first job has saved itself once' wait_for 10 query_is 1 \
	"SELECT checkpoint_samples > 0 FROM jobs WHERE id = $trained"
saved=$(query "SELECT printf('%d', checkpoint_samples) FROM jobs WHERE id = $trained")
cancelled=$(submit --stop-signal USR1 -- "$work" -n 4000 -s 5 -w 60000)
for _ in 1 2 3 4 5; do pass; done
ok 'the first job is in its second run' wait_for 10 logged "$trained" '^resumed '
ok 'a third job runs' wait_for 10 logged "$cancelled" 'step 5 '
"$POLLUX" cancel "$cancelled"
waiting=$(submit -- "$work" -n 50)
killat -f -n "$SUPERVISOR_FORK" "$POLLUX" schedule
held=$(submit --hold -- "$work" -n 50)
ok 'the store knows how far the first job is' wait_for 10 query_is 1 \
	"SELECT last_samples > $saved FROM runs WHERE job_id = $trained AND number = 2"
replaced_in_command all 20000 800
is 'there are runs in every state' \
	'assigned running stopping' "$(query "SELECT group_concat(state, ' ') FROM
	(SELECT DISTINCT state FROM runs WHERE state <> 'ended' ORDER BY 1)")"

reboot
reached=$(query "SELECT printf('%d', last_samples) FROM runs
	WHERE job_id = $trained AND number = 2")
status 'a dry run succeeds after the reboot' 0 "$POLLUX" schedule --dry-run
like 'a dry run says which run was cut off' "^job $trained: run 2 was cut off by a reboot$" "$out"
unlike 'a dry run says nothing more of that run' "the supervisor of run" "$out"
status 'the first pass after the reboot succeeds' 0 "$POLLUX" schedule --verbose
like 'the first pass says which run was cut off' \
	"^job $trained: run 2 was cut off by a reboot$" "$out"
like 'the first pass starts the job that waits' "^start job $waiting " "$out"
is 'the run that was cut off is lost' \
	'lost||' "$(query "SELECT outcome, exit_code, term_signal FROM runs
	WHERE job_id = $trained AND number = 2")"
# or a little farther, by reports that the program could only leave in its file of kept ones
is 'all that is known to be lost is counted' \
	1 "$(query "SELECT lost_samples >= $((reached - saved)) FROM jobs
	WHERE id = $trained")"
is 'the job that was to be cancelled is cancelled' 'cancelled 1' "$(state_of "$cancelled")"
is 'the job that is held stays held' 'held 0' "$(state_of "$held")"
# The killed witnesses never said that they stopped.
broken_runs="$trained:2 $cancelled:1"
POLLUX_SLICE=1000	# a turn would be one more run
"$POLLUX" release "$held"
settle 30 'every other job ends'
is 'the first job is done in its third run' 'done 3' "$(state_of "$trained")"
is 'the job that had not started is done in one run' 'done 1' "$(state_of "$waiting")"
is 'the job that was held is done in one run' 'done 1' "$(state_of "$held")"
is 'the job that failed fails again, without the pause' 'failed 2' "$(state_of "$failed")"
is 'the first job went on at its checkpoint' "start $trained 3 $saved" \
	"$(grep "^start $trained 3 " "$WITNESS/ledger")"
is 'the first job has exactly its samples' \
	"done $trained 3 800" "$(grep "^done $trained " "$WITNESS/ledger")"
sound 'all is well after the reboot'
ok 'a process with the old numbers was not killed' kill -0 "$bystander"

# --- the same numbers in the same boot: a bystander with the number of a dead leader ----------

rm -rf "$POLLUX_DIR"
: >"$WITNESS/ledger"
touch paused
job=$(submit -- "$work" -n 100 -s 5 -h "$TMP/paused")
pass
ok 'a job runs' wait_for 10 logged "$job" 'step 5 '
kill_all
ok 'the job is killed with its supervisor' wait_for 10 nothing_alive
given_run all handle=@"$as_bystander"
broken_runs="$job:1"
rm paused
settle 30 'the killed job runs again and ends'
is 'the killed job has exactly its samples' \
	'done 100.0' "$(query "SELECT state || ' ' || samples FROM jobs
	WHERE id = $job")"
ok 'no more counts as lost than the killed job had done' query_is 1 \
	"SELECT lost_samples BETWEEN 0 AND 50 FROM jobs WHERE id = $job"
sound "all is well after a leader's number was given again"
ok 'a process with the number of a dead leader was not killed' kill -0 "$bystander"

# --- a boot whose clock is another one --------------------------------------------------------

rm -rf "$POLLUX_DIR"
: >"$WITNESS/ledger"
echo 00000000-0000-4000-8000-000000000000 >boot_id
earlier() {
	unshare --time --monotonic 1000000 --mount sh -c 'mount --bind "$0" \
		/proc/sys/kernel/random/boot_id && exec "$@"' "$TMP/boot_id" "$@"
}
if earlier true 2>/dev/null; then
	job=$(earlier "$POLLUX" submit --preempt --suspend never -- "$work" -n 20000 -s 5 -p 40)
	earlier "$POLLUX" schedule
	ok 'a job has told where it is' wait_for 10 query_is 1 "SELECT 1 FROM runs
		WHERE job_id = $job AND last_samples > 40"
	kill_all
	broken_runs="$job:1"
	pass
	is 'the time of a run is by the clock of its boot' 1 "$(query "SELECT
		run_time_s BETWEEN 0.01 AND 1000 AND lost_s < 1000 FROM jobs WHERE id = $job")"
	"$POLLUX" cancel -f "$job" >/dev/null 2>&1
	kill_all
fi

# --- many times ---------------------------------------------------------------------------------

rm -rf "$POLLUX_DIR"
: >"$WITNESS/ledger"
POLLUX_SLICE=0.2
broken_runs=
for _ in 1 2 3 4; do submit -- "$work" -n 100 -s 5 >number; done
reboots=$((FAULT_ROUNDS / 10))
random_numbers $reboots 300 >moments
while read -r moment; do
	pass
	sleep "$(awk "BEGIN { print $moment / 1000 }")"
	reboot
done <moments
broken_runs=$(awk '$1 == "start" { print $2 ":" $3 }' "$WITNESS/ledger" | tr '\n' ' ')
settle 60 "after $reboots reboots every job ends"
is 'each job has exactly its samples after many reboots' \
	'' "$(query "SELECT id, state, samples FROM jobs
	WHERE state <> 'done' OR samples <> 100")"
sound 'all is well after many reboots'
ok 'the process with the old numbers survives many reboots' kill -0 "$bystander"
finish
