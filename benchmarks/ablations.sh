#!/bin/bash
# ablations.sh - the policy goodput without one of its rules at a time, in simulation.
#
# For each rule the scheduling code is copied, the rule is taken out by one sed expression, and the
# copy is built and run on three sets of workloads: one node of 1, 2 and 4 GPUs (desk: busy and
# burst, 60 jobs, three draws, both kinds of batch), the published ones, and made-up ones of 12 and
# 16 nodes of 4 (seeds 0 to 2). Each set with nothing known and with lengths known. Printed:
# geometric means over the workloads of the mean completion time, and of the 99th percentile, as
# quotients to those of the whole policy; and the worst finish-time fairness on the desk. Above 1:
# the rule pays. RULES chooses rules by name. Half an hour. Nothing is judged by the exit status.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
data=${POLLUX_DATA:-$root/../shared/data/pollux-osdi21}
desk=${POLLUX_DESK:-$root/../shared/data/desk}

if [ ! -d "$desk/workloads" ] || [ ! -f "$data/EXPECTED.csv" ]; then
	echo "# SKIP ablations.sh: no workloads in $desk, or none in $data" \
		"(POLLUX_DESK and POLLUX_DATA say where they are)"
	exit 0
fi
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-ablations.XXXXXX")
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$made/tree"
tar -C "$root" --exclude=./build --exclude=./.git -cf - . | tar -C "$made/tree" -xf -
for seed in 0 1 2; do
	"$root/build/pollux" simulate --generate "$made/$seed" --seed "$seed" >"$made/log"
done

run() { # run NAME PROFILES NODES GPUS OPTION...: adds the jobs to $made/NAME.csv
	local name=$1 profiles=$2 nodes=$3 gpus=$4
	shift 4
	"$made/tree/build/pollux" simulate --profiles "$profiles" -n "$nodes" -g "$gpus" \
		-p goodput "$@" --jobs-csv "$made/jobs.csv" >"$made/log" 2>&1 ||
		{ cat "$made/log" >&2; exit 1; }
	sed "s|^|$profiles $nodes $gpus,|" "$made/jobs.csv" >>"$made/$name.csv"
}
desk() { # desk NAME LENGTHS
	local batch gpus file files profiles suffix
	for batch in adapting fixed; do
		profiles=$data/profiles suffix=
		[ "$batch" = adapting ] || profiles=$desk/profiles-fixed suffix=-fixed
		for gpus in 1 2 4; do
			files=()
			for file in "$desk/workloads"/bu*-g"$gpus"-n60-s[012]"$suffix".csv; do
				files+=(-w "$file")
			done
			run "$1" "$profiles" 1 "$gpus" -l "$2" "${files[@]}"
		done
	done
}
published() { # published NAME LENGTHS
	local of
	for of in workloads workloads-0.5 workloads-1.5 workloads-2.0; do
		run "$1" "$data/profiles" 16 4 -l "$2" -w "$data/$of"
	done
}
made_up() { # made_up NAME LENGTHS
	local nodes seed
	for nodes in 12 16; do
		for seed in 0 1 2; do
			run "$1" "$made/$seed/profiles" "$nodes" 4 -l "$2" \
				-w "$made/$seed/workloads"
		done
	done
}

