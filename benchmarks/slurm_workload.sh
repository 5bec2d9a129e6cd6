#!/bin/sh
# slurm_workload.sh [POLICY...] - the first JOBS jobs (default 80) of the published workload 6 on a
# real Slurm of 16 nodes of 4 GPUs on this machine, time divided by 200, beside the simulator.
#
# Programs sleep and take steps by the published profiles (profile_trainer.c). Restarts and passes
# are not divided: they take what they take here, which is measured. Printed in seconds of the
# workload, for each policy (default fifo and goodput): the mean and the 99th percentile of the
# completion times, when the last job ended, and relaunches. Then the simulator's for the same jobs:
# with restarts and intervals as published, and with a restart as long as it was here and an
# interval of a second, as passes come here. A run takes three to four minutes. Must be started by
# root: Slurm is.
#
#	JOBS=20 benchmarks/slurm_workload.sh goodput
#	KEEP=/tmp/kept ...			# keep the stores there
# shellcheck disable=SC2317  # functions run by wait_for
set -eu
ROOT=$(cd "$(dirname "$0")/.." && pwd)
POLLUX=${POLLUX:-$ROOT/build/pollux}
trainer=${TRAINER:-$ROOT/build/benchmarks/profile_trainer}
data=${POLLUX_DATA:-$ROOT/../shared/data/pollux-osdi21}
jobs=${JOBS-80} speed=200
limit_s=$((jobs * 6))
if [ ! -f "$data/EXPECTED.csv" ]; then
	echo "# SKIP slurm_workload.sh: the published workloads are not in $data" \
		"(POLLUX_DATA says where they are)"
	exit 0
