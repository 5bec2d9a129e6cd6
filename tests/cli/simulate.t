#!/bin/sh
# simulate.t - pollux simulate: what it prints and writes, on a made-up example; files with errors.
# shellcheck disable=SC2016,SC2317  # Perl; functions run by status
. "$(dirname "$0")/tap.sh"
unset COLUMNS

example=$ROOT/examples/simulate
simulate() { "$POLLUX" simulate --profiles "$example/profiles" "$@"; }

# --- options ---
status 'nothing to simulate is a usage error' 64 "$POLLUX" simulate
is 'the message says what to give' \
	"pollux: give --profiles and --workload, or --from-store, or --generate; see 'pollux \
simulate --help'" "$err"
for wrong in '--policy best' '--knowledge all' '--lengths long' '--nodes 0' '--interval 0' \
	'--interference 1' \
	'--plot x.pdf' '--nodes 10000 --gpus-per-node 1000' 'x'; do
	# shellcheck disable=SC2086  # words
	status "$wrong is a usage error" 64 simulate -w "$example/workloads" $wrong
	is "$wrong is told in one line" 1 "$(printf '%s\n' "$err" | wc -l)"
done

# --- what is printed ---
status 'an example is simulated' 0 simulate -w "$example/workloads" -n 4
is 'a simulation prints nothing on standard error without a terminal' '' "$err"
like 'the title says what was simulated' \
	'^goodput on 4 nodes of 4 GPUs; models: none, lengths: unknown$' \
	"$out"
like 'the table has the result of the workload' '^workload-1 +40 +[0-9]+ +[0-9]+ +[0-9]+ ' "$out"
is 'the table is within 80 columns' '' "$(printf '%s\n' "$out" | grep -E '.{81}')"
for policy in fifo las tiresias; do
	run simulate -w "$example/workloads" -p "$policy"
	is "$policy looks at no models" "$policy on 16 nodes of 4 GPUs" \
		"$(printf '%s\n' "$out" | head -n 1)"
done
run simulate -w "$example/workloads" -p optimus
like 'optimus knows all by default' 'models: full, lengths: known$' "$out"
run simulate -w "$example/workloads" -p optimus -k none -l unknown
like 'optimus knows what --knowledge and --lengths say' 'models: none, lengths: unknown$' "$out"

status 'a simulation with --json succeeds' \
	0 simulate -w "$example/workloads/workload-1.csv" -n 4 -k shared -l known --json
keys='for my $f ($d, @{$d->{workloads}}) {
	for (qw(avg_jct_s median_jct_s p99_jct_s makespan_s restarts gpu_hours rounds wall_s)) {
		print "$_\n" unless defined $f->{$_} && $f->{$_} =~ /^[0-9.e+-]+$/;
	}
	print "fairness\n" unless $f->{finish_time_fairness}{worst} > 0 &&
		exists $f->{finish_time_fairness}{unfair_fraction};
	print "decide\n" unless $f->{decide_s}{median} > 0 &&
		$f->{decide_s}{p95} >= $f->{decide_s}{median};
}
print "name\n" unless $d->{workloads}[0]{name} eq "workload-1" && $d->{workloads}[0]{jobs} == 40;
print "options\n" unless "$d->{policy} $d->{knowledge} $d->{lengths} $d->{nodes}" eq
		"goodput shared known 4" && !$d->{events};'
is 'JSON has every figure, of all and of each workload' '' "$(printf '%s\n' "$out" | json "$keys")"

# --- kinds of GPU ---
profiles_of_kinds "$example/profiles"
kinds() { "$POLLUX" simulate --profiles kinds -w "$example/workloads/workload-1.csv" "$@"; }
mean() { printf '%s\n' "$out" | json 'print $d->{avg_jct_s}'; }
less() { perl -e 'exit !($ARGV[0] < $ARGV[1])' "$1" "$2"; }

for wrong in slow slow:2 slow:2x slow:0x4 :2x4 slow:2x4,slow:1x4 slow:9999x99 a/b:1x4; do
	status "--kinds $wrong is a usage error" 64 kinds --kinds "$wrong"
done
status 'blindness without kinds is a usage error' 64 kinds --kinds-blind
status 'a kind without files is refused with status 66' 66 kinds --kinds slow:2x4,other:1x4
status 'two kinds are simulated' 0 kinds --kinds slow:2x4,fast:1x4
like 'the title names the kinds' \
	'^goodput on 2 nodes of 4 slow, 1 node of 4 fast; models: none' "$out"
