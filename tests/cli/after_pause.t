#!/bin/sh
# after_pause.t - a failure that a suspension may have caused says so: clocks of a program's own go
# on while it is suspended.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=6
export POLLUX_SLOTS
cleanup() { end_jobs; }
holds() { [ "$(store "SELECT count(*) FROM runs WHERE $2")" = "$1" ]; }
reason() { "$POLLUX" status --json "$1" | json 'print $d->{jobs}[0]{reason}'; }
all_at_work() { [ "$(grep -ls '^at work' "$POLLUX_DIR"/logs/*.log | wc -l)" -eq 6 ]; }
said() { like "$1" "$3" "$(reason "$2")"; }
# Else a job with timeout(1) among its processes is not suspended.
submit() { "$POLLUX" submit -q --suspend always -- "$@" >/dev/null; }

# Each has 10 s by a clock of its own, or looks if 5 s passed at once.
jump='$| = 1; $t = time; print "at work\n"; select(undef, undef, undef, 0.02), $l = $t, $t = time
	until $l && $t > $l + 5;'
submit timeout 10 sh -c 'echo at work; sleep 100'
submit timeout -s KILL 10 sh -c 'echo at work; exec sleep 100'
submit perl -e '$| = 1; alarm 10; print "at work\n"; sleep 100'
submit perl -e "$jump"'exit 9'
submit perl -e "$jump"'print "torch.OutOfMemoryError: CUDA out of memory.\n"; exit 1'
submit perl -e "$jump"
"$POLLUX" schedule
ok 'six programs are at work' wait_for 20 all_at_work
given_run all suspension=asked
ok 'the six programs are suspended' wait_for 20 holds 6 "suspension = 'suspended'"
given_job all state=held # no pass gives the devices back
sleep 10.5
given_job all state=running
given_run all suspension=resuming
ok 'the six programs go on and end' wait_for 20 holds 6 "state = 'ended'"

said 'the failure of timeout(1) names the pause and a limit that omits it' 1 \
	'^failed: exit status 124: it was suspended for 1[0-9] s until .* timeout\(1\).*-time-'
like 'status shows that a failed program was suspended' 'exit status 124: it was suspended for' \
	"$("$POLLUX" status --all)"
said 'the failure of a timeout(1) that kills names the pause' 2 \
	'^failed: .*: it was suspended for 1[0-9] s until .* its end, which timeout'
said 'the failure by an alarm names the pause' 3 \
	'^failed: killed by SIGALRM: it was suspended for 1[0-9] s .* alarm\(2\)'
said 'another failure right after the pause names clocks of the program' 4 \
	'^failed: exit status 9: it was suspended for 1[0-9] s .* which clocks of its own count'
said 'a failure for want of memory does not name the pause' 5 \
	'^failed: exit status 1: GPU out of memory$'
said 'a program that ends well after the pause does not name it' 6 '^completed$'

submit timeout 1 sleep 20
"$POLLUX" schedule
ok 'a program that was not suspended ends' wait_for 20 holds 7 "state = 'ended'"
said 'a failure of a program that was not suspended names no pause' 7 '^failed: exit status 124$'
finish
