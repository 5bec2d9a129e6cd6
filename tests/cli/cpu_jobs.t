#!/bin/sh
# cpu_jobs.t - jobs without a device run beside jobs with devices: submit --cpu, -r 0.
# shellcheck disable=SC2016,SC2317 # Perl for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { end_jobs >/dev/null; }
submit() { "$POLLUX" submit -q "$@"; }
field() { "$POLLUX" status --json "$1" | json 'print $d->{jobs}[0]{'"$2"'} // "-"'; }
run_field() { "$POLLUX" status --json "$1" | json 'print $d->{jobs}[0]{run}{'"$2"'} // "-"'; }
is_in() { [ "$(field "$1" state)" = "$2" ]; }
ended() { "$POLLUX" wait --timeout 200 "$@"; }
mkdir -p "$POLLUX_DIR"
echo 'cpu_jobs = 1' >"$POLLUX_DIR/config"
cores=$("$POLLUX" submit --cpu 1024 true 2>&1 | sed 's/.*than this machine has: //')

# --- beside a job that has the only slot, whatever the policy ---

long=$(submit sleep 1000)
pass
for policy in goodput pollux las fifo; do
	job=$(submit --cpu sh -c 'echo "omp=$OMP_NUM_THREADS devices=$POLLUX_DEVICES"')
	POLLUX_POLICY=$policy "$POLLUX" schedule
	ok "policy $policy: a job without a device runs though the slot is taken" ended "$job"
done
like 'its program is told its cores, and that it has no device' 'omp=1 devices=0' \
	"$("$POLLUX" log "$job")"
is 'the job with the slot keeps it' 'running' "$(field "$long" state)"
one=$(submit -r 0 sh -c 'grep Cpus_allowed_list: /proc/$$/status; exec sleep 1000')
pass
two=$(submit --cpu sleep 1001) three=$(submit -w 2 --cpu 1 sleep 1002)
pass
is '-r 0 declares one core and no device' '1 0' \
	"$(field "$one" cpu_cores) $(field "$one" min_replicas)"
is 'its run has no device' '0 0' \
	"$(run_field "$one" replicas) $("$POLLUX" status --json "$one" |
		json 'print scalar @{$d->{jobs}[0]{run}{devices}}')"
is 'a job waits for others of its sort, by the setting' '1 CPU job runs, cpu_jobs = 1' \
	"$(field "$two" reason)"
like 'explain says why it waits' '1 CPU job runs, cpu_jobs = 1' "$("$POLLUX" explain "$two")"
table=$("$POLLUX" status)
like 'status has the number of jobs without a device' '^1 device in use, 1 CPU job;' "$table"
like 'the table says that a run has no device' "^ *$one +sh +running +cpu " "$table"
bound=$(store "SELECT cores FROM runs WHERE job_id = $one")
like 'a run is bound to its cores' "^Cpus_allowed_list:[[:blank:]]*$bound$" \
	"$("$POLLUX" log "$one")"

# --- who is next ---

"$POLLUX" first "$two" >/dev/null
"$POLLUX" cancel "$one" >/dev/null
"$POLLUX" wait --timeout 200 "$one"
next() { pass && is_in "$two" running; }
ok 'the job that was put first starts first' wait_for 20 next
"$POLLUX" hold "$three" >/dev/null
is 'a waiting job can be held' held "$(field "$three" state)"
"$POLLUX" release "$three" >/dev/null
limited=$(submit --cpu -t 1 -w 9 sleep 1003)
after=$(submit --cpu --after "end:$limited" true)
"$POLLUX" cancel "$two" "$three" >/dev/null
over() { pass && is_in "$limited" timeout && is_in "$after" 'done'; }
ok 'a time limit and --after hold for such jobs, too' wait_for 30 over

# --- cores ---

echo 'cpu_jobs = 9' >"$POLLUX_DIR/config"
one=$(submit --cpu sleep 1004)
pass
all=$(submit --cpu "$cores" sleep 1005)
pass
is 'a job waits for cores that others of its sort have' \
	"needs $cores core$([ "$cores" = 1 ] || echo s); CPU jobs have 1 of $cores" \
	"$(field "$all" reason)"
"$POLLUX" edit --cpu 1 "$all" >/dev/null
is 'the cores of a waiting job can be changed' 1 "$(field "$all" cpu_cores)"
status 'those of a running job cannot' 1 "$POLLUX" edit --cpu=2 "$one"
again=$("$POLLUX" again -q "$one" --cpu)
is 'again keeps a job without a device' 1 "$(field "$again" cpu_cores)"

# --- what dies ---

kill_now "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $one AND state = 'running'")"
lost() { pass && holds "(SELECT count(*) FROM runs WHERE job_id = $one AND outcome > '') > 0"; }
ok 'a run whose supervisor died is stopped' wait_for 30 lost
end_jobs
is 'the slot was never taken by them' "$long" "$(store "SELECT group_concat(DISTINCT job_id) FROM
	runs WHERE id IN (SELECT run_id FROM run_devices)")"

# --- what is refused ---

refused() { # refused PATTERN OPTION...
	pattern=$1
	shift
	run "$POLLUX" submit "$@" true
	like "refused: $*" "$pattern" "$rc $err"
}
refused "^64 pollux: option '--batch' is of jobs with devices" --cpu -b 64
refused "^64 pollux: option '--kind' is of jobs with devices" -r 0 --kind T4
refused "^64 pollux: give one of --cpu and --replicas" --cpu -r 2
refused "^64 pollux: option '--replicas': a job has no device, which is 0 alone" -r 0:2
refused "^64 pollux: option '--cpu': 1024 cores are more than this machine has: [0-9]+" --cpu 1024
echo 'engine = slurm' >"$POLLUX_DIR/config"
refused "^78 pollux: option '--cpu': with engine = slurm" --cpu
rm "$POLLUX_DIR/config"
status 'a profile needs devices' 64 "$POLLUX" profile -r 0 true
with=$(submit true)
pass
ended "$with"
"$POLLUX" simulate --from-store >simulated 2>&1 || :
like 'the simulator leaves such jobs out, and says so' 'Left out, as they have no device: [0-9]+' \
	"$(cat simulated)"

# --- beside a GPU (a stand-in for NVML) ---

if [ -n "${GPU_STANDIN-}" ]; then
	unset POLLUX_SLOTS
	POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
	export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
	mkdir root
	{
		echo 'gpu GPU-aaaaaaaa-0000-0000-0000-000000000001 NVIDIA GeForce RTX 4090'
		echo 'memory 24576 24000'
	} >answers
	long=$(submit sleep 1000)
	job=$(submit --cpu sh -c 'env | grep ^CUDA_VISIBLE_DEVICES')
	pass
	ok 'a job without a device runs beside one with the only GPU' ended "$job"
	like 'its program sees no GPU' '^CUDA_VISIBLE_DEVICES=$' "$("$POLLUX" log "$job")"
	is 'the other job has the GPU' 1 "$(run_field "$long" replicas)"
fi
status 'a job without a device shares none' 64 "$POLLUX" submit --cpu --share -- true
like 'what to leave out is said' 'leave --cpu, or -r 0, out; ' "$err"
finish
