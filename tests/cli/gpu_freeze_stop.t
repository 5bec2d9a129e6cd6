#!/bin/sh
# gpu_freeze_stop.t - a job whose GPU memory is in the host's is stopped, loses its memory, or comes
# back to another GPU. Stand-ins answer for NVML and for CUDA's driver (tests/gpu); the jobs and
# their memory are real. This was never run on a GPU.
# shellcheck disable=SC2317  # functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/freeze_cards.sh"
job_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
start() { # start [OPTION...]: sets $job, at work
	job=$("$POLLUX" submit -q "$@" -- "$FAULT/gpu_job" 60 100000 20)
	"$POLLUX" schedule
	ok 'a job is at work' wait_for 20 grep -q '^step' "$POLLUX_DIR/logs/$job.log"
}
freeze() { # what a pass decides
	store "UPDATE runs SET suspension = 'asked', freezes = 1 WHERE job_id = $job
		AND suspension = 'none'"
	ok 'it is frozen' wait_for 20 holds "job_id = $job AND suspension = 'suspended' AND
		freeze_state = 'frozen'"
}
give_back() { store "UPDATE runs SET suspension = 'resuming' WHERE job_id = $job"; }

gpus $A
status 'the self-test' 0 "$POLLUX" devices --self-test

# --- a stop ---

start --grace 20s
freeze
"$POLLUX" cancel "$job"
ok 'a frozen job is cancelled' wait_for 30 job_is "$job" cancelled
like 'its memory came back first' 'came back in' "$(events "$job")"
like 'so it could save' '^right$' "$(log "$job")"
is 'it ended before its grace was over' 0 "$(store "SELECT exit_code FROM runs
	WHERE job_id = $job")"
is 'and its GPU is free' 0 "$(store 'SELECT count(*) FROM run_devices WHERE in_use')"

start --grace 2s --preempt --suspend always
freeze
first=$job
start
job=$first
run "$POLLUX" hold "$job" </dev/null
like 'a hold says what may be lost, though the job can be relaunched' \
	"is suspended without its GPU memory, and may not be able to save; [0-9]+s of work" "$err"
"$POLLUX" hold --force "$job"
ok 'a job whose GPU is another one.s is held' wait_for 30 job_is "$job" held
like 'it says why it cannot save' 'it cannot save before it is stopped' "$(events "$job")"
unlike 'and does not' '^right$' "$(log "$job")"
end_jobs

# --- a loss ---

start
freeze
echo 'restore 304' >cards/fail
give_back
ok 'memory does not come back: the run ends' wait_for 30 holds "job_id = $job AND state = 'ended'"
like 'it says so' 'its GPU memory cannot be brought back' "$(events "$job")"
is 'its GPU counts as one that failed the self-test' '0|cannot restore the GPU memory' \
	"$(store "SELECT passed, substr(reason, 1, 29) FROM freeze_tests")"
rm cards/fail
end_jobs
status 'until the test passes again' 0 "$POLLUX" devices --self-test
is 'as it does' 1 "$(store 'SELECT passed FROM freeze_tests')"

# --- a store that cannot be written while memory is moved ---

start
store "CREATE TRIGGER refuses BEFORE UPDATE OF freeze_state ON runs
	BEGIN SELECT RAISE(ABORT, 'not now'); END;
	UPDATE runs SET suspension = 'asked', freezes = 1 WHERE job_id = $job"
refused() { grep -q "job $job .*not now" "$POLLUX_DIR/supervisor.log"; }
ok 'the first step cannot be recorded' wait_for 20 refused
is 'nothing is lost' '' "$(events "$job")"
store 'DROP TRIGGER refuses'
ok 'once it is, the job is frozen' wait_for 20 holds "job_id = $job AND suspension = 'suspended' AND
	freeze_state = 'frozen'"
give_back
end_jobs

# --- another GPU is no way back ---

gpus $A $B
status 'two GPUs pass' 0 "$POLLUX" devices --self-test
export POLLUX_SLICE=1000
start
device_of() { store "SELECT device FROM run_devices WHERE run_id = (SELECT max(id) FROM runs
	WHERE job_id = $1)"; }
its=$(device_of "$job")
freeze
frozen=$job
kept=$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $frozen")
"$POLLUX" hold --force "$frozen" --dry-run >/dev/null
store "UPDATE jobs SET state = 'held' WHERE id = $frozen"
start
is 'another job has its GPU' "$its" "$(device_of "$job")"
kill -9 "$kept"
store "UPDATE jobs SET state = 'running' WHERE id = $frozen"
says_so() {
	"$POLLUX" schedule
	"$POLLUX" status "$frozen" | grep -q "waits for $its, where it can continue"
}
ok 'it does not go to the other GPU, and says so' wait_for 20 says_so
is 'it stays frozen' frozen "$(store "SELECT freeze_state FROM runs WHERE job_id = $frozen")"
"$POLLUX" cancel "$job"
ok 'it comes back' wait_for 30 passes_until "job_id = $frozen AND resumed_boot_s > 0"
is 'on its own GPU, under another supervisor' "$its" "$(device_of "$frozen")"
came_back() { events "$1" | grep -q 'came back in'; } # said after the store knows that it goes on
ok 'with its memory' wait_for 20 came_back "$frozen"
steps() { log "$1" | grep -c '^step'; }
size=$(steps "$frozen")
grown() { [ "$(steps "$frozen")" -gt "$size" ]; }
ok 'it goes on' wait_for 20 grown
is 'there is its memory' "gpu:$(for id in $A $B; do
	grep -aq "$id" cards/"$(store "SELECT frozen_pids FROM runs WHERE job_id = $frozen")" &&
		echo "$id"
done)" "$(device_of "$frozen")"
"$POLLUX" cancel "$frozen"
"$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$frozen"
like 'all of it' '^right$' "$(log "$frozen")"
finish
