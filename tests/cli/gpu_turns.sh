# shellcheck shell=sh
# gpu_turns.sh - a stand-in for GPUs on which jobs that save nothing take turns. Sourced after
# tap.sh. The jobs and their processes are real; the GPU and its memory are not.
# shellcheck disable=SC2034,SC2154,SC2317  # used by the test; of tap.sh; called by name
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
POLLUX_SLICE=1 POLLUX_POLICY=las
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT POLLUX_SLICE POLLUX_POLICY
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
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