run kinds --kinds slow:2x4,fast:1x4 --json
both=$(mean)
is 'JSON has the kinds' 'slow 2 4 fast 1 4 0' "$(printf '%s\n' "$out" | json '
	print "$_->{name} $_->{nodes} $_->{gpus_per_node} " for @{$d->{kinds}};
	print 0 + $d->{gap_median};')"
run kinds --kinds slow:3x4 --json
ok 'faster GPUs in place of a third make jobs shorter' less "$both" "$(mean)"
run kinds --kinds slow:2x4,fast:1x4 --kinds-blind --json
ok 'a policy that knows the kinds makes jobs shorter' less "$both" "$(mean)"
for policy in sia pollux optimus tiresias srtf las fifo; do
	status "$policy is simulated on kinds" 0 kinds --kinds slow:2x4,fast:2x4 -p "$policy"
done
printf 'application,factor\nnothing,2\n' >slower.csv
status 'slowdowns of an unknown application are a data error' \
	65 kinds --kinds slow:2x4 --slowdown-table slower.csv
like 'the application without profiles is named' "slower.csv:2: .*no application 'nothing'" "$err"
{ echo application,factor; for app in kinds/*; do echo "${app##*/},2"; done; } >slower.csv
run kinds --kinds slow:3x4 --json
once=$(mean)
status 'slowdowns of all applications are accepted' \
	0 kinds --kinds slow:3x4 --slowdown-table slower.csv --json
ok 'slowdowns make jobs longer' less "$once" "$(mean)"
{ echo application,seconds; for app in kinds/*; do echo "${app##*/},600"; done; } >restarts.csv
status 'a table of restarts is accepted' \
	0 kinds --kinds slow:3x4 --restart-table restarts.csv --json
ok 'longer restarts make jobs longer' less "$once" "$(mean)"

# Several workloads: means at the top, in the order of their numbers.
mkdir several
for i in 1 2 10; do cp "$example/workloads/workload-1.csv" "several/w-$i.csv"; done
head -n 11 "$example/workloads/workload-1.csv" >several/w-2.csv
status 'a directory of workloads is simulated' 0 simulate -w several -n 4 -p tiresias --json
is 'workloads are in the order of their numbers' 'w-1 w-2 w-10' \
	"$(printf '%s\n' "$out" | json 'print join " ", map { $_->{name} } @{$d->{workloads}};')"
is 'the top of the document has the means' 1 "$(printf '%s\n' "$out" | json '
	my $sum = 0; $sum += $_->{avg_jct_s} / 3 for @{$d->{workloads}};
	print abs($sum - $d->{avg_jct_s}) < 1e-9 * $sum ? 1 : 0;')"
run simulate -w several -n 4 -p tiresias
like 'the last line of the table has the means' '^mean +30 ' "$out"

mkdir long
for i in 1 2 10; do cp several/w-2.csv "long/the-workload-of-november-$i.csv"; done
long() { COLUMNS=80 "$POLLUX" simulate --profiles "$example/profiles" -w long -n 4 -p tiresias; }
status 'workloads of long names are simulated' 0 long
is 'long names on a terminal can be told apart' '..1 ..2 ..10' \
	"$(printf '%s\n' "$out" | grep -o '^\.\.[0-9]*' | tr '\n' ' ' | sed 's/ $//')"
is 'long names on a terminal are within 80 columns' '' "$(printf '%s\n' "$out" | grep -E '.{81}')"
run simulate -w long -n 4 -p tiresias
like 'long names are whole in a pipe' '^the-workload-of-november-10 ' "$out"

# --- a terminal ---
# What a run that is interrupted leaves there: its bar is cleared.
perl -e 'print "name,time,application,num_replicas,batch_size\n";
	printf "v%d,%d,vision,1,64\n", $_, $_ for 1..20000' >endless.csv
terminal() { # terminal TERM: what is on it when the program was interrupted
	script -qec "TERM=$1 timeout -s INT --foreground 2 '$POLLUX' simulate \
		--profiles '$example/profiles' -w endless.csv -n 500" \
		typescript >/dev/null </dev/null
	sed '1d;$d' typescript | tr '\r\033' '\n@'
}
if command -v script >/dev/null; then
	shown=$(terminal xterm)
	like 'a terminal shows a bar' '^ *[0-9]+% \[#* *\] [0-9]+ of 20000 jobs' "$shown"
	is 'an interruption clears the bar' '@[K' \
		"$(printf '%s\n' "$shown" | grep -o '@.K' | tail -n 1)"
	is 'a terminal that can clear no line has no bar' '' "$(terminal dumb)"
