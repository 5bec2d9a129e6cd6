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
	past_run "$past" id="$1" batch_size="$4" local_batch_size="$4" launch_time_s=0 \
		end_time_s=60 duration_s=60 outcome="$5" exit_code=0 out_of_memory="$6"
	had_device "$1" "gpu:$2" "$3"
}
past=$("$POLLUX" submit -q --hold --workload w -b 64 --replicas 1 -- true)
add_run 91 $A "$first" 64 completed 0
add_run 92 $A "$first" 32 completed 0
add_run 93 $B "$second" 64 failed 1
measured run:91 0.0164 step_time_sd_s=1e-9 n_steps=5000
measured run:92 0.0132 step_time_sd_s=1e-9 n_steps=5000

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
