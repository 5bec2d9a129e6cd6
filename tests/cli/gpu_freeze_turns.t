#!/bin/sh
# gpu_freeze_turns.t - jobs that save nothing take turns on one GPU whose memory holds one of them:
# their GPU memory goes to the host's and comes back. Stand-ins answer for NVML and for CUDA's
# driver (tests/gpu); the jobs and their memory are real, and come to the right result only if all
# of it came back. This was never run on a GPU.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/freeze_cards.sh"
POLLUX_CUDA_DEVICES=index
gpus "$A"
passes_until_ended() { "$POLLUX" schedule && [ "$(store "SELECT count(*) FROM jobs
	WHERE state IN ('queued', 'running')")" = 0 ]; }
job() { "$POLLUX" submit -q -- "$FAULT/gpu_job" 12 "$1" 20; } # 12 of the card's 16 MiB

# --- not without a self-test ---

first=$(job 100000)
"$POLLUX" schedule
ok 'the first job is at work' wait_for 20 grep -q '^step' "$POLLUX_DIR/logs/$first.log"
second=$(job 10)
sleep 1.5
"$POLLUX" schedule
sleep 0.5
is 'a job keeps its GPU where no self-test passed' 'running|none' \
	"$(store "SELECT state, coalesce(suspension, 'cannot') FROM runs WHERE job_id = $first")"
"$POLLUX" cancel "$first" "$second"
"$POLLUX" wait --timeout 300 "$first" "$second"
status 'the self-test passes' 0 "$POLLUX" devices --self-test

# --- turns ---

# Long enough that a busy machine gets to a pass before the first job is done.
a=$(job 200) b=$(job 80) c=$(job 80)
ok 'the first job gives way to the next and is frozen' wait_for 30 passes_until \
	"suspension = 'suspended' AND job_id = $a AND freeze_state = 'frozen'"
is "12 MiB of GPU memory went to the host's" 12582912 \
	"$(store "SELECT frozen_bytes FROM runs WHERE job_id = $a")"
like 'the store has the frozen process' '^[0-9]+$' \
	"$(store "SELECT frozen_pids FROM runs WHERE job_id = $a")"
like 'an event says how long the freeze took' \
	"^12 MiB of GPU memory went to the host's in [0-9.e-]+ s \([0-9.]+ GB/s\)$" "$(events "$a")"
frozen=$(store "SELECT frozen_pids FROM runs WHERE job_id = $a")
is 'the frozen process is stopped' T "$(sed 's/.*) \(.\).*/\1/' "/proc/$frozen/stat")"
ok 'the second job runs in memory that was not free before' \
	wait_for 30 passes_until "state = 'running' AND job_id = $b AND suspension = 'none'"
ok 'the third job has its turn, too' \
	wait_for 30 passes_until "state = 'running' AND job_id = $c AND suspension = 'none'"
ok 'the first job comes back' wait_for 60 passes_until "job_id = $a AND resumed_boot_s > 0"
ok 'all three jobs end' wait_for 120 passes_until_ended
for id in $a $b $c; do
	steps=80
	[ "$id" != "$a" ] || steps=200
	is "job $id ended well" 'done' "$(store "SELECT state FROM jobs WHERE id = $id")"
	is "job $id ended in one run" completed \
		"$(store "SELECT outcome FROM runs WHERE job_id = $id")"
	like "job $id came to the right result" '^right$' "$(log "$id")"
	is "job $id made each of its steps once" $steps "$(log "$id" | grep -c '^step')"
done
like 'an event says that the memory came back' 'came back in' "$(events "$a")"

# --- a GPU that is left out meanwhile ---

gpus "$A" "$B"
choose() { echo "gpus = $1" >"$POLLUX_DIR/config"; }
choose "$A"
a=$(job 300) b=$(job 80)
ok 'one of two jobs is frozen' wait_for 30 passes_until \
	"suspension = 'suspended' AND job_id = $a AND freeze_state = 'frozen'"
choose "$B"
c=$(job 40)
ok 'a new job runs on the other GPU' wait_for 30 passes_until \
	"job_id = $c AND state = 'running'"
is 'the new job runs on the other GPU alone' "gpu:$B" \
	"$(store "SELECT device FROM run_devices d JOIN runs r
	ON r.id = d.run_id WHERE r.job_id = $c")"
ok 'all jobs end, also those of the GPU that is left out' wait_for 120 passes_until_ended
for id in $a $b; do
	is "job $id ended in one run on the GPU that is left out" "completed gpu:$A" \
		"$(store "SELECT outcome || ' ' || device
		FROM runs r JOIN run_devices d ON r.id = d.run_id WHERE r.job_id = $id")"
done
like 'explain says why a job goes on a GPU that is left out' \
	'left out by the setting gpus.*goes on there' "$("$POLLUX" explain "$a")"
rm "$POLLUX_DIR/config"
gpus "$A"

# --- a death while it is frozen ---

a=$(job 500) b=$(job 40)	# a pass may come late
ok 'the first job is frozen before its supervisor dies' \
	wait_for 30 passes_until "suspension = 'suspended' AND job_id = $a"
kill -9 "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $a AND state = 'running'")"
ok 'all jobs end after the death of a supervisor' wait_for 120 passes_until_ended
is 'the job stayed frozen and went on in the same run' 'done 1' \
	"$(store "SELECT j.state || ' ' || count(*) FROM jobs j
	JOIN runs r ON r.job_id = j.id WHERE j.id = $a")"
is 'the job made each step once' 500 "$(log "$a" | grep -c '^step')"
like 'the job came to the right result' '^right$' "$(log "$a")"
finish