quotients() { # quotients NAME: mean and 99th percentile of $made/NAME.csv over those of the whole
	perl -e '
		my %of;
		for my $file (@ARGV) {
			my %column;
			open my $in, "<", $file or die "$file: $!";
			while (<$in>) {
				chomp;
				my @f = split /,/;
				if ($f[1] eq "name") { @column{@f} = 0 .. $#f; next }
				my $key = "$f[0] $f[$column{workload}]";
				push @{$of{$file}{$key}}, $f[$column{finish}] - $f[$column{submit}];
				my $rho = $f[$column{rho}];
				$worst{$file} = $rho if $rho > ($worst{$file} // 0);
			}
		}
		sub mean { my $s = 0; $s += $_ for @_; $s / @_ }
		sub p99 {
			my @x = sort { $a <=> $b } @_;
			my $at = 0.99 * $#x;
			my $low = int $at;
			$low == $#x ? $x[$low] : $x[$low] + ($at - $low) * ($x[$low + 1] - $x[$low])
		}
		my ($whole, $less) = @ARGV;
		my ($mean, $p99, $n) = (0, 0, 0);
		for my $key (keys %{$of{$whole}}) {
			my ($x, $y) = ($of{$less}{$key}, $of{$whole}{$key});
			$mean += log(mean(@$x) / mean(@$y));
			$p99 += log(p99(@$x) / p99(@$y));
			$n++;
		}
		printf " %6.3f %6.3f", exp($mean / $n), exp($p99 / $n);
		printf " %5.1f", $worst{$less} if $less =~ /desk/;
	' "$made/whole-${1#*-}.csv" "$made/$1.csv"
}
row() { # row NAME: builds the copy, runs all sets
	local lengths set
	make -s -C "$made/tree" -j2 CC="${CC-cc}" build/pollux >"$made/log" 2>&1 ||
		{ cat "$made/log" >&2; exit 1; }
	rm -f "$made"/rule-*.csv
	printf '%-18s' "$1"
	for set in desk published made_up; do
		for lengths in unknown known; do
			[ "$1" != whole ] || "$set" "whole-$set-$lengths" "$lengths"
			[ "$1" = whole ] || "$set" "rule-$set-$lengths" "$lengths"
			if [ "$1" = whole ]; then
				quotients "whole-$set-$lengths"
			else
				quotients "rule-$set-$lengths"
			fi
		done
	done
	echo
}

rule() { # rule NAME FILE EXPRESSION: what is left without the rule
	[[ " ${RULES-$1} " = *" $1 "* ]] || return 0
	cp "$made/tree/$2" "$made/kept"
	sed -i "$3" "$made/tree/$2"
	if cmp -s "$made/tree/$2" "$made/kept"; then
		echo "ablations.sh: the rule $1: nothing to take out in $2" >&2
		exit 1
	fi
	row "$1"
	cp "$made/kept" "$made/tree/$2"
}

printf '%-18s %-21s%-21s%-15s%-15s%-15s%s\n' '' 'desk, nothing known' 'lengths known' published \
	'lengths known' 'made up' 'lengths known'
printf '%-18s %s\n' without "$(printf '  mean   99th  fair ' ; printf '  mean   99th  fair' ;
	printf '%.0s   mean   99th' 1 2 3 4)"
row whole
rule ended-jobs-tell src/sched/lengths.c 's/i < in->n_ended; i++/i < 0; i++/'
rule index-of-lengths src/sched/lengths.c \
	's/^\t\treturn fmax(c->remaining.*;/&\n\tif (left > 0) return fmax(service, 1);/'
rule blend-is-exact src/sched/worth.c \
	's/power = known ? \(elasticity(.*)\) : 0;/power = known \&\& \1 >= 0;/'
rule blend-is-chance src/sched/worth.c 's/power = known ? \(elasticity(.*)\) : 0;/power = \1 < 0;/'
rule square-root src/sched/worth.c \
	's/sqrt(fmin(rate, c->least))/fmin(rate, c->least)/
	s/pow(rate, exponent) - pow(c->least, exponent)/rate - c->least/'
rule inertia src/sched/worth.c 's/\(define RELAUNCH_GAIN\).*/\1 1.0/'
rule waits-for-free src/sched/worth.c \
	's/worth_launched(w, c, r) : 0;/worth_at(w, c, FREE) : 0;/
	s/FREE/launched_rate(c, r, horizon_s(curves, HUGE_VAL, c->restart_s), c->restart_s)/'
rule reconfigures src/sched/worth.c 's/return c->held && c->held <= .*/return horizon < 0 \&\&/'
rule short-horizon src/sched/worth.c 's/\(define HORIZON_SLICES\).*/\1 1.0/'
rule long-first-slice src/sched/curve.c \
	's/fmax(curves->slice_s + c->restart_s, c->slice_s)/c->slice_s/'
rule exponent src/sched/worth.c \
	's/1 - EXPONENT_ELASTIC \* power : EXPONENT_UNKNOWN/0.5 : 0.5/'
rule pilots src/sched/curve.c \
	's/if (are_ordered(of/if (!isnan(of[i]->remaining_device_s) \&\& are_ordered(of/'
rule known-give-way include/pollux/policy.h 's/\(define SCHED_TRUSTED_SPREAD\).*/\1 -1.0/'
rule brief-jobs src/sched/claims.h 's/\(define CLAIMS_BRIEF_PART\).*/\1 0.0/'
rule settles src/sched/curve.c \
	's/return fmax(CURVE_SETTLE_RESTARTS.*/return 0 * (c->relaunch_s + curves->slice_s);/'
rule slices src/sched/curve.c 's/c\.in_slice = c\.held.*/c.in_slice = false;/'
rule bound-on-waiting src/sched/claims.h 's/\(define CLAIMS_LIMIT_ROUNDS\).*/\1 1e9/'
rule beside-stuck-jobs src/sched/claims.c \
	's/if (expected_end_s(curves, c) <= r->start_s)/if (r->spare > -2) return false;\n\t&/'
