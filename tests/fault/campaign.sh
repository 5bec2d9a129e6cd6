# campaign.sh - what campaigns of random kills share (chaos.t, month): who is killed, and what has
# to be undone now and then so that all jobs end. Sourced after fault.sh. A campaign may define
# count_kill KIND, which is called for each process that got its signal.
# shellcheck shell=sh
count_kill() { :; }
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
	query "UPDATE runs SET end_boot_s = end_boot_s - 1000 WHERE outcome IN ('failed', 'lost')
		AND end_boot_s > launch_boot_s"
	held=$(query "SELECT id FROM jobs WHERE state = 'held'")
	# shellcheck disable=SC2086  # several
	[ -z "$held" ] || "$POLLUX" release $held >/dev/null 2>&1
}
