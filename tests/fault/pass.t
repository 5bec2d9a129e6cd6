#!/bin/sh
# pass.t - a scheduling pass, or another command, killed with SIGKILL at each call
# that matters, and at random moments while jobs run, end and are preempted. The
# next pass brings decision and reality together: no job is lost, none runs twice.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

restore() { # restore TEMPLATE: the store and the witnesses' ledger
	rm -rf "$POLLUX_DIR" "$WITNESS"
	cp -a "$1/store" "$POLLUX_DIR"
	cp -a "$1/witness" "$WITNESS"
}
keep() { # keep TEMPLATE
	mkdir "$1"
	cp -a "$POLLUX_DIR" "$1/store"
	cp -a "$WITNESS" "$1/witness"
}

# --- submit: the job is there in full, or not at all --------------------------------

submit_round() { # submit_round CALL
	rm -rf "$POLLUX_DIR"
	round_rc=0
	killat -n "$1" "$POLLUX" submit -q -- true >number 2>/dev/null || round_rc=$?
	note_unsound "submit killed at call $1" "$(
		query "SELECT 'job ' || id || ' has no command' FROM jobs
			WHERE id NOT IN (SELECT job_id FROM commands)" 2>/dev/null
		told=$(cat number)
		[ -z "$told" ] || query "SELECT 'job $told is not there' WHERE NOT EXISTS
			(SELECT 1 FROM jobs WHERE id = $told)"
		last=$("$POLLUX" submit -q --hold -- true 2>&1)
		[ "$last" = 1 ] || [ "$last" = 2 ] || echo "the next submit says $last"
		given_job all state=held
	)"
	return "$round_rc"
}
each_call 'submit, on a store it has to make,' true submit_round

# --- a pass: at each of its calls ------------------------------------------------------

# A store in which a pass has everything to do: jobs to start, one that waits for
# another, one that never can run, one cut off by a reboot, and one that died with
# its supervisor.
pass_prepare() {
	reboot=$(submit -- "$work" -n 100000)
	gone=$(submit -- "$work" -n 100000)
	pass
	# A single position does not tell where a run began, nor what a reboot made it lose.
	wait_for 10 logged "$gone" 'step 20 ' && wait_for 10 logged "$reboot" 'step 20 ' &&
		wait_for 10 query_is 2 "SELECT count(DISTINCT job_id) FROM runs
			WHERE state = 'running' AND last_samples > first_samples" || return 1
	kill_all
	query "SELECT '# run ' || id || ' of job ' || job_id || ' ' || state || ' at ' ||
		coalesce(last_samples, '-') FROM runs"
	done_by_both=$(cat "$POLLUX_DIR"/logs/*.log | sed -n 's/^step \([0-9]*\) .*/\1/p' |
		sort -n | tail -n 1)
	broken_runs="$reboot:1 $gone:1"
	given_run "$reboot" boot_id=another
	replaced_in_command all 100000 50
	first=$(submit -- "$work" -n 50)
	after=$(submit --after "ok:$first" -- "$work" -n 50)
	never=$(submit -- false)
	given_job "$never" state=failed end_time_s=0
	never=$(submit --after "ok:$never" -- "$work" -n 50)
	mkdir template && cp -a "$POLLUX_DIR" "$WITNESS" template
}
pass_round() { # pass_round CALL
	rm -rf "$POLLUX_DIR" "$WITNESS"
	cp -a template/store template/witness .
	round_rc=0
	killat -n "$1" "$POLLUX" schedule || round_rc=$?
	settled 20 || echo "# call $1: the jobs did not end"
	note_unsound "pass killed at call $1" \
		"$(inexact 50 "id IN ($first, $after)")$(
		query "SELECT 'job ' || id || ' is ' || state || ' at ' || samples || ', lost ' ||
			lost_samples FROM jobs WHERE id IN ($reboot, $gone) AND (state <> 'done' OR
			samples <> 50 OR lost_samples NOT BETWEEN 1 AND $done_by_both)")$(
		query "SELECT 'job ' || id || ' is ' || state FROM jobs WHERE id = $never
			AND state <> 'cancelled'")"
	return "$round_rc"
}
each_call 'a pass with everything to do' pass_prepare pass_round

# --- passes at random moments, while jobs run, end and are preempted ---------------------

rm -rf "$POLLUX_DIR" "$WITNESS/ledger"
: >"$WITNESS/ledger"
broken_runs=
submit -q -- "$work" -n 150 -s 15 >/dev/null
# The moments are spread over the time that a pass takes on this machine just now: the span shrinks
# when a pass ends before its moment comes, and grows when a pass is killed.
span_us=20000
killed=0
round=0
random_numbers $((FAULT_ROUNDS * 20)) 1000 >thousandths
while read -r thousandth && [ "$killed" -lt "$FAULT_ROUNDS" ]; do
	round=$((round + 1))
	[ "$(active)" -ge 4 ] || submit -q -- "$work" -n 150 -s 15 >/dev/null
	rc=0
	"$FAULT/killat" -u $((span_us * thousandth / 1000)) "$POLLUX" schedule || rc=$?
	if [ "$rc" = 137 ]; then killed=$((killed + 1)) span_us=$((span_us * 5 / 4))
	else span_us=$((span_us * 3 / 4 + 1000)); fi
	pass
done <thousandths
is 'passes are killed at random moments' "$FAULT_ROUNDS" "$killed"
settle 60 'every job ends'
sound 'no job was lost or ran twice'
is 'each job has exactly its samples' '' "$(inexact 150 1)"
ok 'some jobs were preempted meanwhile' query_is 1 \
	"SELECT sum(preemptions) > $((FAULT_ROUNDS / 40)) FROM jobs"
echo "# $round passes, $(query 'SELECT count(*), sum(runs), sum(preemptions) FROM jobs' |
	sed 's/\(.*\)|\(.*\)|\(.*\)/\1 jobs, \2 runs, \3 preemptions/')"
finish
