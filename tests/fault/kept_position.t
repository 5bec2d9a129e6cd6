#!/bin/sh
# kept_position.t - what a job had at its last sign of life counts as lost, to the sample, also if
# its supervisor was killed: what was reported or printed after the last write to the store, and
# what the job did while it had no supervisor.
# shellcheck disable=SC2016,SC2317 # a program of perl; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=1 POLLUX_SLICE=1000
perl -MIO::Socket::UNIX -e 1 2>/dev/null || skip_all 'perl has no IO::Socket::UNIX'

# Reports or prints steps of SAMPLES. "last.JOB.RUN" has the samples of the last one, and of the
# last checkpoint. Ends between two steps when it is told to, unless deaf, and saves nothing then.
cat >steps <<'END'
use strict;
use IO::Socket::UNIX;
my ($how, $samples) = @ARGV;
my ($stop, $rest) = (0, 0);
$SIG{TERM} = sub { $stop = $how ne 'deaf' };
$SIG{USR1} = sub { $rest = 1 };
$SIG{USR2} = sub { $rest = 0 };
$| = 1;
my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM);
my $to = pack_sockaddr_un($ENV{POLLUX_REPORT_SOCKET});
open my $last, '>', "last.$ENV{POLLUX_JOB_ID}.$ENV{POLLUX_RUN}" or die;
$last->autoflush;
for (my $i = 1; !$stop; $i++) {
	select undef, undef, undef, 0.02;
	print "step $i/100000\n" if $how eq 'prints';
	my $n = $i * $samples;
	my $saved = $how eq 'saves' && $i % 20 == 0 ? "CHECKPOINT=x\n" : '';
	send $socket, "STEP=$i\nSAMPLES=$n\n$saved", 0, $to if $how ne 'prints';
	seek $last, 0, 0;
	printf $last "%d %d\n", $n, $how eq 'saves' ? int($i / 20) * 20 * $samples : 0;
	next if !$rest;
	open my $at_rest, '>', "rests.$ENV{POLLUX_JOB_ID}" or die;
	select undef, undef, undef, 0.02 while $rest && !$stop;
}
exit 1;
END
begin() { # begin HOW: sets $job and $run
	job=$("$POLLUX" submit -q -b 7 -- perl steps "$1" 7)
	last=last.$job.1
	pass
	ok "a job that $1 is at work" wait_for 20 query_is 1 \
		"SELECT last_samples > 210 FROM runs WHERE job_id = $job"
	run=$(query "SELECT id FROM runs WHERE job_id = $job")
}
supervisor() { query "SELECT $supervisor_pid FROM runs WHERE id = $run"; }
leader() { query "SELECT $leader_pid FROM runs WHERE id = $run"; }
stored() { query "SELECT printf('%d', last_samples) FROM runs WHERE id = $run"; }
is_gone() { ! grep -qs '^State:.*[^ZX] (' "/proc/$1/status"; }
# A supervisor that sleeps has read what was sent. On a busy machine it may have to wait before it
# can.
sleeps() { grep -qs '^State:.S' "/proc/$1/status"; }
# The program rests after a step, so that the supervisor has heard of it, and the store has not.
rest_ahead() {
	for _ in 1 2 3 4 5; do
		rm -f "rests.$job"
		kill -USR1 "$(leader)"
		wait_for 10 [ -e "rests.$job" ]
		sleep 0.4
		wait_for 10 sleeps "$(supervisor)"
		[ "$(stored)" = "$(cut -d ' ' -f 1 "$last")" ] || return 0
		kill -USR2 "$(leader)"
		sleep 0.3
	done
	return 1
}
kill_supervisor() {
	dead=$(supervisor)
	kill -9 "$dead" && wait_for 10 is_gone "$dead"
}
forget_job() {
	"$POLLUX" cancel "$job" >/dev/null
	pass
}
counts() { # counts NAME: what the run lost is what the program says
	read -r reached saved <"$last"
	is "$1" "$reached $((reached - saved)) $((reached - saved))" "$(query "SELECT
		printf('%d %d %d', r.last_samples, r.lost_samples, j.lost_samples)
		FROM runs r JOIN jobs j ON j.id = r.job_id WHERE r.id = $run")"
	is "$1: no file is left" '' "$(find "$POLLUX_DIR/run" -name "$run.*")"
}

# --- supervisor and job are killed ---

for how in reports saves prints; do
	begin "$how"
	ok "the store is behind the job that $how" rest_ahead
	pid=$(leader)
	ok "the supervisor of the job that $how is killed" kill_supervisor
	kill -9 "$pid"
	wait_for 10 is_gone "$pid"
	pass
	ok "a pass finds the killed job that $how" wait_for 20 run_is "$run" ended
	counts "a job that $how, killed with its supervisor"
	is "steps of the job that $how are counted" "$((reached / 7))" \
		"$(query "SELECT printf('%d', steps) FROM jobs WHERE id = $job")"
	like "status tells what the job that $how lost" "^  lost  *samples $((reached - saved)), " \
		"$("$POLLUX" status "$job")"
	forget_job
done

# --- the job went on without a supervisor ---

for how in reports prints; do
	begin "$how"
	ok "the supervisor alone of the job that $how is killed" kill_supervisor
	sleep 1
	pass
	ok "a pass stops the job that $how alone" wait_for 20 run_is "$run" ended
	counts "a job that $how, alone for a second"
	forget_job
done

# --- supervisors killed one after the other ---

begin deaf
pid=$(leader)
kill_supervisor
first=$dead
given_job "$job" grace_s=60
pass
another() { [ "$(supervisor)" != "$first" ] && run_is "$run" stopping; }
ok 'another supervisor takes over a program that does not answer' wait_for 20 another
ok 'the store is behind the deaf job' rest_ahead
kill_supervisor
kill -9 "$pid"
pass
ok 'a third supervisor ends the run of the deaf job' wait_for 20 run_is "$run" ended
counts 'two supervisors killed'
forget_job

# --- a file that anybody wrote ---

begin reports
file=$POLLUX_DIR/run/$run.position
ok 'the position of a run is in a file' [ -s "$file" ]
is 'nobody else may read the file of the position' 600 "$(stat -c %a "$file")"
ok 'the store is behind the job with the file' rest_ahead
pid=$(leader)
kill_supervisor
known=$(stored)
printf x | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
kill -9 "$pid"
pass
ok 'a run with a torn file ends' wait_for 20 run_is "$run" ended
is 'a torn file of the position is passed over' \
	"$known" "$(query "SELECT printf('%d', lost_samples) FROM jobs
	WHERE id = $job")"
finish
