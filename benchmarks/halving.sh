#!/bin/sh
# halving.sh - what successive halving saves: 27 runs of the example trainer on Fashion-MNIST
# (learning rate x width x batch), with rungs and, in the same script, each to its end:
#
#	benchmarks/halving.sh [SAMPLES_OF_A_RUN]
#
# Both have the same commands and seeds on two slots. Device time is the sum of all runs by the
# clock, launches and checkpoints included; processor time is what their processes used, which other
# work on the machine changes less; samples are the sum of the positions of all jobs. Nothing is
# judged: the targets (best accuracy within 0.002, at most 40 % of the device time) are printed
# beside the figures.
set -eu
cd "$(dirname "$0")/.."
: "${POLLUX:=$PWD/build/pollux}" "${TRAIN:=$PWD/build/examples/train}"
total=${1:-2430000}
rungs=$((total / 9))/$((total / 3))
dir=$(mktemp -d "${TMPDIR:-/tmp}/pollux-halving.XXXXXX")
export POLLUX_SLOTS=2 POLLUX_SLICE=10d POLLUX_SUBMIT_PASS=no
unset POLLUX_POLICY POLLUX_REPORT_SOCKET POLLUX_DIR	# stop() is never for the user's
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

store() { sqlite3 -cmd '.timeout 60000' "$POLLUX_DIR/pollux.db" "$1"; }
stop() { # what runs
	[ -e "${POLLUX_DIR:-}/pollux.db" ] || return 0
	store "UPDATE jobs SET state = 'held' WHERE state = 'queued'"
	for id in $(store "SELECT id FROM jobs WHERE state = 'running'"); do
		if "$POLLUX" cancel "$id"; then "$POLLUX" wait "$id" || :; fi
	done >"$dir/out" 2>&1
}
sweep() { # sweep NAME [OPTION]...: runs it in a store of its own
	POLLUX_DIR=$dir/$1
	export POLLUX_DIR
	shift
	"$POLLUX" submit -q --preempt "$@" --metric 'accuracy=accuracy ([0-9.]+)' \
		--param rate=0.005,0.05,0.5 --param width=16,32,64 --param size=64,128,512 -- \
		"$TRAIN" --lr '{rate}' --hidden '{width}' --initial-batch '{size}' \
		--samples "$total" --eval-every $((total / 9)) >"$dir/out"
	"$POLLUX" schedule >"$dir/out"
	"$POLLUX" wait group:1
	store "SELECT (SELECT count(*) FROM jobs WHERE state = 'done'),
		(SELECT count(*) FROM jobs WHERE rung >= 1),
		(SELECT count(*) FROM jobs WHERE rung >= 2),
		(SELECT count(*) FROM runs WHERE launch_boot_s IS NOT NULL),
		(SELECT printf('%.2f', sum(samples) / 1e6) FROM jobs),
		round(sum(duration_s), 1), round(sum(cpu_time_s), 1),
		(SELECT max(m.last) FROM job_metrics m JOIN jobs j ON j.id = m.job_id
		  WHERE m.name = 'accuracy' AND j.state = 'done')
		FROM runs" >"$POLLUX_DIR.row"
	"$POLLUX" results group:1 --metric accuracy:max | sed -n 1,4p >"$POLLUX_DIR.best"
}

sweep halving --halving "accuracy:max,eta=3,rungs=$rungs"
sweep all
printf '%s\n' "27 runs of $total samples; rungs at $rungs samples, eta 3"
format='%-8s %5s %7s %7s %9s %10s %10s %10s %7s\n'
# shellcheck disable=SC2059 # the format is above
printf "$format" '' 'done' 'rung 1' 'rung 2' launches 'samples, M' 'device, s' processor best
for name in halving all; do
	echo "$name|$(cat "$dir/$name.row")"
done | tee "$dir/rows" |
while IFS='|' read -r name ended one two launches samples device cpu best; do
	# shellcheck disable=SC2059
	printf "$format" "$name" "$ended" "$one" "$two" "$launches" "$samples" "$device" \
		"$cpu" "$best"
done
awk -F'|' '{ samples[$1] = $6; device[$1] = $7; cpu[$1] = $8; best[$1] = $9 } END {
	printf "samples %.1f %%, ", 100 * samples["halving"] / samples["all"]
	printf "device time %.1f %% (target: at most 40), processor time %.1f %%\n",
		100 * device["halving"] / device["all"], 100 * cpu["halving"] / cpu["all"]
	printf "best accuracy %+.4f (target: not below -0.002)\n", best["halving"] - best["all"]
}' "$dir/rows"
for name in halving all; do
	echo "the best of '$name':"
	cat "$dir/$name.best"
done