else
	echo "ok $((n += 1)) - a bar # SKIP no script(1)"
fi

# --- the same as ever ---
golden() {
	for options in fifo las srtf tiresias optimus 'srtf -l unknown' sia pollux \
		'pollux -k shared' goodput 'goodput -l known' 'goodput -k shared -l known' \
		'goodput -k full -l known' 'goodput --events' 'goodput --events -l known' \
		'goodput -l learned' 'goodput -l learned --length-spread 1 --seed 7' \
		'fifo --length-spread 1 --seed 7' \
		'pollux --interference 0.5 -i 120 --restart-delay 1m'; do
		# shellcheck disable=SC2086  # words
		simulate -w "$example/workloads" -n 4 --json -p $options | json '
			printf "%s: jct %.2f %.2f %.2f, end %.0f, %d restarts, %.3f GPU h, " .
				"rho %.3f, unfair %.3f, %d rounds\n",
				"'"$options"'", $d->{avg_jct_s}, $d->{median_jct_s},
				$d->{p99_jct_s}, $d->{makespan_s}, $d->{restarts}, $d->{gpu_hours},
				$d->{finish_time_fairness}{worst},
				$d->{finish_time_fairness}{unfair_fraction}, $d->{rounds};'
	done
}
golden >golden.txt
[ "${UPDATE-}" != 1 ] || cp golden.txt "$ROOT/tests/reference/simulate.txt"
is 'the figures are those on record (UPDATE=1 records)' \
	"$(cat "$ROOT/tests/reference/simulate.txt")" \
	"$(cat golden.txt)"

# --- files ---
status '--ends-csv is accepted' 0 simulate -w "$example/workloads" -n 4 -l known \
	-k full --ends-csv ends.csv --json
is '--ends-csv has a heading' \
	"name,part,time,from,middle,to,finish,start_from,start,start_to,started,workload,\
policy,draw" \
	"$(head -n 1 ends.csv)"
is '--ends-csv does not change what happens' \
	"$(simulate -w "$example/workloads" -n 4 -l known -k full --json |
	json 'print $d->{avg_jct_s}')" "$(printf '%s\n' "$out" | json 'print $d->{avg_jct_s}')"
is '--ends-csv has each job, in order, and most ends as told' 'all 40 yes' \
	"$(perl -F, -ane 'next if $. == 1;
		$of{$F[0]}++; $first += $F[1] == 0;
		$wrong .= $_ unless $F[2] <= $F[3] && $F[3] <= $F[4] && $F[4] <= $F[5] &&
			$F[2] <= $F[6] && $F[1] >= 0 && $F[1] < 1;
		$held += $F[6] >= $F[3] && $F[6] <= $F[5];
		END { print $wrong || "all", " ", $first == keys %of ? $first : "few", " ",
			$held > 0.6 * ($. - 1) ? "yes" : $held / ($. - 1) }' ends.csv)"
status '--jobs-csv and --timeline-csv are accepted' \
	0 simulate -w "$example/workloads" -n 4 --jobs-csv jobs.csv \
	--timeline-csv timeline.csv
is '--jobs-csv has a heading' \
	'name,submit,start,finish,restarts,workload,application,gpu_hours,rho,policy,draw' \
	"$(head -n 1 jobs.csv)"
is '--jobs-csv has a row for each job' 40 \
	"$(tail -n +2 jobs.csv | grep -Ec '^[a-z]+-[0-9]+(,[0-9]+){2},[0-9.]+,[0-9]+,workload-1,'\
'[a-z]+(,[0-9.]+){2},goodput,$')"
is '--jobs-csv has the application of each job' '' \
	"$(perl -F, -ane 'next if $. == 1; print unless $F[0] =~ /^\Q$F[6]\E-/' jobs.csv)"
is '--timeline-csv has a heading' \
	'time,running,waiting,gpus,restarts,workload,policy,draw,placements' \
	"$(head -n 1 timeline.csv)"
