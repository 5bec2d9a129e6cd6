#!/bin/sh
# desk.sh - one node of 1, 2 and 4 GPUs in simulation: goodput beside fifo, las, srtf and pollux.
#
# A row for each kind of batch (adapting, fixed), number of GPUs, load and number of jobs (JOBS: 20
# 60 100), over the draws (SEEDS: 0 1 2). The first two columns are las and srtf, in minutes: mean
# / 95th percentile / worst finish-time fairness. fifo, pollux and goodput with nothing known
# follow as quotients to las, goodput with lengths known and with lengths and models known as
# quotients to srtf, which is told the lengths; their worst fairness as it is. Means and
# percentiles are averaged over the draws, the worst fairness is that of all. At the end, each
# goal, and the rows that miss it. OPTIONS are further ones for all simulations (--events:
# decisions also when a job ends, comes or has been measured). About ten minutes. Nothing is judged
# by the exit status.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
data=${POLLUX_DATA:-$root/../shared/data/pollux-osdi21}
desk=${POLLUX_DESK:-$root/../shared/data/desk}

if [ ! -d "$desk/workloads" ] || [ ! -d "$data/profiles" ]; then
	echo "# SKIP desk.sh: no workloads in $desk, or no profiles in $data" \
		"(POLLUX_DESK and POLLUX_DATA say where they are)"
	exit 0
fi
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-desk.XXXXXX")
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM

simulate() { # simulate NAME BATCH GPUS OPTION...: adds the jobs to $made/NAME.csv
	name=$1 batch=$2 gpus=$3 profiles=$data/profiles suffix=
	shift 3
	[ "$batch" = adapting ] || profiles=$desk/profiles-fixed suffix=-fixed
	for load in light busy burst; do
		for jobs in ${JOBS-20 60 100}; do
			for seed in ${SEEDS-0 1 2}; do
				set -- "$@" -w \
					"$desk/workloads/$load-g$gpus-n$jobs-s$seed$suffix.csv"
			done
		done
	done
	# shellcheck disable=SC2086  # words
	"$pollux" simulate --profiles "$profiles" -n 1 -g "$gpus" ${OPTIONS-} "$@" \
		--jobs-csv "$made/jobs.csv" >"$made/log" 2>&1 || { cat "$made/log" >&2; exit 1; }
	cat "$made/jobs.csv" >>"$made/$name.csv"
}

for batch in adapting fixed; do
	for gpus in 1 2 4; do
		for policy in fifo las srtf pollux; do
			simulate "$policy" "$batch" "$gpus" -p "$policy"
		done
		simulate none "$batch" "$gpus" -p goodput
		simulate lengths "$batch" "$gpus" -p goodput -l known
		simulate both "$batch" "$gpus" -p goodput -k shared -l known
	done
done
cd "$made"
exec perl - <<'PERL'
use strict;
use warnings;

my @names = qw(fifo las srtf pollux none lengths both);
my (%jobs, %cell, %rows);

sub quantile {
	my ($q, @x) = @_;
	@x = sort { $a <=> $b } @x;
	my $at = $q * $#x;
	my $low = int $at;
	return $low == $#x ? $x[$low] : $x[$low] + ($at - $low) * ($x[$low + 1] - $x[$low]);
}

for my $name (@names) {
	my %column;
	open my $in, '<', "$name.csv" or die "$name.csv: $!";
	while (<$in>) {
		chomp;
		my @f = split /,/;
		if ($f[0] eq 'name') {
			@column{@f} = 0 .. $#f;
			next;
		}
		push @{$jobs{$name}{$f[$column{workload}]}},
			[$f[$column{finish}] - $f[$column{submit}], $f[$column{rho}]];
	}
}
for my $name (@names) {
	for my $workload (keys %{$jobs{$name}}) {
		my ($load, $gpus, $n, $fixed) = $workload =~ /^(\w+)-g(\d)-n(\d+)-s\d+(-fixed)?$/;
		my $row = sprintf '%s %d %s %d', $fixed ? 'fixed' : 'adapting', $gpus, $load, $n;
		my @all = @{$jobs{$name}{$workload}};
		my $sum = 0;
		$sum += $_->[0] for @all;
		my $c = $cell{$row}{$name} ||= { draws => 0, mean => 0, p95 => 0, worst => 0 };
		$c->{draws}++;
		$c->{mean} += $sum / @all / 60;
		$c->{p95} += quantile(0.95, map { $_->[0] } @all) / 60;
		for (@all) { $c->{worst} = $_->[1] if $_->[1] > $c->{worst} }
	}
}

