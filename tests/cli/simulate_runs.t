#!/bin/sh
# simulate_runs.t - pollux simulate: several policies, draws of workloads, and which GPUs jobs had.
# shellcheck disable=SC2016,SC2317  # Perl in quotes; functions run by status
. "$(dirname "$0")/tap.sh"
unset COLUMNS

example=$ROOT/examples/simulate
simulate() { "$POLLUX" simulate --profiles "$example/profiles" "$@"; }
small() { simulate -w small.csv -n 4 "$@"; }
head -n 16 "$example/workloads/workload-1.csv" >small.csv

# --- several policies ---
status 'several policies are named in one option' 0 small -p goodput,fifo,srtf
is 'each policy has its title, and all of them one' '4 3 policies, compared with goodput' \
	"$(printf '%s\n' "$out" | grep -c ' on 4 nodes\|policies') $(printf '%s\n' "$out" |
	grep policies)"
is 'the last table has a line for each policy, the first with the ratio 1' \
	'goodput 1.000 fifo srtf' "$(printf '%s\n' "$out" |
	awk '/^POLICY/ { on = 1; next } on { printf "%s%s", sep, $1; sep = " " }
		on == 1 { printf " %s", $4; on = 2 }')"
means() { printf '%s\n' "$out" |
	json 'print join " ", map { $_->{avg_jct_s} } @{$d->{policies}};'; }
is 'the option given several times is the same' "$(small -p goodput,fifo,srtf --json |
	grep -v 'wall_s\|median"\|p95')" \
	"$(small -p goodput -p fifo,srtf --json | grep -v 'wall_s\|median"\|p95')"
for list in 'goodput, fifo' 'goodput,' ',' 'goodput;fifo' 'fifo,,las'; do
	status "policies are named with commas alone between them, not '$list'" 64 small -p "$list"
	is "and it says so of '$list'" "pollux: option '--policy' takes names with commas alone\
 between them, such as goodput,fifo, not '$list'; see 'pollux simulate --help'" "$err"
done
status 'a seed of which nothing is drawn is refused' 64 small -p fifo --seed 3
is 'and it says what draws by it' "pollux: option '--seed' goes with --draws, --length-spread or\
 --generate; see 'pollux simulate --help'" "$err"
run small -p goodput,fifo,srtf --json
is 'JSON has all policies, in order' 'goodput none fifo none srtf full' \
	"$(printf '%s\n' "$out" | json '
		print join " ", map { "$_->{policy} $_->{knowledge}" } @{$d->{policies}};')"
is 'the figures of each policy are those that it has alone' \
	"$(for p in goodput fifo srtf; do
		small -p $p --json | json 'print $d->{avg_jct_s}'
		echo
	done | tr '\n' ' ' | sed 's/ $//')" "$(means)"
is 'srtf, too, is told what ended jobs of the application tell' 'better worse' "$(
	for lengths in unknown learned known; do
		simulate -w "$example/workloads" -n 4 -p srtf -l $lengths --json |
			json 'print "$d->{avg_jct_s}\n"'
	done | perl -e 'chomp(my @jct = <>);
		print $jct[1] < 0.9 * $jct[0] ? "better" : "same",
			$jct[1] > 1.1 * $jct[2] ? " worse" : " same"')"
is 'ratios are to the first policy' '1 yes yes' "$(printf '%s\n' "$out" | json '
	my ($first, @others) = @{$d->{policies}};
	print $first->{avg_jct_ratio}, map { abs($_->{avg_jct_ratio} -
		$_->{avg_jct_s} / $first->{avg_jct_s}) < 1e-9 ? " yes" : " no" } @others;')"
is 'the ratio of a workload is its own' '1' "$(printf '%s\n' "$out" | json '
	my ($a, $b) = map { $_->{workloads}[0] } @{$d->{policies}};
	print abs($b->{avg_jct_ratio} - $b->{avg_jct_s} / $a->{avg_jct_s}) < 1e-9;')"
