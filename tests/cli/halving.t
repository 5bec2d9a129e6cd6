#!/bin/sh
# halving.t - a sweep with rungs: runs are paused with a checkpoint, the best go on, the sweep ends;
# passes and supervisors are killed in between.
# shellcheck disable=SC2016,SC2317  # other shells; functions run by status
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
export POLLUX_SLOTS=2
cleanup() { end_jobs; }
see="; see 'pollux submit --help'"

# --- what is refused --------------------------------------------------------------

run "$POLLUX" submit --halving loss,rungs=10 -- true
is 'submit refuses --halving without a sweep' \
	"64:pollux: option '--halving' needs --param, --params or --array$see" "$rc:$err"
run "$POLLUX" submit --array 0-2 --halving loss -- true
is 'submit refuses --halving without rungs and without an end' \
	"64:pollux: option '--halving': where its end is not declared\
 (--samples, --epochs), it needs rungs=A/B/C$see" "$rc:$err"
run "$POLLUX" submit --array 0-2 --halving loss,rungs=10 --no-preempt -- true
is 'submit refuses --halving with --no-preempt' \
	"64:pollux: option '--halving' stops runs at rungs, which --no-preempt\
 forbids$see" "$rc:$err"

run "$POLLUX" submit --array 0-2 --halving 'val loss,rungs=10' -- true
is 'submit refuses a metric with a space' \
	"64:pollux: option '--halving': 'val loss' is no name of a metric$see" "$rc:$err"

run "$POLLUX" submit --array 0-2 --halving acc,rungs=10 --metric 'acc=([0-9]+)' --dry-run -- true
is 'submit warns that a metric of the log reaches no rung without --batch' \
	"0:pollux: warning: without\
 --batch the samples of a log are not known: no run reaches a rung of --halving, unless the\
 program reports its samples" "$rc:$err"
run "$POLLUX" submit --array 0-2 --halving acc,rungs=10 --metric 'acc=([0-9]+)' -b 8 --dry-run \
	-- true
is 'submit does not warn of a metric of the log with --batch' 0: "$rc:$err"

first_store=$POLLUX_DIR
POLLUX_DIR=$TMP/known
"$POLLUX" submit -q --workload reporter -- sh -c "'$POLLUX' report STEP=1 SAMPLES=8
	'$POLLUX' report STEP=2 SAMPLES=16" >/dev/null
"$POLLUX" schedule
ok 'a program that reports its samples ends' wait_for 20 "$POLLUX" wait --timeout 1 1
run "$POLLUX" submit --array 0-2 --halving acc,rungs=10 --metric 'acc=([0-9]+)' --dry-run \
	--workload reporter -- true
is 'submit does not warn where the program is known to report' 0: "$rc:$err"
ok 'the supervisor of the program that reports ends' wait_for 20 no_supervisor
POLLUX_DIR=$first_store

# --- a sweep of nine, with kills in between -----------------------------------------

# A run says that it starts, goes on from its checkpoint, and reports 10 samples at a time. At each
# of the positions 100, 300 and 900 it waits until its supervisor has recorded the rung there or
# stops it, whatever the machine's speed. Its loss is its number: run 1 is the best.
cat >train.pl <<'END'
use strict; use warnings; use Socket; use Time::HiRes 'sleep';
my ($number, $metric) = @ARGV;
my $file = "$ENV{POLLUX_CHECKPOINT_DIR}/position";
my $at = 0;
if (open(my $in, '<', $file)) { $at = <$in> + 0 }
open(my $starts, '>>', 'starts') or die;
syswrite $starts, "$number $at\n";
sleep 0.01 until -e 'begin';
sub save { open(my $out, '>', "$file.new") or die; print $out "$at\n"; close $out;
	rename "$file.new", $file }
$SIG{TERM} = sub { sleep 0.01 while -e "hold.$number"; save; exit 75 };
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
my $to = sockaddr_un($ENV{POLLUX_REPORT_SOCKET});
sub report { send($socket, shift, 0, $to) }
while ($at < 900) {
	$at += 10;
	report("SAMPLES=$at\nMETRIC.$metric=$number\n");
	# A run that is not to be paused gets through by the file "go".
	if ($metric eq 'loss' && ($at == 100 || $at == 300)) {
		for (1 .. 12000) { last if -e "go.$number"; sleep 0.01 }
	}
	sleep 0.002;
}
END

