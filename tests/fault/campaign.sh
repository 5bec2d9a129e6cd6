# campaign.sh - what campaigns of random kills share (chaos.t, month, slurm_month): who is killed,
# what has to be undone now and then so that all jobs end, and what the counters of the witnesses
# say in the end. Sourced after fault.sh.
# shellcheck shell=sh
count_kill() { echo "$1" >>kills; } # of a process that got its signal
killed_so_far() { wc -l <kills; }
kills_by_kind() {
	sort kills | uniq -c | sort -rn |
		awk '{ n = $1; $1 = ""; print "| &nbsp;" $0 " | " n " |" }'
}
problem() { printf '%s\n' "$1" | sed '/^$/d' >>problems; }
count_in() { grep -c "$1" "$2"; }
# Rows of "SUPERVISOR LEADER JOB:RUN"
# shellcheck disable=SC2034,SC2154  # for the campaigns; from tap.sh
running="SELECT $supervisor_pid || ' ' || $leader_pid || ' ' || job_id || ':' || number
	FROM runs WHERE state IN ('running', 'stopping') AND $leader_pid IS NOT NULL
	ORDER BY id"
one_of() { # one_of INDEX SQL: a row of the answer, or nothing
	query "$2" | awk -v i="$1" '{ row[NR] = $0 } END { if (NR) print row[i % NR + 1] }'
}
# A number read from the store may be another test's process by now.
is_of_test() { # is_of_test PID
	tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" |
		grep -qsE "^(POLLUX_DIR=$POLLUX_DIR|POLLUX_REPORT_SOCKET=$POLLUX_DIR/run/.*)$"
}
kill_process() { # kill_process SIGNAL PID [KIND]
	[ -n "$2" ] && is_of_test "$2" || return 0
	! kill "$1" "$2" 2>/dev/null || [ -z "${3-}" ] || count_kill "$3"
}
break_run() { # break_run "SUPERVISOR LEADER JOB:RUN" WHICH...: what is killed
	[ -n "$1" ] || return 0
	# shellcheck disable=SC2086  # three words
	set -- "$2" "${3-}" $1
	for which in $1 $2; do
		case $which in
		supervisor) kill_process -9 "$3" supervisor ;;
		leader)
			kill_process -9 "$4" job
			broken_runs="${broken_runs-} $5"
			;;
		# When a stopped program's parent dies, the kernel sends it SIGHUP.
		stop)
			kill_process -STOP "$4" 'job, SIGSTOP'
			broken_runs="${broken_runs-} $5"
			;;
		esac
	done
}
# What was stopped by SIGSTOP goes on, but for suspended jobs; a failed job is tried again at once;
# nobody is held.
relent() {
	for pid in $(query "SELECT $leader_pid FROM runs WHERE state <> 'ended' AND $leader_pid > 0
			AND coalesce(suspension, 'none') IN ('none', 'cannot')
			UNION SELECT $supervisor_pid FROM runs WHERE state <> 'ended'
			AND $supervisor_pid > 0"); do
		kill_process -CONT "$pid"
	done
	for outcome in failed lost; do
		given_run all if outcome=$outcome if \
			end_boot_s=@'max(end_boot_s, launch_boot_s)' end_boot_s-=1000
	done
	held=$(query "SELECT id FROM jobs WHERE state = 'held'")
	# shellcheck disable=SC2086  # several
	[ -z "$held" ] || "$POLLUX" release $held >/dev/null 2>&1
}

# --- what the witnesses say -----------------------------------------------------------------------

# Prints "JOB PROCESSED REDONE POSITION" of each counter.
counters() {
	perl -e 'for (glob "$ARGV[0]/counter-*") { open my $f, "<", $_ or next; read $f, my $b, 24;
		print join(" ", /(\d+)$/, unpack "q3", $b), "\n" }' "$WITNESS"
}
# Compares the counters with the store; prints "counted|redone job N: what was expected". The file
# `redone` gets sums: what was done again, what the store says of that, and how much more that is.
compare_counters() { # compare_counters SAMPLES INTERVAL: of a job; from one checkpoint to the next
	query "SELECT id, state, printf('%d %d', samples, lost_samples) FROM jobs" |
		tr '|' ' ' >states
	counters | awk -v total="$1" -v slack="$2" -v broken="${broken_runs-} " '
		FILENAME == "states" { state[$1] = $2; at[$1] = $3; lost[$1] = $4; next }
		!($1 in state) { next }	# pruned
		{ n = gsub(" " $1 ":", " " $1 ":", broken) }
		$2 - $3 != $4 || (state[$1] == "done" && $4 != total) {
			print "counted job " $1 ": " $2 " samples processed, " $3 \
				" of them again, to end at " $4 ", not " total }
		state[$1] == "done" && at[$1] != total {
			print "counted job " $1 ": the store is to say " total ", not " at[$1] }
		# What a killed program had saved and not told is not known to be saved. A job
		# that was cancelled after its last run failed does not do again what it lost.
		state[$1] != "cancelled" && lost[$1] > $3 + n * slack {
			print "redone job " $1 ": REDONE is to be " $3 " at most, not " lost[$1] }
		{ told += lost[$1]; truth += $3; more += lost[$1] > $3 ? lost[$1] - $3 : 0 }
		END { print truth + 0, told + 0, more + 0 >"redone" }' states -
}
history() { # history JOB: what the store and the witnesses know of the runs
	query "SELECT 'run ' || number, 'from ' || ifnull(first_samples, '-'),
		'to ' || ifnull(last_samples, '-'), 'saved ' || ifnull(checkpoint_samples, '-'),
		'lost ' || lost_samples, outcome, stop_reason, ifnull(diagnosis, '') FROM runs
		WHERE job_id = $1 ORDER BY id" | sed "s/^/# job $1: /; s/|/, /g"
	grep " $1 " "$WITNESS/ledger" | sed "s/^/# ledger: /"
}
tell_more() { # tell_more SETTING: of the jobs that are named in what was found
	# shellcheck disable=SC2154  # of tap.sh
	[ "$tap_failed" = 0 ] || echo "# all of that with $1=$FAULT_SEED; the jobs:"
	sed -n 's/.*job \([0-9][0-9]*\).*/\1/p' compared faults problems | sort -nu | head -n 5 |
		while read -r job; do history "$job"; done
}
