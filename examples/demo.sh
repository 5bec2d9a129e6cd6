#!/bin/sh
# demo.sh - five real training jobs share two CPU slots for about a minute, and what that gained.
#
# Run by 'make demo'. The store is its own (build/demo, or $1), so it does not touch your jobs.
# Watch it from another terminal with: POLLUX_DIR=build/demo build/pollux status --watch 1
#
# The store stays, and with it the models of the three networks: a second demo starts with them.
set -eu
build=$(cd "${BUILD:-build}" && pwd)
pollux=$build/pollux
train=$build/examples/train
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
POLLUX_DIR=${1:-$build/demo}
POLLUX_SLOTS=2
POLLUX_SLICE=8
POLLUX_POLICY=goodput
export POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
watcher=
first=
jobs=
terminal=
[ ! -t 1 ] || terminal=yes

active_jobs() {
	"$pollux" status 2>/dev/null |
		awk '$3 ~ /^(queued|starting|running|suspended|stopping|held)$/ { print $1 }'
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

# A store that this pollux cannot read is of no use to it.
open_store() {
	known=
	[ -e "$POLLUX_DIR/pollux.db" ] || return 0
	stop_all
	if ! "$pollux" status >/dev/null 2>&1; then
		rm -rf "$POLLUX_DIR"
	elif "$pollux" status --all | awk '$3 == "done" { n++ } END { exit !n }'; then
		known=yes
	fi
}

# Jobs are sized in seconds of one slot; how many samples that is, this machine says.
calibrate() {
	# The line "step N samples S ... X ms/step", the last of a short run.
	ms=$("$train" --data "$data" --hidden 512,256 --batch 128 --samples 60000 --log-every 0.2 |
		awk '/ms\/step/ { for (i = 2; i <= NF; i++) if ($i == "ms/step") ms = $(i - 1) }
			END { print ms }')
	rate=$(awk -v ms="$ms" 'BEGIN { printf "%d", 128 / ms * 1000 }')
}

# submit NAME HIDDEN COST SECONDS BATCH REPLICAS: COST is that of a sample against the calibrated
# network. Jobs that train the same network share what is learnt of it: hence the workload.
submit() {
	samples=$(awk -v r="$rate" -v c="$3" -v s="$4" 'BEGIN { printf "%d", r * s / c }')
	id=$("$pollux" submit --quiet --name "$1" --workload "train $2" --batch "$5" \
		--batch-range "$5:4096" --accumulate --replicas "$6" --samples "$samples" -- \
		"$train" --data "$data" --hidden "$2" --samples "$samples" --initial-batch "$5" \
		--checkpoint "{checkpoint}")
	first=${first:-$id}
	jobs="$jobs $id"
}

# status OPTION...: as wide as the terminal, or as 80 columns.
status() {
	color=never width=80
	if [ -n "$terminal" ]; then
		[ -n "${NO_COLOR-}" ] || color=always
		width=$(stty size 2>/dev/null | cut -d ' ' -f 2)
	fi
	COLUMNS=${COLUMNS:-$width} "$pollux" status --color "$color" "$@"
}

# Leaves out the jobs of an earlier demo. A job has a line that begins with its number, and may have
# a second line below it.
without_earlier() {
	awk -v first="$first" '
	{
		plain = $0
		gsub(/\033\[[0-9;]*m/, "", plain)
		split(plain, field, " ")
	}
	plain ~ /^ *[0-9]+  / { earlier = field[1] + 0 < first + 0 }
	plain !~ /^ / && plain !~ /^[0-9]+  / { earlier = 0 }
	!earlier { print }'
}

show() {
	if [ -n "$terminal" ]; then
		printf '\033[H\033[2J'
	else
		echo
	fi
	echo "--- $(($(date +%s) - begin)) s: pollux status"
	status | without_earlier
}

# What was gained, in two lines: the mean time of this demo's jobs, as it was and under fifo.
gained() {
	"$pollux" simulate --from-store --since "$(($(date +%s) - begin + 2))s" --interval 1 \
		--policy fifo --json | awk -F '[": ,]+' '
	$2 ~ /^(was|check|results)$/ { part = $2 }
	$2 == "avg_jct_s" { mean[part] = $3 }
	$2 == "makespan_s" { all[part] = $3 }
	END {
		printf "From submission to end these jobs took %.0f s on average, all %.0f s.\n",
			mean["was"], all["was"]
		printf "First come, first served, at their own batch sizes (simulated): " \
			"%.0f s, all %.0f s.\n", mean["results"], all["results"]
	}'
}

open_store
trap stop_all EXIT
trap 'exit 130' INT TERM

if [ -n "$known" ]; then
	echo "The models are known from the last demo ('rm -r $POLLUX_DIR' forgets them)."
else
	echo "Nothing is known of the jobs yet: what larger batches bring is measured."
fi
echo "Timing one slot ..."
calibrate
echo "One slot trains $rate samples a second of the middle-sized network."
begin=$(date +%s)
submit large 1024,512 2.6 32 64 1:2
submit medium 512,256 1 26 64 1:2
submit small 256,128 0.45 8 32 1:2
submit wide 512,256 1 18 256 2
echo "Four jobs, two slots, slices of $POLLUX_SLICE s; a fifth job comes after 30 s."
"$pollux" schedule --watch 1 &
watcher=$!

late=
while [ -n "$(active_jobs)" ] || [ -z "$late" ]; do
	show
	if [ -z "$late" ] && [ $(($(date +%s) - begin)) -ge 30 ]; then
		submit late 256,128 0.45 8 32 1:2
		late=$id
	fi
	if [ -n "$terminal" ]; then sleep 1; else sleep 6; fi
done

echo
echo "--- $(($(date +%s) - begin)) s: all done; pollux status --summary$jobs"
# shellcheck disable=SC2086  # numbers
status --summary $jobs
echo
gained
echo
echo "Why a job has had what it has, and what is known of it:"
echo "  POLLUX_DIR=$POLLUX_DIR $pollux explain $first"
echo "Its story:"
echo "  POLLUX_DIR=$POLLUX_DIR $pollux status $first"
