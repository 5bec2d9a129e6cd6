#!/bin/sh
# gpu_settle.t - a stopped job whose kernels compute on keeps its GPU, as far as can be tested
# without one: a stand-in answers for NVML (tests/gpu/standin.h). The jobs and their processes are
# real; the GPU and its memory are not.
# shellcheck disable=SC2016,SC2317  # programs of sed; functions called by name
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
POLLUX_SLICE=1 POLLUX_POLICY=las
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT POLLUX_SLICE POLLUX_POLICY
A=GPU-aaaaaaaa-0000-0000-0000-000000000001
mkdir root

cleanup() { end_jobs; }
gpu() { # gpu UUID [LINE]...: of 24 GiB
	printf 'gpu %s NVIDIA GeForce RTX 4090\nmemory 24576 24000\n' "$1"
	printf 'rates 0\ntemperature 35\npersistence 1\n'
	shift
	[ $# = 0 ] || printf '%s\n' "$@"
}
answers() { cat >answers.new && mv answers.new answers; }
holds() { [ "$(store "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
leader_of() { store "SELECT $leader_pid FROM runs WHERE job_id = $1 AND state = 'running'"; }
submit() { "$POLLUX" submit -q "$@" -- sh -c 'while :; do sleep 0.1; done'; }
state_of() { sed 's/.*) \(.\).*/\1/' "/proc/$(leader_of "$1")/stat"; }

# --- a card that computes on although the processes are stopped ---

spinning() { # spinning WORKLOAD WORDS LINE: a job's turn is over while its process is on the GPU so
	gpu "$A" | answers
	one=$(submit --workload "$1" --gpu-memory 4G)
	"$POLLUX" schedule
	wait_for 20 holds "job_id = $one AND state = 'running'" || echo "# $one did not start"
	two=$(submit --workload "$1" --gpu-memory 4G)
	sleep 1.2
	gpu "$A" "process $(leader_of "$one") 4000 $2" | sed "$3" | answers
	"$POLLUX" schedule
}
no_run() { ! holds "state <> 'ended'"; }
kept() { "$POLLUX" schedule; [ -n "$(store "SELECT text FROM events WHERE job_id = $one AND
	kind = 'suspend' AND text LIKE '%keeps its GPU%'")" ]; }
left() { "$POLLUX" schedule; holds "job_id = $one AND suspension = 'suspended'"; }
over() { gpu "$A" | answers; "$POLLUX" cancel "$one" "$two"; wait_for 20 no_run; }
spinning spins '100 spins' ''
ok 'a job whose kernels spin while it is stopped keeps its GPU' wait_for 30 kept
like 'status says why' 'GPU: 1[0-9.]* s after its processes were stopped the GPU was 100 % busy' \
	"$("$POLLUX" status "$one" | tr -s ' ')"
unlike 'it computes on' T "$(state_of "$one")"
is 'it is not asked again' '' "$(store "SELECT suspension FROM runs WHERE job_id = $one")"
waits() { "$POLLUX" schedule; [ "$(store "SELECT state FROM jobs WHERE id = $two")" = queued ]; }
ok 'nobody has the GPU beside it' wait_for 20 waits
over
spinning ends '100' 's/^rates 0/rates 100/'
ok 'one whose kernels end leaves' wait_for 30 left
over
spinning card '' 's/^rates 0/rates 100/; $a answer samples 3'
ok 'where the driver tells no samples, the card counts: one that becomes free is left' \
	wait_for 30 left
over
spinning card_spins '0 spins' 's/^rates 0/rates 100/; $a answer samples 3'
ok 'one that does not is kept' wait_for 30 kept
over
spinning neither '' '/^rates/d; $a answer samples 3'
ok 'a card that tells nothing is left' wait_for 30 left
over
spinning stopping '100 spins' ''
wait_for 20 holds "job_id = $one AND suspension = 'asked'"
"$POLLUX" cancel "$one"
ok 'a job may be cancelled meanwhile' wait_for 20 holds "job_id = $one AND state = 'ended'"
over

finish
