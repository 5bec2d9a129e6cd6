# fault.sh - what the fault tests share: jobs that are witnesses, and what must
# hold whatever was killed. A test begins with
#
#	. "$(dirname "$0")/../cli/tap.sh"
#	. "$ROOT/tests/fault/fault.sh"
#
# make(1) sets FAULT, where killat and work are. A campaign kills at every FAULT_STRIDEth call (40;
# 6 in `make check-all`, 1 in `make soak`), and at 200 / FAULT_STRIDE random moments. FAULT_SEED
# chooses the first call and the moments.
# shellcheck shell=sh
: "${FAULT:=$ROOT/build/fault}" "${FAULT_STRIDE:=40}" "${FAULT_SEED:=1}"
# shellcheck disable=SC2034  # for the tests
FAULT_ROUNDS=$((200 / FAULT_STRIDE))
WITNESS=$TMP/witness
POLLUX_SLOTS=2
POLLUX_SLICE=0.2
POLLUX_POLICY=las	# which takes turns: the most stopping and starting there can be
# A tracer is no place to look for leaks.
killat() { ASAN_OPTIONS="${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}detect_leaks=0" "$FAULT/killat" "$@"; }
work=$FAULT/work
# The first process that a pass starts lists the CPU slots; the next one is a supervisor.
# shellcheck disable=SC2034  # for the tests
SUPERVISOR_FORK=2
export WITNESS POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
mkdir "$WITNESS"
: >"$WITNESS/ledger"
echo "# FAULT_SEED=$FAULT_SEED FAULT_STRIDE=$FAULT_STRIDE"
[ -x "$work" ] || skip_all "$work is not built: make check"

# --- the store and its processes -----------------------------------------------

query() { sqlite3 -batch -cmd '.timeout 20000' "$POLLUX_DIR/pollux.db" "$1"; }
# Prints the number. A suspended job's processes would keep the witness of its device, which others
# may use then: a pass that finds a program before its signal handlers are in place suspends it.
submit() { "$POLLUX" submit --preempt --suspend never "$@"; }

# What a supervisor started, by what stands in its environment.
jobs_alive() {
	grep -lzs "^POLLUX_REPORT_SOCKET=$POLLUX_DIR/run/" /proc/[0-9]*/environ |
		sed 's,/proc/,,; s,/.*,,'
}
nothing_alive() { no_supervisor && [ -z "$(jobs_alive)" ]; }
# Supervisors are killed first, and jobs only when no supervisor is left, not even one that was just
# being started: a supervisor would record the death of its job.
killed() {
	for pid in $(supervisors_alive); do kill -9 "$pid" 2>/dev/null || :; done
	no_supervisor || return
	for pid in $(jobs_alive); do kill -9 "$pid" 2>/dev/null || :; done
	nothing_alive
}
kill_all() { wait_for 10 killed; }
cleanup() { # what a test that failed may have left, of all its stores
	for POLLUX_DIR in "$TMP/store" "$TMP"/worker-*/store; do kill_all; done
	cat "$TMP"/witness/leftovers "$TMP"/worker-*/witness/leftovers 2>/dev/null |
		while read -r pid; do
			kill -9 "$pid" 2>/dev/null || :
		done
}

query_is() { # query_is WANT SQL
	[ "$(query "$2")" = "$1" ]
}
run_is() { # run_is RUN STATE
	[ "$(query "SELECT state FROM runs WHERE id = $1")" = "$2" ]
}
job_is() { # job_is JOB STATE
	[ "$(query "SELECT state FROM jobs WHERE id = $1")" = "$2" ]
}
logged() { # logged JOB PATTERN
	grep -Eaq -e "$2" "$POLLUX_DIR/logs/$1.log"
}
active() { query "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')"; }

