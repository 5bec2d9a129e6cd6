#!/bin/sh
# ends.sh - how true the times are that are told of jobs: the 80 % intervals of their ends, and the
# likely starts, by ends.h, in simulation.
#
# For each kind of batch (adapting, fixed), load and number of GPUs of one node: how often an
# interval held the real end, how often the job ended before and after the interval, and the mean
# width: (its end - now) / (its beginning - now), a minute added to both. Each job is told its end
# when it comes and at 5 %, 15 %, ..., 95 % of its work. Of the jobs that wait when they come: how
# many starts were told, and the median factor between the likely wait and the real one, a minute
# added to both. Over the draws (SEEDS: 1 2) and numbers of jobs (JOBS: 60). First of goodput with
# lengths known, then with models shared, too, then with lengths learned of jobs whose lengths
# differ by 0.3, then with nothing known. OPTIONS are further ones for all simulations. The
# constants were chosen with seed 0. About ten minutes. Nothing is judged by the exit status.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
data=${POLLUX_DATA:-$root/../shared/data/pollux-osdi21}
desk=${POLLUX_DESK:-$root/../shared/data/desk}

if [ ! -d "$desk/workloads" ] || [ ! -d "$data/profiles" ]; then
	echo "# SKIP ends.sh: no workloads in $desk, or no profiles in $data" \
		"(POLLUX_DESK and POLLUX_DATA say where they are)"
	exit 0
fi
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-ends.XXXXXX")
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM

row() { # row NAME FILE...: of all intervals in the files
	name=$1
	shift
	awk -F, -v name="$name" '
		FNR == 1 { next }
		$11 > $3 && $9 == "" { hidden++ }
		$11 > $3 && $9 != "" {
			factor = log(($9 - $3 + 60) / ($11 - $3 + 60))
			at = ++starts
			factor = factor < 0 ? -factor : factor
			for (; at > 1 && factors[at - 1] > factor; at--)
				factors[at] = factors[at - 1]
			factors[at] = factor
		}
		$4 == "" { untold++; next }
		{
			n++
			held += $7 >= $4 && $7 <= $6
			before += $7 < $4
			after += $7 > $6
			width += log(($6 - $3 + 60) / ($4 - $3 + 60))
		}
		END {
			printf "%-18s %6d told %3d not   held %.3f  before %.3f  after %.3f  " \
				"width %6.2f  starts %4d told %4d not, factor %.2f\n", name, n,
				untold, held / n, before / n, after / n, exp(width / n), starts,
				hidden, starts ? exp(factors[int((starts + 1) / 2)]) : 1
		}' "$@"
}
simulate() { # simulate BATCH LOAD GPUS OPTION...: writes $made/BATCH-LOAD-GPUS.csv
	batch=$1 load=$2 gpus=$3 profiles=$data/profiles suffix=
	shift 3
	[ "$batch" = adapting ] || profiles=$desk/profiles-fixed suffix=-fixed
	for jobs in ${JOBS-60}; do
		for seed in ${SEEDS-1 2}; do
			set -- "$@" -w "$desk/workloads/$load-g$gpus-n$jobs-s$seed$suffix.csv"
		done
	done
	# shellcheck disable=SC2086  # words
	"$pollux" simulate --profiles "$profiles" -n 1 -g "$gpus" ${OPTIONS-} "$@" \
		--ends-csv "$made/$batch-$load-$gpus.csv" >"$made/log" 2>&1 ||
		{ cat "$made/log" >&2; exit 1; }
	row "$batch $load $gpus" "$made/$batch-$load-$gpus.csv"
}

for known in '-l known' '-l known -k shared' '-l learned --length-spread 0.3' '-l unknown'; do
	echo "goodput $known"
	for batch in adapting fixed; do
		for load in light busy burst; do
			for gpus in 1 2 4; do
				# shellcheck disable=SC2086  # words
				simulate "$batch" "$load" "$gpus" $known
			done
		done
	done
	row all "$made"/*-*.csv
done