run simulate -w "$example/workloads" -n 4 --json
is '--timeline-csv has a row for each decision' \
	"$(printf '%s\n' "$out" | json 'print $d->{rounds};')" \
	"$(tail -n +2 timeline.csv | wc -l)"
is 'the times of --jobs-csv add up to the mean' \
	"$(printf '%s\n' "$out" | json 'printf "%.3f", $d->{avg_jct_s};')" \
	"$(perl -F, -ane 'next if $. == 1; $s += $F[3] - $F[1];
		END { printf "%.3f", $s / ($. - 1) }' jobs.csv)"
is 'the GPU hours of --jobs-csv add up to all' \
	"$(printf '%s\n' "$out" | json 'printf "%.6f", $d->{gpu_hours};')" \
	"$(perl -F, -ane 'next if $. == 1; $s += $F[7]; END { printf "%.6f", $s }' jobs.csv)"
is 'the largest rho of --jobs-csv is the worst' \
	"$(printf '%s\n' "$out" | json 'printf "%.9f", $d->{finish_time_fairness}{worst};')" \
	"$(perl -F, -ane 'next if $. == 1; $w = $F[8] if $F[8] > $w; END { printf "%.9f", $w }' \
		jobs.csv)"
is 'GPU hours are no more than those of the decisions' 1 "$(perl -F, -ane '
	next if $. == 1; $s += $gpus * ($F[0] - $at); ($at, $gpus) = @F[0, 3];
	END { $s /= 3600; print $s >= '"$(printf '%s\n' "$out" |
		json 'print $d->{gpu_hours};')"' ? 1 : 0 }' timeline.csv)"
status 'a file in no directory cannot be created' 73 simulate -w "$example/workloads" \
	--jobs-csv no/such.csv
is 'the file that cannot be created is told in one line' \
	"pollux: cannot write 'no/such.csv': No such file or directory" "$err"
mkdir dir.csv
status 'a directory in place of a file cannot be written' \
	73 simulate -w "$example/workloads" --jobs-csv dir.csv
is 'a directory in place of a file gets no file beside it' dir.csv "$(echo dir.csv*)"
if command -v gnuplot >/dev/null; then
	status '--plot draws a picture' 0 simulate -w several -n 4 --plot picture.svg
	is '--plot says nothing' '' "$err"
	like 'the picture is complete' '^</svg>$' "$(cat picture.svg)"
	like 'the picture has every workload' 'w-10' "$(cat picture.svg)"
	status '--plot draws a PNG' 0 simulate -w several -n 4 --plot picture.png
	status '--plot draws several policies' 0 simulate -w "$example/workloads" -p fifo -p las \
		--plot both.svg
	like 'the picture has a curve for each policy' '(>|CDATA\[)las(<|\])' "$(cat both.svg)"
	like 'each policy has its table beside a picture' '^las on 16 nodes of 4 GPUs$' "$out"
fi

is 'an unknown second policy is found before anything is printed' '' \
	"$(simulate -w "$example/workloads" -p fifo -p best 2>/dev/null)"

# --- errors of files ---
heading=name,time,application,num_replicas,batch_size
bad() { # bad NAME MESSAGE TEXT
	# shellcheck disable=SC2059  # escapes of ours
	printf "$3" >bad.csv
	status "$1 is a data error" 65 simulate -w bad.csv
	is "$1: the message says where and what" "pollux: bad.csv:$2" "$err"
	is "$1: nothing is printed" '' "$out"
}
bad 'an empty file' '1: an empty file; it should begin with a heading' ''
bad 'a heading alone' '1: no rows below the heading' "$heading\n"
bad 'a file without a heading' "1: no column 'name' in the heading" 'a,0,vision,1,64\n'
bad 'a missing column' "1: no column 'batch_size' in the heading" \
	'name,time,application,num_replicas\na,0,vision,1\n'
bad 'a repeated column' "1: two columns 'time'" "$heading,time\na,0,vision,1,64,0\n"
bad 'a short row' '3: 4 cells below a heading of 5' "$heading\na,0,vision,1,64\nb,0,vision,1\n"
bad 'a row of one cell' '2: 1 cell below a heading of 5' "$heading\na\n"
bad 'a blank line' '3: a blank line' "$heading\na,0,vision,1,64\n\nb,0,vision,1,64\n"
bad 'a quoted cell' '2: quotes are not understood' "$heading\n\"a\",0,vision,1,64\n"
printf '%s\na,0,vision,1,64\n\n\r\n' "$heading" >blank.csv
status 'blank lines at the end are accepted' 0 simulate -w blank.csv
bad 'a heading with blank lines alone' '1: no rows below the heading' "$heading\n\n"
bad 'a heading with a blank after its commas' \
	"1: a blank beside the column 'time'; write no blanks around commas" \
	'name, time, application, num_replicas, batch_size\na,0,vision,1,64\n'
