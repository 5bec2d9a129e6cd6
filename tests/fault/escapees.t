#!/bin/sh
# escapees.t - a process that forked twice, left the session, dropped its environment and closed its
# files belongs to its run all the same: when the supervisor is killed, it is found and ended. Once
# by the run's control group, where one can be made here, and once by the guardian.
# shellcheck disable=SC2016,SC2317 # programs of perl; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

POLLUX_POLICY=fifo
left_behind() { # the living of those that "work -l" has left behind, one line each
	while read -r pid; do
		grep -qs '^State:.[^ZX]' "/proc/$pid/status" && echo "$pid"
	done <"$WITNESS/leftovers"
}
of_run() { # of_run COLUMN JOB: of the job's last run
	query "SELECT $1 FROM runs WHERE job_id = $2 ORDER BY id DESC LIMIT 1"
}
begun() { [ "$(grep -c "^start $1 " "$WITNESS/ledger")" = "$2" ]; }
groups_left() { find "$base" -maxdepth 1 -name "$store_name-*" 2>/dev/null; } # of this store
start_escapee() { # start_escapee NAME ARGUMENT...: sets $job
	story=$1
	shift
	: >"$WITNESS/leftovers"
	job=$(submit --grace 1 -- "$work" -n 100000 -s 5 -l escapee "$@")
	pass
	ok "$story: a job runs" wait_for 10 logged "$job" 'step 5 '
	is "$story: the job has an escapee" 1 "$(left_behind | wc -l)"
}
kill_supervisor() { # kill_supervisor NAME
	kill -9 "$(of_run "$supervisor_pid" "$job")"
	broken_runs="${broken_runs-} $job:1"
	is "$1: the supervisor is killed, the escapee remains" 1 "$(left_behind | wc -l)"
}

both_ways() { # both_ways NAME
	start_escapee "$1, run again" -p 10
	kill_supervisor "$1, run again"
	replaced_in_command "$job" 100000 10
	replaced_in_command "$job" -l -p
	started_again() { pass && begun "$job" 2; }
	ok "$1: the job runs again" wait_for 20 started_again
	is "$1: nothing of the first run is beside the second" '' "$(left_behind)"
	settle 20 "$1: the second run ends"
	is "$1: the job is done" 'done' "$(query "SELECT state FROM jobs WHERE id = $job")"
	start_escapee "$1, cancelled"
	kill_supervisor "$1, cancelled"
	"$POLLUX" cancel "$job" 2>/dev/null
	ended() { pass && job_is "$job" cancelled; }
	ok "$1: the job is cancelled" wait_for 20 ended
	is "$1: nothing is left of the cancelled job" '' "$(left_behind)"
	start_escapee "$1, with both killed"
	kill_supervisor "$1, with both killed"
	kill -9 "$(of_run "$leader_pid" "$job")"
	"$POLLUX" cancel "$job" 2>/dev/null
	ok "$1: a job without leader and supervisor ends" wait_for 20 ended
	is "$1: nothing is left of the job without a supervisor" '' "$(left_behind)"
	start_escapee "$1, suspended"
	given_run "$job" suspension=asked
	ok "$1: the job is suspended" wait_for 20 query_is 1 \
		"SELECT suspension = 'suspended' FROM runs WHERE job_id = $job"
	like "$1: the escapee is stopped, too" '^State:.T' \
		"$(cat "/proc/$(left_behind)/status" 2>&1)"
	"$POLLUX" cancel "$job" 2>/dev/null
	ok "$1: the suspended job is cancelled" wait_for 20 ended
	is "$1: the escapee of the suspended job is gone" '' "$(left_behind)"
	ok "$1: no supervisor and no guardian remain" wait_for 10 nothing_alive
	sound "$1: all is well"
}

containment=$("$POLLUX" devices --json | json 'print "$d->{containment} $d->{containment_detail}"')
case $containment in
'control group '*)
	base=${containment#control group }
	like 'devices says that runs get control groups' "control group of its own in $base\.$" \
		"$("$POLLUX" devices)"
	both_ways 'control group'
	start_escapee 'the group of a run'
	group=$(of_run "substr(handle, instr(handle, ' group=') + 7,
		instr(handle, ' socket=') - instr(handle, ' group=') - 7)" "$job")
	store_name=$(basename "${group%-*}")
	like 'the group of a run has the processes of the run' \
		"^$(left_behind)$" "$(cat "$group/cgroup.procs")"
	mkdir "$group/below" # a job may make groups of its own
	"$POLLUX" cancel "$job" 2>/dev/null
	ok 'the job with a group below its own ends' wait_for 20 ended
	is 'no group remains' '' "$(groups_left)"
	mkdir "${group%-*}-999999"
	pass
	is 'a group that a run left is removed by the next pass' '' "$(groups_left)"
	;;
*) echo "# skipped: $containment" ;;
esac

POLLUX_CGROUP=none
export POLLUX_CGROUP
like 'devices says that runs get a guardian' \
	'guardian process, not a control group: POLLUX_CGROUP' "$("$POLLUX" devices)"
both_ways guardian
finish
