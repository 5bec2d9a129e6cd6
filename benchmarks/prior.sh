#!/bin/sh
# prior.sh [SECONDS] - what measured kernels and links are worth as a prior of a
# real job: examples/train on this machine's slots.
#
# 'pollux profile --devices' first, then a run of SECONDS (10) for each of
# several numbers of replicas and local batches; prior.c predicts most of them
# from few, with the prior and without. About four minutes, on a quiet machine.
# PRIOR_DIR keeps the store, and PRIOR_HIDDEN is the trainer's --hidden. Nothing
# is judged by the exit status.
set -eu
sqlite3() { command sqlite3 -cmd '.timeout 60000' "$@"; }

seconds=${1:-10}
root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
train=${TRAIN:-$root/build/examples/train}
predict=${BENCH_BUILD:-$root/build/benchmarks}/prior
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
hidden=${PRIOR_HIDDEN:-256,128}
batches=${PRIOR_BATCHES:-8 16 32 64 128 256 512 1024}

if [ ! -d "$data" ]; then
	echo "# SKIP prior.sh: Fashion-MNIST is not in $data (FASHION_MNIST says where it is)"
	exit 0
fi
unset POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE XDG_CONFIG_HOME
made=''
work=${PRIOR_DIR:-}
[ -n "$work" ] || work=$(mktemp -d "${TMPDIR:-/tmp}/pollux-prior.XXXXXX") made=$work
mkdir -p "$work"
export HOME="$work" POLLUX_DIR="$work/store" POLLUX_POLICY=fifo NO_COLOR=1 LC_ALL=C
export OPENBLAS_NUM_THREADS=1 POLLUX_NVML=none	# processors, whatever else there is

cleanup() {
	ids=$(sqlite3 "$POLLUX_DIR/pollux.db" "SELECT id FROM jobs WHERE end_time_s IS NULL" \
		2>/dev/null) || :
	# shellcheck disable=SC2086  # a list of numbers
	[ -z "$ids" ] ||
		{ "$pollux" cancel $ids; "$pollux" wait --timeout 30 $ids; } >/dev/null 2>&1 || :
	[ -z "$made" ] || rm -rf "$made"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

slots=$("$pollux" devices | grep -c '^cpu:')
uptime
"$pollux" profile --devices | sed -n '1p;/^- the/,$p'
kind=$(sqlite3 "$POLLUX_DIR/pollux.db" 'SELECT device_kind FROM device_measurements LIMIT 1')
replicas=1
while [ "$replicas" -le "$slots" ] && [ "$replicas" -le 8 ]; do
	for batch in $batches; do
		id=$("$pollux" submit -q --workload train -b $((replicas * batch)) -r $replicas \
			--max-local-batch "$batch" --time-limit "$seconds" --grace 5 -- \
			"$train" --data "$data" --hidden "$hidden" --samples 1000000000 --lr 1e-6)
		"$pollux" schedule
		"$pollux" wait --timeout 120 "$id" >/dev/null || :
	done
	replicas=$((replicas * 2))
done
uptime
"$predict" "$kind" train
