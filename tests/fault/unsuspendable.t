#!/bin/sh
# unsuspendable.t - a job whose processes cannot be stopped is not waited for, nor is a device that
# a stranger holds: both are told, and the job goes on. A suspended job that somebody continues is
# stopped again.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=1 POLLUX_SLICE=1000

helper=''
cleanup() { [ -z "$helper" ] || kill "$helper" 2>/dev/null; kill_all; }
holds() { [ "$(query "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
cat >count <<'END'
$| = 1;
for my $i (1 .. $ARGV[0]) { print "step $i/$ARGV[0]\n"; select undef, undef, undef, 0.02 }
END
start() { # start OPTION...: sets $job and $run
	job=$("$POLLUX" submit -q "$@")
	pass
	ok 'a job is at work' wait_for 20 logged "$job" '^step 5/'
	run=$(query "SELECT id FROM runs WHERE job_id = $job")
}
told() { query "SELECT text FROM events WHERE job_id = $job AND kind = '$1'"; }

# --- somebody continues it again and again ---

start --grace 1s -- perl count 1000
leader=$(query "SELECT $leader_pid FROM runs WHERE id = $run")
# Before all others, where that is allowed: on a busy machine the helper could come too late.
first=$(chrt -f 1 true 2>/dev/null && echo 'chrt -f 1')
# shellcheck disable=SC2016,SC2086 # a text for perl; words
$first perl -e 'while (kill "CONT", $ARGV[0]) { select undef, undef, undef, 0.002 }' "$leader" &
helper=$!
given_run "run:$run" suspension=asked
ok 'a job that does not stop stays running' wait_for 20 holds "id = $run AND suspension IS NULL
	AND state = 'running' AND suspended_boot_s IS NULL"
like 'the event names the process that does not stop' \
	"it cannot be suspended and keeps its devices: process $leader \(perl\) of " \
	"$(told suspend)"
kill $helper
helper=''
is 'the job that does not stop has its device' \
	1 "$(query "SELECT in_use FROM run_devices WHERE run_id = $run")"
wc_of() { wc -l <"$POLLUX_DIR/logs/$job.log"; }
size=$(wc_of)
grown() { [ "$(wc_of)" -gt "$size" ]; }
ok 'the job that does not stop goes on' wait_for 10 grown
settle 60 'the job that does not stop ends'
is 'the job that does not stop is done in one run' \
	'done 1' "$(query "SELECT state, runs FROM jobs WHERE id = $job" |
	tr '|' ' ')"

# --- somebody continues it when it is suspended ---

start -- perl count 400
given_run "run:$run" suspension=asked
ok 'a job is suspended' wait_for 20 holds "id = $run AND suspension = 'suspended'"
leader=$(query "SELECT $leader_pid FROM runs WHERE id = $run")
is_stopped() { grep -q '^State:.T' "/proc/$leader/status"; }
for again in once twice; do
	kill -CONT "$leader"
	ok "the suspended job is stopped again, $again" wait_for 10 is_stopped
done
is 'the event says once that somebody continued it' 1 \
	"$(told suspend | grep -c "^somebody continued process $leader (perl) of")"
is 'the job is still suspended' suspended "$(query "SELECT suspension FROM runs WHERE id = $run")"
settle 60 'the job that somebody continued ends'
is 'the job that somebody continued is done in one run' \
	'done 1' "$(query "SELECT state, runs FROM jobs WHERE id = $job" |
	tr '|' ' ')"

# --- a stranger has its device ---

start -- perl count 400
given_run "run:$run" suspension=asked
ok 'another job is suspended' wait_for 20 holds "id = $run AND suspension = 'suspended'"
perl -e 'open my $lock, "+<", $ARGV[0] or die; my $whole = pack "ssx4qqlx4", 1, 0, 0, 0, 0;
	fcntl $lock, 37, $whole or die; print "has it\n"; $| = 1; sleep 1000' \
	"$POLLUX_DIR/run/device-cpu:0.lock" >stranger &
helper=$!
wait_for 10 grep -q '^lock:' /proc/$helper/fdinfo/3
given_run "run:$run" suspension=resuming
ok "a suspended job does not wait for a stranger's device" wait_for 30 holds \
	"id = $run AND suspension = 'suspended'"
like 'the event says that a process holds the lock' \
	'it cannot come back to cpu:0, whose lock a process holds' "$(told resume)"
pass
is "a pass does not give the stranger's device to the job" \
	suspended "$(query "SELECT suspension FROM runs
	WHERE id = $run")"
if [ "$(nproc)" -ge 2 ]; then
	export POLLUX_SLOTS=2
else
	kill $helper
fi
comes_back() { pass && holds "id = $run AND suspension = 'none' AND resumed_boot_s > 0"; }
ok 'the job comes back to a device' wait_for 20 comes_back
[ "$(nproc)" -lt 2 ] ||
	is 'the job comes back to the other device' \
		cpu:1 "$(query "SELECT device FROM run_devices WHERE run_id = $run")"
settle 60 'the job that met a stranger ends'
is 'the job that met a stranger is done in one run' \
	'done 1' "$(query "SELECT state, runs FROM jobs WHERE id = $job" | tr '|' ' ')"
finish
