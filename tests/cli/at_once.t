#!/bin/sh
# at_once.t - a submission starts its job at once where there is room, without waiting for a pass.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_SUBMIT_PASS
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY
cleanup() { end_jobs; }
job_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }

status 'submit accepts a job' 0 \
	"$POLLUX" submit -q -- sh -c 'while [ ! -e "$0/go" ]; do sleep 0.05; done' "$TMP"
is 'submit prints the number and nothing else' '1' "$out$err"
ok 'the job starts though nobody typed schedule' wait_for 20 job_is 1 running
"$POLLUX" submit -q -- true >/dev/null
ok 'the second job is told why it waits' \
	wait_for 20 eval '[ -n "$(store "SELECT reason FROM jobs WHERE id = 2")" ]'
like 'status says that no pass comes by itself' 'No pass comes by itself' "$("$POLLUX" status)"
is 'doctor does not say that cron is well' '' "$("$POLLUX" doctor | grep '^ *cron  *all is well')"
"$POLLUX" schedule
is 'status says nothing of missing passes after a pass of cron' '' \
	"$("$POLLUX" status | grep 'by itself')"
touch go
ok 'the second job runs when the first has ended' wait_for 20 job_is 2 'done'
"$POLLUX" submit -q --hold -- true >/dev/null
wait_for 20 no_supervisor
ok 'a held job stays held' job_is 3 held

# Many at once: passes do not pile up, and all jobs run.
for _ in $(seq 30); do "$POLLUX" submit -q -- true & done >/dev/null
wait
# A job that could not be started, as the store was locked too long, is tried again by a later pass.
all_done() {
	"$POLLUX" schedule
	[ "$(store "SELECT count(*) FROM jobs WHERE state = 'done'")" = 32 ]
}
ok 'thirty jobs submitted at once are all done' wait_for 30 all_done
wait_for 20 no_supervisor

# The settings are those of the last pass of a person or of cron, not of the shell that submits.
POLLUX_SUBMIT_PASS=no "$POLLUX" submit -q -- true >/dev/null
POLLUX_SLOTS=2 "$POLLUX" schedule
wait_for 20 job_is 34 'done'
POLLUX_SLOTS=1 "$POLLUX" submit -q -r 2 -- true >/dev/null 2>&1
ok 'a job for two slots starts by the settings of the last pass' wait_for 20 job_is 35 'done'
wait_for 20 no_supervisor

# Slots of two sizes are settings as well.
POLLUX_SLOTS=2x1,1x2 POLLUX_SUBMIT_PASS=no "$POLLUX" submit -q -- true >/dev/null
POLLUX_SLOTS=2x1,1x2 "$POLLUX" schedule
wait_for 20 job_is 36 'done'
wait_for 20 no_supervisor
is 'the store keeps slots of two sizes as text' 2x1,1x2 \
	"$(store "SELECT value FROM settings WHERE name = 'POLLUX_SLOTS'")"
"$POLLUX" submit -q -- true >/dev/null
ok 'a pass after a submission reads slots of two sizes' wait_for 20 job_is 37 'done'
wait_for 20 no_supervisor
"$POLLUX" schedule	# with one slot again

# Supervisors that a job's processes start would end with the job.
"$POLLUX" submit -q -- \
	sh -c '"$POLLUX" submit -q -- true; sleep 1; exec "$POLLUX" status --json 39' \
	>/dev/null
ok 'a job that submits another ends well' wait_for 20 job_is 38 'done'
ok 'the job that a job submitted runs later' wait_for 20 job_is 39 'done'
like 'the submitted job waits while the job that submitted it runs' '"state": "queued"' \
	"$("$POLLUX" log 38)"
wait_for 20 no_supervisor

# --- jobs that wait for a time, or for a person ---
far=$("$POLLUX" submit -q --begin +2h -- true)
soon=$("$POLLUX" submit -q --begin +2s -- true)
ok 'a job begins at its time, though no pass comes by itself' wait_for 20 job_is "$soon" 'done'
ok 'the job whose time has not come waits' job_is "$far" queued
"$POLLUX" edit "$far" --begin now >/dev/null
ok 'a job starts at once when edit takes its time back' wait_for 20 job_is "$far" 'done'
held=$("$POLLUX" submit -q --hold -- true)
"$POLLUX" release "$held"
ok 'a released job starts at once' wait_for 20 job_is "$held" 'done'
"$POLLUX" requeue "$held"
runs_twice() { [ "$(store "SELECT count(*) FROM runs WHERE job_id = $held AND
	outcome = 'completed'")" = 2 ]; }
ok 'a requeued job starts at once' wait_for 20 runs_twice
ok 'no process waits when no job does' wait_for 20 no_supervisor

# --- turned off ---
echo 'submit_pass = no' >"$POLLUX_DIR/config"
"$POLLUX" submit -q -- true >/dev/null
sleep 1
ok 'with submit_pass = no a job waits for the next pass' job_is 43 queued
POLLUX_SUBMIT_PASS=yes "$POLLUX" submit -q -- true >/dev/null
ok 'POLLUX_SUBMIT_PASS goes before submit_pass in the file' wait_for 20 job_is 44 'done'
status 'schedule refuses a POLLUX_SUBMIT_PASS that is neither yes nor no' 78 \
	env POLLUX_SUBMIT_PASS=maybe "$POLLUX" schedule
like 'schedule names the bad value of POLLUX_SUBMIT_PASS' \
	"POLLUX_SUBMIT_PASS.*'maybe' is not yes or no" "$err"

# A hard limit of this shell would bind all jobs that the pass starts, and no job could raise it.
: >"$POLLUX_DIR/config"
wait_for 20 no_supervisor
wait_for 20 "$POLLUX" schedule	# the pass of the last supervisor is over
status 'submit accepts a job in a shell with a hard limit' 0 \
	sh -c 'ulimit -t 100000; exec "$POLLUX" submit -- true'
id=$(($(echo "$out" | tr -dc 0-9)))
is 'submit says that it starts no pass because of the limit' \
	"pollux: no pass was started, as all jobs would get the limit of 'ulimit -t' \
here: the job waits for the next pass" "$err"
ok 'the job submitted under a limit waits' job_is "$id" queued
"$POLLUX" submit -q -- sh -c 'ulimit -t' >/dev/null
ok 'the job submitted under a limit runs with the next pass' wait_for 20 job_is "$id" 'done'
ok "another job does not get the limit of the first job's shell" \
	wait_for 20 grep -qx unlimited "$POLLUX_DIR/logs/$((id + 1)).log"
wait_for 20 no_supervisor
finish
