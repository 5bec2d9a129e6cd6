#!/bin/sh
# simulate_files.t - what pollux simulate reads from and writes to: links, devices, FIFOs; no file
# twice. The test makes all devices and links itself, so that no file of the system can be replaced.
# shellcheck disable=SC2317  # functions run by status
. "$(dirname "$0")/tap.sh"
unset COLUMNS

example=$ROOT/examples/simulate
simulate() { "$POLLUX" simulate --profiles "$example/profiles" "$@"; }
small() { simulate -w small.csv -n 4 -p fifo "$@"; }
head -n 6 "$example/workloads/workload-1.csv" >small.csv
small --jobs-csv want.csv >table

# --- where outputs lead ---
mkdir far
echo old >far/old.csv
ln -s far/old.csv link.csv
ln -s link.csv second.csv
ln -s far/new.csv dangling.csv
status '--jobs-csv writes through a link to a file' 0 small --jobs-csv second.csv
is 'the link of the output stays a link' link.csv "$(readlink second.csv)"
is 'the link that it leads to stays a link' far/old.csv "$(readlink link.csv)"
ok 'the file behind the links is replaced' cmp far/old.csv want.csv
status '--jobs-csv writes through a link to nothing' 0 small --jobs-csv dangling.csv
is 'the link to nothing stays a link' far/new.csv "$(readlink dangling.csv)"
ok 'the file behind the link to nothing is made' cmp far/new.csv want.csv
is 'no other file lies beside the outputs' 'new.csv old.csv' "$(cd far && echo *)"
ln -s round.csv round.csv
status 'a link to itself cannot be written' 73 small --jobs-csv round.csv
is 'the link to itself is told in one line' \
	"pollux: cannot write 'round.csv': Too many levels of symbolic links" "$err"

mkfifo pipe
cat pipe >read.csv &
status '--jobs-csv writes into a FIFO' 0 small --jobs-csv pipe
wait $!
result "$([ -p pipe ]; echo $?)" 'the FIFO stays a FIFO'
ok 'the reader of the FIFO has all' cmp read.csv want.csv
timeline_too() { small --jobs-csv want2.csv --timeline-csv pipe; }
cat pipe >read.csv &
status '--timeline-csv writes into a FIFO beside a file' 0 timeline_too
wait $!
like 'the reader of the FIFO has the timeline' '^time,running,' "$(cat read.csv)"

to_own_stdout() { small --jobs-csv standard --json >both; }
ln -s /proc/self/fd/1 standard
status '--jobs-csv writes where standard output goes' 0 to_own_stdout
is 'both outputs are on standard output, one after the other' "{ $(head -n 1 want.csv)" \
	"$(head -c 1 both) $(sed -n '/^name,/p' both)"
is 'the link to standard output stays' /proc/self/fd/1 "$(readlink standard)"

if mknod full c 1 7 2>/dev/null && mknod null c 1 3 2>/dev/null; then
	status 'a full device cannot be written' 73 small --jobs-csv full
	is 'the full device is told' "pollux: cannot write 'full': No space left on device" "$err"
	is 'the full device stays a device' 'character special file' "$(stat -c %F full)"
	ln -s null null.svg
	status '--jobs-csv writes into a device that takes all' \
		0 small --jobs-csv null --timeline-csv null
	is 'the device that takes all stays a device' 'character special file' "$(stat -c %F null)"
	if command -v gnuplot >/dev/null; then
		status '--plot writes into a device behind a link' 0 small --plot null.svg
		is 'the link of the picture stays, and its device' 'null character special file' \
			"$(readlink null.svg) $(stat -c %F null)"
	fi
else
	echo "ok $((n += 1)) - devices # SKIP none can be made here"
fi
is 'outputs leave nothing behind' '' "$(find . -name '*.??????' ! -name '*.csv')"

# --- before the run ---
late='name,time,application,num_replicas,batch_size\na,0,vision,16,64\n'
# shellcheck disable=SC2059  # escapes of ours
printf "$late" >late.csv
status 'an output that cannot be written is told before later errors' \
	73 simulate -w late.csv -p fifo \
	--jobs-csv no/such.csv
is 'nothing is printed when an output cannot be written' '' "$out"
status 'a directory is no output' 73 simulate -w late.csv -p fifo --timeline-csv far
is 'the directory is told' "pollux: cannot write 'far': Is a directory" "$err"
status 'a picture in no directory is refused before the run' \
	73 simulate -w late.csv -p fifo --plot no/such.svg

# --- no file twice ---
refused() { # refused NAME MESSAGE OPTION...
	name=$1 message=$2
	shift 2
	cp -R "$example/profiles" before
	status "$name is a usage error" \
		64 "$POLLUX" simulate --profiles own -w work -w small.csv -n 4 "$@"
	is "simulate $* is told in one line" "pollux: $message; see 'pollux simulate --help'" "$err"
	ok "simulate $* loses nothing of the profiles" diff -r before own
	ok "simulate $* loses nothing of the workload" cmp work/w.csv small.csv
	rm -r before
}
cp -R "$example/profiles" own
mkdir work
cp small.csv work/w.csv
ln -s ../own/vision work/vision
ln work/w.csv hard.csv
refused 'an output over the workload' \
	"option '--jobs-csv' would overwrite 'small.csv', which is read" \
	--jobs-csv ./small.csv
refused 'an output over a workload of a directory' \
	"option '--timeline-csv' would overwrite 'work/w.csv', which is read" \
	--timeline-csv work/w.csv
refused 'an output over the workload by another name' \
	"option '--jobs-csv' would overwrite 'work/w.csv', which is read" \
	--jobs-csv hard.csv
refused 'an output over profiles' \
	"option '--jobs-csv' would overwrite 'own/vision/placements.csv', which is read" \
	--jobs-csv work/vision/placements.csv
for table in restart slowdown; do
	echo 'application,seconds,factor' >$table.csv
	echo 'vision,1,1' >>$table.csv
	refused "an output over the table of --$table-table" \
		"option '--jobs-csv' would overwrite '$table.csv', which is read" \
		--$table-table $table.csv --jobs-csv $table.csv
	like "the table of --$table-table is not lost" '^vision,1,1$' "$(cat $table.csv)"
done
refused 'one output for two options' \
	"options '--jobs-csv' and '--timeline-csv' would write to one file, 'work/../x.csv'" \
	--jobs-csv x.csv --timeline-csv work/../x.csv
ln -s x.csv y.csv
refused 'one output through a link' \
	"options '--jobs-csv' and '--timeline-csv' would write to one file, 'y.csv'" \
	--jobs-csv x.csv --timeline-csv y.csv
refused 'one output that is not there yet' \
	"options '--timeline-csv' and '--plot' would write to one file, 'p.svg'" \
	--timeline-csv p.svg --plot p.svg

# --- several ---
status 'several workloads are simulated by name' 0 simulate -w small.csv -w work -n 4 -p fifo
like 'the table has the mean of several workloads' '^mean ' "$out"
like 'the table has the first of several workloads' '^small ' "$out"
like 'the table has the second of several workloads' '^w ' "$out"
finish