run small -p fifo --json
is 'JSON of one policy has neither policies nor ratios' '' "$(printf '%s\n' "$out" | json '
	print grep { exists $d->{$_} } qw(policies avg_jct_ratio ci95 draws);')"
for wrong in 'goodput,best' 'goodput,' ',goodput' 'goodput,,fifo' 'goodput fifo'; do
	status "the policies '$wrong' are a usage error" 64 small -p "$wrong"
done
status 'CSV of several policies is written' 0 small -p fifo,las --jobs-csv jobs.csv \
	--timeline-csv timeline.csv --cdf-csv cdf.csv
is 'the rows of each policy say so' '15 fifo 15 las' \
	"$(awk -F, 'NR > 1 { n[$10]++ } END { print n["fifo"], "fifo", n["las"], "las" }' jobs.csv)"
is 'CSV of a policy is the same beside another one' "$(grep ,fifo, jobs.csv)" \
	"$(small -p fifo --jobs-csv one.csv >table; tail -n +2 one.csv)"

# --- the part of the jobs that took no longer ---
is '--cdf-csv has a heading' 'workload,policy,completion,part,draw' "$(head -n 1 cdf.csv)"
is '--cdf-csv is of the times of --jobs-csv' "$(awk -F, 'NR > 1 { print $10, $4 - $2 }' jobs.csv |
	sort | uniq)" "$(awk -F, 'NR > 1 { print $2, $3 + 0 }' cdf.csv | sort)"
is 'the parts rise with the times to 1, for each policy' 'fifo 1 las 1' "$(perl -F, -ane '
	next if $. == 1;
	print "wrong $_" if $F[1] eq $policy && ($F[2] <= $time || $F[3] <= $part);
	print "$policy $part " if $policy && $F[1] ne $policy;
	($policy, $time, $part) = @F[1, 2, 3];
	END { print "$policy $part" }' cdf.csv)"
heading=name,time,application,num_replicas,batch_size
printf '%s\na,0,vision,1,64\nb,0,vision,1,64\nc,0,vision,1,64\nd,0,vision,4,64\n' \
	"$heading" >alike.csv
status 'jobs that take as long share a row' 0 simulate -w alike.csv -n 1 -p fifo -g 4 \
	--cdf-csv alike-cdf.csv
is 'the row has the part of all of them' '0.75 1' \
	"$(awk -F, 'NR > 1 { printf "%s%s", sep, $4; sep = " " }' alike-cdf.csv)"

# --- draws ---
status 'draws are simulated' 0 small -p fifo,las --draws 8 --jobs-csv drawn.csv
like 'the title says how many draws' '^fifo on 4 nodes of 4 GPUs; 8 draws$' "$out"
like 'the table has the interval beside the mean' '^WORKLOAD +JOBS +MEAN +\+-95% +MEDIAN ' "$out"
like 'the last table has the interval of the ratio' \
	'^POLICY +JOBS +MEAN +\+-95% +RATIO +\+-95% +MEDIAN ' "$out"
is 'each draw has all jobs under each policy' '16 15' \
	"$(awk -F, 'NR > 1 { n[$10 $11]++ } END { for (k in n) { runs++; jobs = n[k] }
		print runs, jobs }' drawn.csv)"
submits() { awk -F, -v policy="$1" -v draw="$2" '$10 == policy && $11 == draw { print $2 }' "$3"; }
is 'a draw is the same under each policy' "$(submits fifo 3 drawn.csv)" "$(submits las 3 drawn.csv)"
result "$([ "$(submits fifo 3 drawn.csv)" != "$(submits fifo 4 drawn.csv)" ]; echo $?)" \
	'draws differ'
