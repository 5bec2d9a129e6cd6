#!/bin/sh
# edit.t - pollux edit: waiting and running jobs get other values, all of them or none.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $err is of run; wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() {
	touch "$TMP/go"
	end_jobs
}
edit() { run "$POLLUX" edit "$@"; }
of() { store "SELECT $2 FROM jobs WHERE id = $1"; }
everything() { store "SELECT * FROM jobs; SELECT * FROM dependencies; SELECT * FROM events"; }
state_is() { [ "$(of "$1" state)" = "$2" ]; }

cat >stays <<'END'
trap 'exit 1' TERM
touch started
while [ ! -e go ]; do sleep 0.1; done
END
"$POLLUX" submit -q -n one --batch 64 -- sh stays >/dev/null
for name in two three four; do
	"$POLLUX" submit -q -n $name -- true >/dev/null
done

# --- jobs that wait ---
edit 2 3 -w 4 -t 12h --retries 2 -r 1:4 --grace 2m --log-limit 64M --stop-signal INT --suspend never
is 'edit prints what changed, a line for each job' \
	"$(for id in 2 3; do echo "job $id: replicas 1 -> 1:4;" \
	'weight 1 -> 4; time limit none -> 12h00m; retries 0 -> 2; stop signal SIGTERM -> SIGINT;' \
	'grace 1m00s -> 2m00s; suspend auto -> never; log limit none -> 64 MiB'; done)" "$out"
is 'the store has the new values' '4.0|43200.0|2|1|4|120.0|67108864.0|2|never' \
	"$(of 3 'weight, time_limit_s,
	retries, min_replicas, max_replicas, grace_s, log_limit_bytes, stop_signal, suspend')"
is 'the store has an event for each job' 2 "$(store "SELECT count(*) FROM events WHERE kind = 'edit'
	AND job_id IN (2, 3) AND text LIKE 'replicas 1 -> 1:4; weight 1 -> 4;%'")"
edit 2-4 --weight 4 --retries 0
is 'edit prints only what differs' 'job 2: retries 2 -> 0
job 3: retries 2 -> 0
job 4: weight 1 -> 4' "$out"
edit 2 --weight 4
is 'edit says that nothing changes' 'job 2: nothing changes' "$out"
edit 2 --unset time-limit,log-limit --steps 500
is 'edit --unset takes back limits, and --steps sets a length' \
	"job 2: steps none -> 500; time limit 12h00m -> none; log limit 64 MiB -> none" "$out"
edit 2 --epochs 2 --dataset-size 100
is 'edit sets samples in place of steps' 'job 2: samples none -> 200; steps 500 -> none' "$out"
edit 3 --no-preempt
is 'edit sets whether a job gives way' 'job 3: preemption saved -> never' "$out"
edit 3 --tier switch
is 'edit sets the worst tier of a job' 'job 3: worst tier any -> switch' "$out"
edit 3 --tier any
is 'edit takes any tier as the worst again' 'job 3: worst tier switch -> any' "$out"
edit 3 --after 2,notok:4
is 'edit sets the jobs that a job comes after' 'job 3: after 2,notok:4' "$out"
edit 3 --after any:4
is 'edit sets a rule in place of earlier ones' '4|any' \
	"$(store 'SELECT after_id, rule FROM dependencies WHERE job_id = 3')"
name=$(printf 'a\033[31m\nb')
edit 4 --name "$name"
is 'edit prints a hostile name without its control characters' \
	"job 4: name four -> 'a'\"\$(printf '\\033')\"'[31m\\nb'" "$out"

# --- all or nothing ---
before=$(everything)
status 'edit refuses a job that does not exist among others' 66 "$POLLUX" edit 2 99 --weight 7
is 'edit says that no job was changed' 'pollux: no job was changed: no such job: 99' "$err"
status 'edit refuses a job that would come after itself' 1 "$POLLUX" edit 2 4 --after 4
status 'edit refuses a job after one that waits for it' 1 "$POLLUX" edit 4 --after ok:3
is 'edit says that the other job waits for it' \
	'pollux: job 4 cannot come after job 3, which waits for it' "$err"
"$POLLUX" edit 2 --after 3 >/dev/null
status 'edit refuses a circle over three jobs' 1 "$POLLUX" edit 4 --after 2
"$POLLUX" edit 2 --unset after >/dev/null
status 'edit refuses a range of batches without a batch' 1 "$POLLUX" edit 2 --batch-range 8:16
status 'edit refuses a range of batches that does not have the batch' 64 \
	"$POLLUX" edit 1 --batch-range 8:16
