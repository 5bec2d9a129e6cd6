#!/bin/sh
# prune.t - what ended jobs left goes when it is asked to, and nothing that is needed.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"

query() { sqlite3 "$POLLUX_DIR/pollux.db" "$1"; }
submit() { "$POLLUX" submit -q "$@"; }
jobs() { query 'SELECT group_concat(id, " ") FROM (SELECT id FROM jobs ORDER BY id)'; }
saver='echo saving; dd if=/dev/zero of="$0/model" bs=1024 count=200 2>/dev/null'

status 'prune without a store is refused with status 66' 66 "$POLLUX" prune --all --dry-run
old=$(submit -n old -- sh -c "$saver" '{checkpoint}')
failed=$(submit -n failed -- sh -c "$saver; exit 3" '{checkpoint}')
needed=$(submit -n needed -- sh -c "$saver" '{checkpoint}')
"$POLLUX" schedule
"$POLLUX" wait --timeout 600 "$old" "$failed" "$needed" >out 2>&1
gone=$(submit -n gone --hold -- true)
"$POLLUX" cancel "$gone" >out 2>&1
waits=$(submit -n waits --hold --after "$needed" -- true)
own=$(submit -n own --checkpoint-dir "$TMP/mine" -- \
	sh -c 'mkdir -p "$0"; echo x >"$0/x"' '{checkpoint}')
wait_for 10 no_supervisor
"$POLLUX" schedule
"$POLLUX" wait --timeout 600 "$own" >out 2>&1
wait_for 10 no_supervisor

# --- what is refused ---
status 'prune needs to be told what to remove' 64 "$POLLUX" prune
is 'prune says what it can remove' \
	"pollux: say what to remove: --logs, --checkpoints or --all; see 'pollux prune --help'" \
	"$err"
status 'prune refuses a state of jobs that run' 64 "$POLLUX" prune --all --state running
like 'prune names the states of ended jobs' \
	"bad --state 'running': states of ended jobs are done, failed, cancelled" "$err"
status 'prune refuses an operand' 64 "$POLLUX" prune --all 17
status 'prune refuses a negative number' 64 "$POLLUX" prune --all --keep-last -1

# --- a dry run ---
before=$(jobs)
status 'a dry run of prune succeeds' 0 "$POLLUX" prune --all --dry-run
like 'a dry run shows the sizes of a log and a checkpoint' \
	"^ *$old  old  *done  .* ago  *[0-9.]* KiB  *2[0-9][0-9] KiB  stays\$" "$out"
like 'a dry run shows a job that never ran' \
	"^ *$gone  gone  *cancelled  .* ago  *-  *-  removed\$" "$out"
unlike 'a dry run leaves out a job that another waits for' "  needed  " "$out"
like 'a dry run shows the sum' \
	'^4 jobs: 4[0-9][0-9] KiB of logs and checkpoints and 1 record would be removed; 3 ' \
	"$out"
is 'a dry run removes no job' "$before" "$(jobs)"
ok 'a dry run removes no log' test -s "$POLLUX_DIR/logs/$old.log"

# --- by state, by age, by number ---
status 'prune --older-than succeeds' 0 "$POLLUX" prune --older-than 1h --all
like 'no job is older than an hour' '^0 jobs: 0 B of logs' "$out"
status 'prune --keep-last succeeds' 0 "$POLLUX" prune --keep-last 100 --all
like 'no job is beyond the last hundred' '^0 jobs' "$out"
status 'prune of logs of failed jobs succeeds' 0 "$POLLUX" prune --state failed --logs
ok 'the log of the failed job is gone' test ! -e "$POLLUX_DIR/logs/$failed.log"
ok 'the checkpoint of the failed job stays' test -s "$POLLUX_DIR/checkpoints/$failed/model"
ok 'the log of another job stays' test -s "$POLLUX_DIR/logs/$old.log"
run "$POLLUX" log "$failed"
is 'log says in one line that the log is gone' 1 "$(printf '%s\n' "$err" | wc -l)"

# --- all ---
status 'prune --all succeeds' 0 "$POLLUX" prune --all
is 'the record that nothing rests on is gone' "$old $failed $needed $waits $own" "$(jobs)"
ok 'a checkpoint directory in the store is gone' test ! -e "$POLLUX_DIR/checkpoints/$old"
ok 'a declared checkpoint directory stays' test -s "$TMP/mine/x"
ok 'the checkpoint of a job that another waits for stays' \
	test -s "$POLLUX_DIR/checkpoints/$needed/model"
is 'nothing is left half removed' '' "$(ls -d "$POLLUX_DIR"/checkpoints/*.pruned 2>/dev/null)"
status 'a second prune --all succeeds' 0 "$POLLUX" prune --all
like 'a second prune --all finds nothing' '^0 jobs' "$out"

# --- a prune that was killed ---
mkdir -p "$POLLUX_DIR/checkpoints/9000.pruned/x" "$POLLUX_DIR/checkpoints/9000.pruned-by-me"
status 'a dry run after a killed prune succeeds' 0 "$POLLUX" prune --logs --dry-run
ok 'a dry run leaves what a killed prune left' test -d "$POLLUX_DIR/checkpoints/9000.pruned/x"
status 'the next prune after a killed one succeeds' 0 "$POLLUX" prune --logs
ok 'the next prune removes what a killed one left' test ! -e "$POLLUX_DIR/checkpoints/9000.pruned"
ok 'the next prune removes no directory of another name' \
	test -d "$POLLUX_DIR/checkpoints/9000.pruned-by-me"
rm -r "$POLLUX_DIR/checkpoints/9000.pruned-by-me"

# --- models keep what they rest on: the newest 500 runs of a workload ---
copied_jobs "$old" 1001 1503
past_run "$(seq -s ' ' 1001 1503)" outcome=completed
status 'prune beyond the runs that models look at succeeds' 0 "$POLLUX" prune --all
is 'the newest 500 runs of a workload stay' \
	500 "$(query "SELECT count(*) FROM runs WHERE job_id > 1000")"

# --- by the configuration, once a day ---
mkdir -p "$POLLUX_DIR"
again=$(submit -n again --hold -- true)
"$POLLUX" cancel "$again" >out 2>&1
given_job "$again" end_time_s='@end_time_s - 100 * 86400'
POLLUX_PRUNE_AFTER=200d "$POLLUX" schedule
is 'a job younger than prune_after stays' 1 "$(query "SELECT count(*) FROM jobs WHERE id = $again")"
POLLUX_PRUNE_AFTER=90d "$POLLUX" schedule
is 'prune_after does not prune twice within a day' \
	1 "$(query "SELECT count(*) FROM jobs WHERE id = $again")"
given_setting pruned_time_s $(($(date +%s) - 90000))
run env POLLUX_PRUNE_AFTER=90d "$POLLUX" schedule -v
is 'prune_after prunes again a day later' 0 "$(query "SELECT count(*) FROM jobs WHERE id = $again")"
like 'the pass says what prune_after removed' \
	'^1 job: 0 B of logs and checkpoints and 1 record removed' "$out"
status 'a bad prune_after is a configuration error' \
	78 env POLLUX_PRUNE_AFTER=soon "$POLLUX" schedule
like 'a bad prune_after is named' 'POLLUX_PRUNE_AFTER.*a time above 0 .such as 90d.' "$err"
finish