is 'jobs keep their order, and the first its time' 'all 8' "$(perl -F, -ane '
	next if $. == 1 || $F[9] ne "fifo";
	if ($F[10] + 0 == $draw) { $wrong .= $_ if $F[1] < $at }
	else { $first++ if $F[1] == 287; $draw = $F[10] + 0 }
	$at = $F[1];
	END { print $wrong || "all", " $first" }' drawn.csv | tr -d '\n')"
small -p fifo --draws 8 --jobs-csv again.csv >table
ok 'the same seed makes the same draws' sh -c 'grep ,fifo, drawn.csv >want.csv
	tail -n +2 again.csv | cmp - want.csv'
small -p fifo --draws 8 --seed 1 --jobs-csv other.csv >table
is 'no draw of another seed is one of this seed' 16 "$(for d in 1 2 3 4 5 6 7 8; do
	submits fifo $d again.csv | tr '\n' ' '; echo; submits fifo $d other.csv | tr '\n' ' '; echo
	done | sort -u | wc -l)"
run small -p fifo,las --draws 8 --json
interval='my ($n, $mean, $squares) = (scalar @x, 0, 0);
	$mean += $_ / $n for @x; $squares += ($_ - $mean) ** 2 for @x;
	my %t = (3 => 4.302652729749464, 8 => 2.364624251592785);
	my $half = $t{$n} * sqrt($squares / ($n - 1) / $n);
	printf "%.4f %.4f %.4f", $mean, $mean - $half, $mean + $half;'
is 'mean and interval are those of the draws, by Student with 7 degrees of freedom' \
	"$(perl -F, -ane '$sum{$F[10] + 0} += ($F[3] - $F[1]) / 15 if $. > 1 && $F[9] eq "las";
		END { @x = values %sum; '"$interval"' }' drawn.csv)" \
	"$(printf '%s\n' "$out" | json 'my $p = $d->{policies}[1];
		printf "%.4f %.4f %.4f", $p->{avg_jct_s}, @{$p->{ci95}{avg_jct_s}};')"
is 'so is an interval with 2 degrees of freedom' \
	"$(small -p las --draws 3 --jobs-csv three.csv >table
		perl -F, -ane '$sum{$F[10]} += ($F[3] - $F[1]) / 15 if $. > 1;
			END { @x = values %sum; '"$interval"' }' three.csv)" \
	"$(small -p las --draws 3 --json |
		json 'printf "%.4f %.4f %.4f", $d->{avg_jct_s}, @{$d->{ci95}{avg_jct_s}};')"
is 'the ratio is compared draw by draw' \
	"$(perl -F, -ane '$sum{$F[9]}{$F[10] + 0} += $F[3] - $F[1] if $. > 1;
		END { @x = map { $sum{las}{$_} / $sum{fifo}{$_} } keys %{$sum{las}};
			'"$interval"' }' drawn.csv)" \
	"$(printf '%s\n' "$out" | json 'my $p = $d->{policies}[1];
		printf "%.4f %.4f %.4f", $p->{avg_jct_ratio}, @{$p->{ci95}{avg_jct_ratio}};')"
is 'JSON says how many draws of which seed' '8 0' \
	"$(printf '%s\n' "$out" |
	json 'my $p = $d->{policies}[0]; print "$p->{draws} $p->{seed}";')"
# The mean of many gaps is that of the workload, and they are exponential: half of them are below
# log(2) of the mean.
perl -e 'print "'$heading'\n"; printf "v%d,%d,vision,1,64\n", $_, 1000 * $_ for 0..400' >even.csv
simulate -w even.csv -n 8 -g 4 -p fifo --draws 10 --jobs-csv even-jobs.csv >table
is 'times between submissions are exponential with the mean of the workload' 'yes yes' \
	"$(perl -F, -ane 'next if $. == 1;
		push @gaps, $F[1] - $at if $F[10] + 0 == $draw;
		($at, $draw) = ($F[1], $F[10] + 0);
		END { $sum += $_, $below += $_ < 1000 * log 2 for @gaps; $n = @gaps;
			print abs($sum / $n / 1000 - 1) < 0.06 ? "yes " : $sum / $n,
				abs($below / $n - 0.5) < 0.03 ? "yes" : $below / $n }' \
			even-jobs.csv)"
