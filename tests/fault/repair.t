#!/bin/sh
# repair.t - pollux doctor --repair: what was lost is said, and a writer or a death in between loses
# nothing more.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
cleanup() { end_jobs; }

flat() { store 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null; }
root_of() { store "SELECT rootpage FROM sqlite_schema WHERE name = '$1'"; }
damage() { # damage PAGE
	flat
	dd if=/dev/zero of="$POLLUX_DIR/pollux.db" bs=4096 seek=$(($1 - 1)) count=1 conv=notrunc \
		2>/dev/null
}
name() { store "SELECT value FROM settings WHERE name = 'store_id'"; }

# --- an environment ---
"$POLLUX" submit -q -- true >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 600 1
"$POLLUX" submit -q -- true >/dev/null
wait_for 5 no_supervisor
damage "$(root_of environments)"
status 'repair says that the environments are lost' 1 "$POLLUX" doctor --repair
is 'a job without its environment fails' 'failed' "$(store 'SELECT state FROM jobs WHERE id = 2')"
like 'the reason says that the environment was lost' \
	'^its environment was lost .*requeue --take-env 2' \
	"$(store 'SELECT reason FROM jobs WHERE id = 2')"
status 'an ended job is as it was' 0 "$POLLUX" wait 1
status 'a job without its environment is not queued again' 1 "$POLLUX" requeue 2
like 'requeue says how to give another environment' \
	"environment of job 2 was lost: 'pollux requeue --take-env 2'" "$err"
status 'a job with another environment is queued again' 0 "$POLLUX" requeue --take-env 2
"$POLLUX" schedule
status 'a job with another environment is done' 0 "$POLLUX" wait --timeout 600 2
wait_for 5 no_supervisor
"$POLLUX" submit -q -- sh -c 'touch launched' >/dev/null
given_environment 3 names_only=1
"$POLLUX" schedule
tried() { "$POLLUX" status 3 | grep -q 'no values of the job.s variables'; }
ok 'a launch without values is refused with its reason' wait_for 10 tried
status 'the program does not begin without values' 1 test -e launched
"$POLLUX" cancel 3
wait_for 5 no_supervisor

# --- the name ---
id=$(name)
damage "$(root_of settings)"
status 'repair says that the settings are lost' 1 "$POLLUX" doctor --repair
is 'the name of the store is that of the logs' "$id" "$(name)"
like 'repair says where the name is from' \
	"name was lost, and is taken from the files in 'logs'" "$out"
damage "$(root_of settings)"
mkdir away
mv "$POLLUX_DIR"/logs/*.store away
status 'repair without the name in the logs says what is lost' 1 "$POLLUX" doctor --repair
like 'repair says that the store has a new name' \
	'name was lost, and no file tells it: the store has a new one' "$out"
isnt() { [ -n "$3" ] && [ "$2" != "$3" ]; }
ok 'the new name is another one' isnt name "$id" "$(name)"
mv away/* "$POLLUX_DIR/logs"

# --- a death in between ---
kept() { [ -n "$(find "$POLLUX_DIR" -name 'pollux.db.damaged-*')" ]; }
again() { rm -rf "$POLLUX_DIR" && cp -a whole "$POLLUX_DIR"; }
rm "$POLLUX_DIR"/pollux.db.damaged-*
"$POLLUX" submit -q --hold -- true >/dev/null
damage "$(root_of job_metrics)"
"$POLLUX" submit -q --hold -- true >/dev/null
ok 'the last job is in the write-ahead log of the store' test -s "$POLLUX_DIR/pollux.db-wal"
cp -a "$POLLUX_DIR" whole
jobs=$(sqlite3 "$(cp -r whole look; echo look/pollux.db)" 'SELECT count(*) FROM jobs')
killat -n 100000 -c calls "$POLLUX" doctor --repair >/dev/null
calls=$(cat calls) unlogged=0
first=
: >missing
call=$((calls - 30))
count_jobs() { # count_jobs WHEN: all of them are to be there
	there=$(store 'SELECT count(*) FROM jobs' 2>&1)
	[ "$there" = "$jobs" ] || echo "killed at call $call, $1: $there" >>missing
}
while [ "$call" -le "$calls" ]; do
	again
	killat -n "$call" "$POLLUX" doctor --repair >/dev/null 2>&1
	[ -n "$first" ] || ! kept || first=$call
	if [ -e "$POLLUX_DIR/pollux.db.repaired" ] && [ ! -e "$POLLUX_DIR/pollux.db-wal" ]; then
		unlogged=$((unlogged + 1))
	fi
	count_jobs 'before'
	if [ -n "$first" ]; then
		"$POLLUX" doctor --repair >/dev/null 2>&1
		count_jobs 'after another repair'
		ls "$POLLUX_DIR"/pollux.db.repaired* 2>/dev/null >>missing
	fi
	call=$((call + 1))
done
is 'all jobs are there whenever the repair is killed' '' "$(cat missing)"
ok 'a repair was killed where the old store had its other name' test -n "$first"
ok 'a repair was killed after the old log was removed' test "$unlogged" -gt 0

# --- no room for the last of the new store ---
again

status 'a repair fails when the disk is full at its end' 74 \
	env ASAN_OPTIONS="${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0" \
	LD_PRELOAD="$FAULT/preload_full.so" FULL_FILE=.repaired "$POLLUX" doctor --repair
like 'the full disk is told' 'cannot write .*pollux.db.repaired.*: database or disk is full' "$err"
is 'the repair on a full disk leaves nothing' \
	'' "$(find "$POLLUX_DIR" -name '*.repaired*' -o -name '*.damaged-*')"
count_jobs 'after a full disk'
is 'all jobs are there after the full disk' '' "$(cat missing)"

# --- a submission in between ---
again
killat -h held -n "$first" "$POLLUX" doctor --repair >repaired 2>&1 &
repair=$!
ok 'a repair waits with a new store beside the old one' wait_for 20 test -e held
"$POLLUX" submit -q --hold -- true >submitted 2>said &
submit=$!
queues() { find "/proc/$submit/fd" -lname '*/pollux.db-queue' | grep -q .; }
ok 'a submission waits for the repair' wait_for 20 queues
rm held
wait "$repair"
is 'the repair ends and says that something was lost' 1 $?
wait "$submit"
is 'the submission beside the repair fails for now' 75 $?
is 'the submission says in one line to try again' \
	"pollux: another file took the place of the store '$POLLUX_DIR/pollux.db': try again" \
	"$(cat said)"
is 'no other job is lost' "$jobs" "$(store 'SELECT count(*) FROM jobs')"
status 'a second submission works' 0 "$POLLUX" submit -q --hold -- true
finish
