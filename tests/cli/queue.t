#!/bin/sh
# queue.t - processes that wait for the store: a stopped one at the head of the queue keeps nobody.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/tap.sh"
cleanup() { kill -KILL "$head" 2>/dev/null; }

"$POLLUX" submit -q --hold -- true >/dev/null
hold_store
"$POLLUX" submit -q --hold -- true >/dev/null 3>&- &
head=$!
is_queued() { find "/proc/$1/fd" -lname '*/pollux.db-queue' | grep -q .; }
ok 'a process is at the head of the queue' wait_for 20 is_queued "$head"
kill -STOP "$head"
is_stopped() { grep -q '^State:.T' "/proc/$head/status"; }
ok 'the process at the head is stopped' wait_for 5 is_stopped
"$POLLUX" submit -q --hold -- true >/dev/null 3>&- &
second=$!
ok 'another process is behind the head' wait_for 20 is_queued "$second"
let_store_go ROLLBACK
has_two() { [ "$(store 'SELECT count(*) FROM jobs')" = 2 ]; }
ok 'the process behind a stopped head writes' wait_for 3 has_two
status 'the process behind a stopped head ends' 0 wait "$second"
kill -CONT "$head"
wait "$head"
is 'the head writes when it goes on' 3 "$(store 'SELECT count(*) FROM jobs')"

# --- a store that cannot be opened is not damaged ---
mv "$POLLUX_DIR" away
mkdir -p "$POLLUX_DIR/pollux.db"
status 'a directory in place of the store is not repaired' 73 "$POLLUX" doctor --repair
ok 'a directory in place of the store is not renamed' test -d "$POLLUX_DIR/pollux.db"
finish