# Passes, as cron would run them, until every job has ended.
all_ended() {
	pass && [ "$(active)" = 0 ]
}
settled() { wait_for "$1" all_ended && wait_for 10 nothing_alive; }
settle() { # settle SECONDS NAME
	if settled "$1"; then result 0 "$2"
	else result 1 "$2" \
		"$("$POLLUX" status -a | tail -n 40; tail -n 20 "$POLLUX_DIR/supervisor.log"
		ps -o pid,ppid,sid,stat,args -p "$(supervisors_alive) $(jobs_alive) 0" 2>&1)"; fi
}

# --- what must hold ------------------------------------------------------------

# Prints what does not. Locks of the witnesses show the slightest overlap; the times in the store
# may be off by a wait for its own lock. While a run was suspended, others may have had its
# devices. The ledger: each run goes on exactly where the one before was saved. $broken_runs:
# "JOB:RUN" of those that were killed themselves, perhaps between a checkpoint and its line.
unsound() {
	query "PRAGMA integrity_check;
		PRAGMA foreign_key_check;
		SELECT 'job ' || id || ' is ' || state FROM jobs WHERE state NOT IN
			('done', 'failed', 'cancelled', 'timeout', 'held');
		SELECT 'run ' || id || ' is ' || state FROM runs WHERE state <> 'ended';
		SELECT device || ' is in use by run ' || run_id FROM run_devices WHERE in_use;
		SELECT 'run ' || id || ' took ' || duration_s || ' s, stop ' ||
		ifnull(stop_duration_s, '-') FROM runs WHERE duration_s < 0 OR stop_duration_s < 0
		OR first_step_s < 0;
		SELECT 'job ' || id || ' took ' || run_time_s || ' s' FROM jobs WHERE run_time_s < 0
			OR attained_service_device_s < 0 OR lost_s < 0 OR lost_samples < 0;
		SELECT 'job ' || id || ' counts ' || runs || ' runs, but has ' || n FROM
			(SELECT id, runs, (SELECT count(*) FROM runs r WHERE r.job_id = j.id
			AND launch_boot_s IS NOT NULL AND outcome <> 'not-started') AS n
			FROM jobs j) WHERE runs <> n;
		SELECT 'runs ' || a.id || ' and ' || b.id || ' of job ' || a.job_id || ' overlap'
			FROM runs a JOIN runs b
			ON a.job_id = b.job_id AND a.id < b.id AND a.boot_id = b.boot_id
			WHERE a.launch_boot_s < b.end_boot_s - 1
			AND b.launch_boot_s < a.end_boot_s - 1;
		SELECT printf('runs %d and %d overlap on %s: %s, %d device(s), until %.1f; %s from'
			|| ' %.1f, taken at %.1f', a.id, b.id, d.device, a.outcome, a.replicas,
			a.end_boot_s, b.outcome, b.launch_boot_s, b.assigned_boot_s)
			FROM runs a JOIN run_devices d ON d.run_id = a.id
			JOIN run_devices e ON e.device = d.device
			JOIN runs b ON b.id = e.run_id AND a.id < b.id AND a.boot_id = b.boot_id
			WHERE a.launch_boot_s < b.end_boot_s - 1
			AND b.launch_boot_s < a.end_boot_s - 1
			AND NOT EXISTS (SELECT 1 FROM events WHERE run_id IN (a.id, b.id)
			AND kind = 'suspended');" |
		sed 1s/^ok$// | grep .
	cat "$WITNESS/OVERLAP" 2>/dev/null
	awk -v broken=" ${broken_runs-} " '
		function excused(job, run) { return index(broken, " " job ":" run " ") }
		$1 == "start" {
			if ($2 in open && !excused($2, open[$2]))
				print "job " $2 " run " open[$2] " never stopped"
			if ($4 < at[$2] || ($4 > at[$2] && !excused($2, open[$2])))
				print "job " $2 " run " $3 " began at " $4 ", not " at[$2] + 0
			open[$2] = $3
		}
		$1 != "start" && open[$2] != $3 {
			print "job " $2 " run " $3 " stopped without a start"
		}
		$1 == "stop" || $1 == "done" { delete open[$2] }
		$1 != "start" { at[$2] = $4 }' "$WITNESS/ledger"
	find "$POLLUX_DIR/run" -name '*.sock' -o -name '[0-9]*.lock'
	[ -z "$(jobs_alive)" ] || echo "alive: $(jobs_alive | tr '\n' ' ')"
	[ -z "$(supervisors_alive)" ] ||
		echo "supervisors alive: $(supervisors_alive | tr '\n' ' ')"
}
sound() { # sound NAME
	problems=$(unsound)
	is "$1" '' "$problems"
}