my %order = (light => 0, busy => 1, burst => 2);
my @order = sort {
	my @a = split / /, $a;
	my @b = split / /, $b;
	$a[0] cmp $b[0] || $a[1] <=> $b[1] || $order{$a[2]} <=> $order{$b[2]} || $a[3] <=> $b[3]
} keys %cell;

sub quotient {
	my ($row, $name, $what, $of) = @_;
	return $cell{$row}{$name}{$what} / $cell{$row}{$of}{$what};
}

printf '%-21s', 'batch GPUs load jobs';
printf ' %16s', $_ for 'las', 'srtf', 'fifo/las', 'pollux/las', 'none/las', 'lengths/srtf',
	'both/srtf';
print "\n";
for my $row (@order) {
	printf '%-21s', $row;
	for my $name ('las', 'srtf') {
		my $c = $cell{$row}{$name};
		printf ' %16s', sprintf '%.0f/%.0f/%.0f', $c->{mean} / $c->{draws},
			$c->{p95} / $c->{draws}, $c->{worst};
	}
	for ([fifo => 'las'], [pollux => 'las'], [none => 'las'], [lengths => 'srtf'],
	     [both => 'srtf']) {
		my ($name, $of) = @$_;
		printf ' %16s', sprintf '%.2f/%.2f/%.0f', quotient($row, $name, 'mean', $of),
			quotient($row, $name, 'p95', $of), $cell{$row}{$name}{worst};
	}
	print "\n";
}

# goal NAME LIMIT VALUE ROWS...: which rows are above the limit, and by how much at most
sub goal {
	my ($name, $limit, $value, @rows) = @_;
	my @missed = grep { $value->($_) > $limit } @rows;
	my ($worst) = sort { $value->($b) <=> $value->($a) } @rows;
	printf "%-58s %6.2f  %2d of %2d rows%s\n", $name, $limit, @rows - @missed, scalar @rows,
		@missed ? sprintf('; missed by up to %.2f: %s', $value->($worst) - $limit, $worst)
			: ': met';
}

my @adapting = grep { /^adapting/ } @order;
my @fixed = grep { /^fixed/ } @order;
my @loaded = grep { / (?:busy|burst) / } @order;
print "\ngoals (rows that meet them)\n";
for my $name ('lengths', 'both') {
	my $told = $name eq 'both' ? 'lengths and models' : 'lengths';
	goal("$told: mean over srtf's, adapting batches", 0.95,
	     sub { quotient($_[0], $name, 'mean', 'srtf') }, @adapting);
	goal("$told: mean over srtf's, fixed batches", 1.02,
	     sub { quotient($_[0], $name, 'mean', 'srtf') }, @fixed);
	goal("$told: 95th percentile over srtf's", 1.05,
	     sub { quotient($_[0], $name, 'p95', 'srtf') }, @order);
	goal("$told: worst fairness", 8, sub { $cell{$_[0]}{$name}{worst} }, @order);
}
goal("nothing known: mean over las's, busy and burst", 0.85,
     sub { quotient($_[0], 'none', 'mean', 'las') }, @loaded);
goal("nothing known: mean over pollux's, busy and burst", 0.85,
     sub { quotient($_[0], 'none', 'mean', 'pollux') }, @loaded);
goal("nothing known: 95th percentile over las's", 1,
     sub { quotient($_[0], 'none', 'p95', 'las') }, @order);
goal('nothing known: worst fairness', 10, sub { $cell{$_[0]}{none}{worst} }, @order);
PERL
