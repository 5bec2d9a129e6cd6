#!/bin/bash
# standin/run.sh DIR [ARGUMENT]... - all of the kit where there is no GPU.
#
# tests/gpu answers for NVML and CUDA, tests/cuda does what the trainer asks of CUDA, nvidia-smi is
# the one beside this file, nvidia-ml-py NVIDIA's own (tests/gpu/wheels.sh), and PyTorch runs on the
# processor. It shows that no step fails for a reason of its own; its figures mean nothing. What is
# written goes to DIR/out. KIT_RUN is what is run in place of run.sh --out DIR/out.
set -eu
[ $# -gt 0 ] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
here=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$here/../../.." && pwd)
build=${GPU_KIT_BUILD:-$ROOT/build}
export GPU_KIT_BUILD=$build
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
rm -rf "$dir/standin"
mkdir -p "$dir/standin"/{bin,cuda,host,held,root}
cd "$dir/standin"

for version in 11.0 12 13 14; do
	ln -s "$build/gpu/cuda_standin.so" cuda/libcudart.so.$version
	ln -s "$build/gpu/cuda_standin.so" cuda/libcublas.so.${version%.0}
	ln -s "$build/cuda/host.so" host/libcublas.so.${version%.0}
	ln -s "$build/cuda/host.so" host/libnvrtc.so.${version%.0}
done
ln -s "$build/cuda/host.so" host/libnvrtc.so.11.2
ln -s "$build/gpu/cuda_freeze.so" cuda/libcuda.so.1
ln -s "$build/gpu/nvml_new.so" cuda/libnvidia-ml.so.1
ln -s "$build/cuda/host.so" host/libcuda.so.1
ln -s "$here/nvidia-smi" bin/nvidia-smi
mkdir root/proc
ln -s /proc/meminfo root/proc/meminfo
program() { # program NAME PROGRAM LIBRARIES
	printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$dir/standin/$3" "$2" >"bin/$1"
	chmod +x "bin/$1"
}
program pollux "${POLLUX:-$build/pollux}" cuda
program train "${TRAIN:-$build/examples/train}" host

# The driver: 300 W, what hold.py says that it holds, and nobody who has ended.
export NVML_STANDIN=$dir/standin/answers
begun=$(date +%s%N)
answers() {
	local file pid held=0 processes=''

	for file in held/[0-9]*; do
		pid=${file#held/}
		if [ -e "$file" ] && grep -qs '^State:.*[^ZX] (' "/proc/$pid/status"; then
			processes+="process $pid $(cat "$file") 50"$'\n'
			held=$((held + $(cat "$file")))
		fi
	done
	cat >answers.new <<-END
	driver 580.99
	gpu GPU-aaaaaaaa-0000-0000-0000-000000000001 NVIDIA H200
	pci 0:41:0
	memory 143771 $((143771 - held))
	rates 0
	temperature 35
	power 300000
	limit 700000
	energy $((($(date +%s%N) - begun) * 3 / 10000))
	mig 0
	compute 0
	persistence 1
	$processes
	END
	mv answers.new answers
}
answers
while :; do
	sleep 0.1
	answers
done &
driver=$!
# The card's memory, of which the self-test of freezes takes a GiB.
cards=$(mktemp -d -p /dev/shm gpu-kit-cards.XXXXXX 2>/dev/null || mktemp -d)
export CUDA_STANDIN_DIR=$cards
trap 'kill $driver 2>/dev/null; rm -rf "$cards"' EXIT
trap 'exit 143' TERM INT HUP

export POLLUX=$dir/standin/bin/pollux TRAIN=$dir/standin/bin/train PATH=$dir/standin/bin:$PATH
export POLLUX_NVML=$build/gpu/nvml_new.so POLLUX_GPU_ROOT=$dir/standin/root
! wheels=$("$ROOT/tests/gpu/wheels.sh") || export PYTHONPATH=$wheels/nvidia-ml-py
export CUDA_STANDIN_UUIDS=aaaaaaaa000000000000000000000001 GPU_KIT_STANDIN_HELD=$dir/standin/held
export LD_LIBRARY_PATH=$dir/standin/cuda
export GPU_KIT_STANDIN='tests/gpu and tests/cuda' GPU_KIT_DEVICE=cpu GPU_KIT_QUICK=1
export CUDA_HOST_GPUS=1
if [ -n "${KIT_RUN-}" ]; then
	$KIT_RUN "$@"
else
	"$here/../run.sh" --out "$dir/out" "$@"
fi