# The same for a campaign of many rounds, which has one result.
bad=0
note_unsound() { # note_unsound ROUND [OTHER PROBLEMS]
	problems="$(unsound)${2-}"
	[ -n "$problems" ] || return 0
	bad=$((bad + 1))
	printf '%s\n' "$problems" | head -n 20 | sed "s/^/# $1: /"
}
# Prints the jobs that are not done with exactly so many samples.
inexact() { # inexact SAMPLES CONDITION
	query "SELECT 'job ' || id || ' is ' || state || ' at ' || ifnull(samples, '-') ||
		', lost ' || lost_samples FROM jobs WHERE ($2) AND
		(state <> 'done' OR samples IS NOT $1 OR lost_samples <> 0)"
}

# Jobs run by work -n: where the store says they stand, and what they say themselves.
exact() { # exact NAME JOB SAMPLES
	is "$1" "done $3 $3 0" \
		"$(query "SELECT state, printf('%d', samples) FROM jobs WHERE id = $2" |
		tr '|' ' ') $(
		awk -v job="$2" '$1 == "done" && $2 == job { print $4 }' "$WITNESS/ledger") $(
		query "SELECT printf('%d', lost_samples) FROM jobs WHERE id = $2")"
}

random_numbers() { # random_numbers COUNT MAX: integers from 0 to MAX - 1, one a line
	awk -v n="$1" -v max="$2" -v seed="$FAULT_SEED" \
		'BEGIN { srand(seed); for (i = 0; i < n; i++) print int(rand() * max) }'
}

# --- campaigns ---------------------------------------------------------------------------

# each_call NAME PREPARE ROUND: for N = 1, 2 ... run "ROUND N" until it returns something
# other than 137, that is, until a command was not killed any more at its Nth call. ROUND
# uses note_unsound. Most of the time is waiting, so there are three workers, each with a
# store and a directory of its own; "PREPARE" is run first in each. Sets $kills.
workers=3
worker() { # worker I PREPARE ROUND
	mkdir -p "$TMP/worker-$1/witness"
	cd "$TMP/worker-$1" || exit 1
	POLLUX_DIR=$PWD/store
	WITNESS=$PWD/witness
	: >"$WITNESS/ledger"
	call=$((($1 - 1) * FAULT_STRIDE + 1 + FAULT_SEED % FAULT_STRIDE)) kills=0 bad=0
	"$2" || echo "# worker $1 could not prepare"
	while :; do
		rc=0
		"$3" "$call" || rc=$?
		[ "$rc" = 137 ] || break
		kills=$((kills + 1)) call=$((call + workers * FAULT_STRIDE))
	done
	echo "$kills $bad $rc" >result
}
each_call() {
	rm -rf "$TMP"/worker-*
	for i in $(seq $workers); do worker "$i" "$2" "$3" >"$TMP/out-$i" 2>&1 & done
	wait
	for i in $(seq $workers); do head -n 50 "$TMP/out-$i"; done
	kills=$(cat "$TMP"/worker-*/result | awk '{ n += $1 } END { print n + 0 }')
	each=each
	[ "$FAULT_STRIDE" = 1 ] || each="one in $FAULT_STRIDE"
	is "$1 killed at $each of its calls: $kills kills" "$workers 0 0" \
		"$(cat "$TMP"/worker-*/result |
			awk '{ bad += $2; rc += $3 } END { print NR, bad, rc }')"
	ok "$1 was killed many times" [ "$kills" -gt $((50 / FAULT_STRIDE)) ]
}
