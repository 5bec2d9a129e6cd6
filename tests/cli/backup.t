#!/bin/sh
# backup.t - pollux backup: whole or not at all, while others write, and good for a store.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"
cleanup() { end_jobs; }

status 'without a store there is nothing to copy' 66 "$POLLUX" backup copy
status 'which makes none' 2 ls copy "$POLLUX_DIR/pollux.db"
"$POLLUX" submit --name first -- true
"$POLLUX" submit --name second -- sh -c 'echo ran'

status 'a copy' 0 "$POLLUX" backup copy
is 'nothing is printed into a pipe' '' "$out$err"
is 'only its owner may read it' 600 "$(stat -c %a copy)"
is 'nothing else is beside it' copy "$(echo copy*)"
is 'it is sound' ok "$(sqlite3 copy 'PRAGMA integrity_check')"
is 'and has the jobs' 'first second' "$(sqlite3 copy 'SELECT name FROM jobs' | xargs)"
is 'it lets others read while one writes' wal "$(sqlite3 copy 'PRAGMA journal_mode')"

# --- while another process writes ---
hold_store
status 'while the store is locked' 0 "$POLLUX" backup copy
let_store_go ROLLBACK
(for i in 1 2 3 4 5 6 7 8 9 10; do "$POLLUX" submit --hold -q -- true; done) &
for i in 1 2 3; do "$POLLUX" backup "busy$i" || echo "$i" >>failed; done
wait $!
is 'while jobs are submitted' 'ok ok ok' \
	"$(for i in 1 2 3; do sqlite3 "busy$i" 'PRAGMA integrity_check'; done | xargs)"
is 'each time' '' "$(cat failed 2>/dev/null)"

# --- refused ---
cp copy before
status 'no FILE' 64 "$POLLUX" backup
status 'two' 64 "$POLLUX" backup copy other
status 'an empty name' 64 "$POLLUX" backup ''
status 'a directory' 73 "$POLLUX" backup .
is 'is named' "pollux: '.' is a directory" "$err"
mkfifo fifo
status 'a FIFO' 73 timeout 20 "$POLLUX" backup fifo
status 'a place that is not there' 73 "$POLLUX" backup none/such
status 'the store itself' 64 "$POLLUX" backup "$POLLUX_DIR/pollux.db"
is 'is named' "pollux: '$POLLUX_DIR/pollux.db' is the store itself" "$err"
ln -s "$POLLUX_DIR/pollux.db" link
status 'also by a link' 64 "$POLLUX" backup link
POLLUX_DIR=$TMP/other "$POLLUX" submit -- true >/dev/null
status 'another store' 64 "$POLLUX" backup other/pollux.db
like 'is named' "^pollux: 'other/pollux.db' is a store in use" "$err"
is 'it is as it was' 1 "$(POLLUX_DIR=$TMP/other "$POLLUX" status | grep -c true)"

# --- a damaged store ---
sqlite3 "$POLLUX_DIR/pollux.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
mkdir bad
cp "$POLLUX_DIR/pollux.db" bad/
root=$(sqlite3 bad/pollux.db "SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'")
dd if=/dev/urandom of=bad/pollux.db bs=4096 seek=$((root - 1)) count=1 conv=notrunc 2>/dev/null
status 'of a damaged store there is no copy' 65 env POLLUX_DIR="$TMP/bad" "$POLLUX" backup copy
ok 'the last copy is as it was' cmp copy before
is 'and nothing is left beside it' copy "$(echo copy*)"

# --- in the place of the store ---
wait_for 5 no_supervisor
rm -f "$POLLUX_DIR"/pollux.db-wal "$POLLUX_DIR"/pollux.db-shm
cp copy "$POLLUX_DIR/pollux.db"
"$POLLUX" schedule
status 'its jobs run' 0 "$POLLUX" wait --timeout 600 1 2
is 'with their commands' 1 "$("$POLLUX" log 2 | grep -c '^ran$')"
is 'and a job can be submitted' 3 "$("$POLLUX" submit --hold -- true)"
finish
