#!/bin/sh
# protected.t - a process of a job that may not be signalled, as a program that runs as root, is
# named with its owner. Needs root, to make such a program for another user's job.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/tap.sh"
[ "$(id -u)" = 0 ] || skip_all 'not root'
drop='setpriv --reuid=65534 --regid=65534 --clear-groups'
chmod 755 "$TMP"
mkdir -m 777 open
cp "$(command -v setpriv)" protected
chmod 4755 protected
cd open || exit 1
POLLUX_DIR=$TMP/open/store
HOME=$TMP/open
POLLUX_SLOTS=1
export POLLUX_DIR HOME POLLUX_SLOTS
$drop "$POLLUX" status >/dev/null 2>&1 || skip_all "another user cannot run $POLLUX"
time=9$$	# of its sleep, which nobody else has
find_protected() { pid=$(pgrep -f "^sleep $time\$") && [ "$pid" ]; }
runs_as_root() { find_protected && grep -Eq '^Uid:.0.0.0.' "/proc/$pid/status"; }
cleanup() {
	! find_protected || kill -9 "$pid"
	$drop "$POLLUX" cancel 1 2>/dev/null
	$drop "$POLLUX" wait --timeout 200 1 2>/dev/null
}
says() { $drop "$POLLUX" status | grep -Eq "$1"; }
$drop "$POLLUX" submit -q --grace 0 -- "$TMP/protected" --reuid=0 sleep "$time" >/dev/null
$drop "$POLLUX" schedule
wait_for 10 runs_as_root || skip_all 'programs do not become those of their owners here'
find_protected
$drop "$POLLUX" cancel 1
ok 'status names the process and its owner' \
	wait_for 20 says "process $pid \\(sleep\\) belongs to root and may not be signalled"
like 'status ID does so too' "process $pid .sleep. belongs to root" \
	"$($drop "$POLLUX" status 1 | tr -s '\n ' ' ')"
like 'and the log of supervisors' "process $pid .* may not be signalled" \
	"$(cat store/supervisor.log)"
kill -9 "$pid"
$drop "$POLLUX" wait --timeout 600 1 2>/dev/null
like 'the job ends when that is gone' '^ *1 .*cancelled' "$($drop "$POLLUX" status --all)"
finish