bad 'a heading with a blank at its end' \
	"1: a blank beside the column 'batch_size'; write no blanks around commas" \
	"$heading \na,0,vision,1,64\n"
bad 'a row with a blank after its commas' \
	"2: a blank beside the time ' 0'; write no blanks around commas" \
	"$heading\na, 0, vision, 1, 64\n"
bad 'a row with a blank before a comma' \
	"2: a blank beside the name 'a '; write no blanks around commas" \
	"$heading\na ,0,vision,1,64\n"
bad 'a row with a tab beside a cell' \
	"2: a blank beside the application '\\tvision'; write no blanks around commas" \
	"$heading\na,0,\tvision,1,64\n"
for by in ";:';'" '\t:tabs' "|:'|'" ' :blanks'; do
	cut=${by%%:*}
	bad "a file separated by ${by#*:}" \
		"1: columns are separated by ${by#*:}; separate them by commas" \
		"$(printf '%s\\na,0,vision,1,64\\n' "$heading" | sed "s/,/$cut/g")"
done
bad 'a heading separated by semicolons and blanks' \
	"1: columns are separated by ';'; separate them by commas" \
	'name; time; application; num_replicas; batch_size\na; 0; vision; 1; 64\n'
bad 'a row separated by semicolons' "3: columns are separated by ';'; separate them by commas" \
	"$heading\na,0,vision,1,64\nb;0;vision;1;64\n"
bad 'a heading in capitals' "1: write the column 'Name' as 'name'" \
	'Name,Time,Application,num_replicas,batch_size\na,0,vision,1,64\n'
bad 'a file whose lines end in CR' '1: a CR within a line; lines must end in LF or CR LF' \
	"$heading\ra,0,vision,1,64\r"
bad 'a file in UTF-16' '1: the file is in UTF-16; save it as UTF-8' '\377\376n\0a\0m\0e\0'
bad 'a blank in a column that is not read, beside a blank that matters' \
	"2: a blank beside the time '0 '; write no blanks around commas" \
	"$heading, note\na,0 ,vision,1,64, x\n"
bad 'a blank before a column that may be left out' \
	"1: a blank beside the column 'duration_s'; write no blanks around commas" \
	"$heading, duration_s\na,0,vision,1,64,9\n"
bad 'a column in capitals that may be left out' "1: write the column 'Duration_s' as 'duration_s'" \
	"$heading,Duration_s\na,0,vision,1,64,9\n"
printf '%s, note\na,0,vision,1,64, x y \n' "$heading" >note.csv
status 'blanks in a column that is not read are accepted' 0 simulate -w note.csv
bad 'an unknown application' "2: no profiles of the application 'visoin'" \
	"$heading\na,0,visoin,1,64\n"
bad 'a time that is NaN' "2: time 'nan' is not a number" "$heading\na,nan,vision,1,64\n"
bad 'an infinite time' "2: time 'inf' is not a number" "$heading\na,inf,vision,1,64\n"
bad 'a negative time' "2: time '-1' is not from 0 to 1000000000000" "$heading\na,-1,vision,1,64\n"
bad 'a row before its time' '3: time 4 is before that of the row above, 5' \
	"$heading\na,5,vision,1,64\nb,4,vision,1,64\n"
bad 'a job of no GPU' "2: num_replicas '0' is not from 1 to 1000000" "$heading\na,0,vision,0,64\n"
bad 'a job of half a GPU' \
	"2: num_replicas '0.5' is not a whole number" "$heading\na,0,vision,0.5,64\n"
bad 'a batch size out of range' \
	"2: batch_size 63 of 'vision', which was validated from 64 to 2048" \
	"$heading\na,0,vision,1,63\n"
bad 'a repeated name' "3: a second job 'a'; the first is on line 2" \
	"$heading\na,0,vision,1,64\na,0,vision,1,64\n"
