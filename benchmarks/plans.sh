#!/bin/bash
# plans.sh [SET...] - twelve trainings on two processor slots, under a memory cap that plain data
# parallelism exceeds, with one plan or the choice of several.
#
# SET is 'choice' (dp, gc and ga are declared; pollux finds out which fit), 'gc' (recompute
# activations) or 'ga' (samples of 16, accumulated); default: all. The trainings are those of the
# example trainer, seven layers of 512, an update of 16384 samples, with PLANS_JOBS seeds (12), all
# submitted at once. The cap is that of addresses (ulimit -v): what gc takes, and 48 MiB.
#
# The sets take turns in PLANS_ROUNDS rounds (2), each with an empty store and in another order: so
# that a machine that is busy for a while slows all sets alike. Printed are, for each set of a
# round, the mean, the least and the most time from submission to end, runs, runs out of memory,
# and the load of the machine before; then the mean of the choice over the best and the worst
# single plan within each round, and the medians of these over the rounds. The goal: at most 1.05
# and 0.80.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
train=${TRAIN:-$root/build/examples/train}
sqlite3() { command sqlite3 -cmd '.timeout 60000' "$@"; }
jobs=${PLANS_JOBS:-12} rounds=${PLANS_ROUNDS:-2}
unset POLLUX_DIR POLLUX_POLICY POLLUX_SLICE XDG_CONFIG_HOME
export POLLUX_SLOTS=2 POLLUX_NVML=none POLLUX_SHARED_DIR=no OPENBLAS_NUM_THREADS=1
export NO_COLOR=1 LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/tmp}/pollux-plans.XXXXXX")
export HOME="$work"
batch=16384
ga='ga=--local-batch 16 --accum 1024'
layers=512,512,512,512,512,512,512
args=(--subset 20000 --hidden "$layers" --samples "$batch" --eval-every 100000000)

cleanup() {
	for store in "$work"/*/pollux.db; do
		[ -e "$store" ] || continue
		mapfile -t ids < <(sqlite3 "$store" "SELECT id FROM jobs WHERE end_time_s IS NULL")
		[ ${#ids[@]} = 0 ] ||
			POLLUX_DIR=$(dirname "$store") "$pollux" cancel "${ids[@]}" || :
	done >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

peak() { # peak OPTION...: KiB of addresses that a training takes
	"$train" "${args[@]}" --batch $batch --checkpoint "$work/peak" --fresh \
		"$@" >/dev/null &
	perl -e 'my ($peak, $f) = 0;
		while (open($f, "<", "/proc/$ARGV[0]/status")) {
			my ($kib) = join("", <$f>) =~ /VmPeak:\s+(\d+)/ or last;
			$peak = $kib; select(undef, undef, undef, 0.002) }
		print $peak' "$!"
	wait "$!"
}

run_set() { # run_set SET ROUND
	local plans=() ids=()
	case $1 in
	choice) plans=(--plan dp= --plan gc=--recompute --plan "$ga") ;;
	gc) plans=(--plan gc=--recompute) ;;
	ga) plans=(--plan "$ga") ;;
	*) echo "plans.sh: unknown set '$1'" >&2; exit 64 ;;
	esac
	export POLLUX_DIR="$work/$1.$2"
	read -r load _ </proc/loadavg
	for seed in $(seq "$jobs"); do
		ids+=("$(POLLUX_SUBMIT_PASS=no "$pollux" submit -q -b $batch --workload train \
			--no-preempt "${plans[@]}" -- \
			sh -c "ulimit -v $cap; exec timeout 300 \"\$@\"" sh \
			"$train" "${args[@]}" --seed "$seed" --batch '{batch}' '{plan}')")
	done
	"$pollux" schedule >/dev/null
	"$pollux" wait --timeout 600 "${ids[@]}" >/dev/null ||
		echo "plans.sh: $1: not all are done" >&2
	sqlite3 "$POLLUX_DIR/pollux.db" "SELECT printf('$2 %-6s load %s  mean %.1f s, '
		|| '%.1f to %.1f; %d done, %d runs, %d out of memory, ended in %s', '$1', '$load',
		avg(end_time_s - submit_time_s), min(end_time_s - submit_time_s),
		max(end_time_s - submit_time_s), sum(state = 'done'),
		(SELECT count(*) FROM runs), (SELECT sum(out_of_memory) FROM runs),
		(SELECT group_concat(DISTINCT plan) FROM runs WHERE outcome = 'completed'))
		FROM jobs"
	echo "$2 $1 $(sqlite3 "$POLLUX_DIR/pollux.db" \
		'SELECT avg(end_time_s - submit_time_s) FROM jobs')" >>"$work/means"
}
compare() { # the choice over single plans, from lines "ROUND SET MEAN"
	perl -e 'my (%mean, @best, @worst);
		while (<>) { my ($round, $set, $mean) = split; $mean{$round}{$set} = $mean }
		sub median { my @s = sort { $a <=> $b } @_; ($s[$#s / 2] + $s[@s / 2]) / 2 }
		for my $round (sort keys %mean) {
			my %of = %{$mean{$round}};
			my $choice = delete $of{choice} // next;
			my @single = sort { $a <=> $b } values %of or next;
			push @best, $choice / $single[0];
			push @worst, $choice / $single[-1];
			printf "%s choice over best %.3f, over worst %.3f\n", $round, $best[-1],
				$worst[-1] }
		printf "median: choice over best %.3f, over worst %.3f\n", median(@best),
			median(@worst) if @best' "$work/means"
}

plain=$(peak) less=$(peak --recompute)
cap=$((less + 49152))
echo "plain data parallelism takes $((plain / 1024)) MiB of addresses, gc $((less / 1024));" \
	"the cap is $((cap / 1024))"
[ "$plain" -gt "$cap" ] || { echo 'plans.sh: plain training fits' >&2; exit 1; }
[ $# -gt 0 ] || set -- choice gc ga
for round in $(seq "$rounds"); do
	for set in "$@"; do run_set "$set" "$round"; done
	first=$1
	shift
	set -- "$@" "$first"
done
compare
