#!/bin/sh
# processes.t - a program killed with SIGKILL, with and without retries, and what jobs
# leave behind: children that ignore SIGTERM, left the session, are daemons with closed
# descriptors, or have no environment. Devices are free only when all of it is gone.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

run_of() { query "SELECT max(id) FROM runs WHERE job_id = $1"; }
leader_of()
{
	query "SELECT $leader_pid FROM runs WHERE id = (SELECT max(id) FROM runs WHERE job_id = $1)"
}
state_of() { query "SELECT state, failures, exit_code, term_signal FROM jobs WHERE id = $1"; }
begun() { # begun JOB TIMES
	[ "$(grep -ac '^begun' "$POLLUX_DIR/logs/$1.log")" = "$2" ]
}
explained() { # explained PATTERN
	pass && "$POLLUX" status | grep -Eq "$1"
}
started() { # started JOB RUNS
	pass && query_is "$2" "SELECT count(*) FROM runs WHERE job_id = $1"
}
# The pause before a retry is over.
skip_pause() { given_run "$1" end_boot_s-=1000; }
left_behind() { # the living of those that "work -l" has left behind, one line each
	while read -r pid; do
		grep -qs '^State:.[^ZX]' "/proc/$pid/status" && echo "$pid"
	done <"$WITNESS/leftovers"
}

# --- the program is killed ------------------------------------------------------------

job=$(submit -- "$work" -n 100000 -s 5)
pass
ok 'a job runs' wait_for 10 logged "$job" 'step 5 '
kill -9 "$(leader_of "$job")"
settle 20 'the job ends when its program is killed'
is 'the job has failed by SIGKILL' "failed|1||9" "$(state_of "$job")"
like 'status says that SIGKILL killed the program' 'killed by SIGKILL' "$("$POLLUX" status "$job")"
status 'wait has the status of SIGKILL' 137 "$POLLUX" wait "$job"

broken_runs="$job:1"
touch paused
job=$(submit --retries 2 -- "$work" -n 500 -s 5 -b 2 -h "$TMP/paused")
broken_runs="$broken_runs $job:1 $job:2 $job:3"
pass
for failure in 1 2; do
	ok "run $failure of a job with two retries begins" wait_for 10 begun "$job" "$failure"
	kill -9 "$(leader_of "$job")"
	ok "the program of run $failure is killed" wait_for 10 query_is "$failure" \
		"SELECT failures FROM jobs WHERE id = $job"
	pass
	is "the job waits before retry $failure" queued \
		"$(query "SELECT state FROM jobs WHERE id = $job")"
	ok "status says that the job waits before retry $failure" wait_for 10 explained \
		"failed $failure times?; retry $failure of 2 after a pause"
	skip_pause "$job"
	ok "retry $failure starts after the pause" wait_for 10 started "$job" $((failure + 1))
done
rm paused
settle 30 'the job with two retries ends'
is 'the job with two retries is done' 'done|2|0|' "$(state_of "$job")"
is 'the job with two retries has all its samples' \
	500 "$(query "SELECT printf('%d', samples) FROM jobs WHERE id = $job")"
sound 'all is well after the retries'

