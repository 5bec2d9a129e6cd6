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
status 'a link to a file' 0 small --jobs-csv second.csv
is 'stays a link' link.csv "$(readlink second.csv)"
is 'as does the next' far/old.csv "$(readlink link.csv)"
ok 'the file is replaced' cmp far/old.csv want.csv
status 'a link to what is not there yet' 0 small --jobs-csv dangling.csv
is 'stays, too' far/new.csv "$(readlink dangling.csv)"
ok 'and it is made' cmp far/new.csv want.csv
is 'nothing lies beside them' 'new.csv old.csv' "$(cd far && echo *)"
ln -s round.csv round.csv
status 'a link to itself: 73' 73 small --jobs-csv round.csv
is 'in one line' "pollux: cannot write 'round.csv': Too many levels of symbolic links" "$err"

mkfifo pipe
cat pipe >read.csv &
status 'a FIFO' 0 small --jobs-csv pipe
wait $!
result "$([ -p pipe ]; echo $?)" 'stays one'
ok 'and its reader has all' cmp read.csv want.csv
timeline_too() { small --jobs-csv want2.csv --timeline-csv pipe; }
cat pipe >read.csv &
status 'beside a file' 0 timeline_too
wait $!
like 'likewise' '^time,running,' "$(cat read.csv)"

to_own_stdout() { small --jobs-csv standard --json >both; }
ln -s /proc/self/fd/1 standard
status 'where standard output goes' 0 to_own_stdout
is 'both are there, one after the other' "{ $(head -n 1 want.csv)" \
	"$(head -c 1 both) $(sed -n '/^name,/p' both)"
is 'and the link' /proc/self/fd/1 "$(readlink standard)"

if mknod full c 1 7 2>/dev/null && mknod null c 1 3 2>/dev/null; then
	status 'a device that is full: 73' 73 small --jobs-csv full
	is 'says so' "pollux: cannot write 'full': No space left on device" "$err"
	is 'and is a device' 'character special file' "$(stat -c %F full)"
	ln -s null null.svg
	status 'one that takes all' 0 small --jobs-csv null --timeline-csv null
	is 'is a device, too' 'character special file' "$(stat -c %F null)"
	if command -v gnuplot >/dev/null; then
		status 'so does a picture' 0 small --plot null.svg
		is 'behind a link' 'null character special file' \
			"$(readlink null.svg) $(stat -c %F null)"
	fi
else
	echo "ok $((n += 1)) - devices # SKIP none can be made here"
fi
is 'nothing is left behind' '' "$(find . -name '*.??????' ! -name '*.csv')"

# --- before the run ---
late='name,time,application,num_replicas,batch_size\na,0,vision,16,64\n'
# shellcheck disable=SC2059  # escapes of ours
printf "$late" >late.csv
status 'what cannot be written is told before what fails later' 73 simulate -w late.csv -p fifo \
	--jobs-csv no/such.csv
is 'and nothing is printed' '' "$out"
status 'a directory' 73 simulate -w late.csv -p fifo --timeline-csv far
is 'is none to write to' "pollux: cannot write 'far': Is a directory" "$err"
status 'no directory for a picture' 73 simulate -w late.csv -p fifo --plot no/such.svg

# --- no file twice ---
refused() { # refused NAME MESSAGE OPTION...
	name=$1 message=$2
	shift 2
	cp -R "$example/profiles" before
	status "$name: 64" 64 "$POLLUX" simulate --profiles own -w work -w small.csv -n 4 "$@"
	is 'in one line' "pollux: $message; see 'pollux simulate --help'" "$err"
	ok 'nothing is lost' diff -r before own
	ok 'nor there' cmp work/w.csv small.csv
	rm -r before
}
cp -R "$example/profiles" own
mkdir work
cp small.csv work/w.csv
ln -s ../own/vision work/vision
ln work/w.csv hard.csv
refused 'over the workload' "option '--jobs-csv' would overwrite 'small.csv', which is read" \
	--jobs-csv ./small.csv
refused 'over one of a directory' \
	"option '--timeline-csv' would overwrite 'work/w.csv', which is read" \
	--timeline-csv work/w.csv
refused 'by another name' "option '--jobs-csv' would overwrite 'work/w.csv', which is read" \
	--jobs-csv hard.csv
refused 'over profiles' \
	"option '--jobs-csv' would overwrite 'own/vision/placements.csv', which is read" \
	--jobs-csv work/vision/placements.csv
refused 'one file for two' \
	"options '--jobs-csv' and '--timeline-csv' would write to one file, 'work/../x.csv'" \
	--jobs-csv x.csv --timeline-csv work/../x.csv
ln -s x.csv y.csv
refused 'through a link' \
	"options '--jobs-csv' and '--timeline-csv' would write to one file, 'y.csv'" \
	--jobs-csv x.csv --timeline-csv y.csv
refused 'that is there' "options '--timeline-csv' and '--plot' would write to one file, 'p.svg'" \
	--timeline-csv p.svg --plot p.svg

# --- several ---
status 'several workloads by name' 0 simulate -w small.csv -w work -n 4 -p fifo
like 'are all simulated' '^mean ' "$out"
like 'one of them' '^small ' "$out"
like 'and the other' '^w ' "$out"
finish
