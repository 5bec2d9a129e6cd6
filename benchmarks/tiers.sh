#!/bin/sh
# tiers.sh WORKLOAD TIERS... - the table of policies over machines and racks.
#
# Mean, p99, makespan and mean communication, in hours, of WORKLOAD on 8 machines of 8 GPUs in 2
# racks and on 12 in 4, with each table of tiers. The week of RESULTS.md and both tables are in
# ../shared/data/dally.
set -eu
[ $# -ge 2 ] || { echo 'tiers.sh WORKLOAD TIERS...' >&2; exit 64; }
: "${POLLUX:=$(dirname "$0")/../build/pollux}"
workload=$1
shift

figures() { # figures TIERS RACKS NODES POLICY [OPTION]...
	tiers=$1 racks=$2 nodes=$3 policy=$4
	shift 4
	"$POLLUX" simulate --racks "$racks" -n "$nodes" --tiers "$tiers" -w "$workload" \
		-p "$policy" --json "$@" | perl -MJSON::PP -0777 -ne 'my $d = decode_json($_);
		printf "%.2f/%.1f/%.1f/%.3f", map { $_ / 3600 } @$d{qw(avg_jct_s p99_jct_s
			makespan_s communication_s)}'
}

row() { # row NAME POLICY [OPTION]...
	name=$1
	shift
	printf '%-14s' "$name"
	for cell in '2 8' '4 12'; do
		for tiers in $tables; do
			# shellcheck disable=SC2086  # racks and nodes
			printf ' | %s' "$(figures "$tiers" $cell "$@")"
		done
	done
	echo
}

tables=$*
row tiresias-net tiresias-net
row gandiva-net gandiva-net
for timers in 0,0 6,12 auto inf; do
	row "dally $timers" dally --timers "$timers"
done
for policy in las-net srtf-net; do
	for timers in auto inf; do
		row "$policy $timers" $policy --timers "$timers"
	done
done
row goodput goodput
row 'goodput known' goodput --lengths known