bad 'a file that is no text' '1: a zero byte: this is not text' 'name,\0\n'
bad 'a terminal sequence' "2: no profiles of the application '\\033[1mx'" \
	"$heading\na,0,\033[1mx,1,64\n"

printf '%s\r\na,0,vision,1,64,x\r\n' "$heading,note" >crlf.csv
status 'CR LF and further columns are accepted' 0 simulate -w crlf.csv
printf '\357\273\277%s\nvision,64,1,0,a' application,batch_size,num_replicas,time,name >odd.csv
status 'another order, a byte order mark and a missing newline are accepted' 0 simulate -w odd.csv
status 'a workload file that is not there is refused with status 66' 66 simulate -w none.csv
status 'a directory without workloads is refused with status 66' 66 simulate -w "$TMP/dir.csv"
status 'a directory without profiles is refused with status 66' \
	66 "$POLLUX" simulate --profiles "$TMP" -w crlf.csv

cp -R "$example/profiles" odd
mkdir odd/speech odd/.speech
printf '%s\na,0,speech,1,64\n' "$heading" >speech.csv
status 'an application without placements is a data error' \
	65 "$POLLUX" simulate --profiles odd -w speech.csv
is 'an application without placements is told from an unknown one' \
	"pollux: speech.csv:2: no profiles of the application 'speech': 'odd/speech' has no \
placements.csv" "$err"
for file in validation-064.csv validation-.csv validation-x.csv validation--64.csv \
	validation-64.5.csv; do
	cp odd/vision/validation-64.csv "odd/vision/$file"
	status "$file among profiles is a data error" \
		65 "$POLLUX" simulate --profiles odd -w odd.csv
	is "$file among profiles is told" \
		"pollux: 'odd/vision/$file': its name is not 'validation-B.csv' of a batch size B" \
		"$err"
	rm "odd/vision/$file"
done
cp odd/vision/validation-64.csv odd/vision/validation-64.csv.orig
status 'what does not end in .csv is not looked at' 0 "$POLLUX" simulate --profiles odd -w odd.csv

# --- pipes ---
from_pipe() { tail -n +1 odd.csv | simulate -w pipe --json; }
ln -s /proc/self/fd/0 pipe
status 'a workload is read from a pipe' 0 from_pipe
is 'a workload from a pipe has its job' 'pipe 1' \
	"$(printf '%s\n' "$out" |
	json 'print "$d->{workloads}[0]{name} $d->{workloads}[0]{jobs}";')"
perl -e 'print "'$heading'\n"; printf "%s-%d,%d,vision,1,64\n", "x" x 90, $_, $_ for 1..1000' \
	>long.csv
mkfifo fifo
cat long.csv >fifo &
status 'a long workload is read from a FIFO' 0 simulate -w fifo -p fifo --json
wait $!
is 'a long workload from a FIFO has all jobs' \
	1000 "$(printf '%s\n' "$out" | json 'print $d->{workloads}[0]{jobs};')"
status 'a directory of profiles is no workload' 66 simulate -w "$example/profiles"

printf '%s\na,0,vision,100,64\n' "$heading" >wide.csv
status 'a job of more GPUs than there are is refused' 69 simulate -w wide.csv -p fifo
is 'the job of too many GPUs is named' \
	"pollux: job 'a' of 'wide' asks for 100 GPUs; there are 64" "$err"
status 'a policy that chooses the GPUs runs that job' 0 simulate -w wide.csv
printf '%s\na,0,vision,16,64\n' "$heading" >thin.csv
status 'a job outside of the profiles is a data error' 65 simulate -w thin.csv -p fifo
is 'the message says what the profiles do not cover' \
	"pollux: job 'a': the profiles of 'vision' do not cover a local batch of 4 on 4 nodes with \
16 GPUs, placement 4444: '$example/profiles/vision/placements.csv'" "$err"

# --- made up ---
status '--generate makes workloads' 0 "$POLLUX" simulate --generate made --jobs 25 --workloads 2 \
	--span 1h --seed 3
is '--generate makes two workloads' 'made/workloads/workload-1.csv made/workloads/workload-2.csv' \
	"$(echo made/workloads/*)"
is '--generate makes 25 jobs in each workload' 52 "$(cat made/workloads/* | wc -l)"
status 'made-up workloads can be simulated' \
	0 "$POLLUX" simulate --profiles made/profiles -w made/workloads -p pollux