status 'submit accepts a sweep of nine runs' 0 "$POLLUX" submit --preempt --array 1-9 --halving \
	loss:min,rungs=100/300 --name 'r{index}' -- perl "$TMP/train.pl" '{index}' loss
status 'submit accepts a job after the sweep' 0 \
	"$POLLUX" submit --after group:1 --name after -- true
status 'submit accepts a job after the end of the whole sweep' 0 \
	"$POLLUX" submit --after end:group:1 --name end -- true
is 'the store has the whole --halving' 'loss:min,eta=3,rungs=100/300' \
	"$(store 'SELECT halving FROM job_groups')"

pass() { "$POLLUX" schedule; }
# At most two run at a time: new ones do not take the devices of those on their way to a rung.
ok 'the first pass succeeds' pass
is 'as many runs start as there are devices' 2 \
	"$(store "SELECT count(*) FROM jobs WHERE state = 'running'")"

# A supervisor is killed before its run is at a rung.
has_started() { [ "$(wc -l <starts)" -ge "$1" ]; }
ok 'the first two runs start' wait_for 20 has_started 2
supervisor_of() { store "SELECT $supervisor_pid FROM runs WHERE job_id = $1 AND state <> 'ended'"; }
ok 'the supervisor of run 1 is killed before its rung' kill -9 "$(supervisor_of 1)"

# A pass is killed before it can write.
hold_store
"$POLLUX" schedule >killed.out 2>&1 &
killed=$!
ok 'a pass is at work before it is killed' wait_for 20 has_schedule_lock $killed
kill -9 $killed
wait $killed 2>/dev/null
let_store_go ROLLBACK
: >hold.5 # run 5 takes long to save
: >begin

# A supervisor is killed while its run is being paused.
is_stopping() { pass; [ "$(store "SELECT state FROM runs WHERE job_id = $1")" = stopping ]; }
ok 'run 5 is told to stop at its rung' wait_for 60 is_stopping 5
is 'the rung of run 5 is recorded when it is told to stop' '1 5' \
	"$(store 'SELECT rung, CAST(value AS INTEGER)
	FROM rung_results WHERE job_id = 5' | tr '|' ' ')"
ok 'the supervisor of run 5 is killed' kill -9 "$(supervisor_of 5)"
ok 'a pass succeeds after the supervisor of run 5 was killed' pass
rm hold.5

is_over() { pass; "$POLLUX" wait --timeout 1 group:1; }
ok 'wait returns when the sweep ends' wait_for 120 is_over
is_done() { pass; [ "$(store "SELECT state FROM jobs WHERE id = $1")" = 'done' ]; }
ok 'the job after the sweep runs, though runs are paused' wait_for 60 is_done 10
ok 'the supervisors of the sweep end' wait_for 20 no_supervisor
ok 'and so does the job after its end' wait_for 60 is_done 11

is 'the best run is done' 'done' "$(store 'SELECT state FROM jobs WHERE id = 1')"
is 'no run is lost, and all others are paused' '0 0' "$(store "SELECT sum(state <> 'done' AND NOT
	(state = 'queued' AND rung > passed_rungs)), sum(rung = 0) FROM jobs
	WHERE group_id = 1" | tr '|' ' ')"
is 'each rung is recorded with its value' 0 "$(store "SELECT count(*) FROM rung_results r
	JOIN jobs j ON j.id = r.job_id WHERE r.value <> j.id OR r.samples < CASE r.rung WHEN 1
	THEN 100 ELSE 300 END OR r.samples >= CASE r.rung WHEN 1 THEN 300 ELSE 900 END")"
is 'the best three of nine reach the second rung' '1,2,3' \
	"$(store "SELECT group_concat(job_id) FROM
	(SELECT job_id FROM rung_results WHERE rung = 2 AND value <= 3 ORDER BY job_id)")"
is 'run 1 lost its supervisor and ran again, and run 5 had one run' '1 1' \
	"$(store "SELECT sum(job_id = 1 AND outcome IN ('lost', 'stopped') AND
	stop_reason = 'orphan'), count(DISTINCT CASE WHEN job_id = 5 THEN number END)
	FROM runs" | tr '|' ' ')"
is 'no job has two runs at a time' 0 "$(store "SELECT count(*) FROM runs a JOIN runs b ON
	a.job_id = b.job_id AND a.id < b.id AND a.launch_boot_s IS NOT NULL AND
	b.launch_boot_s < a.end_boot_s")"
is 'further passes do not start a paused run' "$(wc -l <starts)" \
	"$(pass; pass; wait_for 20 no_supervisor; wc -l <starts)"
