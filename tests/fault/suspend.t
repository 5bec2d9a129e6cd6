#!/bin/sh
# suspend.t - jobs that save nothing take turns, while their supervisors and passes are killed with
# SIGKILL: a supervisor at each of its calls from the launch through a suspension to the end, passes
# at their calls and at random moments. No job is lost, each ends with the right result, and what
# is suspended does not run.
# shellcheck disable=SC2016,SC2317 # a text for perl; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

# Counts in two processes, without a checkpoint: what is stopped begins anew.
cat >"$TMP/count" <<'END'
use strict;
my ($seed, $steps) = @ARGV;
my $child = fork // die;
my $x = $seed;
for my $i (1 .. $steps) {
	for (1 .. 500) { $x = ($x * 1103515245 + 12345) % 2147483648 }
	select undef, undef, undef, 0.01;
}
exit 0 if !$child;
waitpid $child, 0;
print "RESULT $x\n";
END
result_of() { perl "$TMP/count" "$1" "$2"; }
# Without --preempt. A job whose supervisor is killed three times in a row would be given up.
submit_count() { "$POLLUX" submit -q --retries 1000 "$@"; }

# Prints what does not hold once all jobs have ended; RESULT: of each.
astray() { # astray RESULT
	query "SELECT 'job ' || id || ' is ' || state FROM jobs WHERE state <> 'done';
		SELECT 'run ' || id || ' is ' || state FROM runs WHERE state <> 'ended';
		SELECT 'run ' || run_id || ' uses ' || device FROM run_devices WHERE in_use;
		SELECT 'run ' || id || ' took ' || duration_s || ' s, stopped for ' || suspended_s
			FROM runs WHERE duration_s < 0 OR suspended_s < 0 OR lost_s < 0 OR
			duration_s + suspended_s > end_boot_s - launch_boot_s + 0.1"
	for id in $(query 'SELECT id FROM jobs'); do
		# Twice, where its supervisor died when it was done.
		[ "$(grep '^RESULT ' "$POLLUX_DIR/logs/$id.log" | sort -u)" = "$1" ] ||
			echo "job $id: $(grep '^RESULT ' "$POLLUX_DIR/logs/$id.log" | xargs)"
	done
	find "$POLLUX_DIR/run" -name '*.sock' -o -name '[0-9]*.lock'
	[ -z "$(jobs_alive)" ] || echo "alive: $(jobs_alive | xargs)"
}
note_astray() { # note_astray ROUND RESULT
	problems=$(astray "$2")
	[ -n "$problems" ] || return 0
	bad=$((bad + 1))
	printf '%s\n' "$problems" | head -n 20 | sed "s/^/# $1: /"
}

# --- a supervisor, at each of its calls ---------------------------------------------------

# As soon as the run is at work it is asked to leave its device, and as soon as it has left, it is
# given the device again.
asked_at_once() {
	on_update suspension "NEW.suspension = 'suspended'" \
		"$(run_sql run:NEW.id suspension=resuming)"
}
prepare() {
	submit_count --hold true >/dev/null
	"$POLLUX" cancel 1
	asked_at_once
}
supervisor_round() { # supervisor_round CALL
	given_none jobs
	job=$(submit_count perl "$TMP/count" 7 5)
	killat -f -n "$SUPERVISOR_FORK" "$POLLUX" schedule
	run=$(query "SELECT id FROM runs WHERE state = 'assigned'")
	given_run "run:$run" suspension=asked
	round_rc=0
	killat -n "$1" "$POLLUX" supervise "$run" 2>>"$POLLUX_DIR/supervisor.log" || round_rc=$?
	settled 20 || echo "# call $1: job $job did not end"
	note_astray "supervisor killed at call $1" "$result"
	[ "$round_rc" = 137 ] || [ "$(query 'SELECT max(suspended_s) > 0 FROM runs')" = 1 ] ||
		echo "# call $1: it was not suspended"
	return "$round_rc"
}
result=$(result_of 7 5)
each_call 'a supervisor that suspends and resumes' prepare supervisor_round

# --- a supervisor whose run ends of a clock that went on while it was suspended -------------------