status '--generate makes workloads of the same seed' \
	0 "$POLLUX" simulate --generate again --jobs 25 --workloads 2 \
	--span 1h --seed 3
ok 'the same seed makes the same workloads' diff -r made again
status '--generate makes workloads of another seed' \
	0 "$POLLUX" simulate --generate other --jobs 25 --workloads 2 --span 1h --seed 4
result "$(! cmp -s made/workloads/workload-1.csv other/workloads/workload-1.csv; echo $?)" \
	'another seed makes other workloads'
status '--generate does not overwrite' 73 "$POLLUX" simulate --generate made
is 'the directory that is there is told' "pollux: cannot create 'made': File exists" "$err"
status '--generate makes no directory within none' 73 "$POLLUX" simulate --generate no/such
made() { "$POLLUX" simulate --generate lines --jobs 1; }
status '--generate makes a single job' 0 made
is '--generate says what it made' 'lines/profiles: 3 applications, on nodes of up to 4 GPUs
lines/workloads: 1 workload of 1 job' "$out"
status '--generate makes profiles of nodes of 8 GPUs' \
	0 "$POLLUX" simulate --generate eight -g 8 --jobs 25
like '--generate says that nodes have 8 GPUs' \
	'^eight/profiles: 3 applications, on nodes of up to 8 GPUs$' "$out"
for policy in goodput pollux sia optimus fifo; do
	status "$policy is simulated on made-up nodes of 8 GPUs" \
		0 "$POLLUX" simulate --profiles eight/profiles \
		-w eight/workloads -n 4 -g 8 -p "$policy" -k full
done
status 'made-up profiles of 8 GPUs cover nodes of 3' \
	0 "$POLLUX" simulate --profiles eight/profiles -w eight/workloads -n 20 -g 3
status 'nodes that profiles do not cover are a data error' \
	65 "$POLLUX" simulate --profiles made/profiles \
	-w eight/workloads -g 8
like 'nodes that profiles do not cover are told before the run' \
	"^pollux: nodes of 8 GPUs: of one node, 'made/profiles/[a-z]+/placements.csv' covers 4$" \
	"$err"
status '--generate refuses nodes of 10 GPUs' 64 "$POLLUX" simulate --generate ten -g 10
is 'the message says that nodes have 9 GPUs at most' \
	"pollux: option '--gpus-per-node': made-up profiles have a digit for the GPUs of a node, \
so 9 at most; see 'pollux simulate --help'" "$err"
# In the background, as the test stops it.
"$POLLUX" simulate --generate ended --workloads 10000 --jobs 10000 >/dev/null &
pid=$!
ok 'a long --generate begins' wait_for 10 sh -c '[ -e ended.*/workloads/workload-3.csv ]'
kill -TERM $pid
rc=0
wait $pid || rc=$?
is 'SIGTERM ends --generate' 143 "$rc"
is 'an ended --generate leaves nothing' 'ended*' "$(echo ended*)"

# --- options that would do nothing ---
nothing() { # nothing MESSAGE OPTION...
	message=$1
	shift
	status "simulate $* is a usage error" 64 "$POLLUX" simulate "$@"
	is "simulate $* names the option" \
		"pollux: option '$message; see 'pollux simulate --help'" "$err"
	ok "simulate $* makes nothing" test ! -e x
}
for option in seed jobs span workloads; do
	with=generate
	[ "$option" != seed ] || with='draws, --length-spread or --generate'
	nothing "--$option' goes with --$with" --profiles "$example/profiles" -w odd.csv \
		"--$option" 3
	nothing "--$option' does not go with --from-store" --from-store "--$option" 3
done
nothing "--seed' goes with --draws" --racks 1 -w odd.csv --seed 3
nothing "--seed' goes with --draws" --plans --profiles "$example/profiles" -w odd.csv --seed 3
for option in nodes interval restart-delay slice profiles workload policy jobs-csv devices \
	knowledge=full lengths=known plot=3.svg; do
	case $option in *=*) ;; *) option=$option=3 ;; esac
	nothing "--${option%=*}' does not go with --generate" --generate x "--$option"
done
nothing "--json' does not go with --generate" --generate x --json
nothing "--jobs-csv' does not go with --from-store" --from-store --jobs-csv x
nothing "--generate' does not go with --from-store" --generate x --from-store
nothing "--devices' goes with --from-store" --profiles "$example/profiles" -w odd.csv --devices 3
finish
