#!/bin/sh
# tiers_ties.sh WORKLOAD TIERS... - how far the figures of benchmarks/tiers.sh go when ties fall
# otherwise.
#
# Each job of WORKLOAD is submitted up to 60 s later, in 20 draws. Prints the least and the greatest
# mean, p99, makespan and mean communication, in hours, of the cells that the specification has
# figures of its prototype for.
set -eu
[ $# -ge 2 ] || { echo 'tiers_ties.sh WORKLOAD TIERS...' >&2; exit 64; }
: "${POLLUX:=$(dirname "$0")/../build/pollux}" "${DRAWS:=20}"
workload=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for draw in $(seq "$DRAWS"); do
	perl -F, -lane 'BEGIN { srand(shift) } if ($. == 1) {
			($at) = grep { $F[$_] eq "submitted_s" } 0 .. $#F;
			print;
		} else { $F[$at] += rand(60); push @rows, [@F] }
		END { print join ",", @$_ for sort { $a->[$at] <=> $b->[$at] } @rows }' \
		"$draw" "$workload" >"$dir/$draw.csv"
done

ranges() { # ranges TIERS RACKS NODES POLICY [OPTION]...
	tiers=$1 racks=$2 nodes=$3 policy=$4
	shift 4
	: >"$dir/all.json"
	for draw in $(seq "$DRAWS"); do
		"$POLLUX" simulate --racks "$racks" -n "$nodes" --tiers "$tiers" \
			-w "$dir/$draw.csv" -p "$policy" --json "$@" >>"$dir/all.json"
	done
	perl -MJSON::PP -0777 -e '
		for my $d (JSON::PP->new->incr_parse(scalar <STDIN>)) {
			my @v = map { $_ / 3600 } @$d{qw(avg_jct_s p99_jct_s makespan_s
				communication_s)};
			for (0 .. 3) {
				$low[$_] = $v[$_] if !defined $low[$_] || $v[$_] < $low[$_];
				$high[$_] = $v[$_] if !defined $high[$_] || $v[$_] > $high[$_];
			}
		}
		printf "%.1f-%.1f %.0f-%.0f %.0f-%.0f %.3f-%.3f",
			map { ($low[$_], $high[$_]) } 0 .. 3' <"$dir/all.json"
}

tables=$*
row() { # row NAME POLICY [OPTION]...
	name=$1
	shift
	for cell in '2 8' '4 12'; do
		for tiers in $tables; do
			# shellcheck disable=SC2086  # racks and nodes
			printf '%s | %s | %s | %s\n' "$name" "$cell" "${tiers##*/}" \
				"$(ranges "$tiers" $cell "$@")"
		done
	done
}
row tiresias-net tiresias-net
row gandiva-net gandiva-net
for timers in 0,0 6,12 auto inf; do
	row "dally $timers" dally --timers "$timers"
done
row 'srtf-net auto' srtf-net --timers auto
row 'srtf-net inf' srtf-net --timers inf
