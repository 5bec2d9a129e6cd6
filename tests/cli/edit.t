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
is 'what changed, a line for each job' "$(for id in 2 3; do echo "job $id: replicas 1 -> 1:4;" \
	'weight 1 -> 4; time limit none -> 12h00m; retries 0 -> 2; stop signal SIGTERM -> SIGINT;' \
	'grace 1m00s -> 2m00s; suspend auto -> never; log limit none -> 64 MiB'; done)" "$out"
is 'the store has it' '4.0|43200.0|2|1|4|120.0|67108864.0|2|never' "$(of 3 'weight, time_limit_s,
	retries, min_replicas, max_replicas, grace_s, log_limit_bytes, stop_signal, suspend')"
is 'and an event for each' 2 "$(store "SELECT count(*) FROM events WHERE kind = 'edit'
	AND job_id IN (2, 3) AND text LIKE 'replicas 1 -> 1:4; weight 1 -> 4;%'")"
edit 2-4 --weight 4 --retries 0
is 'only what differs is said' 'job 2: retries 2 -> 0
job 3: retries 2 -> 0
job 4: weight 1 -> 4' "$out"
edit 2 --weight 4
is 'or nothing' 'job 2: nothing changes' "$out"
edit 2 --unset time-limit,log-limit --steps 500
is 'taken back' "job 2: steps none -> 500; time limit 12h00m -> none; log limit 64 MiB -> none" \
	"$out"
edit 2 --epochs 2 --dataset-size 100
is 'samples in place of steps' 'job 2: samples none -> 200; steps 500 -> none' "$out"
edit 3 --no-preempt
is 'turns' 'job 3: preemption saved -> never' "$out"
edit 3 --tier switch
is 'how well its devices are joined' 'job 3: worst tier any -> switch' "$out"
edit 3 --tier any
is 'which is no matter after all' 'job 3: worst tier switch -> any' "$out"
edit 3 --after 2,notok:4
is 'what it waits for' 'job 3: after 2,notok:4' "$out"
edit 3 --after any:4
is 'in place of that' '4|any' "$(store 'SELECT after_id, rule FROM dependencies WHERE job_id = 3')"
name=$(printf 'a\033[31m\nb')
edit 4 --name "$name"
is 'a hostile name moves nothing' \
	"job 4: name four -> 'a'\"\$(printf '\\033')\"'[31m?b'" "$out"

# --- all or nothing ---
before=$(everything)
status 'a job that is not there' 66 "$POLLUX" edit 2 99 --weight 7
is 'is said' 'pollux: no job was changed: no such job: 99' "$err"
status 'after itself' 1 "$POLLUX" edit 2 4 --after 4
status 'after a job that waits for it' 1 "$POLLUX" edit 4 --after ok:3
is 'is said' 'pollux: job 4 cannot come after job 3, which waits for it' "$err"
"$POLLUX" edit 2 --after 3 >/dev/null
status 'also over others' 1 "$POLLUX" edit 4 --after 2
"$POLLUX" edit 2 --unset after >/dev/null
status 'a range of batches without a batch' 1 "$POLLUX" edit 2 --batch-range 8:16
status 'a range that the batch is not in' 64 "$POLLUX" edit 1 --batch-range 8:16
status 'two rules' 64 "$POLLUX" edit 2 --preempt --no-preempt
status 'two lengths' 64 "$POLLUX" edit 2 --steps 3 --samples 4
status 'both ways' 64 "$POLLUX" edit 2 --begin +1h --unset begin
status 'nothing to change' 64 "$POLLUX" edit 2
status 'no job' 64 "$POLLUX" edit --weight 2
status 'no such value' 64 "$POLLUX" edit 2 --weight -1
status 'no such option of edit' 64 "$POLLUX" edit 2 --chdir /
status 'a name that is too long' 64 "$POLLUX" edit 2 --name "$(printf '%0300d' 0)"
status 'of several by name, nobody agreed' 1 "$POLLUX" edit 't*' --weight 9
status '--dry-run' 0 "$POLLUX" edit --dry-run 't*' --weight 9
is 'says what would be' 'job 2: weight 4 -> 9
job 3: weight 4 -> 9' "$out"
is 'and nothing was changed by all that' "$before" \
	"$(everything | grep -v '|edit|after 3$' | grep -v '|edit|after none$')"
status '--yes goes on' 0 "$POLLUX" edit --yes --state queued --retries 1
is 'for all' '1|1|1|1' "$(store 'SELECT retries FROM jobs' | paste -sd '|')"

# --- a job that runs ---
"$POLLUX" edit 1 --retries 0 >/dev/null
"$POLLUX" hold 2-4
"$POLLUX" schedule
ok 'it runs' wait_for 20 test -e started
edit 1 --weight 2 --name uno --grace 90 --replicas 1:2 --tier fast
is 'when each takes effect' 'job 1: name one -> uno, at once; replicas 1 -> 1:2, at the next '\
'pass; worst tier any -> fast, at the next pass; '\
'weight 1 -> 2, at the next pass; grace 1m00s -> 1m30s, at once' "$out"
for option in '--begin +1h' '--after 2' '--stop-signal INT'; do
	# shellcheck disable=SC2086  # an option and its value
	status "not while it runs: $option" 1 "$POLLUX" edit 2 1 $option
done
is 'why' "pollux: no job was changed: job 1: --stop-signal cannot be changed: its run was \
launched with another: hold it first" "$err"
is 'the other job was not changed either' 2 "$(of 2 stop_signal)"
edit 1 --time-limit 9h
is 'a limit where there was none' 'job 1: time limit none -> 9h00m, at once' "$out"
edit 1 --time-limit 1s
ok 'a limit that is used up stops it' wait_for 30 state_is 1 timeout
status 'a job that has ended' 1 "$POLLUX" edit 1 --weight 3
is 'points to again' "pollux: job 1 has ended already: timeout; 'pollux again 1' submits another \
like it" "$err"
"$POLLUX" release 2-4
"$POLLUX" schedule
ok 'the others run' "$POLLUX" wait --timeout 200 2

# The trigger is an edit whose wake-up does not reach the supervisor.
id=$("$POLLUX" submit --time-limit 1s -- sleep 2)
store "CREATE TRIGGER edit AFTER UPDATE OF handle ON runs
	WHEN NEW.job_id = $id AND OLD.state = 'running'
	BEGIN UPDATE jobs SET time_limit_s = 1000 WHERE id = $id; END"
"$POLLUX" schedule
ok 'before a limit stops a job, it is read once more' "$POLLUX" wait --timeout 200 "$id"
store 'DROP TRIGGER edit'
finish
