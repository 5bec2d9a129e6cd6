#!/bin/sh
# saves.t - what a job has saved when it is stopped: such a job is not stopped again for nothing.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { end_jobs; }
holds() { [ "$(store "SELECT count(*) FROM ($1)")" -gt 0 ]; }
asked() { store "SELECT $2 FROM jobs WHERE id = $1"; }
# Reports steps. What it does when it is asked to stop stands in $1; what before, in $2.
cat >works <<'END'
trap "$1; exit 1" TERM
eval "$2"
sleep 0.5
i=0
while :; do
	i=$((i + 1))
	"$POLLUX" report STEP=$i SAMPLES=$((8 * i))
	sleep 0.05
done
END
submit() { "$POLLUX" submit -q --grace 20 --suspend never -- sh works "$@" '{checkpoint}'; }
at_work() {
	holds "SELECT 1 FROM runs WHERE job_id = $1 AND state = 'running' AND last_samples > 40"
}
seen() { asked "$1" "saves_when_asked || ' ' || saved_nothing"; }
lost() { asked "$1" 'CAST(lost_samples AS INTEGER)'; }
# preempted JOB: another one comes, and its slice is over
preempted() {
	given_run "$1" launch_boot_s-=1000
	other=$("$POLLUX" submit -q -- true)
	"$POLLUX" schedule --policy las
	wait_for 20 holds "SELECT 1 FROM jobs WHERE id = $other AND state = 'done'"
}
runs_again() { wait_for 20 at_work "$1"; }

# --- a job that saves nothing ---
id=$(submit '' '')
"$POLLUX" schedule
ok 'a job that saves nothing works' wait_for 20 at_work "$id"
ok 'a job that saves nothing is stopped once' preempted "$id"
is 'the store knows that the job saved nothing when asked to' '0 1' "$(seen "$id")"
first=$(store "SELECT CAST(last_samples AS INTEGER) FROM runs WHERE job_id = $id AND number = 1")
is 'all samples of a job that saves nothing are lost' "$first" "$(lost "$id")"
ok 'the time of a job that saves nothing is lost' \
	holds "SELECT 1 FROM jobs WHERE id = $id AND lost_s > 0"
like 'the event says how many steps were lost' \
	"preempted: saved nothing when asked to; lost $((first / 8)) steps\$" \
	"$("$POLLUX" status "$id")"
ok 'a job that saves nothing runs again' runs_again "$id"
given_run "$id" launch_boot_s-=1000
waiting=$("$POLLUX" submit -q -- true)
"$POLLUX" schedule --policy las
is 'a job that saves nothing is not stopped again' none \
	"$(store "SELECT stop_reason FROM runs WHERE job_id = $id AND state = 'running'")"
like 'status says why the job keeps its device' \
	"^ *$id .*keeps 1 device: it saved nothing when it was asked to stop" \
	"$("$POLLUX" status)"
like 'status ID says that nothing was saved' \
	'^  checkpoint .*nothing was saved when it was asked to stop' \
	"$("$POLLUX" status "$id")"
like 'REDONE counts the lost samples' " $first +[0-9ms.]+ +[0-9ms.]+ +[0-9ms.]+ " \
	"$("$POLLUX" status --summary "$id")"
like 'explain says that the job keeps its device' \
	'^  for others +it keeps its device' "$("$POLLUX" explain "$id")"
"$POLLUX" cancel "$waiting" "$id"
"$POLLUX" wait "$id" 2>/dev/null
"$POLLUX" requeue "$id"
is 'requeue by a person gives the job another try' 0 "$(asked "$id" saved_nothing)"
"$POLLUX" cancel "$id"

# --- jobs that save ---
id=$(submit 'echo x >"$3/model"' '')
"$POLLUX" schedule
ok 'a job that saves when asked works' wait_for 20 at_work "$id"
ok 'a job that saves when asked is stopped' preempted "$id"
is 'the store knows that the job saves when asked' '1 0' "$(seen "$id")"
is 'a job that saves when asked loses nothing' 0 "$(lost "$id")"
"$POLLUX" cancel "$id"
id=$(submit 'echo x >"$3/a.log"; mkdir "$3/runs"; echo x >"$3/runs/y"' 'echo x >"$3/config.json"')
"$POLLUX" schedule
ok 'a job that writes a log and its settings works' wait_for 20 at_work "$id"
ok 'a job that writes a log and its settings is stopped' preempted "$id"
is 'a log and settings do not count as saved' '0 1' "$(seen "$id")"
"$POLLUX" cancel "$id"

# --- killed by somebody while it saves ---
id=$("$POLLUX" submit -q --grace 600 --suspend never -- \
	sh works ': >asked; sleep 1000' '' '{checkpoint}')
"$POLLUX" schedule
ok 'a job that will be killed works' wait_for 20 at_work "$id"
"$POLLUX" hold --force "$id"
ok 'a job that will be killed is asked to stop' wait_for 20 test -e asked
kill -9 "$(store "SELECT $leader_pid FROM runs WHERE job_id = $id")"
ok 'the job is killed before its grace is over' wait_for 20 holds \
	"SELECT 1 FROM runs WHERE job_id = $id AND outcome = 'stopped'"
is 'the store does not know whether a killed job would have saved' 'unknown 0' \
	"$(asked "$id" "ifnull(saves_when_asked, 'unknown') || ' ' || saved_nothing")"
"$POLLUX" cancel "$id"

# --- a directory that was not used ---
id=$("$POLLUX" submit -q -- test -d "$POLLUX_DIR/checkpoints")
"$POLLUX" schedule
status 'a job that needs no directory of checkpoints is done' 0 "$POLLUX" wait --timeout 600 "$id"
status 'a job that saved nothing leaves no directory of checkpoints' \
	2 ls "$POLLUX_DIR/checkpoints/$id"
id=$("$POLLUX" submit -q -- sh -c 'echo x >"$1/model"' x '{checkpoint}')
"$POLLUX" schedule
status 'a job that saves in its directory is done' 0 "$POLLUX" wait --timeout 600 "$id"
ok 'a job leaves what it saved' test -s "$POLLUX_DIR/checkpoints/$id/model"

# --- a crash ---
id=$("$POLLUX" submit -q --retries 0 -- \
	sh -c '"$POLLUX" report STEP=9 SAMPLES=234000; exit 3' x '{checkpoint}')
"$POLLUX" schedule
"$POLLUX" wait "$id" 2>/dev/null
is 'a crash before the first checkpoint loses all samples' 234000 "$(lost "$id")"
like 'status says how many samples a crash lost' \
	'^  lost +samples 234000' "$("$POLLUX" status "$id")"
finish
