#!/bin/sh
# gpu_freeze_stop.t - a job whose GPU memory is in the host's is stopped, loses its memory, or comes
# back to another GPU. Stand-ins answer for NVML and for CUDA's driver (tests/gpu); the jobs and
# their memory are real. This was never run on a GPU.
# shellcheck disable=SC2317  # functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/freeze_cards.sh"
job_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
start() { # start [OPTION...]: sets $job, at work
	job=$("$POLLUX" submit -q "$@" -- "$FAULT/gpu_job" 12 100000 20)
	"$POLLUX" schedule
	ok 'a job is at work on a GPU' wait_for 20 grep -q '^step' "$POLLUX_DIR/logs/$job.log"
}
freeze() { # what a pass decides
	given_run "$job" if suspension=none suspension=asked freezes=1
	ok 'the job is frozen' wait_for 20 holds "job_id = $job AND suspension = 'suspended' AND
		freeze_state = 'frozen'"
}
give_back() { given_run "$job" suspension=resuming; }

gpus $A
status 'the self-test passes' 0 "$POLLUX" devices --self-test

# --- a stop ---

start --grace 20s
freeze
"$POLLUX" cancel "$job"
ok 'a frozen job is cancelled' wait_for 30 job_is "$job" cancelled
like 'the memory of a cancelled job came back first' 'came back in' "$(events "$job")"
like 'a cancelled job with its memory could save' '^right$' "$(log "$job")"
is 'a cancelled job ended before its grace was over' 0 "$(store "SELECT exit_code FROM runs
	WHERE job_id = $job")"
is 'the GPU of the cancelled job is free' 0 \
	"$(store 'SELECT count(*) FROM run_devices WHERE in_use')"

start --grace 20s
gpus $A
sed -i '1i slow 3' answers	# so that it is asked for long whether the GPU is free
given_run "$job" suspension=asked freezes=1
leader=$(store "SELECT $leader_pid FROM runs WHERE job_id = $job")
is_stopped() {
	holds "job_id = $job AND freeze_state = 'frozen'" &&
		grep -q '^State:.T' "/proc/$leader/status"
}
ok 'a second job is frozen and stopped' wait_for 30 is_stopped
is 'the frozen job has not left its GPU yet' asked \
	"$(store "SELECT suspension FROM runs WHERE job_id = $job")"
"$POLLUX" cancel "$job"
ok 'the frozen job is cancelled before it leaves' wait_for 30 job_is "$job" cancelled
like 'the memory of that job came back first, so it could save' '^right$' "$(log "$job")"
gpus $A

start --grace 2s --preempt --suspend always
freeze
first=$job
start
job=$first
run "$POLLUX" requeue "$job" </dev/null
like 'requeue says what a frozen job may lose, though it can be relaunched' \
	"is suspended without its GPU memory, and may not be able to save; [0-9]+s of work" "$err"
status 'a frozen job is held as it is' 0 "$POLLUX" hold "$job"
is 'it stays suspended, and nothing stops it' 'suspended|none|1' "$(store "SELECT suspension,
	stop_reason, held FROM runs JOIN jobs j ON j.id = job_id WHERE job_id = $job")"
"$POLLUX" hold --force "$job"
ok 'a frozen job whose GPU another job has is held' wait_for 30 job_is "$job" held
like 'an event says why the held job could not save' 'it cannot save before it is stopped' \
	"$(events "$job")"
unlike 'the held job did not save' '^right$' "$(log "$job")"
end_jobs

# --- no room ---

start --grace 20s
freeze
sed -i 's/^memory.*/memory 16 8/' answers	# a game has the rest
give_back
waits_for_room() { events "$job" | grep -q 'brought back later: .* 0.01 GiB are free there'; }
ok 'a job that waits for room on its GPU is told so' wait_for 30 waits_for_room
gpus $A
came_back() { events "$1" | grep -q 'came back in'; } # said after the store knows that it goes on
ok 'the job comes back once there is room' wait_for 30 came_back "$job"
end_jobs

# --- a loss ---

start
freeze
echo 'restore 304' >cards/fail
give_back
ok 'a run ends whose memory does not come back' \
	wait_for 30 holds "job_id = $job AND state = 'ended'"
like 'an event says that the memory cannot be brought back' \
	'its GPU memory cannot be brought back' "$(events "$job")"
is 'the store counts the GPU as one that failed the self-test' '0|cannot restore the GPU memory' \
	"$(store "SELECT passed, substr(reason, 1, 29) FROM freeze_tests")"
rm cards/fail
end_jobs
status 'the self-test passes after the failure' 0 "$POLLUX" devices --self-test
is 'the store counts the GPU as one that passed' 1 "$(store 'SELECT passed FROM freeze_tests')"

# --- a store that cannot be written while memory is moved ---

start
store "CREATE TRIGGER refuses BEFORE UPDATE OF freeze_state ON runs
	BEGIN SELECT RAISE(ABORT, 'not now'); END"
given_run "$job" suspension=asked freezes=1
refused() { grep -q "job $job .*not now" "$POLLUX_DIR/supervisor.log"; }
ok 'the supervisor cannot record the first step' wait_for 20 refused
is 'a freeze that cannot be recorded is no event' '' "$(events "$job")"
store 'DROP TRIGGER refuses'
ok 'the job is frozen once the store can be written' \
	wait_for 20 holds "job_id = $job AND suspension = 'suspended' AND
	freeze_state = 'frozen'"
give_back
end_jobs

# --- another GPU is no way back ---

gpus $A $B
status 'the self-test passes for two GPUs' 0 "$POLLUX" devices --self-test
export POLLUX_SLICE=1000
start
device_of() { store "SELECT device FROM run_devices WHERE run_id = (SELECT max(id) FROM runs
	WHERE job_id = $1)"; }
its=$(device_of "$job")
freeze
frozen=$job
kept=$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $frozen")
"$POLLUX" hold --force "$frozen" --dry-run >/dev/null
given_job "$frozen" state=held
start
is 'another job has the GPU of the frozen job' "$its" "$(device_of "$job")"
kill -9 "$kept"
given_job "$frozen" state=running
says_so() {
	"$POLLUX" schedule
	"$POLLUX" status "$frozen" | grep -q "waits for $its, where it can continue"
}
ok 'the frozen job says that it waits for its own GPU' wait_for 20 says_so
is 'the job stays frozen while another has its GPU' frozen \
	"$(store "SELECT freeze_state FROM runs WHERE job_id = $frozen")"
"$POLLUX" cancel "$job"
ok 'the frozen job comes back' wait_for 30 passes_until "job_id = $frozen AND resumed_boot_s > 0"
is 'the frozen job comes back to its own GPU' "$its" "$(device_of "$frozen")"
ok 'an event says that the memory came back' wait_for 20 came_back "$frozen"
steps() { log "$1" | grep -c '^step'; }
size=$(steps "$frozen")
grown() { [ "$(steps "$frozen")" -gt "$size" ]; }
ok 'the job makes further steps' wait_for 20 grown
is "the memory is on the job's own GPU" "gpu:$(for id in $A $B; do
	grep -aq "$id" cards/"$(store "SELECT frozen_pids FROM runs WHERE job_id = $frozen")" &&
		echo "$id"
done)" "$(device_of "$frozen")"
"$POLLUX" cancel "$frozen"
"$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$frozen"
like "the job's memory came back as it was" '^right$' "$(log "$frozen")"
finish
