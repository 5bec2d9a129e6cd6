#!/bin/sh
# two-kinds.t - a workload that was measured on one kind of GPU starts on another kind, where its
# best sizes ran out of memory: the job gets sizes that work, and its history shows their goodput.
# shellcheck disable=SC2016,SC2317 # Perl; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
mkdir root
cleanup() { end_jobs >/dev/null; }

gpu() { # gpu UUID NAME
	printf 'gpu %s %s\nmemory 49140 48000\nrates 0\ntemperature 35\npersistence 1\n' "$1" "$2"
}
{ gpu $A 'NVIDIA RTX A6000'; gpu $B 'NVIDIA RTX 4000'; } >answers
kinds=$("$POLLUX" devices --json | json 'print "$_->{kind}\n" for @{$d->{devices}}')
is 'devices has two kinds of GPU' 2 "$(printf '%s\n' "$kinds" | sort -u | grep -c GiB)"
first=$(printf '%s\n' "$kinds" | head -n 1) second=$(printf '%s\n' "$kinds" | tail -n 1)

other=$("$POLLUX" submit -q --replicas 1 -- sleep 1000)
"$POLLUX" schedule
is 'another job has the first kind' "gpu:$A" "$(store "SELECT device FROM run_devices")"
job=$("$POLLUX" submit -q --workload w -b 64 --accumulate --replicas 1 -- sleep 1000)

# 10 ms and 0.1 ms a sample on the first kind; 64 samples did not fit on the second.
add_run() { # add_run NUMBER DEVICE KIND SIZE OUTCOME OUT_OF_MEMORY
	store "INSERT INTO runs (id, job_id, number, state, replicas, accumulation_steps,
		batch_size, local_batch_size, learning_rate_scale, boot_id, assigned_time_s,
		assigned_boot_s, launch_time_s, end_time_s, duration_s, outcome, exit_code,
		out_of_memory, workload) VALUES ($1, $past, $1, 'ended', 1, 1, $4, $4, 1, 'x', 0, 0,
		0, 60, 60, '$5', 0, $6, 'w');
		INSERT INTO run_devices (run_id, position, device, kind, binding, cores, in_use)
			VALUES ($1, 0, 'gpu:$2', '$3', '', 1, 0)"
}
add_time() { # add_time RUN KIND SIZE SECONDS
	store "INSERT INTO observations SELECT $1, '$2', 1, 1, $3, 1, NULL, 5000, 30, 0, 0, $4,
		1e-9, $4, NULL, 60"
}
past=$("$POLLUX" submit -q --hold --workload w -b 64 --replicas 1 -- true)
add_run 91 $A "$first" 64 completed 0
add_run 92 $A "$first" 32 completed 0
add_run 93 $B "$second" 64 failed 1
add_time 91 "$first" 64 0.0164
add_time 92 "$first" 32 0.0132

"$POLLUX" schedule
is 'the job starts on the second kind' "gpu:$B" "$(store "SELECT device FROM run_devices d
	JOIN runs r ON r.id = d.run_id WHERE r.job_id = $job")"
is 'the job makes two passes of a size that fits' \
	'32 2' "$(store "SELECT local_batch_size, accumulation_steps FROM runs
	WHERE job_id = $job" | tr '|' ' ')"
event=$(store "SELECT text FROM events WHERE job_id = $job AND kind = 'assigned'")
like 'the event of the job has these sizes' 'batch 64 = 1 [*] 32 [*] 2' "$event"
# 64 samples in 26.4 ms; one pass of 64 would have been 3900 a second.
like 'the event of the job has the goodput of these sizes' 'goodput 2[34][0-9][0-9]/s' "$event"
is 'the decision of the pass has the same reason' \
	"$event" "$(store "SELECT reason FROM decision_jobs
	WHERE job_id = $job ORDER BY decision_id DESC LIMIT 1")"
"$POLLUX" cancel "$other" "$job"
finish
