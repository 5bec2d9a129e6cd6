#!/bin/sh
# backup.t - pollux backup: whole or not at all, while others write, and good for a store.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"
cleanup() { end_jobs; }

status 'backup refuses to copy a store that does not exist' 66 "$POLLUX" backup copy
status 'backup makes neither a copy nor a store where there is none' 2 \
	ls copy "$POLLUX_DIR/pollux.db"
"$POLLUX" submit --name first -- true
"$POLLUX" submit --name second -- sh -c 'echo ran'

status 'backup makes a copy' 0 "$POLLUX" backup copy
is 'backup prints nothing into a pipe' '' "$out$err"
is 'only its owner may read the copy' 600 "$(stat -c %a copy)"
is 'backup leaves no other file beside the copy' copy "$(echo copy*)"
is 'the copy is sound' ok "$(sqlite3 copy 'PRAGMA integrity_check')"
is 'the copy has the jobs' 'first second' "$(sqlite3 copy 'SELECT name FROM jobs' | xargs)"
is 'the copy lets others read while one writes' wal "$(sqlite3 copy 'PRAGMA journal_mode')"

# --- while another process writes ---
hold_store
status 'backup makes a copy while the store is locked' 0 "$POLLUX" backup copy
let_store_go ROLLBACK
(for i in 1 2 3 4 5 6 7 8 9 10; do "$POLLUX" submit --hold -q -- true; done) &
for i in 1 2 3; do "$POLLUX" backup "busy$i" || echo "$i" >>failed; done
wait $!
is 'copies made while jobs are submitted are sound' 'ok ok ok' \
	"$(for i in 1 2 3; do sqlite3 "busy$i" 'PRAGMA integrity_check'; done | xargs)"
is 'backup succeeds each time while jobs are submitted' '' "$(cat failed 2>/dev/null)"

# --- refused ---
cp copy before
status 'backup refuses to go without FILE' 64 "$POLLUX" backup
status 'backup refuses two files' 64 "$POLLUX" backup copy other
status 'backup refuses an empty name' 64 "$POLLUX" backup ''
status 'backup refuses a directory as FILE' 73 "$POLLUX" backup .
is 'backup says that FILE is a directory' "pollux: '.' is a directory" "$err"
mkfifo fifo
status 'backup refuses a FIFO as FILE' 73 timeout 20 "$POLLUX" backup fifo
status 'backup refuses a FILE in a directory that does not exist' 73 "$POLLUX" backup none/such
status 'backup refuses the store itself as FILE' 64 "$POLLUX" backup "$POLLUX_DIR/pollux.db"
is 'backup says that FILE is the store itself' \
	"pollux: '$POLLUX_DIR/pollux.db' is the store itself" "$err"
ln -s "$POLLUX_DIR/pollux.db" link
status 'backup refuses a link to the store as FILE' 64 "$POLLUX" backup link
POLLUX_DIR=$TMP/other "$POLLUX" submit -- true >/dev/null
status 'backup refuses another store as FILE' 64 "$POLLUX" backup other/pollux.db
like 'backup says that FILE is a store in use' "^pollux: 'other/pollux.db' is a store in use" "$err"
is 'the other store is as it was' 1 "$(POLLUX_DIR=$TMP/other "$POLLUX" status | grep -c true)"

# --- a damaged store ---
sqlite3 "$POLLUX_DIR/pollux.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
mkdir bad
cp "$POLLUX_DIR/pollux.db" bad/
root=$(sqlite3 bad/pollux.db "SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'")
dd if=/dev/urandom of=bad/pollux.db bs=4096 seek=$((root - 1)) count=1 conv=notrunc 2>/dev/null
status 'backup refuses to copy a damaged store' 65 env POLLUX_DIR="$TMP/bad" "$POLLUX" backup copy
ok 'the last copy is as it was after a backup that failed' cmp copy before
is 'a backup that failed leaves nothing beside the last copy' copy "$(echo copy*)"

# --- in the place of the store ---
wait_for 5 no_supervisor
rm -f "$POLLUX_DIR"/pollux.db-wal "$POLLUX_DIR"/pollux.db-shm
cp copy "$POLLUX_DIR/pollux.db"
"$POLLUX" schedule
status 'the jobs of a copy run in the place of the store' 0 "$POLLUX" wait --timeout 600 1 2
is 'the jobs of a copy run their own commands' 1 "$("$POLLUX" log 2 | grep -c '^ran$')"
is 'a job can be submitted to a copy in the place of the store' 3 \
	"$("$POLLUX" submit --hold -- true)"
finish
