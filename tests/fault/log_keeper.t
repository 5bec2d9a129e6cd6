#!/bin/sh
# log_keeper.t - the process that writes a run's log is killed: nothing printed is lost, and the
# program goes on.
# shellcheck disable=SC2016,SC2046,SC2317 # texts for other shells; pids; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
POLLUX_SLICE=1000
export POLLUX_SLICE

keepers() { # keepers RUN: their pids
	for file in /proc/[0-9]*/cmdline; do
		[ "$(tr '\0' ' ' <"$file" 2>/dev/null)" != "pollux keep-log $1 " ] ||
			grep -qsz "^POLLUX_DIR=$POLLUX_DIR\$" "${file%cmdline}environ" || continue
		[ "$(tr '\0' ' ' <"$file" 2>/dev/null)" = "pollux keep-log $1 " ] || continue
		file=${file#/proc/}
		echo "${file%/cmdline}"
	done
}
has_keeper() { [ -n "$(keepers "$1")" ]; }
has_another() { now=$(keepers "$run") && [ -n "$now" ] && [ "$now" != "$keeper" ]; }
run_of() { query "SELECT max(id) FROM runs WHERE job_id = $1"; }
lines_past() { [ "$(tail -n 1 "$POLLUX_DIR/logs/$job.log" | tr -dc 0-9)" -gt "$1" ]; }
printed() { grep -a '^line [0-9]*$' "$POLLUX_DIR/logs/$job.log"; }
whole() { # whole LAST: each line is there, once, in its place
	seq -f 'line %.0f' 1 "$1" >want
	printed >got
	cmp want got
}

# Prints until it is told to stop; says what its own writes came to.
cat >program <<'END'
$SIG{PIPE} = sub { open(my $f, ">", "broken"); exit 9 };
$SIG{TERM} = $SIG{INT} = sub { $stop = 1 };
$| = 1;
for ($i = 1; !-e "stop" && !$stop; $i++) {
	print "line $i\n" or exit 8;
	select(undef, undef, undef, 0.001) if $i % 20 == 0;
}
open(my $f, ">", "last"); print $f $i - 1; close $f;
END
job=$(submit -- perl program)
pass
ok 'a job prints' wait_for 10 logged "$job" '^line 100$'
run=$(run_of "$job")
is 'one process writes the log of a run' 1 "$(keepers "$run" | wc -l)"
for round in 1 2 3 4 5 6 7 8; do
	keeper=$(keepers "$run")
	kill -9 "$keeper"
	ok "another process takes over the log, round $round" wait_for 10 has_another
done
at=$(printed | wc -l)
more() { [ "$(printed | wc -l)" -gt $((at + 100)) ]; }
ok 'the job still prints' wait_for 10 more
keeper=$(keepers "$run")
kill -TERM "$keeper"
kill -INT "$keeper"
touch stop
ok 'the job that prints ends well' wait_for 20 job_is "$job" "done"
ok 'every line is in the log, once, in order' whole "$(cat last)"
ok 'no write of the program failed' [ ! -e broken ]
no_keeper() { ! has_keeper "$run"; }
ok 'the process that writes the log ends with the run' wait_for 10 no_keeper

# Its supervisor is killed: it goes on; the next supervisor asks the program to stop.
rm -f stop last
job=$(submit -- perl program)
pass
ok 'another job prints' wait_for 10 logged "$job" '^line 100$'
run=$(run_of "$job")
kill_now $(supervisors_alive)
at=$(printed | wc -l)
ok 'the log grows without the supervisor' wait_for 10 more
is 'the same process writes the log without the supervisor' 1 "$(keepers "$run" | wc -l)"
# both are gone: the program waits, or goes on, but lives
kill_now $(keepers "$run")
is 'the program lives without supervisor and log keeper' 1 "$(jobs_alive | wc -l)"
pass
has_last() { [ -s last ]; }
ok 'the next supervisor stops the program' wait_for 20 has_last
touch stop
settle 30 'the job runs again, to its end'
ok 'no write of the first run failed' [ ! -e broken ]
is 'the log has each line once' '' "$(printed | awk '
	$2 == 1 { want = 1 } $2 != want { print "line", $2, "for", want } { want = $2 + 1 }')"
is 'the log has the heads of both runs' 2 "$(grep -c '^# pollux job' "$POLLUX_DIR/logs/$job.log")"
ok 'no file of the output is left in run/' [ -z "$(find "$POLLUX_DIR/run" -name '*.out')" ]

# What another process appends to the log, such as the line of the next run, is not written over.
cat >append <<'END'
use Fcntl ':flock';
open(my $log, ">>", $ARGV[0]) or die;
for (1 .. 30000) {
	flock($log, LOCK_EX);
	syswrite $log, "<$_>";
	flock($log, LOCK_UN);
}
END
rm -f stop last
job=$(submit -- sh -c 'while [ ! -e stop ]; do yes | head -c 2000000; done')
pass
ok 'a job prints fast' wait_for 10 logged "$job" '^y$'
perl append "$POLLUX_DIR/logs/$job.log"
touch stop
ok 'the job that prints fast ends' wait_for 20 job_is "$job" "done"
is 'the log has all that another process appended' \
	30000 "$(grep -ao '<[0-9]*>' "$POLLUX_DIR/logs/$job.log" |
	sort -u | wc -l)"

# A program that is killed at once: what it had printed is there.
rm -f stop last
job=$(submit -- sh -c 'seq -f "line %.0f" 1 5000; kill -9 $$')
pass
ok 'a program that kills itself ends' wait_for 20 job_is "$job" failed
ok 'the log has all that the killed program printed' whole 5000
like 'the log ends with how the program ended' \
	'^\[killed by SIGKILL\]$' "$(tail -n 1 "$POLLUX_DIR/logs/$job.log")"
finish
