#!/bin/sh
# adopt.t - a supervisor is killed with SIGKILL while its job is suspended. The next pass starts
# another supervisor, under which the job stays suspended and comes back: no work is lost, and the
# job ends as it would have.
# shellcheck disable=SC2016,SC2317 # texts for other programs; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=1 POLLUX_SLICE=1000

# Counts in two processes, without a checkpoint, and ends with STATUS.
cat >count <<'END'
use strict;
my ($steps, $status) = @ARGV;
$SIG{TERM} = sub { print "was told\n"; exit 0 };
$| = 1;
my $child = fork // die;
my $x = 7;
for my $i (1 .. $steps) {
	for (1 .. 500) { $x = ($x * 1103515245 + 12345) % 2147483648 }
	select undef, undef, undef, 0.02;
	print "step $i/$steps\n" if $child;
}
exit 0 if !$child;
waitpid $child, 0;
print "RESULT $x\n";
exit $status;
END
supervisor_of() { query "SELECT $supervisor_pid FROM runs WHERE id = $1"; }
is_gone() { ! grep -qs '^State:.*[^ZX] (' "/proc/$1/status"; }
holds() { [ "$(query "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
states_of() { # states_of RUN: the letters of its processes, each once
	for pid in $(jobs_alive); do
		grep -qzs "^POLLUX_REPORT_SOCKET=$POLLUX_DIR/run/$1.sock" "/proc/$pid/environ" &&
			sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2>/dev/null
	done | sort -u | tr -d '\n'
}
ticks() { # processor time of all processes of jobs
	for pid in $(jobs_alive); do sed 's/.*) //' "/proc/$pid/stat"; done |
		awk '{ n += $12 + $13 } END { print n + 0 }'
}
suspended() { # suspended COMMAND...: sets $job and $run
	job=$("$POLLUX" submit -q -- "$@")
	pass
	ok 'a job is at work' wait_for 20 logged "$job" '^step 5/'
	run=$(query "SELECT id FROM runs WHERE job_id = $job")
	given_run "run:$run" suspension=asked
	ok 'the job is suspended' wait_for 20 holds "id = $run AND suspension = 'suspended'"
}
kill_supervisor() {
	dead=$(supervisor_of "$run")
	kill -9 "$dead" && wait_for 10 is_gone "$dead"
}
has_another() { [ "$(supervisor_of "$run")" != "$dead" ]; }
# A pass gives the device back by itself: nobody else wants it.
comes_back() { pass && holds "id = $run AND suspension = 'none' AND resumed_boot_s > 0"; }
# The device is another's while the job is to stay suspended.
take_device() { given_job "$job" state=held; }
give_device() { given_job "$job" state=running; }

# --- it stays suspended, and goes on ---

suspended perl count 150 0
steps=$(grep -c '^step' "$POLLUX_DIR/logs/$job.log")
ok 'the supervisor of the suspended job is killed' kill_supervisor
take_device
before=$(ticks)
pass
ok 'a pass starts another supervisor' wait_for 20 has_another
ok 'the event says that another supervisor has the job' \
	wait_for 20 query_is 1 "SELECT count(*) FROM events WHERE job_id = $job
	AND kind = 'adopted'"
is 'the run is still suspended' 'running|suspended|none' "$(query "SELECT state, suspension,
	stop_reason FROM runs WHERE id = $run")"
is 'every process of the run is stopped' T "$(states_of "$run")"
ok 'the stopped processes take no processor time' [ "$(ticks)" -le $((before + 1)) ]
ok 'the second supervisor is killed' kill_supervisor
pass
ok 'a pass starts a third supervisor' wait_for 20 has_another
is 'every process is still stopped under the third supervisor' T "$(states_of "$run")"
give_device
ok 'the job comes back' wait_for 20 comes_back
settle 60 'the job that came back ends'
is 'the job that came back is done' \
	'done 0' "$(query "SELECT state, exit_code FROM jobs WHERE id = $job" | tr '|' ' ')"
is 'the job that came back had one run' \
	"$run completed" "$(query "SELECT id, outcome FROM runs WHERE job_id = $job" |
	tr '|' ' ')"
is 'each step was done once' 150 "$(grep -c '^step' "$POLLUX_DIR/logs/$job.log")"
ok 'some steps were done before the suspension' [ "$steps" -lt 150 ]
is 'the job has the right result' "$(perl count 150 0 | grep RESULT)" \
	"$(grep RESULT "$POLLUX_DIR/logs/$job.log")"
is 'all steps of the job are counted' \
	150 "$(query "SELECT printf('%d', steps) FROM jobs WHERE id = $job")"
is 'the running and the suspended time add up' \
	'0 s are missing, it was suspended: 1' "$(query "SELECT
	printf('%.0f s are missing, it was suspended: %d',
	abs(end_boot_s - launch_boot_s - duration_s - suspended_s), suspended_s > 0)
	FROM runs WHERE id = $run")"
like 'status ID says that the supervisor was killed' \
	'its supervisor was killed; it stays suspended under another' \
	"$("$POLLUX" status "$job")"

# --- it pauses at its rung ---

cat >rungs <<'PERL'
use Socket;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
my $to = sockaddr_un($ENV{POLLUX_REPORT_SOCKET});
$| = 1;
for my $i (1 .. 1000) {
	send($socket, "SAMPLES=" . 10 * $i . "\nMETRIC.quality=$i\n", 0, $to);
	print "step $i/1000\n";
	select undef, undef, undef, 0.02;
	select undef, undef, undef, 0.02 while $i == 20 && !-e "on";
}
PERL
job=$("$POLLUX" submit -q --preempt --array 1-1 --halving quality,rungs=1000 -- perl rungs)
job=$(query 'SELECT max(id) FROM jobs')
pass
ok 'a run of a sweep is at work' wait_for 20 logged "$job" '^step 20/'
run=$(query "SELECT id FROM runs WHERE job_id = $job")
given_run "run:$run" suspension=asked
ok 'the run of the sweep is suspended before its rung' \
	wait_for 20 holds "id = $run AND suspension = 'suspended'"
kill_supervisor
ok 'the run of the sweep comes back under another supervisor' wait_for 20 comes_back
: >on
ok 'the run of the sweep is stopped at its rung' \
	wait_for 60 holds "id = $run AND stop_reason = 'rung'"
is 'the result of the rung has the metric' '1|1000.0|100.0' "$(query "SELECT rung, samples, value
	FROM rung_results WHERE job_id = $job")"
settle 60 'the run of the sweep ends'

# --- how it ends is known ---

suspended perl count 200 3
kill_supervisor
ok 'a job comes back under another supervisor' wait_for 20 comes_back
settle 60 'the job that fails ends'
is 'the exit status of the adopted job is known' \
	'failed 3 exit status 3' "$(query "SELECT j.state || ' ' ||
	j.exit_code || ' ' || 'exit status ' || r.exit_code FROM jobs j JOIN runs r
	ON r.job_id = j.id WHERE j.id = $job")"
suspended perl count 1000 0
kill_supervisor
pass
ok 'another supervisor has the next job' wait_for 20 has_another
kill -9 "$(query "SELECT $leader_pid FROM runs WHERE id = $run")"
settle 60 'the next job ends when its first process is killed'
is 'the signal that killed the adopted job is known' \
	'failed 9' "$(query "SELECT state, term_signal FROM jobs
	WHERE id = $job" | tr '|' ' ')"

# --- a wish that came while it had no supervisor ---

suspended perl count 1000 0
kill_supervisor
"$POLLUX" cancel "$job"
settle 60 'a job that lost its supervisor ends when cancelled'
is 'the job that lost its supervisor is cancelled' \
	cancelled "$(query "SELECT state FROM jobs WHERE id = $job")"
ok 'the program of the cancelled job was told to stop' logged "$job" 'was told'

# --- what may not stay suspended ---

suspended perl count 200 0
kill_supervisor
for pid in $(jobs_alive); do kill -CONT "$pid"; done
pass
ok 'a job that somebody continued is stopped' wait_for 20 holds "id = $run AND state = 'ended'"
is 'the run that somebody continued was stopped as an orphan' \
	'stopped orphan' "$(query "SELECT outcome, stop_reason
	FROM runs WHERE id = $run" | tr '|' ' ')"
settle 60 'the job that somebody continued runs again and ends'
is 'the job that somebody continued is done' \
	'done' "$(query "SELECT state FROM jobs WHERE id = $job")"

# --- a supervisor that dies before it has let go of its device ---

# The command has the lock's descriptor: here it takes the lock as its supervisor would have.
cat >locks <<'END'
$| = 1;
my @files = grep { (readlink($_) // "") =~ /device-/ } glob "/proc/self/fd/*";
my ($fd) = map { m,(\d+)$, } @files;
open(my $lock, "+<&=", $fd) or die;
my $whole = pack "ssx4qqlx4", 1, 0, 0, 0, 0;	# struct flock
for my $i (1 .. 80) {
	print "step $i/80\n";
	select undef, undef, undef, 0.05;
	fcntl $lock, 37, $whole if -e "again";	# F_OFD_SETLK
}
END
suspended perl locks
kill_supervisor
: >again
pid=$(jobs_alive)
has_lock() { cat /proc/"$pid"/fdinfo/* 2>/dev/null | grep -q '^lock:'; }
kill -CONT "$pid"
ok 'the process has the lock of its device again' wait_for 10 has_lock
kill -STOP "$pid"
wait_for 10 grep -q '^State:.T' "/proc/$pid/status"
other=$("$POLLUX" submit -q -- sh -c 'echo step 1/1; sleep 0.3')
take_device
pass
ok 'another supervisor lets go of the device' wait_for 20 has_another
ok 'another job gets the device' wait_for 30 sh -c "'$POLLUX' schedule
	'$POLLUX' wait --timeout 2 $other"
give_device
rm again
settle 60 'both jobs of the device end'
is 'both jobs of the device are done in one run each' \
	'done done 2' "$(query "SELECT group_concat(state, ' ') || ' ' ||
	(SELECT count(*) FROM runs WHERE job_id IN ($job, $other)) FROM jobs
	WHERE id IN ($job, $other)")"

# --- nobody can tell how it ended ---

if LD_PRELOAD=$FAULT/preload_status.so "$POLLUX" --version >version 2>&1; then
	blind() { LD_PRELOAD=$FAULT/preload_status.so "$@"; }
	# A pass of theirs would adopt the run, and see; so would one of the test's own that comes
	# before the blind supervisor has the run.
	others_are_gone() { wait_for 20 no_supervisor; }
	blind_pass() {
		blind pass
		ok 'a blind supervisor has the run' wait_for 20 has_another
	}
	others_are_gone
	suspended perl count 200 3
	kill_supervisor
	blind_pass
	ok 'a job comes back under a supervisor that is not told' wait_for 20 comes_back
	settle 60 'the job whose exit status nobody is told ends'
	is 'a job with all its steps counts as done' \
		'done completed' "$(query "SELECT j.state, outcome
		FROM jobs j JOIN runs r ON r.job_id = j.id WHERE j.id = $job" | tr '|' ' ')"
	like 'status ID says that the exit status is not known' \
		'all its steps are done; its exit status is not known' \
		"$("$POLLUX" status "$job")"
	others_are_gone
	suspended sh -c 'echo step 5/; sleep 4'
	kill_supervisor
	blind_pass
	ok 'a job that prints no total comes back' wait_for 20 comes_back
	settle 60 'the job that prints no total ends'
	is 'a job whose end is not known runs again' 'lost completed' "$(query "SELECT
		group_concat(outcome, ' ') FROM runs WHERE job_id = $job")"
else
	echo "# skipped: cannot preload: $(cat version)"
fi
finish
