#!/bin/sh
# after_pause.t - clocks of a program's own go on while it is suspended: what ends of one soon after
# that says nothing, so its job is started again, once, and not suspended any more.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=12
export POLLUX_SLOTS
cleanup() { end_jobs; }
holds() { [ "$(store "SELECT count(*) FROM runs WHERE $2")" = "$1" ]; }
is_in() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
ends_of() { store "SELECT text FROM events WHERE job_id = $1 AND kind = 'ended' ORDER BY id"; }
all_at_work() { [ "$(grep -ls '^at work' "$POLLUX_DIR"/logs/*.log | wc -l)" -eq 12 ]; }
said() { like "$1" "$3" "$(ends_of "$2" | head -n 1)"; } # said NAME JOB PATTERN: of its first run
# Else a job with timeout(1) among its processes is not suspended.
submit() { "$POLLUX" submit -q --suspend always -- "$@" >/dev/null; }
command -v python3 >/dev/null || skip_all 'no python3'

# A first run has 15 s by a clock of its own; a later one is done at once.
cat >clocks.py <<'END'
import asyncio, os, signal, subprocess, sys, time
kind = sys.argv[1]
first = not os.path.exists(kind)
open(kind, "w").close()
if kind == "handler":
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(0))
signal.alarm(15 if kind in ("alarm", "handler") else 0)
print("at work", flush=True)
seconds = 100 if first else 0
if kind == "subprocess":
    subprocess.run(["sleep", str(seconds)], timeout=15, check=True)
elif kind == "asyncio":
    asyncio.run(asyncio.wait_for(asyncio.sleep(seconds), 15))
for i in range(1, 41):
    print(f"step {i}/40", flush=True)
    time.sleep(seconds if i == 10 else 0.01)
END
# Each has 15 s by a clock of its own, or looks if 5 s passed at once.
jump='$| = 1; $t = time; print "at work\n"; select(undef, undef, undef, 0.02), $l = $t, $t = time
	until $l && $t > $l + 5;'
submit timeout 15 sh -c 'echo at work; sleep 100'
submit timeout -s KILL 15 sh -c 'echo at work; [ -e killed ] || { >killed; exec sleep 100; }'
submit perl -e "$jump"'print "torch.OutOfMemoryError: CUDA out of memory.\n"; exit 1'
submit perl -e "$jump"
submit perl -e "$jump"'print "step $_/40\n" for 1 .. 40; exit 9'
submit perl -e "exit 7 if -e 'jumped'; open F, '>jumped'; $jump"'exit 9'
for kind in alarm handler subprocess asyncio; do submit python3 clocks.py $kind; done
# Their totals are those of a part.
part='for e in 1 2; do for i in 1 2 3 4 5 6 7 8 9 10; do echo "epoch $e batch $i/10"; done; done'
submit perl -e "exit 0 if -e 'part'; open F, '>part'; $jump" \
	-e 'print "epoch 2 batch $_/10\n" for 1 .. 6'
submit perl -e "$jump; system q($part)"
"$POLLUX" schedule
ok 'twelve programs are at work' wait_for 30 all_at_work
given_run all suspension=asked
ok 'the twelve programs are suspended' wait_for 20 holds 12 "suspension = 'suspended'"
given_job all state=held # no pass gives the devices back
sleep 15.5
given_job all state=running
given_run all suspension=resuming
ok 'the twelve programs go on and end' wait_for 20 holds 12 "state = 'ended' AND number = 1"

after='^ended after a suspension: '
said 'the end by timeout(1) names the pause and a limit that omits it' 1 \
	"${after}exit status 124; it was suspended for 1[0-9] s until .* timeout\\(1\\).*-time-"
said 'the end by a timeout(1) that kills names the pause' 2 \
	"${after}.*it was suspended for 1[0-9] s until .* its end, which timeout"
said 'a failure for want of memory does not name the pause' 3 \
	'^failed: exit status 1: GPU out of memory$'
said 'a program that ends well after the pause, without a total, has completed' 4 '^completed$'
said 'a failure at the total is a failure, and names the pause' 5 \
	'^failed: exit status 9: it was suspended for 1[0-9] s .* which clocks of its own count'
