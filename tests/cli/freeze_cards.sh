# shellcheck shell=sh
# freeze_cards.sh - stand-ins for GPUs of 16 MiB whose memory goes to the host's and comes back, and
# jobs that use them. Sourced after tap.sh. Nothing of this was ever run on a GPU.
# shellcheck disable=SC2034,SC2317  # used by the test; functions run by wait_for
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins are: make check'
: "${FAULT:=$ROOT/build/fault}"
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
mkdir -p cards lib root/proc
ln -s "$GPU_STANDIN/cuda_freeze.so" lib/libcuda.so.1
ln -s "$GPU_STANDIN/cuda_freeze.so" lib/libcublas.so.13
ln -s /proc/meminfo root/proc/meminfo
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
CUDA_STANDIN_DIR=$TMP/cards LD_LIBRARY_PATH=$TMP/lib CUDA_STANDIN_MIB=16
POLLUX_SLICE=1 POLLUX_POLICY=las POLLUX_CUDA_DEVICES=uuid	# the form that any driver knows
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT CUDA_STANDIN_DIR LD_LIBRARY_PATH CUDA_STANDIN_MIB
export POLLUX_SLICE POLLUX_POLICY POLLUX_CUDA_DEVICES
unset POLLUX_SLOTS
cleanup() { end_jobs; }
gpus() { # gpus UUID...
	printf 'driver 580.95.05\n' >answers.new
	for gpu; do
		printf 'gpu %s NVIDIA H100\nmemory 16 16\nrates 0\npersistence 1\n' "$gpu"
	done >>answers.new
	mv answers.new answers
}
holds() { [ "$(store "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
passes_until() { "$POLLUX" schedule && holds "$1"; }
log() { cat "$POLLUX_DIR/logs/$1.log"; }
events() { store "SELECT text FROM events WHERE job_id = $1 AND kind = 'freeze'"; }
