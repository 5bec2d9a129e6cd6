#!/bin/sh
# denied.t - a store that an ordinary user may not write to, or that another process
# keeps locked: commands fail with one line and a documented status, running jobs go on.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
if [ "$(id -u)" = 0 ]; then
	# Permissions do not bind root: become nobody, in a directory nobody may use.
	drop='setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs'
	$drop test -x "$POLLUX" 2>/dev/null ||
		skip_all "root cannot become another user that can run $POLLUX"
	if [ -z "${TRIED_TO_DROP-}" ]; then
		chmod 755 "$TMP"
		mkdir -m 777 as-nobody
		# A coverage build complains where it cannot write.
		export GCOV_PREFIX="$TMP/as-nobody"
		rc=0
		TRIED_TO_DROP=1 TMPDIR=$TMP/as-nobody $drop "$ROOT/tests/fault/denied.t" || rc=$?
		exit "$rc"
	fi
	skip_all 'root cannot become another user'
fi
. "$ROOT/tests/fault/fault.sh"
POLLUX_SLICE=1h	# a pass finds nothing to write, not a slice that has ended

refuses() { # refuses STATUS PATTERN COMMAND...: one line, nothing on stdout
	want=$1 pattern=$2
	shift 2
	run "$POLLUX" "$@"
	is "$1: fails with status $want" "$want" "$rc"
	is "$1: nothing is printed" '' "$out"
	is "$1: it is told in one line" 1 "$(printf '%s\n' "$err" | wc -l)"
	like "$1: the line says why" "$pattern" "$err"
}

# --- permissions -----------------------------------------------------------------------

mkdir checkpoints
touch paused
job=$(submit --checkpoint-dir "$TMP/checkpoints" -- "$work" -n 300 -s 5 -h "$TMP/paused")
pass
ok 'a job runs' wait_for 10 logged "$job" 'step 5 '
chmod 400 "$POLLUX_DIR"/pollux.db*
chmod 500 "$POLLUX_DIR" "$POLLUX_DIR/run" "$POLLUX_DIR/logs"
readonly="^pollux: cannot use the store '.*': attempt to write a readonly database$"
refuses 77 "$readonly" submit -- true
refuses 77 "^pollux: job $job runs on: stopped now, it could not be started again: \
${readonly#^pollux: }" requeue --force "$job"	# what cancel does is in readonly.t
status 'status works on a store that may not be written to' 0 "$POLLUX" status
like 'status shows the job running' "^ *$job +work +running" "$out"
status 'a pass with nothing to write works on such a store' 0 "$POLLUX" schedule
rm paused
ok 'the job goes on to its end' wait_for 20 logged "$job" '^\[exited with status 0\]'
# In this order: as long as the store may not be written to, nor may the files that SQLite keeps
# beside it.
chmod 600 "$POLLUX_DIR"/pollux.db*
chmod 700 "$POLLUX_DIR" "$POLLUX_DIR/run" "$POLLUX_DIR/logs"
settle 20 'the job ends when the store may be written to again'
exact 'the job has exactly its samples' "$job" 300
sound 'all is well after the permissions'

mkdir -m 500 locked
POLLUX_DIR=$TMP/locked/store refuses 73 \
	"^pollux: cannot create directory '.*/locked/store': Permission denied$" submit -- true
mkdir everyone everyone/store
chmod 777 everyone/store
POLLUX_DIR=$TMP/everyone/store refuses 77 "^pollux: others may write to '.*'" submit -- true

# --- a store that stays locked -----------------------------------------------------------

# A command waits for ten seconds before it gives up.
mkdir checkpoints-2
touch paused
job=$(submit --checkpoint-dir "$TMP/checkpoints-2" -- "$work" -n 800 -s 5 -h "$TMP/paused")
pass
ok 'another job runs' wait_for 10 logged "$job" 'step 5 '
hold_store
status 'status works on a locked store' 0 "$POLLUX" status
refuses 75 \
	"^pollux: cannot use the store '.*': database is locked, by process [0-9]+ \\(sqlite3\\)$" \
	submit -- true
rm paused
done_itself() { grep -q "^done $job " "$WITNESS/ledger"; }
ok 'the job has gone on to its end' wait_for 20 done_itself
is 'nobody can record the end on a locked store' \
	running "$(query "SELECT state FROM jobs WHERE id = $job")"
let_store_go ROLLBACK
ok 'the supervisor records the end when the store is unlocked' wait_for 30 job_is "$job" "done"
settle 20 'the supervisor leaves'
exact 'the job beside the lock has exactly its samples' "$job" 800
sound 'all is well after the lock'
finish