said 'another failure right after the pause names clocks of the program' 6 \
	"${after}exit status 9; it was suspended for 1[0-9] s .* which clocks of its own count"
said 'the end by an alarm names the pause' 7 \
	"${after}killed by SIGALRM; it was suspended for 1[0-9] s .* alarm\\(2\\)"
said 'status 0 far from the total says nothing after a pause' 8 \
	"${after}it ended at 25 % of its total; it was suspended for 1[0-9] s .* clocks of its own"
said 'the timeout of subprocess names the pause' 9 "${after}exit status 1; it was suspended"
said 'the timeout of asyncio names the pause' 10 "${after}exit status 1; it was suspended"
said 'status 0 within a part of an unknown total says nothing after a pause' 11 \
	"${after}it was suspended for 1[0-9] s .* clocks of its own"
said 'status 0 at the end of a part of an unknown total completes' 12 '^completed$'

settles() { "$POLLUX" schedule && [ "$(store "SELECT count(*) FROM jobs
	WHERE state IN ('queued', 'running')")" = 0 ]; }
ok 'all twelve jobs end' wait_for 40 settles
is 'what was started again is done, and a second end is taken as it is' \
	"1:failed:2 2:done:2 3:failed:1 4:done:1 5:failed:1 6:failed:2 $(
	for id in 7 8 9 10 11; do echo "$id:done:2"; done | xargs) 12:done:1" \
	"$(store "SELECT id || ':' || state || ':' || runs FROM jobs ORDER BY id" | xargs)"
is 'the second end of a job names no pause' 'failed: exit status 7' "$(ends_of 6 | tail -n 1)"
is 'a job that is started again so has not failed and was not preempted' '0 0' \
	"$(store "SELECT failures, preemptions FROM jobs WHERE id = 8" | tr '|' ' ')"
run "$POLLUX" status 8
like 'status shows that the job is not suspended any more' '^  suspend +never$' "$out"
like 'an event says why it is started again' \
	' suspend +its end says nothing, .* it is started again, this *once, and jobs of its' \
	"$(echo "$out" | tr -s '\n ' ' ')"
like 'status tells how the first run ended' \
	'^  1 .* ended after a suspension: it ended at 25 % of its total;' "$out"
is 'JSON has the reason for which the first run counts for nothing' \
	'stopped suspension 0' "$("$POLLUX" status --json 8 |
	json 'print join " ", @{$d->{jobs}[0]{details}{runs}[0]}{
		qw(outcome stop_reason exit_code)}')"

# --- what is remembered of the workload ---

run "$POLLUX" submit --hold -- python3 clocks.py handler
like 'submit tells that the workload is not suspended' \
	"is not suspended: 'pollux edit --suspend auto 13'" "$err"
rule_of() { store "SELECT suspend FROM jobs WHERE id = $1"; }
is 'another job of the workload is not suspended' never "$(rule_of 13)"
like 'an event of that job says why' 'a job of its workload ended after a suspension' \
	"$("$POLLUX" status 13 | tr -s '\n ' ' ')"
"$POLLUX" edit --suspend auto 13 >/dev/null
is 'edit takes that back for a job' auto "$(rule_of 13)"
"$POLLUX" submit -q --hold --suspend always -- python3 clocks.py handler >/dev/null
is 'a job that is to be suspended always is' always "$(rule_of 14)"
"$POLLUX" submit -q --hold -- python3 clocks.py other >/dev/null
is 'a job of another workload may be suspended' auto "$(rule_of 15)"
workload=$(store 'SELECT workload FROM jobs WHERE id = 8')
"$POLLUX" forget --times "$workload" >/dev/null
"$POLLUX" submit -q --hold -- python3 clocks.py handler >/dev/null 2>&1
is 'forget of a part of the workload leaves that' never "$(rule_of 16)"
"$POLLUX" forget "$workload" >/dev/null
"$POLLUX" submit -q --hold -- python3 clocks.py handler >/dev/null
is 'forget takes that back for a workload' auto "$(rule_of 17)"
for id in 13 14 15 16 17; do "$POLLUX" cancel $id; done

