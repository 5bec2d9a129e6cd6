#!/bin/sh
# instructions.sh [JOBS] - the instructions of one pass over a queue of so many jobs (1000), none of
# which runs, by policy, as valgrind's callgrind counts them. They do not depend on what else the
# machine does. To compare two commits: POLLUX=.../build/pollux of each.
set -eu
jobs=${1-1000}
: "${POLLUX:=$(cd "$(dirname "$0")/.." && pwd)/build/pollux}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export POLLUX_DIR="$dir/store" POLLUX_SLOTS=2 POLLUX_SUBMIT_PASS=no POLLUX_NVML=none \
	POLLUX_SHARED_DIR=no
i=0
while [ "$i" -lt "$jobs" ]; do
	"$POLLUX" submit -q --name "job-$((i % 50))" --workload "workload-$((i % 10))" -r 1:2 \
		-b 32 -- sleep 100 >/dev/null 2>&1
	i=$((i + 1))
done
for policy in goodput las fifo; do
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$POLLUX" schedule --dry-run \
		--policy "$policy" 2>&1 >/dev/null |
		awk -v policy="$policy" '/Collected/ {
			printf "%-8s %.1f million instructions\n", policy, $NF / 1e6 }'
done