mkdir two
cp small.csv two/a.csv
cp small.csv two/b.csv
run simulate -w two -n 4 -p fifo --draws 3 --json
is 'workloads are drawn apart, and the top has their mean' '1 1' "$(printf '%s\n' "$out" | json '
	my ($a, $b) = @{$d->{workloads}};
	print 0 + ($a->{avg_jct_s} != $b->{avg_jct_s}), " ",
		0 + (abs($d->{avg_jct_s} - ($a->{avg_jct_s} + $b->{avg_jct_s}) / 2) < 1e-6);')"
for wrong in 0 1 1001 x; do
	status "--draws $wrong is a usage error" 64 small --draws "$wrong"
done
status '--seed without anything to draw is a usage error' 64 small --seed 3
status '--draws does not go with --generate' 64 "$POLLUX" simulate --generate x --draws 3
status '--draws does not go with --from-store' 64 "$POLLUX" simulate --from-store --draws 3

# --- which GPUs each job has: the file is legal by itself ---
legal() { # legal FILE GPUS_OF_NODE...: what is wrong, or how many rows
	perl -e '
		my ($file, @size) = @ARGV;
		my ($rows, %had, $run);
		open my $f, "<", $file or die;
		my @heading = split /,/, <$f> =~ s/\n//r;
		while (<$f>) {
			chomp;
			my %row;
			@row{@heading} = split /,/, $_, -1;
			my (%has, %owner, $moved);
			%had = () if "$row{policy} $row{draw}" ne $run;
			$run = "$row{policy} $row{draw}";
			for my $job (split /;/, $row{placements}) {
				my ($name, @parts) = split / /, $job;
				die "$name twice" if exists $has{$name};
				$has{$name} = "@parts";
				for (@parts) {
					/^(\d+):(\d+)(?:-(\d+))?$/ or die "form $_";
					for my $gpu ($2 .. $3 // $2) {
						my $other = $owner{$1, $gpu};

						die "no GPU $1:$gpu"
							if $1 > $#size || $gpu >= $size[$1];
						die "$name and $other at $row{time} on $1:$gpu"
							if $other;
						$owner{$1, $gpu} = $name;
					}
				}
			}
			die "$row{time}: not $row{gpus} GPUs" if $row{gpus} != keys %owner;
			die "$row{time}: not $row{running} jobs" if $row{running} != keys %has;
			$moved += exists $had{$_} && $had{$_} ne $has{$_} for keys %has;
			die "$row{time}: $moved moved" if $moved > $row{restarts};
			%had = %has;
			$rows++;
		}
		print $rows ? "legal" : "no rows";' "$@" 2>&1
}
timeline() { rm -f gpus.csv; simulate --timeline-csv gpus.csv "$@" >table; }
for policy in goodput pollux sia optimus tiresias srtf las fifo; do
	timeline -w "$example/workloads" -n 4 -p $policy
	is "$policy: no GPU has two jobs, and jobs move only by restarts" legal \
		"$(legal gpus.csv 4 4 4 4)"
done
timeline -w "$example/workloads" -n 4 -p goodput,las --draws 2
is 'placements of several policies and draws are legal' legal "$(legal gpus.csv 4 4 4 4)"
timeline -w "$example/workloads" -n 1 -g 4
is 'placements on one node are legal' legal "$(legal gpus.csv 4)"
printf '%s\na b;c%%,0,vision,2,64\n' "$heading" >odd.csv
timeline -w odd.csv -n 1 -p fifo
is 'a name is told from what stands around it' 'a%20b%3Bc%25 0:0-1' \
	"$(sed -n 2p gpus.csv | cut -d, -f9)"