# --- two jobs that take turns ---

wait_for 20 no_supervisor # the last passes have the settings of before
rm -f handler
export POLLUX_SLOTS=1 POLLUX_SLICE=1 POLLUX_POLICY=las
job=$("$POLLUX" submit -q -- python3 clocks.py handler)
"$POLLUX" schedule
ok 'a job with an alarm is at work' wait_for 30 grep -q '^at work' "$POLLUX_DIR/logs/$job.log"
other=$("$POLLUX" submit -q -- sleep 1000)
third=$("$POLLUX" submit -q --hold -- python3 clocks.py handler)
passes_until() { "$POLLUX" schedule && holds 1 "$1"; }
ok 'the other one has its turn' wait_for 30 passes_until \
	"job_id = $job AND suspension = 'suspended'"
sleep 15.5
"$POLLUX" cancel "$other"
ended() { "$POLLUX" schedule && is_in "$job" 'done'; }
ok 'the job with the alarm is done' wait_for 40 ended
is 'it was done by a second run, which came to the total' '2 40' \
	"$(store "SELECT runs, CAST(steps AS INT) FROM jobs WHERE id = $job" | tr '|' ' ')"
is 'a job of its workload that waits is not suspended any more' never "$(rule_of "$third")"
like 'an event of the waiting job says why' \
	"not suspended any more: job $job of its workload ended after a suspension" \
	"$("$POLLUX" status "$third" | tr -s '\n ' ' ')"
"$POLLUX" cancel "$third"

# --- once ---

wait_for 20 no_supervisor
job=$("$POLLUX" submit -q -- \
	perl -e '$| = 1; $SIG{CONT} = sub { exit 9 }; print "at work\n"; sleep 1 while 1')
pause() { # pause RUN: suspends it for more than a second
	"$POLLUX" schedule
	at_work() { [ "$(grep -cs '^at work' "$POLLUX_DIR/logs/$job.log")" -ge "$1" ]; }
	wait_for 30 at_work "$1" || echo "# run $1 is not at work"
	given_run "$job" if number="$1" suspension=asked
	wait_for 20 holds 1 "job_id = $job AND suspension = 'suspended'" || echo "# not suspended"
	sleep 1.5
	given_run "$job" if number="$1" suspension=resuming
	wait_for 20 holds 1 "job_id = $job AND number = $1 AND state = 'ended'" ||
		echo "# run $1 did not end"
}
for i in 1 2; do pause $i; done
is 'a job is started again for a suspension once' failed:2:1 \
	"$(store "SELECT state || ':' || runs || ':' || failures FROM jobs WHERE id = $job")"
like 'the second end is a failure that names the pause' \
	'^failed: exit status 9: it was suspended for' "$(ends_of "$job" | sed -n 2p)"

# --- ends without a suspension ---

export POLLUX_SLOTS=10
id=$("$POLLUX" submit -q -- timeout 1 sleep 20)
"$POLLUX" schedule
ok 'a program that was not suspended ends' wait_for 20 is_in "$id" failed
is 'a failure of a program that was not suspended names no pause' 'failed: exit status 124' \
	"$(ends_of "$id")"
id=$("$POLLUX" submit -q -- sh -c 'for i in 1 2 3 4 5 6; do echo "step $i/25"; sleep 0.1; done')
"$POLLUX" schedule
ok 'a program that stops early is done' wait_for 20 is_in "$id" 'done'
is 'the event says at which part of its total' 'completed: it ended at 24 % of its total' \
	"$(ends_of "$id")"
like 'status ID says so' '^  reason +completed: it ended at 24 % of its total$' \
	"$("$POLLUX" status "$id")"
id=$("$POLLUX" submit -q -- sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i + 10))
	echo "step $i/1005"; done; sleep 1')
"$POLLUX" schedule
ok 'a program whose log has every tenth step ends' wait_for 20 is_in "$id" 'done'
is 'the last line of such a log may be the end' completed "$(ends_of "$id")"
like 'status says that more steps may be done than the log tells' \
	'^  position +steps at least 1000 of 1005, at least 99.5% done$' "$("$POLLUX" status "$id")"
finish