# The first run ends as if a clock were over, a later one makes its result.
cat >"$TMP/clocked" <<'END'
use strict;
my $first = ! -e "began";
open my $began, ">", "began" or die;
for my $i (1 .. ($first ? 40 : 1)) { select undef, undef, undef, 0.05 }
exit 7 if $first;
print "RESULT 1\n";
END
clocked_prepare() {
	prepare
	given_none jobs
	store 'DROP TRIGGER given'
	on_update suspension "NEW.suspension = 'suspended'" \
		"$(run_sql run:NEW.id suspension=resuming suspended_boot_s-=5)"
}
# All that such an end means is written, or nothing. The job is done, unless its supervisor was
# killed before the suspension, and the run that followed failed. Times are given.
half_written() { query "SELECT 'job ' || id || ' is ' || state FROM jobs WHERE state <> 'done'
	AND NOT EXISTS (SELECT 1 FROM runs WHERE outcome = 'failed' AND suspended_s < 1)
	UNION ALL SELECT 'run ' || run_id || ' uses ' || device FROM run_devices WHERE in_use
	UNION ALL SELECT 'the end was judged ' || ends || ' times, suspend is ' || suspend ||
	', of the workload ' || never FROM (SELECT suspend,
	(SELECT count(*) FROM runs WHERE stop_reason = 'suspension') AS ends,
	(SELECT count(*) FROM workloads WHERE never_suspend = 1) AS never FROM jobs)
	WHERE ends > 1 OR never <> ends OR (suspend = 'never') <> ends
	UNION ALL SELECT 'run ' || id || ' failed' FROM runs WHERE outcome = 'failed'
	AND suspended_s >= 1"; }
clocked_round() { # clocked_round CALL
	given_none jobs
	given_none workloads
	rm -f began
	job=$("$POLLUX" submit -q perl "$TMP/clocked")
	killat -f -n "$SUPERVISOR_FORK" "$POLLUX" schedule
	run=$(query "SELECT id FROM runs WHERE state = 'assigned'")
	given_run "run:$run" suspension=asked
	round_rc=0
	killat -n "$1" "$POLLUX" supervise "$run" 2>>"$POLLUX_DIR/supervisor.log" || round_rc=$?
	settled 20 || echo "# call $1: job $job did not end"
	problems=$(half_written)
	[ "$round_rc" = 137 ] ||
		[ "$(query "SELECT max(stop_reason = 'suspension') FROM runs")" = 1 ] ||
		problems="$problems: it was not started again for its suspension"
	[ -z "$problems" ] || bad=$((bad + 1))
	printf '%s' "$problems" | head -n 20 | sed "s/^/# killed at call $1: /"
	return "$round_rc"
}
each_call 'a supervisor whose run ends after a suspension' clocked_prepare clocked_round

# --- passes, while jobs take turns -----------------------------------------------------------

rm -rf "$POLLUX_DIR"
result=$(result_of 9 60)
turns() { query "SELECT count(*) FROM events WHERE kind IN ('suspended', 'resumed')"; }
more_jobs() {
	while [ "$(active)" -lt 4 ]; do submit_count perl "$TMP/count" 9 60 >/dev/null; done
}
# Prints the runs that are suspended, and whose processes run. What comes back meanwhile is left
# out. A run whose supervisor died is continued by the next one.
suspended() { query "SELECT id, resumed_boot_s FROM runs WHERE suspension = 'suspended'
	AND state = 'running'"; }
running_though_suspended() {
	before=$(suspended)
	for line in $before; do
		id=${line%%|*}
		grep -lzs "^POLLUX_REPORT_SOCKET=$POLLUX_DIR/run/$id.sock" /proc/[0-9]*/environ |
			sed 's,/proc/,,; s,/.*,,' | while read -r pid; do
			state=$(sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2>/dev/null) || continue
			case $state in
			T | t | '') ;;
			*)
				suspended | grep -qxF "$line" &&
					echo "run $id: process $pid is $state"
				;;
			esac
		done
	done
}
submit_count perl "$TMP/count" 9 60 >/dev/null
killed=0 unfit=''
for call in $(seq $((1 + FAULT_SEED % FAULT_STRIDE)) "$FAULT_STRIDE" 200); do
	more_jobs
	rc=0
	killat -n "$call" "$POLLUX" schedule || rc=$?
	[ "$rc" != 137 ] || killed=$((killed + 1))
	pass
	unfit=$unfit$(running_though_suspended)
	sleep 0.2
done
ok "passes are killed at their calls: $killed" [ "$killed" -gt $((40 / FAULT_STRIDE)) ]
is 'processes of a suspended job do not run' '' "$unfit"
settle 60 'every job ends after passes were killed'
is 'each job has one run with the right result' '' "$(astray "$result")$(
	query 'SELECT id FROM jobs WHERE runs <> 1')"
ok 'jobs took turns while passes were killed' [ "$(turns)" -gt $((20 / FAULT_STRIDE)) ]
echo "# $(query 'SELECT count(*) FROM jobs') jobs, $(turns) suspensions and returns"

# --- supervisors, while jobs take turns -------------------------------------------------------

rm -rf "$POLLUX_DIR"
submit_count perl "$TMP/count" 9 60 >/dev/null
pass
killed=0
for tick in $(random_numbers $((FAULT_ROUNDS / 2 + 2)) 300); do
	more_jobs
	pass
	sleep "$(printf '0.%03d' "$tick")"
	victim=$(supervisors_alive | sed -n "$((tick % 3 + 1))p")
	[ -n "$victim" ] && kill -9 "$victim" 2>/dev/null && killed=$((killed + 1))
done
ok "supervisors are killed at random moments: $killed" [ "$killed" -gt 0 ]
settle 60 'every job ends after supervisors were killed'
is 'each job has the right result after killed supervisors' '' "$(astray "$result")"

# --- a reboot while jobs are suspended --------------------------------------------------------

rm -rf "$POLLUX_DIR"
: >"$WITNESS/ledger"
# Long enough that a look at one of them finds it suspended, also on a busy machine.
result=$(result_of 9 300)
for _ in 1 2 3; do submit_count perl "$TMP/count" 9 300 >/dev/null; done
one_is_suspended() { pass && query_is 1 "SELECT count(*) > 0 FROM runs
	WHERE suspension = 'suspended'"; }
ok 'a job is suspended' wait_for 20 one_is_suspended
kill_all
given_run all boot_id=another
settle 60 'every job ends after a reboot'
is 'each job has the right result after a reboot' '' "$(astray "$result")"
finish
