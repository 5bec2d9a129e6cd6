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

kills=0
bad=0
while :; do
	n_call=$((kills + 1))
	rm -rf "$POLLUX_DIR"
	rc=0
	killat -n "$n_call" -c calls "$POLLUX" submit -q -- true >number 2>/dev/null || rc=$?
	[ "$rc" = 137 ] || break
	kills=$n_call
	if [ "$("$POLLUX" submit -q -- true 2>&1)" = "$(query 'SELECT max(id) FROM jobs' 2>&1)" ] &&
		[ "$(query 'PRAGMA integrity_check; PRAGMA foreign_key_check;
			SELECT count(*) FROM jobs WHERE id NOT IN (SELECT job_id FROM commands)')" = "ok
0" ] && [ "$(query "SELECT count(*) BETWEEN 1 AND 2 FROM jobs")" = 1 ]; then continue; fi
	bad=$((bad + 1))
	echo "# submit killed at call $n_call: $("$POLLUX" submit -q -- true 2>&1)"
done
is 'submit, not killed in the end, succeeds' 0 "$rc"
is "submit killed at each of its $kills calls, on a store it has to make" 0 "$bad"
ok 'these were many' [ "$kills" -gt 50 ]

# --- a pass: at each of its calls ------------------------------------------------------

# A store in which a pass has everything to do: jobs to start, one that waits for
# another, one that never can run, one cut off by a reboot, one whose supervisor
# died before its command was there, and one that died with its command.
rm -rf "$POLLUX_DIR"
reboot=$(submit -- "$work" -n 100000)
gone=$(submit -- "$work" -n 100000)
pass
ok 'two jobs run' wait_for 10 logged "$gone" 'step 20 '
ok 'both of them' wait_for 10 logged "$reboot" 'step 20 '
wait_for 10 query_is 1 "SELECT count(*) = 2 FROM runs WHERE last_samples > 0"
kill_all
broken_runs="$reboot:1 $gone:1"
query "UPDATE runs SET boot_id = 'another' WHERE job_id = $reboot"
query "UPDATE commands SET argv = CAST(replace(CAST(argv AS TEXT), '100000', '50') AS BLOB)"
first=$(submit -- "$work" -n 50)
after=$(submit --after "ok:$first" -- "$work" -n 50)
never=$(submit -- false)
query "UPDATE jobs SET state = 'failed', end_time_s = 0 WHERE id = $never"
never=$(submit --after "ok:$never" -- "$work" -n 50)
keep template

kills=0
bad=0
while :; do
	n_call=$((kills + 1))
	restore template
	rc=0
	killat -n "$n_call" "$POLLUX" schedule || rc=$?
	[ "$rc" = 137 ] || break
	kills=$n_call
	settled 20 || echo "# call $n_call: the jobs did not end"
	note_unsound "call $n_call" "$(inexact 50 "id IN ($reboot, $gone, $first, $after)")$(
		query "SELECT 'job ' || id || ' is ' || state FROM jobs WHERE id = $never
			AND state <> 'cancelled'")"
done
is 'a pass, not killed in the end, succeeds' 0 "$rc"
settle 20 'and its jobs end'
sound 'as they should'
is "a pass killed at each of its $kills calls" 0 "$bad"
ok 'these were many' [ "$kills" -gt 50 ]

# --- passes at random moments, while jobs run, end and are preempted ---------------------

rm -rf "$POLLUX_DIR" "$WITNESS/ledger"
: >"$WITNESS/ledger"
broken_runs=
submit -q -- "$work" -n 60 -s 5 >/dev/null
# How long a pass takes here, in microseconds: the moments are spread over that.
start_ns=$(date +%s%N)
for _ in 1 2 3 4 5 6 7 8; do pass; done
pass_us=$((($(date +%s%N) - start_ns) / 8000))
killed=0
round=0
random_numbers $((FAULT_ROUNDS * 4)) "$pass_us" >moments
while read -r moment && [ "$killed" -lt "$FAULT_ROUNDS" ]; do
	round=$((round + 1))
	[ "$(active)" -ge 4 ] || submit -q -- "$work" -n 60 -s 5 >/dev/null
	rc=0
	"$FAULT/killat" -u "$moment" "$POLLUX" schedule || rc=$?
	[ "$rc" != 137 ] || killed=$((killed + 1))
	pass
done <moments
is "passes killed at random moments of the $pass_us us that one takes" "$FAULT_ROUNDS" "$killed"
settle 60 'every job ends'
sound 'and nothing was lost or done twice'
is 'each with exactly its samples' '' "$(inexact 60 1)"
ok 'and some were preempted meanwhile' query_is 1 'SELECT sum(preemptions) > 5 FROM jobs'
echo "# $round passes, $(query 'SELECT count(*), sum(runs), sum(preemptions) FROM jobs' |
	sed 's/\(.*\)|\(.*\)|\(.*\)/\1 jobs, \2 runs, \3 preemptions/')"
finish
