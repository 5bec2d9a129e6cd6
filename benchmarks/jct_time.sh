#!/bin/sh
# jct_time.sh STORE - where the time of each job of a kept store went, in seconds.
#
#	JCT_DIR=/tmp/jct JCT_PYTHON=venv/bin/python benchmarks/jct.sh fifo goodput
#	benchmarks/jct_time.sh /tmp/jct/goodput/store
#
# waited: without devices and without a process. start: from launches to first steps. redone: work
# that was lost. core: processor time, and its share of the running time, which tells what other
# programs took. The last lines are bounds: the same arrivals and running times on two slots, known
# in advance, in the order of arrival and the shortest remainder first.
set -eu

if [ $# -ne 1 ] || [ ! -e "$1/pollux.db" ]; then
	echo "usage: jct_time.sh STORE" >&2
	exit 2
fi

sqlite3 -separator '	' "$1/pollux.db" "
	SELECT j.name, j.submit_time_s - (SELECT min(submit_time_s) FROM jobs),
		j.end_time_s - j.submit_time_s, sum(r.duration_s), sum(coalesce(r.first_step_s, 0)),
		sum(r.suspended_s), j.lost_s, sum(coalesce(r.cpu_time_s, 0)), j.batch_size,
		(SELECT max(o.local_batch_size) FROM observations o JOIN runs q ON q.id = o.run_id
			WHERE q.job_id = j.id), j.samples / 1000
	FROM jobs j JOIN runs r ON r.job_id = j.id WHERE j.end_time_s IS NOT NULL
	GROUP BY j.id ORDER BY j.id" | awk -F '\t' '
	# The mean completion time on two slots in steps of 0.1 s; by length, or as they came.
	function mean(shortest,   i, k, t, n, first, left, sum, ran) {
		for (i = 1; i <= NR; i++) left[i] = run[i]
		for (t = 0; n < NR; t += 0.1) {
			split("", ran)
			for (k = 0; k < 2; k++) {
				first = 0
				for (i = 1; i <= NR; i++) {
					if (left[i] <= 0 || at[i] > t || i in ran) continue
					if (!first || (shortest && left[i] < left[first])) first = i
				}
				if (!first) break
				ran[first]
				left[first] -= 0.1
				if (left[first] <= 0) { n++; sum += t + 0.1 - at[first] }
			}
		}
		return sum / NR
	}
	BEGIN {
		printf "%-10s %7s %7s %7s %7s %9s %7s %7s %6s %11s %9s\n", "job", "ends", "waited",
			"start", "trains", "suspended", "redone", "core", "share", "batch",
			"samples,k"
	}
	{
		at[NR] = $2; run[NR] = $4
		wait = $3 - $4 - $6
		printf "%-10s %7.1f %7.1f %7.1f %7.1f %9.1f %7.1f %7.1f %5.0f%% %11s %9d\n", $1,
			$3, wait, $5, $4 - $5, $6, $7, $8, 100 * $8 / $4, $9 " to " $10, $11
		jct += $3; waited += wait; start += $5; trains += $4 - $5; suspended += $6
		redone += $7; core += $8; running += $4
	}
	END {
		if (!NR) exit
		printf "%-10s %7.1f %7.1f %7.1f %7.1f %9.1f %7.1f %7.1f %5.0f%%\n", "mean",
			jct / NR, waited / NR, start / NR, trains / NR, suspended / NR, redone / NR,
			core / NR, 100 * core / running
		print ""
		printf "Mean of these running times in the order of arrival: %.1f s\n", mean(0)
		printf "Mean of these, the shortest remainder first: %.1f s\n", mean(1)
	}'
