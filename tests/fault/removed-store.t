#!/bin/sh
# removed-store.t - the store is removed under runs: one that is suspended is stopped, another runs
# to its end. A new store has a run of the same number: the old run's supervisor leaves the files
# and the processes of the new one alone.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=2

waits_for() { # waits_for FILE: a job that ends when the file is there
	"$POLLUX" submit -q -- sh -c 'echo up; while [ ! -e "$0" ]; do sleep 0.1; done' "$TMP/$1"
}
is_gone() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
lock=$POLLUX_DIR/run/1.lock

old=$(waits_for go-old)
suspended=$("$POLLUX" submit -q -- sh -c 'trap "echo told; exit" TERM; echo up
	while :; do sleep 0.1; done')
pass
ok 'a job runs' wait_for 10 logged "$old" '^up'
ok 'another job runs' wait_for 10 logged "$suspended" '^up'
supervisor=$(query "SELECT $supervisor_pid FROM runs WHERE id = 1")
others=$(query "SELECT $supervisor_pid FROM runs WHERE id = 2")
given_run run:2 suspension=asked
ok 'the other job is suspended' \
	wait_for 10 query_is suspended 'SELECT suspension FROM runs WHERE id = 2'
rm "$POLLUX_DIR"/pollux.db* "$lock"
sleep 3 # a supervisor looks every two seconds
ok 'a supervisor without its store makes no lock anew' test ! -e "$lock"
ok 'a suspended job without a store is told to stop' \
	wait_for 10 logged "$suspended" '^told'
ok 'the supervisor of the suspended job leaves' wait_for 10 is_gone "$others"
is 'the first job runs on' 1 "$(supervisors_alive | grep -cx "$supervisor")"
is 'status finds no store' \
	"No store yet at '$POLLUX_DIR/pollux.db': 'pollux submit' makes one; see 'pollux --help'." \
	"$("$POLLUX" status)"

new=$(waits_for go-new 2>/dev/null)
pass
ok 'a job of a new store runs' wait_for 10 logged "$new" '^up'
is "the new job's run has the number of the old one" \
	1 "$(query "SELECT max(id) FROM runs WHERE job_id = $new")"
files() { cd "$POLLUX_DIR/run" && echo 1.* && cd "$TMP" || exit; }
before=$(files)
touch go-old
ok 'the old job ends, and its supervisor leaves' wait_for 10 is_gone "$supervisor"
is 'the files of the new run are as they were' "$before" "$(files)"
is 'the new job runs on' running "$(query "SELECT state FROM runs WHERE id = 1")"
touch go-new
settle 20 'the new job ends'
is 'the new job is done in one run' \
	'done 1' "$(query "SELECT state, runs FROM jobs WHERE id = $new" |
	tr '|' ' ')"
finish
