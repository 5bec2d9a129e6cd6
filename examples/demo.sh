#!/bin/sh
# demo.sh - five real training jobs share two CPU slots for about two minutes.
#
# Run by 'make demo'. The store is its own (build/demo, or $1), so it does not touch your jobs. Watch it
# from another terminal with: POLLUX_DIR=build/demo build/pollux status --watch 1
set -eu
build=$(cd "${BUILD:-build}" && pwd)
pollux=$build/pollux
train=$build/examples/train
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
POLLUX_DIR=${1:-$build/demo}
POLLUX_SLOTS=2
POLLUX_SLICE=8
export POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE
watcher=

active_jobs() {
	"$pollux" status 2>/dev/null | awk '$3 ~ /^(queued|starting|running|stopping|held)$/ { print $1 }'
}

# Nothing is left behind, however the demo ends.
stop_all() {
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || :
	for id in $(active_jobs); do
		"$pollux" cancel "$id" 2>/dev/null || :
	done
	for id in $(active_jobs); do
		"$pollux" wait --timeout 20 "$id" >/dev/null 2>&1 || :
	done
}

# Jobs are sized in seconds of one slot; how many samples that is, this machine says.
calibrate() {
	# The line "step N samples S ... X ms/step", the last of a short run.
	ms=$("$train" --data "$data" --hidden 512,256 --batch 128 --samples 60000 --log-every 0.2 |
		awk '/ms\/step/ { for (i = 2; i <= NF; i++) if ($i == "ms/step") ms = $(i - 1) } END { print ms }')
	rate=$(awk -v ms="$ms" 'BEGIN { printf "%d", 128 / ms * 1000 }')
}

# submit NAME HIDDEN COST SECONDS BATCH REPLICAS: COST is that of a sample against the calibrated network.
submit() {
	samples=$(awk -v r="$rate" -v c="$3" -v s="$4" 'BEGIN { printf "%d", r * s / c }')
	"$pollux" submit --quiet --name "$1" --batch "$5" --replicas "$6" --samples "$samples" -- \
		"$train" --data "$data" --hidden "$2" --samples "$samples" --initial-batch "$5" \
		--checkpoint "{checkpoint}"
}

show() {
	if [ -t 1 ]; then
		printf '\033[H\033[2J'
	else
		echo
	fi
	echo "--- $(($(date +%s) - begin)) s: pollux status"
	"$pollux" status
}

[ ! -e "$POLLUX_DIR/pollux.db" ] || stop_all
rm -rf "$POLLUX_DIR"
trap stop_all EXIT
trap 'exit 130' INT TERM

echo "Timing one slot ..."
calibrate
echo "One slot trains $rate samples a second of the middle-sized network."
begin=$(date +%s)
submit large 1024,512 2.6 55 256 1:2 >/dev/null
submit medium 512,256 1 40 128 1:2 >/dev/null
submit small 256,128 0.45 12 64 1 >/dev/null
submit wide 512,256 1 30 512 2 >/dev/null
echo "Four jobs, two slots, slices of $POLLUX_SLICE s; a fifth job comes after 30 s."
"$pollux" schedule --watch 1 &
watcher=$!

late=
while [ -n "$(active_jobs)" ] || [ -z "$late" ]; do
	show
	if [ -z "$late" ] && [ $(($(date +%s) - begin)) -ge 30 ]; then
		late=$(submit late 256,128 0.45 12 64 1)
	fi
	if [ -t 1 ]; then sleep 1; else sleep 6; fi
done

echo
echo "--- $(($(date +%s) - begin)) s: all done; pollux status --summary"
"$pollux" status --all --summary
echo
echo "Each job's story is in its log and its status, for instance:"
echo "  POLLUX_DIR=$POLLUX_DIR $pollux status 1"