# Gaps: jobs of one GPU, of which the second ends first; then one of two GPUs takes what is free.
cat >gaps.csv <<END
$heading,duration_s
a,0,vision,1,64,3000
b,0,vision,1,64,600
c,0,vision,1,64,3000
d,700,vision,2,64,60
END
timeline -w gaps.csv -n 1 -p fifo
is 'GPUs that are not beside each other are listed' 'a 0:0;c 0:2;d 0:1 0:3' \
	"$(grep 'd 0:' gpus.csv | sed -n '1s/.*,//p')"

# --- how long owners say that jobs run at most ---
starts() { # starts TIME_LIMIT: when the last job starts, with this limit, and how long it runs
	cat >limit.csv <<END
$heading,duration_s,time_limit_s
a,0,vision,1,64,30000,
b,10,vision,1,64,30000,
brief,4000,vision,1,64,60,$1
END
	simulate -w limit.csv -n 1 -g 1 --jobs-csv jobs.csv >table
	perl -F, -lane 'print $F[2] < 4700 ? "soon " : "late ", $F[3] - $F[2] if /^brief/' jobs.csv
}
is 'a job that says that it takes less than a slice starts soon' 'soon 90' "$(starts 300)"
is 'one that says nothing waits' 'late 90' "$(starts '')"
is 'so does one that may take more than a slice' 'late 90' "$(starts 601)"
is 'the limit does not end the job' 'soon 90' "$(starts 1)"

# --- lengths that differ ---
perl -e 'print "'$heading',duration_s\n"; printf "v%d,0,vision,1,64,40000\n", $_ for 1..400' \
	>lengths.csv
simulate -w lengths.csv -n 100 -p fifo --length-spread 0.5 --jobs-csv jobs.csv >table
is 'factors of lengths that are told have mean 1 and the deviation of --length-spread' '1 0.5' "$(
	perl -F, -lane 'next if $. == 1; $factor = ($F[3] - $F[2] - 30) / 40000;
		$mean += $factor / 400; $log += log($factor) / 400;
		$squares += log($factor) ** 2 / 400;
		END { $sd = sqrt($squares - $log ** 2);
			print abs($mean - 1) < 0.1 ? 1 : $mean, " ",
				abs($sd - 0.5) < 0.06 ? 0.5 : $sd;
		}' jobs.csv)"

profiles_of_kinds "$example/profiles"
"$POLLUX" simulate --profiles kinds -w small.csv --kinds slow:1x2,fast:2x4 \
	--timeline-csv gpus.csv >table
is 'nodes are numbered through all kinds' legal "$(legal gpus.csv 2 4 4)"
like 'the node of the second kind has its GPUs' ' 2:' "$(cat gpus.csv)"

cat >tiers.csv <<END
application,machine,rack,network
vision,0.9,0.5,0.2
small,1,1,1
END
cat >racks.csv <<END
name,submitted_s,gpus,iterations,time_per_iteration_s,application
one,0,2,20000,1,small
two,0,3,20000,1,vision
wide,10,5,9000,1,vision
late,4000,1,9000,1,small
END
racks() { "$POLLUX" simulate --racks 1 --tiers tiers.csv -w racks.csv -n 2 -g 3 "$@"; }
for policy in dally gandiva-net srtf-net goodput; do
	racks -p $policy --timeline-csv gpus.csv >table
	is "$policy: placements of leases are legal" legal "$(legal gpus.csv 3 3)"
done
like 'a job of two machines has GPUs of both' 'wide 0:[0-9-]+ 1:' "$(cat gpus.csv)"
status 'draws of racks are simulated' 0 racks -p dally,goodput --draws 3 --seed 2 --json
is 'JSON of racks has the seed of the draws' '2 3' \
	"$(printf '%s\n' "$out" |
	json 'my $p = $d->{policies}[1]; print "$p->{seed} $p->{draws}";')"
finish
