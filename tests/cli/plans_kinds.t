#!/bin/sh
# plans_kinds.t - plans where there are GPUs of two kinds: what runs out of memory on the small
# kind, where plans are compared, one kind for each job.
# shellcheck disable=SC2016,SC2317 # Perl and sh for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
mkdir root
cleanup() { end_jobs >/dev/null; }
gpu() { # gpu LETTER NAME MIB
	printf 'gpu GPU-%s NVIDIA %s\n' "$(uuid "$1")" "$2"
	printf 'memory %s %s\nrates 0\ntemperature 35\npersistence 1\n' "$3" "$3"
}
uuid() { echo "$1$1$1$1$1$1$1$1-0000-0000-0000-000000000001"; }
{ gpu a Small 12288; gpu b Small 12288; gpu c Large 24576; gpu d Large 24576; } >answers
small='NVIDIA Small, 12 GiB' large='NVIDIA Large, 24 GiB'

submit() { "$POLLUX" submit -q "$@"; }
is_done_after_pass() { # a pass that finds another one at work leaves at once
	"$POLLUX" schedule
	no_supervisor && [ "$(store "SELECT state FROM jobs WHERE id = $1")" = 'done' ]
}
ends() { wait_for 20 is_done_after_pass "$1"; } # ends JOB: passes are made until it is done
ends_beside() { # as ends, while other jobs run
	for _ in 1 2 3 4 5; do
		"$POLLUX" schedule
		"$POLLUX" wait --timeout $((2 * TIME_SCALE)) "$1" >/dev/null && return
	done
	return 1
}
runs_of() { # runs_of JOB: plan, devices and kind of each run
	store "SELECT group_concat(plan || ' ' || replicas || ' ' || kind, '; ') FROM
		(SELECT DISTINCT r.id, r.plan, r.replicas,
		replace(replace(d.kind, 'NVIDIA ', ''), ' GiB', '') AS kind
		FROM runs r JOIN run_devices d ON d.run_id = r.id
		WHERE r.job_id = $1 ORDER BY r.id)"
}
took() { given_run "$1" peak_device_memory_bytes="@$2 * 1073741824"; }

# --- out of memory on a kind ---
# dp fits on no kind here; that is known of a kind only where it was tried.
hungry='[ "$POLLUX_PLAN" = gc ] || { echo "CUDA out of memory." >&2; exit 1; }'
many=$(submit -b 64 --kind "$small" --plan dp= --plan gc=-g -- sh -c "$hungry" sh)
ok 'a job on the small kind ends' ends "$many"
is 'the job runs in the plan that fits on the small kind' \
	'dp 1 Small, 12; gc 1 Small, 12' "$(runs_of "$many")"
next=$(submit -b 64 --kind "$small" --plan dp= --plan gc=-g -- sh -c "$hungry" sh)
ok 'another job on the small kind ends' ends "$next"
is 'another job does not try the plan that ran out of memory' 'gc 1 Small, 12' "$(runs_of "$next")"
sleeper() { submit --preempt --suspend never --kind "$large" -- sleep 1000; }
first=$(sleeper) second=$(sleeper)
"$POLLUX" schedule
left=$(submit -b 64 --plan dp= --plan gc=-g -- sh -c "$hungry" sh)
ok 'a job that may have any kind ends on the small one' ends_beside "$left"
is 'that job does not try what may fit only on the large kind' 'gc 1 Small, 12' "$(runs_of "$left")"
"$POLLUX" cancel "$first" "$second" >/dev/null
wait_for 20 no_supervisor
other=$(submit -b 64 --kind "$large" --plan dp= --plan gc=-g -- sh -c "$hungry" sh)
ok 'a job on the large kind ends' ends "$other"
is 'a job on the large kind tries the plan that ran out elsewhere' \
	'dp 1 Large, 24; gc 1 Large, 24' "$(runs_of "$other")"

# --- plans that were measured, and their memory ---
for size in 16:.016:4 32:.032:7 64:.064:13; do
	batch=${size%%:*} rest=${size#*:}
	job=$(submit -b "$batch" --workload w --kind "$large" --plan dp= -- true)
	ends "$job"
	measured "$job" "${rest%:*}"
	took "$job" "${rest#*:}"
done
job=$(submit -b 64 --workload w --kind "$large" --plan gc=-g -- true)
ends "$job"
measured "$job" .080
job=$(submit -b 128 --workload w --kind "$large" --plan gc=-g -- true)
ends "$job"
measured "$job" .160
near=$(submit -b 64 --workload w --kind "$large" --plan dp= --plan gc=-g -- true)
ends "$near"
is 'the faster plan is chosen where both fit' 'dp 1 Large, 24' "$(runs_of "$near")"
far=$(submit -b 128 --workload w --kind "$large" --plan dp= --plan gc=-g -- true)
ends "$far"
is 'the other plan is chosen where one is predicted not to fit' 'gc 1 Large, 24' "$(runs_of "$far")"
like 'the reason tells the memory in GiB of the device' 'plan gc \(dp needs 25 of 24 GiB\)' \
	"$(store "SELECT text FROM events WHERE job_id = $far AND kind = 'assigned'")"

# --- one kind for each job, also with replicas of two devices ---
wide=$(submit -r 2 --plan tp:width=2= -- sleep 1000)
wider=$(submit -r 2 --plan tp:width=2= -- sleep 1000)
"$POLLUX" schedule
is 'two jobs of two devices have a kind each' 'tp 2 Large, 24 tp 2 Small, 12' \
	"$( (runs_of "$wide"; runs_of "$wider") | sort | paste -sd ' ')"
finish
