#!/bin/sh
# brief.t - a job that takes at most a slice is soon through, also beside jobs of more weight, and
# many of them have no more than a tenth of the device time.
# shellcheck disable=SC2154,SC2317 # variables and functions used by name
. "$(dirname "$0")/tap.sh"
unset POLLUX_POLICY
POLLUX_SLOTS=1 POLLUX_SLICE=5
export POLLUX_SLOTS POLLUX_SLICE

cleanup() {
	end_passes
	end_jobs
}

for _ in 1 2 3; do
	"$POLLUX" submit -q --weight 1000 --workload sweep -- sleep 1000 >/dev/null
done
watch_passes 0.3
ok 'a job of the sweep has the only slot' wait_for 20 holds \
	"count(*) = 1 FROM runs WHERE state = 'running'"

other=$("$POLLUX" submit -q -t 60s --workload other -- sleep 0.1)
id=$("$POLLUX" submit -q -t 5s --workload debug -- sleep 0.1)
ok 'a job of at most a slice starts beside a sweep of more weight' wait_for 60 holds \
	"start_time_s IS NOT NULL FROM jobs WHERE id = $id"
"$POLLUX" wait --timeout 100 "$id"
is 'a job that may take longer waits' queued "$(store "SELECT state FROM jobs WHERE id = $other")"

# Of 60 slices of 5 s, 30 s are for them: six that last 5 s each, or fewer.
for _ in $(seq 20); do
	"$POLLUX" submit -q -t 5s --workload many -- sleep 100 >/dev/null
done
many="workload = 'many' AND start_time_s IS NOT NULL"
ok 'many such jobs start one after the other' wait_for 120 holds \
	"count(*) >= 4 FROM jobs WHERE $many"
ok 'then the sweep goes on, and one that waits has its turn by its worth' wait_for 60 holds \
	"count(*) = 1 FROM jobs j JOIN runs r ON r.job_id = j.id
	WHERE j.workload = 'sweep' AND r.state = 'running' AND r.suspension = 'none'"
sleep 15
is 'no more than a tenth of the device time of 60 slices was for them' 1 "$(store "SELECT
	coalesce(sum(attained_service_device_s), 0) <= 40 AND count(*) < 9 FROM jobs WHERE $many")"
finish
