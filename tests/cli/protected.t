#!/bin/sh
# protected.t - a process of a job that may not be signalled, as a program that runs as root, is
# named with its owner, or as one that is not visible where /proc hides it (hidepid). Needs root, to
# make such a program for another user's job.
# shellcheck disable=SC2317 # functions called by name
self=$(readlink -f "$0")
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
# As another user sees it: /proc of this machine may hide it.
if $drop test -e "/proc/$pid/stat"; then
	is_named="process $pid \\(sleep\\) belongs to root and may not be signalled"
else
	is_named="process $pid of another user, which is not visible here, is still alive"
fi
echo "# named: $is_named"
ok 'status names the process and its owner' wait_for 20 says "$is_named"
like 'status ID names the process and its owner' \
	"$is_named" "$($drop "$POLLUX" status 1 | tr -s '\n ' ' ')"
like 'the log of supervisors names the process and its owner' \
	"$is_named" "$(cat store/supervisor.log)"
beyond() { says 'stopping to be cancelled, for .*, beyond its grace of 0s'; }
ok 'the reason tells that the grace is over' wait_for 20 beyond
kill -9 "$pid"
$drop "$POLLUX" wait --timeout 600 1 2>/dev/null
like 'the job ends when the process is gone' '^ *1 .*cancelled' "$($drop "$POLLUX" status --all)"

# A child of the job's first process: when that is gone, nothing of the job is to be seen.
$drop "$POLLUX" submit -q --grace 0 -- \
	sh -c "$TMP/protected --reuid=0 sleep $time & wait" >/dev/null
$drop "$POLLUX" schedule
ok 'a job has a child that became root' wait_for 10 runs_as_root
find_protected
$drop "$POLLUX" cancel 2
like 'the job does not end before that child has, which status names' 'stopping .*process' \
	"$(wait_for 20 says "process $pid " && $drop "$POLLUX" status | grep ' 2 ')"
kill -9 "$pid"
$drop "$POLLUX" wait --timeout 600 2 2>/dev/null
like 'the job ends with that child' '^ *2 .*cancelled' "$($drop "$POLLUX" status --all)"

# A program of the job that became root reports, and is believed as others are.
$drop "$POLLUX" submit -q -- "$TMP/protected" --reuid=0 sh -c \
	"until '$POLLUX' report METRIC.accuracy=0.5; do sleep 0.1; done; sleep $time" >/dev/null
$drop "$POLLUX" schedule
counts() { sqlite3 store/pollux.db 'SELECT last FROM job_metrics WHERE job_id = 3' | grep -q 0.5; }
ok 'what a program reports that became root is taken' wait_for 20 counts
wait_for 20 find_protected && kill -9 "$pid"
$drop "$POLLUX" wait --timeout 600 3 2>/dev/null

# --- the same where /proc hides the processes of others ---------------------------

if [ -z "$HIDDEN" ] && unshare -m -p -f --mount-proc mount -o remount,hidepid=2 /proc 2>/dev/null
then
	HIDDEN=1 unshare -m -p -f --mount-proc sh -c "mount -o remount,hidepid=2 /proc &&
		exec sh '$self'" >"$TMP/hidden.out" 2>&1
	is 'the whole test passes with hidepid=2 as well' \
		0 "$?" || sed 's/^/# /' "$TMP/hidden.out"
	like 'status says that hidepid=2 hides the process' 'not visible here' "$(grep '^# named' \
		"$TMP/hidden.out")"
fi
finish