fi
data=$(cd "$data" && pwd)
TMP=$(mktemp -d "${TMPDIR:-/tmp}/pollux-slurm.XXXXXX")
export POLLUX_DIR="$TMP/store" NO_COLOR=1 LC_ALL=C
unset POLLUX_POLICY POLLUX_SLOTS POLLUX_SLICE SLURM_JOB_ID
TIME_SCALE=5
skip_all() { echo "slurm_workload.sh: $*" >&2; exit 0; }
wait_for() { # wait_for SECONDS COMMAND...
	limit=$(($(date +%s) + TIME_SCALE * $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $limit ] || return 1
		sleep 0.05
	done
}
# shellcheck source=tests/cli/slurm.sh
. "$ROOT/tests/cli/slurm.sh"
watcher=
trap '[ -z "$watcher" ] || kill "$watcher" 2>/dev/null; slurm_down; rm -rf "$TMP"' EXIT
trap 'exit 1' HUP INT TERM
slurm_or_skip
chmod 755 "$TMP"

now() { date +%s.%N; }
store() { sqlite3 -separator ' ' -cmd '.timeout 20000' "$POLLUX_DIR/pollux.db" "$1"; }
head -n $((jobs + 1)) "$data/workloads/workload-6.csv" >"$TMP/workload.csv"

for application in bert cifar10 deepspeech2 imagenet ncf yolov3; do
	echo "$application $("$trainer" "$data/profiles" $application)"
done >"$TMP/limits"

# submit POLICY APPLICATION REPLICAS BATCH
submit() {
	application=$2
	# shellcheck disable=SC2046  # four numbers: the trainer says which
	set -- "$1" "$3" "$4" $(sed -n "s/^$application //p" "$TMP/limits")
	if [ "$1" != goodput ]; then
		set -- -r "$2" -b "$3" --max-local-batch "$6"
	elif [ "$7" != 0 ]; then
		set -- -r 1 -b "$7"
	else
		set -- -r 1:64 -b "$4" --batch-range "$4:$5" --max-local-batch "$6"
	fi
	"$POLLUX" submit -q --preempt --accumulate --workload "$application" "$@" -- \
		"$trainer" "$data/profiles" "$application" "$speed" '{checkpoint}' </dev/null
}

play() { # play POLICY: submits the jobs when their times have come
	begin=$(now)
	tail -n +2 "$TMP/workload.csv" |
		while IFS=, read -r name time application replicas batch; do
			sleep "$(awk -v b="$begin" -v t="$time" -v speed="$speed" -v n="$(now)" \
				'BEGIN { s = b + t / speed - n; print (s > 0 ? s : 0) }')"
			submit "$1" "$application" "$replicas" "$batch"
			: "$name"
		done >/dev/null
}
unfinished() { store "SELECT count(*) FROM jobs WHERE end_time_s IS NULL"; }

report() { # report POLICY
	store "SELECT (end_time_s - submit_time_s) * $speed FROM jobs
		WHERE state = 'done'" | sort -n >"$TMP/times"
	last=$(store "SELECT (max(end_time_s) - min(submit_time_s)) * $speed FROM jobs")
	relaunches=$(store "SELECT count(*) FROM runs WHERE number > 1")
	start_s=$(store "SELECT avg(launch_time_s - assigned_time_s + first_step_s) FROM runs
		WHERE first_step_s IS NOT NULL")
	stop_s=$(store "SELECT coalesce(avg(stop_duration_s), 0) FROM runs
		WHERE outcome = 'stopped'")
	awk -v name="$1, here" -v last="$last" -v relaunches="$relaunches" '
		{ v[NR] = $1; sum += $1 }
		END { at = 1 + 0.99 * (NR - 1); i = int(at)
			p99 = i < NR ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[NR]
			printf "%-30s %8.0f %8.0f %9.0f %11d\n", name, sum / NR, p99, last,
				relaunches }' "$TMP/times"
}

simulated() { # simulated POLICY NAME RESTART INTERVAL
	"$POLLUX" simulate --profiles "$data/profiles" -w "$TMP/workload.csv" -p "$1" -k shared \
		--restart-delay "$3" --interval "$4" --json 2>/dev/null |
		NAME="$1, $2" perl -MJSON::PP -0777 -ne 'my $d = JSON::PP->new->decode($_);
			printf "%-30s %8.0f %8.0f %9.0f %11d\n", $ENV{NAME}, @$d{qw(avg_jct_s
				p99_jct_s makespan_s restarts)}'
}

printf '%-30s %8s %8s %9s %11s\n' "$jobs jobs, s of the workload" mean p99 'last end' relaunches
[ $# -gt 0 ] || set -- fifo goodput
for policy; do
	rm -rf "$POLLUX_DIR" "$SLURM"
	slurm_up 16 4 >&2
	mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
	printf 'engine = slurm\nsubmit_pass = no\nslice = 3s\npolicy = %s\n' "$policy" \
		>"$POLLUX_DIR/config"
	"$POLLUX" status >/dev/null
	"$POLLUX" schedule --watch 1 >"$TMP/watch.log" 2>&1 &
	watcher=$!
	play "$policy"
	over() { [ "$(unfinished)" = 0 ]; }
	TIME_SCALE=1 wait_for $limit_s over ||
		echo "$policy: $(unfinished) jobs had not ended after $limit_s s"
	kill "$watcher"
	wait "$watcher" 2>/dev/null || :
	watcher=
	[ -z "${KEEP-}" ] || { mkdir -p "$KEEP" && rm -rf "${KEEP:?}/$policy" &&
		cp -r "$POLLUX_DIR" "$KEEP/$policy"; }
	report "$policy"
	failed=$(store "SELECT count(*) FROM jobs WHERE state NOT IN ('done', 'running', 'queued')")
	[ "$failed" = 0 ] || echo "$policy: $failed jobs failed"
	restart=$(awk -v a="$start_s" -v b="$stop_s" -v speed=$speed \
		'BEGIN { printf "%.0f", (a + b) * speed }')
	simulated "$policy" 'simulated as published' 30 60
	simulated "$policy" "simulated, restart $restart" "$restart" $speed
	slurm_down || :
done