status 'edit refuses --preempt with --no-preempt' 64 "$POLLUX" edit 2 --preempt --no-preempt
status 'edit refuses --steps with --samples' 64 "$POLLUX" edit 2 --steps 3 --samples 4
status 'edit refuses to set and to unset one option' 64 "$POLLUX" edit 2 --begin +1h --unset begin
status 'edit refuses to go without anything to change' 64 "$POLLUX" edit 2
status 'edit refuses to go without a job' 64 "$POLLUX" edit --weight 2
status 'edit refuses a weight below 0' 64 "$POLLUX" edit 2 --weight -1
status 'edit refuses an option of submit alone' 64 "$POLLUX" edit 2 --chdir /
status 'edit refuses a name that is too long' 64 "$POLLUX" edit 2 --name "$(printf '%0300d' 0)"
status 'edit refuses several jobs by name where nobody agreed' 1 "$POLLUX" edit 't*' --weight 9
status 'edit --dry-run succeeds' 0 "$POLLUX" edit --dry-run 't*' --weight 9
is 'edit --dry-run prints what would change' 'job 2: weight 4 -> 9
job 3: weight 4 -> 9' "$out"
is 'refused edits and the dry run change nothing' "$before" \
	"$(everything | grep -Ev '[|]edit[|]after (3|none)([|]|$)')"
status 'edit --yes changes several jobs by state' 0 "$POLLUX" edit --yes --state queued --retries 1
is 'edit --yes changes each of the jobs' '1|1|1|1' \
	"$(store 'SELECT retries FROM jobs' | paste -sd '|')"

# --- a job that runs ---
"$POLLUX" edit 1 --retries 0 >/dev/null
"$POLLUX" hold 2-4
"$POLLUX" schedule
ok 'the first job runs' wait_for 20 test -e started
edit 1 --weight 2 --name uno --grace 90 --replicas 1:2 --tier fast
is 'edit says of a running job when each change takes effect' \
	'job 1: name one -> uno, at once; replicas 1 -> 1:2, at the next '\
'pass; worst tier any -> fast, at the next pass; '\
'weight 1 -> 2, at the next pass; grace 1m00s -> 1m30s, at once' "$out"
for option in '--begin +1h' '--after 2' '--stop-signal INT'; do
	# shellcheck disable=SC2086  # an option and its value
	status "edit refuses $option for a job that runs" 1 "$POLLUX" edit 2 1 $option
done
is 'edit says that the run was launched with another signal' \
	"pollux: no job was changed: job 1: --stop-signal cannot be changed: its run was \
launched with another: hold it first" "$err"
is 'edit leaves the waiting job as it was, too' 2 "$(of 2 stop_signal)"
edit 1 --time-limit 9h
is 'edit gives a running job a time limit' 'job 1: time limit none -> 9h00m, at once' "$out"
edit 1 --time-limit 1s
ok 'a time limit that is used up stops the job' wait_for 30 state_is 1 timeout
status 'edit refuses a job that has ended' 1 "$POLLUX" edit 1 --weight 3
is 'edit names again for a job that has ended' \
	"pollux: job 1 has ended already: timeout; 'pollux again 1' submits another \
like it" "$err"
"$POLLUX" release 2-4
"$POLLUX" schedule
ok 'the other jobs run' "$POLLUX" wait --timeout 200 2

id=$("$POLLUX" submit --grace 1d -- sh -c 'trap "" TERM; : >deaf; while :; do sleep 0.1; done')
"$POLLUX" schedule
ok 'a job that is deaf to its stop signal runs' wait_for 30 test -e deaf
"$POLLUX" cancel --force "$id"
"$POLLUX" edit "$id" --grace 1s >/dev/null
ok 'a shorter grace holds for a stop that has begun' wait_for 30 state_is "$id" cancelled

# Its shell dies of the signal; what that leaves has the rest of the grace.
id=$("$POLLUX" submit --grace 1d -- sh -c '(trap "" TERM; : >left; while :; do sleep 0.1; done) &
	echo $$ >shell; wait')
"$POLLUX" schedule
ok 'a job runs that leaves a process behind' wait_for 30 test -e left
"$POLLUX" cancel --force "$id"
shell_is_gone() { ! kill -0 "$(cat shell)"; }
ok 'its shell ends at once' wait_for 30 shell_is_gone
"$POLLUX" edit "$id" --grace 1s >/dev/null
ok 'a shorter grace holds for what a stopped job left' wait_for 30 state_is "$id" cancelled

# The trigger is an edit whose wake-up does not reach the supervisor.
id=$("$POLLUX" submit --time-limit 1s -- sleep 2)
on_update handle "NEW.job_id = $id AND OLD.state = 'running'" "$(job_sql "$id" time_limit_s=1000)"
"$POLLUX" schedule
ok 'a limit that edit raised in time stops no job' "$POLLUX" wait --timeout 200 "$id"
store 'DROP TRIGGER given'
finish
