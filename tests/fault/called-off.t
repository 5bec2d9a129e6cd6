#!/bin/sh
# A run that waits for its devices is called off, and the next pass comes before
# its supervisor has done so. (That pass failed: "UNIQUE constraint failed".)
. "$(dirname "$0")/../cli/tap.sh"

query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
# shellcheck disable=SC2317  # wait_for calls it
ended() { [ "$(query "SELECT state FROM runs WHERE id = 1")" = ended ]; }

boot=$(cat /proc/sys/kernel/random/boot_id)
"$POLLUX" submit -q -- true >/dev/null
past_run 1 state=assigned boot_id="$boot" stop_reason=preempt
had_device "$run" cpu:0 'a core' binding=0
given_job 1 state=running

status 'a pass beside a run that is called off succeeds' 0 "$POLLUX" schedule
is 'the pass says nothing' '' "$err"
ok 'the run is called off' wait_for 10 ended
"$POLLUX" schedule
status 'the job of that run is done' 0 "$POLLUX" wait 1
is 'the second run of the job completed' \
	"2|completed" "$(query 'SELECT number, outcome FROM runs WHERE number = 2')"

# --- a device whose lock cannot be opened ---
"$POLLUX" submit -q -- true >/dev/null
ln -sf loop "$POLLUX_DIR/run/device-cpu:0.lock"
past_run 2 id=9 state=assigned boot_id="$boot"
had_device 9 cpu:0 'a core' binding=0
given_job 2 state=running
setsid "$POLLUX" supervise 9 2>>"$POLLUX_DIR/supervisor.log"
is 'a device whose lock cannot be opened is told as such' \
	"not-started|cannot open '$POLLUX_DIR/run/device-cpu:0.lock': \
it is a symbolic link" \
	"$(query 'SELECT outcome, diagnosis FROM runs WHERE id = 9')"

# --- a device that a slow stop keeps, beside one that has become free ---

rm "$POLLUX_DIR/run/device-cpu:0.lock"
rm -rf "$POLLUX_DIR"
POLLUX_SLOTS=2
export POLLUX_SLOTS
# shellcheck disable=SC2317 # finish calls it
cleanup() { touch go end; end_jobs; }
"$POLLUX" submit -q -- sh -c 'until [ -e go ]; do sleep 0.1; done' >/dev/null
"$POLLUX" submit -q --grace 10m -- sh -c 'trap "" TERM; echo deaf
	until [ -e end ]; do sleep 0.1; done' >/dev/null
"$POLLUX" schedule
# shellcheck disable=SC2317 # wait_for calls it
deaf() { "$POLLUX" log 2 2>/dev/null | grep -q '^deaf'; }
ok 'a program that ignores its signal is at work' wait_for 20 deaf
"$POLLUX" cancel 2
"$POLLUX" submit -q -- true >/dev/null
"$POLLUX" schedule
is 'a job gets the device of a run that is being stopped' assigned \
	"$(query 'SELECT state FROM runs WHERE job_id = 3')"
sleep 2.1 # a stop that takes no longer is waited for
touch go
status 'a job starts on a device that becomes free beside a slow stop' 0 \
	"$POLLUX" wait --timeout 60 3
is 'the slow stop goes on beside it' stopping "$(query 'SELECT state FROM runs WHERE job_id = 2')"
touch end
"$POLLUX" wait --timeout 60 2
finish