like 'status says at which rung a run is paused' \
	'reason +paused at rung 1 of 2 \(100 samples\): loss 9 is 9th of 9' "$("$POLLUX" status 9)"
run "$POLLUX" first 9
is 'first refuses a paused run' \
	"1:pollux: job 9 is paused at a rung: 'pollux release 9' lets it go on" "$rc:$err"
run "$POLLUX" requeue 9
is 'requeue refuses a paused run' \
	"1:pollux: job 9 is paused at a rung: 'pollux release 9' lets it go on" "$rc:$err"
like 'status --state paused shows a paused run' '^ *9 +r9 +paused ' \
	"$("$POLLUX" status --state paused 2>&1)"
is 'release takes the paused runs of a group' 8 "$("$POLLUX" release group:1 --dry-run | wc -l)"
like 'status has the parameters of the run' '^  sweep +group:1: index=9$' "$("$POLLUX" status 9)"
like 'status has the rungs of the run' '^  halving +loss:min,eta=3,rungs=100/300$' \
	"$("$POLLUX" status 9)"
is 'the page says paused of the run, and in its group' 2 \
	"$("$POLLUX" page | grep -A1 -E '^<tr>.*</i>9<' | grep -c '<td class="">paused</td>')"
like 'the page says how many runs are paused' '[0-9] waiting, 8 paused, ' "$("$POLLUX" page)"
like 'status shows the ended sweep as one row' \
	'group:1.* ended .*paused at rungs, which is its end' "$("$POLLUX" status)"
like 'results has the rung of each run' '^ *9 +9 +paused +1 ' "$("$POLLUX" results group:1)"
like 'the CSV of results has the rung of each run' '^9,r9,paused,[0-9]+,[^,]*,1,9' \
	"$("$POLLUX" results group:1 --csv)"
is 'the JSON of results has the rung of each run' '9 paused 1' \
	"$("$POLLUX" results group:1 --json | json 'my ($j) =
	grep { $_->{id} == 9 } @{$d->{jobs}}; print "$j->{id} $j->{state} $j->{rung}"')"

# --- released by hand -----------------------------------------------------------------

: >go.9
status 'release lets a paused run go on' 0 "$POLLUX" release 9
ok 'a released run goes to its end, whatever its rank' wait_for 60 is_done 9
is 'a released run resumes from its checkpoint' '9 100' "$(grep '^9 ' starts | tail -n 1)"
is 'the second rung of a released run is recorded' 9 \
	"$(store 'SELECT CAST(value AS INTEGER) FROM rung_results
	WHERE job_id = 9 AND rung = 2')"
status 'cancel takes a paused job' 0 "$POLLUX" cancel 8
is 'the paused job is cancelled' cancelled "$(store 'SELECT state FROM jobs WHERE id = 8')"

# --- a metric that never comes -----------------------------------------------------------

status 'submit accepts two runs that report another metric' 0 "$POLLUX" submit --preempt --array \
	1-2 --halving loss:min,rungs=100 -- perl "$TMP/train.pl" '{index}' other
ok 'the first run without the metric goes to its end' wait_for 60 is_done 12
ok 'the second run without the metric goes to its end' wait_for 60 is_done 13
is 'each job without the metric has one run' '1 1' \
	"$(store 'SELECT group_concat(runs, " ") FROM jobs WHERE id > 11')"
ok 'wait returns for the sweep without the metric' "$POLLUX" wait --timeout 100 group:2

# --- the position of a metric in a log ----------------------------------------------

# A fast run prints everything at once: the metric is that of the steps before it.
"$POLLUX" submit -q --preempt --array 1-1 --halving acc:max,rungs=5000 -b 10 --name fast \
	--metric 'acc=acc=([0-9.]+)' -- perl -e '
		print "step $_/1000\n", $_ % 10 ? "" : "acc=" . $_ / 1000 . "\n" for 1 .. 1000' \
	>/dev/null
"$POLLUX" schedule
fast=$(store "SELECT max(id) FROM jobs")
at_rung() { pass; [ -n "$(store "SELECT 1 FROM rung_results WHERE job_id = $fast")" ]; }
ok 'a fast run reaches its rung' wait_for 30 at_rung
is 'the rung has the metric printed at its position' '5000 0.5' \
	"$(store "SELECT CAST(samples AS INTEGER), value
	FROM rung_results WHERE job_id = $fast" | tr '|' ' ')"
finish
