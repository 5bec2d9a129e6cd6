#!/bin/bash
# tenants.sh [DRAWS] - jobs with a guarantee beside others, in simulation with execution plans.
#
# Workloads like Rubick's with several tenants are drawn, DRAWS (20) of each form: 406 jobs with
# replacement from resampled-300, over 13.2 hours. Forms: 'none' has no guarantees; 'even' has them
# for half of the jobs; 'narrow' and 'wide' for 90 % of the jobs of less than 8 GPUs, or of others,
# and for one in ten of the rest; in 'bursts' half of the jobs have them, and the submissions are
# around 8 times. A job whose plan was not measured on what it asks for has no guarantee.
#
# Printed are, for each form and policy, in seconds: the mean completion time of all jobs, of those
# with a guarantee and of the others, the 99th percentile, the means to the first start of both, and
# the restarts of a draw; of known lengths, too. Half a minute. The exit status judges nothing.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
data=${POLLUX_RUBICK:-$root/../shared/data/rubick}
draws=${1:-20}

if [ ! -f "$data/resampled-300.csv" ]; then
	echo "# SKIP tenants.sh: no workload in $data (POLLUX_RUBICK says where it is)"
	exit 0
fi
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-tenants.XXXXXX")
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM

draw() { # draw FORM NARROW WIDE BURSTS: chances of a guarantee; submissions around so many times
	mkdir "$made/$1"
	perl - "$data" "$made/$1" "$draws" "$2" "$3" "$4" <<'END'
	my ($data, $to, $draws, $narrow, $wide, $bursts) = @ARGV;
	my (@rows, %measured);
	for my $file (glob "$data/placements/*/placements.csv") {
		my ($application) = $file =~ m{([^/]+)/placements.csv$};
		open my $f, '<', $file or die "$file: $!\n";
		while (<$f>) {
			my ($plan, $placement, $s) = split /,/;
			next unless $placement =~ /^\d+$/ && $s > 0;
			my $gpus = 0;
			$gpus += $_ for split //, $placement;
			$measured{"$application $plan $gpus"} = 1;
		}
	}
	open my $f, '<', "$data/resampled-300.csv" or die "resampled-300.csv: $!\n";
	my $head = <$f>;
	chomp(@rows = <$f>);
	my $span = 13.2 * 3600;
	for my $draw (1 .. $draws) {
		srand $draw;
		my @around = map { rand $span } 1 .. $bursts;
		my @times = sort { $a <=> $b } map {
			my $near = 0;
			$near += rand() - 0.5 for 1 .. 12;
			int($bursts ? abs($around[rand @around] + 600 * $near) : rand $span)
		} 1 .. 406;
		open my $out, '>', "$to/$draw.csv" or die "$to: $!\n";
		print $out $head;
		for my $i (0 .. $#times) {
			my @row = split /,/, $rows[rand @rows];
			my $sure = rand() < ($row[4] < 8 ? $narrow : $wide);
			@row[0, 1] = ("$row[3]-$i", $times[$i]);
			$row[9] = $sure && $measured{"$row[3] $row[7] $row[4]"} ? 1 : 0;
			print $out join(',', @row), "\n";
		}
	}
END
}

tell() { # tell FORM NAME OPTION...: a row of the table
	local form=$1 name=$2
	shift 2
	"$pollux" simulate --plans --profiles "$data/placements" -w "$made/$form" "$@" \
		--jobs-csv "$made/jobs.csv" >/dev/null
	perl - "$form" "$name" "$made/$form" "$made/jobs.csv" "$draws" <<'END'
	my ($form, $name, $workloads, $jobs, $draws) = @ARGV;
	my (%sure, %column, @took, @start, @all, $restarts);
	for my $draw (1 .. $draws) {
		open my $f, '<', "$workloads/$draw.csv" or die "$draw.csv: $!\n";
		while (<$f>) { chomp; my @row = split /,/; $sure{"$draw $row[0]"} = $row[9] }
	}
	open my $f, '<', $jobs or die "$jobs: $!\n";
	chomp(my $head = <$f>);
	@column{split /,/, $head} = 0 .. 99;
	while (<$f>) {
		chomp;
		my %job;
		@job{keys %column} = (split /,/)[values %column];
		my $sure = $sure{"$job{workload} $job{name}"};
		push @all, $job{finish} - $job{submit};
		push @{$took[$sure]}, $all[-1];
		push @{$start[$sure]}, $job{start} - $job{submit};
		$restarts += $job{restarts};
	}
	sub mean { my $sum = 0; $sum += $_ for @_; @_ ? $sum / @_ : 0 }
	printf "%-7s %-14s %6.0f %6.0f %6.0f %6.0f %6.0f %6.0f %8.0f\n", $form, $name,
		mean(@all), mean(@{$took[1]}), mean(@{$took[0]}),
		(sort { $a <=> $b } @all)[0.99 * @all], mean(@{$start[1]}), mean(@{$start[0]}),
		$restarts / $draws;
END
}

draw none 0 0 0
draw even 0.5 0.5 0
draw narrow 0.9 0.1 0
draw wide 0.1 0.9 0
draw bursts 0.5 0.5 8
echo 'form    policy           mean   sure others    p99 starts others restarts'
for form in none even narrow wide bursts; do
	tell "$form" rubick -p rubick
	tell "$form" goodput -p goodput
	tell "$form" 'lengths known' -p goodput -l known
done
