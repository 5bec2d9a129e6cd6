#!/bin/sh
# slow-stop.t - a job that takes several slices to stop. The job that is to have its devices next
# keeps them until it is launched, and for a slice from then on, whichever job comes meanwhile.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_POLICY
POLLUX_SLOTS=1
POLLUX_SLICE=1
export POLLUX_SLOTS POLLUX_SLICE

query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
holds() { [ "$(query "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
passes_until() { "$POLLUX" schedule && holds "$1"; } # passes_until CONDITION
cleanup() { touch "$TMP/saved"; end_jobs; }

# It is done with saving when the file is there.
cat >slow <<'END'
trap 'while [ ! -e saved ]; do sleep 0.1; done; exit 75' TERM
: >ready
while :; do sleep 0.1; done
END
cat >quick <<'END'
trap 'exit 75' TERM
while :; do sleep 0.1; done
END
"$POLLUX" submit -q --preempt --grace 1h -- sh slow >/dev/null
ok 'a job that is slow to stop runs' wait_for 20 passes_until "state = 'running' AND job_id = 1"
wait_for 20 [ -e ready ] # else the signal comes before its trap
"$POLLUX" submit -q --preempt -w 4 -- sh quick >/dev/null
ok 'the slow job is stopped for another when its slice is over' wait_for 20 passes_until \
	"state = 'assigned' AND job_id = 2"
# One that would come before both, were it asked now.
"$POLLUX" submit -q --preempt -w 500 -- sh quick >/dev/null
sleep 2
"$POLLUX" schedule
"$POLLUX" schedule
is 'the devices stay reserved for that job, two slices later' '1|preempt 2|none' \
	"$(query "SELECT job_id, ifnull(stop_reason, 'none') FROM runs WHERE state <> 'ended'
		ORDER BY id" | xargs)"
touch saved
ok 'that job is launched when the devices are free' \
	wait_for 20 holds "state = 'running' AND job_id = 2"
ok 'that job gives the devices up when its own slice is over' wait_for 20 passes_until \
	"state = 'running' AND job_id = 3"
is 'no run was called off' 0 "$(query "SELECT count(*) FROM runs WHERE outcome = 'not-started'")"
is 'each job ran once' '1|1 2|1 3|1' \
	"$(query 'SELECT job_id, count(*) FROM runs GROUP BY job_id' | xargs)"
is 'the second job ran for a first slice at least' 1 \
	"$(query "SELECT stop_boot_s - launch_boot_s >= 0.3 * $POLLUX_SLICE
		FROM runs WHERE job_id = 2")"

# A pass that began before the launch of a run, and reads of it, does not take it for one of another
# day. The store's write lock keeps it in between. Job 4 would be the one to run. The pass that an
# earlier run ended with is over by then: it would keep the lock of passes.
others_are_gone() {
	for pid in $(supervisors_alive); do
		tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q 'supervise 3 $' || return
	done
}
"$POLLUX" submit -q --preempt -w 1000 -- sh quick >/dev/null
ok 'only the third job is at work' wait_for 20 others_are_gone
hold_store
POLLUX_SLICE=1000 "$POLLUX" schedule &
pass=$!
ok 'a pass waits for the store' wait_for 20 has_schedule_lock "$pass"
sleep 0.5
let_store_go "$(run_sql all if state=running \
	launch_boot_s="$(cut -d ' ' -f 1 /proc/uptime)") COMMIT"
wait "$pass"
is 'a run launched meanwhile has its slice' '3|none' \
	"$(query "SELECT job_id, ifnull(stop_reason, 'none') FROM runs WHERE state <> 'ended'")"
finish
