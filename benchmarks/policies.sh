#!/bin/sh
# policies.sh - mean completion times of the published workloads in simulation, beside the published
# times.
#
# Means over the workloads of a case, in seconds: 'published' is of Pollux' genetic algorithm,
# 'pollux' of its fitness solved exactly, both with nothing known; then goodput with nothing known,
# with lengths known, and with lengths known and models shared. The quotients are to the published
# mean, or where there is none to pollux'. Below, the 99th percentiles and the worst finish-time
# fairness. About a minute. Nothing is judged by the exit status.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
data=${POLLUX_DATA:-$root/../shared/data/pollux-osdi21}

if [ ! -f "$data/EXPECTED.csv" ]; then
	echo "# SKIP policies.sh: the published workloads are not in $data" \
		"(POLLUX_DATA says where they are)"
	exit 0
fi

# simulate POLICY KNOWLEDGE LENGTHS WORKLOADS [OPTION...]: mean, 99th percentile, fairness
simulate() {
	policy=$1 knowledge=$2 lengths=$3 workloads=$4
	shift 4
	"$pollux" simulate --profiles "$data/profiles" -w "$data/$workloads" -p "$policy" \
		-k "$knowledge" -l "$lengths" "$@" --json 2>/dev/null | perl -MJSON::PP -0777 -ne '
		my $d = JSON::PP->new->decode($_);
		printf "%.1f %.1f %.2f\n", $d->{avg_jct_s}, $d->{p99_jct_s},
			$d->{finish_time_fairness}{worst}'
}
published() { # published LOAD COLUMN: the mean over its workloads
	awk -F, -v load="$1" -v column="$2" '$1 == "pollux" && $2 == load { sum += $column; n++ }
		END { if (n) printf "%.1f", sum / n }' "$data/EXPECTED.csv"
}
row() { # row NAME LOAD WORKLOADS [OPTION...]: LOAD is as in EXPECTED.csv, or empty
	name=$1 mean='' p99=''
	[ -z "$2" ] || mean=$(published "$2" 4) p99=$(published "$2" 5)
	workloads=$3
	shift 3
	{
		echo "${mean:--} ${p99:--} -"
		simulate pollux none unknown "$workloads" "$@"
		simulate goodput none unknown "$workloads" "$@"
		simulate goodput none known "$workloads" "$@"
		simulate goodput shared known "$workloads" "$@"
	} | awk -v name="$name" '
		{ mean[NR] = $1; p99[NR] = $2; rho[NR] = $3 }
		function line(what, of, digits,    i, base, cell) {
			base = of[1] == "-" ? of[2] : of[1]
			printf "%-15s %-4s", what == "mean" ? name : "", what
			for (i = 1; i <= NR; i++) {
				cell = of[i] == "-" ? "-" : sprintf("%.*f", digits, of[i])
				if (i > 2 && what != "rho")
					cell = cell " " sprintf("%.3f", of[i] / base)
				printf((i > 2) ? " %12s" : " %9s", cell)
			}
			print ""
		}
		END { line("mean", mean, 0); line("p99", p99, 0); line("rho", rho, 2) }'
}

printf '%-20s %9s %9s %12s %12s %12s\n' '' published pollux goodput goodput goodput
printf '%-20s %9s %9s %12s %12s %12s\n' '' '' '' 'none known' 'lengths' 'both'
row 'load 0.5' 0.5 workloads-0.5
row 'load 1.0' 1.0 workloads
row 'load 1.5' 1.5 workloads-1.5
row 'load 2.0' 2.0 workloads-2.0
for load in -0.5 '' -1.5 -2.0; do
	row "events ${load#-}" '' "workloads$load" --events
done
for interval in 30s 2m 4m 8m; do
	row "each $interval" '' workloads --interval "$interval"
done
for interference in 0.25 0.5; do
	row "interfere $interference" '' workloads --interference "$interference"
done
