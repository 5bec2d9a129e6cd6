#!/bin/sh
# change.t - hold, release, cancel, requeue: they report on a terminal and say nothing in a pipe;
# also a store made anew.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
command -v script >/dev/null || skip_all 'there is no script(1) to make a terminal'

state_is()
{
	[ "$("$POLLUX" status --json "$1" | sed -n 's/^      "state": "\(.*\)",$/\1/p')" = "$2" ]
}
on_terminal() { script -qec "'$POLLUX' $*" /dev/null </dev/null | tr -d '\r'; }
cleanup() {
	touch "$TMP/go"
	POLLUX_DIR=$TMP/store
	"$POLLUX" cancel 1 2 3 2>/dev/null
	"$POLLUX" wait --timeout 200 1 2 3 2>/dev/null
}

# Until told to, it does not leave: what is said does not depend on how fast it goes.
cat >stays <<'END'
trap 'while [ -e stays ] && [ ! -e go ]; do sleep 0.1; done; exit 1' TERM
touch started
while [ -e stays ]; do sleep 0.1; done
END
for name in one two three; do
	"$POLLUX" submit -q -n "$name" --grace 60 -- sh stays >/dev/null
done
"$POLLUX" schedule
wait_for 20 test -e started

is 'hold says on a terminal that it held a job' 'Job 2 held.' "$(on_terminal hold 2)"
is 'release says on a terminal that it released a job' 'Job 2 released.' "$(on_terminal release 2)"
is 'each of several jobs has a line, and so has what was wrong' 'pollux: job 1 is not held: running
Job 2 held.
Job 3 held.' "$(on_terminal hold 2 3 '>/dev/null;' "'$POLLUX' release 1;" "'$POLLUX' hold 2 3")"
is 'cancel says on a terminal that it cancelled a job' 'Job 3 cancelled.' "$(on_terminal cancel 3)"
is 'requeue says on a terminal that it queued a job again' 'Job 3 queued again.' \
	"$(on_terminal requeue 3)"
is 'requeue says that a running job was asked to stop' 'Job 1 asked to stop, to be queued again.' \
	"$(on_terminal requeue --force 1)"
is 'hold says that a running job was asked to stop' 'Job 1 asked to stop, to be held.' \
	"$(on_terminal hold 1)"
is 'cancel says that a running job was asked to stop' 'Job 1 asked to stop, to be cancelled.' \
	"$(on_terminal cancel 1)"
touch go
ok 'a running job that was asked to stop is cancelled in the end' wait_for 20 state_is 1 cancelled
wait_for 20 state_is 3 running	# and has the slot, so that job 2 cannot start below

for command in release hold cancel requeue; do
	status "$command succeeds in a pipe" 0 "$POLLUX" "$command" 2
	is "$command prints nothing in a pipe" '' "$out$err"
done

# --- a store anew, beside what the run of the same number left of the last ---
POLLUX_DIR=$TMP/anew
"$POLLUX" submit -q -- sh -c '! test -e "$POLLUX_CONFIG_FILE"' >out
mkdir -p "$POLLUX_DIR/run"
touch "$POLLUX_DIR/run/1.config" "$POLLUX_DIR/run/1.config.new"
POLLUX_SLOTS=1 "$POLLUX" schedule
status "a run finds no configuration that another store's run left" 0 "$POLLUX" wait --timeout 200 1

# --- a job that was done is queued again: what remains of it ---
done=$("$POLLUX" submit -q -b 10 --samples 1000 -- \
	sh -c '"$POLLUX" report STEP=100 SAMPLES=1000 STEP_NS=1000000')
saved=$("$POLLUX" submit -q -b 10 --samples 1000 -- sh -c '"$POLLUX" report SAMPLES=900 \
	STEP_NS=1000000 CHECKPOINT=here; "$POLLUX" report STEP=100 SAMPLES=1000')
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$done" "$saved" >waited 2>&1
wait_for 20 no_supervisor
position() { store "SELECT samples, steps FROM jobs WHERE id = $1"; }
is 'a job that is done has the position that it reached' '1000.0|100.0' "$(position "$done")"
"$POLLUX" requeue --force "$done" "$saved" >said 2>&1
is 'requeue takes the whole position from a job that saved nothing' '|' "$(position "$done")"
is 'requeue goes back to the position of the checkpoint' '900.0|100.0' "$(position "$saved")"

# --- many jobs at work, as on a cluster: what a job needs is not looked for among all runs ---
POLLUX_DIR=$TMP/many
"$POLLUX" submit -q --hold -- true >out
copied_jobs 1 2 2000
given_job all state=running
past_run all state=running
status 'cancel takes seconds for 2,000 running jobs' 0 \
	timeout 10 "$POLLUX" cancel --yes --force --state running
is 'cancel asks all 2,000 runs to stop' 2000 \
	"$(store "SELECT count(*) FROM runs WHERE stop_reason = 'cancel'")"
POLLUX_DIR=$TMP/store
finish