# A trainer that has saved once: what it did after that is lost, and is done again.
if [ -d "$FASHION_MNIST" ]; then
	samples=100000
	job=$(submit --retries 1 -b 50 -- "$work" "$TRAIN" --data "$FASHION_MNIST" --subset 6000 \
		--hidden 16 --log-every 0 --samples $samples --checkpoint-every 0.3 \
		--update-delay 1 \
		--checkpoint '{checkpoint}')
	pass
	ok 'a trainer saves itself' wait_for 60 logged "$job" '^checkpoint samples'
	checkpoint=$(grep -a '^checkpoint samples' "$POLLUX_DIR/logs/$job.log" | tail -n 1)
	gone_on() { tail -n 20 "$POLLUX_DIR/logs/$job.log" | grep -aq '^step' &&
		[ "$(tail -n 1 "$POLLUX_DIR/logs/$job.log")" != "$checkpoint" ]; }
	ok 'the trainer goes on after its checkpoint' wait_for 10 gone_on
	kill -9 "$(leader_of "$job")"
	ok 'the trainer is killed' \
		wait_for 10 query_is 1 "SELECT failures FROM jobs WHERE id = $job"
	skip_pause "$job"
	settle 60 'the trainer ends after a retry'
	log=$POLLUX_DIR/logs/$job.log
	is 'the trainer has exactly its samples' "$samples $((samples / 50))" \
		"$(sed -n 's/^done samples \([0-9]*\) .* steps \([0-9]*\)$/\1 \2/p' "$log")"
	saved=$(sed -n '/^resumed/q; s/^checkpoint samples //p' "$log" | tail -n 1)
	reached=$(sed -n '/^resumed/q; s/^step .* samples \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
	is 'the trainer resumed at its last checkpoint' "$saved" \
		"$(sed -n 's/^resumed samples \([0-9]*\) .*/\1/p' "$log")"
	lost=$(query "SELECT printf('%d', lost_samples) FROM jobs WHERE id = $job")
	echo "# saved at $saved, killed at $reached, lost $lost"
	# The last report, or its last line, may be missing.
	ok 'the steps since the checkpoint count as lost, but for one or two' \
		awk "BEGIN { d = $reached - $saved - $lost; exit !(d >= -100 && d <= 100) }"
	sound 'all is well after the trainer'
else
	echo "# skipped: the trainer, without Fashion-MNIST in $FASHION_MNIST"
fi

# --- what is left behind ----------------------------------------------------------------

# Each job leaves one process behind, and each device has another job waiting for it.
# Witnesses' locks pass on to what a witness leaves behind: no device may be free before.
POLLUX_SLOTS=4
kinds='group session daemon bare'
: >"$WITNESS/leftovers"
touch paused
for kind in $kinds; do
	submit -- "$work" -n 5 -l "$kind" -h "$TMP/paused" >"number-$kind"
done
for kind in $kinds; do submit -- "$work" -n 5 >number; done
pass
for kind in $kinds; do
	ok "a job leaves a process behind: $kind" wait_for 10 logged \
		"$(cat "number-$kind")" 'step 2 '
done
is 'all four processes left behind are there' 4 "$(left_behind | wc -l)"
rm paused
for kind in $kinds; do
	ok "the job that left a $kind process behind is done" \
		wait_for 30 job_is "$(cat "number-$kind")" "done"
done
is 'all processes left behind are gone' '' "$(left_behind)"
settle 30 'the jobs that waited for the devices end'
sound 'the devices were not free before the processes were gone'

# All of them, and the job is cancelled.
POLLUX_SLOTS=1
: >"$WITNESS/leftovers"
all=$(submit --grace 1 -- "$work" -n 100000 -s 5 -l group -l session -l daemon -l bare)
submit -- "$work" -n 5 >number
pass
ok 'a job with four processes to leave behind runs' wait_for 10 logged "$all" 'step 5 '
"$POLLUX" cancel "$all"
ok 'the job with four such processes is cancelled' wait_for 30 job_is "$all" cancelled
is 'nothing of the cancelled job is left' '' "$(left_behind)"
settle 20 'the job that waited for the device ends'
sound 'the device was not free before all four were gone'

# The supervisors die as well: who left the session, and the parent, is still found.
POLLUX_SLOTS=3
kinds='group session daemon'
: >"$WITNESS/leftovers"
for kind in $kinds; do
	submit --grace 3 -- "$work" -n 100000 -s 5 -l "$kind" >"number-$kind"
done
for kind in $kinds; do submit -- "$work" -n 5 >number; done
pass
for kind in $kinds; do
	one=$(cat "number-$kind")
	ok "a job with a $kind process runs" wait_for 10 logged "$one" 'step 5 '
	kill -9 "$(query "SELECT $supervisor_pid FROM runs WHERE id = $(run_of "$one")")"
	kill -9 "$(leader_of "$one")"
	broken_runs="$broken_runs $one:1"
done
is 'the processes survive their programs and supervisors' 3 "$(left_behind | wc -l)"
replaced_in_command all 100000 10
replaced_in_command all -l -p
settle 60 'all jobs end after that'
for kind in $kinds; do ok "the job that had a $kind process is done" \
	job_is "$(cat "number-$kind")" "done"; done
is 'the processes of the killed jobs are gone' '' "$(left_behind)"
sound 'the devices were not free before those were gone'

# No environment, no parent, another session, no control group, and the guardian is killed as
# well: that one cannot be found. It keeps its device's lock, and so the device, for as long as it
# lives.
POLLUX_SLOTS=1
POLLUX_CGROUP=none
export POLLUX_CGROUP
: >"$WITNESS/leftovers"
one=$(submit -- "$work" -n 100000 -s 5 -l bare)
two=$(submit -- "$work" -n 5)
pass
ok 'a job with a bare process runs' wait_for 10 logged "$one" 'step 5 '
kill_now "$(query "SELECT $guardian_pid FROM runs WHERE id = $(run_of "$one")")" \
	"$(query "SELECT $supervisor_pid FROM runs WHERE id = $(run_of "$one")")" \
	"$(leader_of "$one")"
broken_runs="$broken_runs $one:1"
"$POLLUX" cancel "$one"
pass
ok 'the job with a bare process is given up' wait_for 20 job_is "$one" cancelled
pass
sleep 1
is 'the bare process keeps the device' 1 "$(left_behind | wc -l)"
is 'the next job waits for the bare process' \
	'assigned' "$(query "SELECT state FROM runs WHERE job_id = $two")"
kill -9 "$(left_behind)"
settle 20 'the next job ends when the device is free'
sound 'all is well after the bare process'
finish
