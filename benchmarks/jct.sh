#!/bin/sh
# jct.sh [POLICY...] - completion times of a stream of real training jobs on two processor slots.
#
# POLICY is one of pollux's, 'tsp' (task-spooler, one slot a job) or 'known' (goodput again, on the
# store of the goodput pass before it, so with models); default: all. Each gets the same jobs, of
# three sizes, at the same times, from an empty store. A job trains examples/train to an accuracy.
# Nothing is judged by the exit status. Takes about five minutes for each; run it on a quiet
# machine:
#
#	make bench-jct                          # all
#	JCT_DIR=/tmp/jct benchmarks/jct.sh fifo goodput     # keep the stores and logs there
#	JCT_SEED=7 ...                          # another stream, drawn from the same distributions
#	JCT_GAP_S=10 ...                        # mean gap of arrivals, not a measured one
#	JCT_PYTHON=venv/bin/python benchmarks/jct.sh fifo las tsp goodput
#
# With JCT_PYTHON, a Python that has torch, eight jobs train torch_job.py instead, a program that
# knows nothing of pollux: what adapts there is the work of the helper for PyTorch, which changes
# the batch size of its DataLoader (--torch=batch). jct_time.sh then tells where the time went.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
train=${TRAIN:-$root/build/examples/train}
data=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}
python=${JCT_PYTHON:-}
seed=${JCT_SEED:-1}
slice=10
eval_every=30000	# samples: where a job can find that it has reached its accuracy
timeout=1500		# seconds: a policy that takes longer is given up

unset POLLUX_DIR POLLUX_POLICY POLLUX_SLOTS POLLUX_SLICE XDG_CONFIG_HOME TS_ENV TS_ONFINISH
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NO_COLOR=1 LC_ALL=C
watcher='' made=''
work=${JCT_DIR:-}
[ -n "$work" ] || made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-jct.XXXXXX")
[ -n "$work" ] || work=$made
mkdir -p "$work"
work=$(cd "$work" && pwd)
export HOME="$work"	# no configuration of yours

cleanup() {
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || :
	for store in "$work"/*/store; do
		[ -e "$store/pollux.db" ] || continue
		ids=$(sqlite3 -cmd '.timeout 20000' "$store/pollux.db" \
			"SELECT id FROM jobs WHERE end_time_s IS NULL")
		# shellcheck disable=SC2086  # a list of numbers
		[ -z "$ids" ] || { POLLUX_DIR=$store "$pollux" cancel $ids &&
			POLLUX_DIR=$store "$pollux" wait --timeout 30 $ids; } >/dev/null 2>&1 || :
	done
	[ ! -S "$work/tsp/socket" ] || stop_tsp
	[ -z "$made" ] || rm -rf "$made"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

now() { date +%s.%N; }

# --- the stream ---

# Lines: name, size, arrival (s), hidden layers, batch, learning rate, samples at most, accuracy.
#
# 15 jobs in an order drawn without replacement; exponential gaps; batches as people type them, with
# a learning rate in proportion. Alone on one slot at its batch a small job took about 5 s, a medium
# one 20 s, a large one 60 s on the machine this was made on. The mean gap is the time of two small
# jobs on the present machine (10 s there): two slots are then offered a little more work than they
# can do while jobs arrive. The samples are where the cosine of the learning rate ends, and half or
# less of them is enough for the accuracy.
draw_stream() {
	small='small small small' medium='medium medium medium' large='large large'
	[ -n "$python" ] || {
		small="$small $small" medium="$medium medium medium" large="$large large large"
	}
	awk -v x="$seed" -v gap="$gap_s" -v sizes="$small $medium $large" '
	function uniform() {	# Park and Miller: the same numbers from every awk
		x = x * 16807 % 2147483647
		return x / 2147483647
	}
	BEGIN {
		shape["small"] = "320,160"; most["small"] = 500000; accuracy["small"] = 0.88
		shape["medium"] = "640,320"; most["medium"] = 800000; accuracy["medium"] = 0.89
		shape["large"] = "1024,512"; most["large"] = 1000000; accuracy["large"] = 0.897
		n = split(sizes, size, " ")
		n_batches = split("32 32 64 128", batches, " ")
		for (i = 0; i < 20; i++)
			uniform()	# small seeds begin alike
		for (i = n; i > 1; i--) {
			j = 1 + int(i * uniform())
			swap = size[i]; size[i] = size[j]; size[j] = swap
		}
		for (i = 1; i <= n; i++) {
			batch = batches[1 + int(n_batches * uniform())]
			printf "%s-%d %s %.1f %s %d %g %d %g\n", size[i], i, size[i], at,
				shape[size[i]], batch, 0.01 * batch / 32, most[size[i]],
				accuracy[size[i]]
			at += -gap * log(uniform())
		}
	}'
}

# train_job NAME HIDDEN BATCH RATE SAMPLES ACCURACY CHECKPOINT COMMAND...: COMMAND with the training
# as its last arguments. The seed is the number in the name.
train_job() {
	name=$1 hidden=$2 batch=$3 rate=$4 samples=$5 accuracy=$6 checkpoint=$7
	shift 7
	if [ -n "$python" ]; then
		"$@" "$python" "$root/benchmarks/torch_job.py" --data "$data" --hidden "$hidden" \
			--batch "$batch" --lr "$rate" --samples "$samples" --seed "${name##*-}" \
			--target-accuracy "$accuracy" --eval-every $eval_every \
			--checkpoint "$checkpoint"
		return
	fi
	"$@" "$train" --data "$data" --hidden "$hidden" --initial-batch "$batch" --lr "$rate" \
		--samples "$samples" --target-accuracy "$accuracy" --eval-every $eval_every \
		--seed "${name##*-}" --log-every 2 --checkpoint "$checkpoint"
}

# Twice the time in which two small jobs that run beside each other have both ended, s.
measure_gap() {
	begin=$(now)
	for name in gap-1 gap-2; do
		train_job $name 320,160 64 0.02 500000 0.88 "$work/$name" env >"$work/$name.log" &
	done
	wait
	rm -rf "$work"/gap-*
	awk -v b="$begin" -v n="$(now)" 'BEGIN { printf "%.1f", 2 * (n - b) }'
}

# play SUBMIT: call SUBMIT with the fields of each job when its time has come.
play() {
	begin=$(now)
	while read -r name size arrival hidden batch rate samples accuracy; do
		sleep "$(awk -v b="$begin" -v a="$arrival" -v n="$(now)" \
			'BEGIN { s = b + a - n; print (s > 0 ? s : 0) }')"
		"$1" "$name" "$size" "$hidden" "$batch" "$rate" "$samples" "$accuracy" </dev/null
	done <"$work/stream"
}

# --- under pollux ---

submit_to_pollux() {
	printf '%s\t%s\t' "$1" "$(now)"
	# The program in Python neither accumulates nor has replicas, and is not told a batch size.
	if [ -n "$python" ]; then
		set -- "$@" --torch=batch
	else
		set -- "$@" --accumulate --replicas 1:2
	fi
	name=$1 size=$2 hidden=$3 batch=$4 rate=$5 samples=$6 accuracy=$7
	shift 7
	train_job "$name" "$hidden" "$batch" "$rate" "$samples" "$accuracy" '{checkpoint}' \
		"$pollux" submit --quiet --name "$name" --workload "$size" --batch "$batch" \
		--batch-range "$batch:4096" "$@" --samples "$samples" --
}

# The line of the trainer that tells how it ended: "done samples N accuracy X steps N".
last_word() { # last_word LOG
	awk '$1 == "done" { line = $3 "\t" $5 } END { print line == "" ? "-\t-" : line }' "$1"
}

run_pollux() { # run_pollux POLICY
	export POLLUX_DIR="$dir/store" POLLUX_SLOTS=2 POLLUX_SLICE=$slice POLLUX_SUBMIT_PASS=no
	mkdir -p "$POLLUX_DIR"
	"$pollux" status >/dev/null	# makes the store
	"$pollux" schedule --watch 1 --policy "$1" >"$dir/watch.log" 2>&1 &
	watcher=$!
	play submit_to_pollux >"$dir/submitted"
	ids=$(cut -f 3 "$dir/submitted")
	# shellcheck disable=SC2086  # a list of numbers
	[ -z "$ids" ] || "$pollux" wait --timeout $timeout $ids >"$dir/wait.log" 2>&1 || :
	kill $watcher
	wait $watcher 2>/dev/null || :
	watcher=
	while IFS='	' read -r name submitted id; do
		"$pollux" log "$id" >"$dir/$name.log" 2>/dev/null </dev/null || :
		ended=$(sqlite3 -cmd '.timeout 20000' "$POLLUX_DIR/pollux.db" \
			"SELECT end_time_s FROM jobs WHERE id = $id")
		printf '%s\t%s\t%s\t%s\n' "$name" "$submitted" "${ended:--}" \
			"$(last_word "$dir/$name.log")"
	done <"$dir/submitted" >"$dir/results"
	restarts "$(echo "$ids" | xargs | tr ' ' ',')" >"$dir/restarts"
	unset POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE
}

# What relaunches cost: their number, seconds from the signal to the end and from the launch to the
# first step (the mean of their sum; the wait between is a decision, not a cost), device-seconds in
# all, samples lost, and changes of configuration that needed no relaunch.
restarts() { # restarts IDS
	sqlite3 -cmd '.timeout 20000' -separator '	' "$POLLUX_DIR/pollux.db" "
		WITH r AS (SELECT *, lag(stop_duration_s) OVER w AS stop_s,
			lag(replicas) OVER w AS had
			FROM runs WHERE job_id IN ($1) AND launch_time_s IS NOT NULL
			WINDOW w AS (PARTITION BY job_id ORDER BY number)),
		again AS (SELECT coalesce(stop_s, 0) AS stop_s,
			coalesce(first_step_s, 0) AS start_s,
			had, replicas FROM r WHERE had IS NOT NULL)
		SELECT count(*), coalesce(avg(stop_s + start_s), 0),
			coalesce(sum(stop_s * had + start_s * replicas), 0),
			(SELECT sum(lost_samples) FROM jobs WHERE id IN ($1)),
			(SELECT coalesce(sum(config_version), 0) FROM runs WHERE job_id IN ($1))
		FROM again"
}

# --- under task-spooler ---

submit_to_tsp() {
	mkdir "$dir/$1"
	printf '%s\t%s\n' "$1" "$(now)"
	# shellcheck disable=SC2016  # expanded by that sh
	train_job "$1" "$3" "$4" "$5" "$6" "$7" "$dir/$1" \
		tsp -n sh -c 'log=$0; "$@" >"$log" 2>&1; date +%s.%N >"$log.ended"' "$dir/$1.log" \
		>/dev/null
}

tsp_busy() { tsp 2>/dev/null | awk 'NR > 1 && $2 != "finished" { n++ } END { exit !n }'; }

stop_tsp() {
	export TS_SOCKET="$work/tsp/socket"
	tsp -C
	for id in $(tsp | awk '$2 == "running" || $2 == "queued" { print $1 }'); do
		tsp -r "$id" 2>/dev/null || kill -- "-$(tsp -p "$id")" 2>/dev/null || :
	done
	tsp -K
}

run_tsp() {
	command -v tsp >/dev/null || {
		echo 'jct.sh: SKIPPED: there is no tsp (package task-spooler)' >&2
		return 1
	}
	export TS_SOCKET="$dir/socket" TMPDIR="$dir"
	tsp -S 2
	play submit_to_tsp >"$dir/submitted"
	left=$timeout
	while tsp_busy && [ $left -gt 0 ]; do
		sleep 1
		left=$((left - 1))
	done
	stop_tsp
	unset TS_SOCKET TMPDIR
	while IFS='	' read -r name submitted; do
		ended=$(cat "$dir/$name.log.ended" 2>/dev/null || echo -)
		printf '%s\t%s\t%s\t%s\n' "$name" "$submitted" "$ended" \
			"$(last_word "$dir/$name.log")"
	done <"$dir/submitted" >"$dir/results"
	printf '0\t0\t0\t0\t0\n' >"$dir/restarts"
}

# --- the report ---

run_one() { # run_one POLICY: 1: not run
	dir=$work/$1
	rm -rf "$dir"
	mkdir -p "$dir"
	case $1 in
	tsp) run_tsp ;;
	known)
		[ -e "$work/goodput/store" ] || {
			echo "jct.sh: SKIPPED: 'known' needs what 'goodput' learns before it" >&2
			return 1
		}
		cp -a "$work/goodput/store" "$dir/store"
		run_pollux goodput
		;;
	*) run_pollux "$1" ;;
	esac
}

# Percentiles are interpolated between ranks (the seventh of Hyndman and Fan).
summarise() { # summarise POLICY...
	for policy; do
		sed "s/^/$policy	/" "$work/$policy/restarts"
	done >"$work/all-restarts"
	for policy; do
		sed "s/^/$policy	/" "$work/$policy/results"
	done >"$work/all-results"
	awk -F '\t' '
	FILENAME ~ /stream$/ { split($0, f, " "); target[f[1]] = f[8]; job[++n_jobs] = f[1]; next }
	FILENAME ~ /all-restarts$/ {
		policy[++n] = $1
		restarts[$1] = $2; each[$1] = $3; device_s[$1] = $4; lost[$1] = $5
		in_place[$1] = $6
		next
	}
	{
		if ($4 == "-" || $5 == "-" || $6 < target[$2]) {
			printf "NOT REACHED: %s under %s: accuracy %s after %s samples, " \
				"wanted %s\n", $2, $1, $6, $5, target[$2]
			missed = 1
		}
		if (!($1 in begin) || $3 < begin[$1]) begin[$1] = $3
		if ($4 == "-") next
		time[$1, $2] = $4 - $3
		samples[$1, $2] = $5
		sum[$1] += $4 - $3
		all[$1] += $5
		count[$1]++
		if ($4 > end[$1]) end[$1] = $4
	}
	function percentile(p, q,   i, j, k, v, t, at) {
		for (i = 1; i <= n_jobs; i++)
			if ((p, job[i]) in time) {
				t = time[p, job[i]]
				for (j = k; j > 0 && v[j] > t; j--) v[j + 1] = v[j]
				v[j + 1] = t
				k++
			}
		at = 1 + (k - 1) * q
		i = int(at)
		return i < k ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[k]
	}
	END {
		if (!missed) print "All jobs reached their accuracy under every policy."
		print ""
		printf "%-10s %7s %7s %8s %8s %9s %9s %7s %8s %6s %9s\n", "", "mean", "p95",
			"makespan", "mean of", "samples,", "relaunch-", "s each", "share of",
			"lost", "changed"
		printf "%-10s %7s %7s %8s %8s %9s %9s %7s %8s %6s %9s\n", "policy", "s", "s", "s",
			"fifo", "million", "es", "", "devices", "", "in place"
		for (i = 1; i <= n; i++) {
			p = policy[i]
			if (!count[p]) continue
			mean = sum[p] / count[p]
			span = end[p] - begin[p]
			ratio = "-"
			if (count["fifo"])
				ratio = sprintf("%.3f", mean / (sum["fifo"] / count["fifo"]))
			printf "%-10s %7.1f %7.1f %8.1f %8s %9.2f %9d %7.2f %7.1f%% %6d %9d\n", p,
				mean, percentile(p, 0.95), span, ratio, all[p] / 1e6, restarts[p],
				each[p], 100 * device_s[p] / (2 * span), lost[p], in_place[p]
		}
		print "\nCompletion time, s, and samples consumed, thousands:\n"
		printf "%-10s", "job"
		for (i = 1; i <= n; i++) printf " %14s", policy[i]
		print ""
		for (j = 1; j <= n_jobs; j++) {
			printf "%-10s", job[j]
			for (i = 1; i <= n; i++)
				if ((policy[i], job[j]) in time)
					printf " %8.1f %5d", time[policy[i], job[j]],
						samples[policy[i], job[j]] / 1000
				else
					printf " %8s %5s", "-", "-"
			print ""
		}
	}' "$work/stream" "$work/all-restarts" "$work/all-results"
}

command -v sqlite3 >/dev/null || { echo 'jct.sh: SKIPPED: there is no sqlite3' >&2; exit 0; }
[ $# -gt 0 ] || set -- fifo tsp las pollux goodput known
gap_s=${JCT_GAP_S:-}
[ -n "$gap_s" ] || [ -z "$python" ] || gap_s=10
[ -n "$gap_s" ] || gap_s=$(measure_gap)
echo "Mean gap between arrivals: $gap_s s"
draw_stream >"$work/stream"
echo "The stream (seed $seed): name, arrival, layers, batch, most samples, accuracy"
awk '{ printf "  %-10s %6.1f s  %-9s %4d %8d  %g\n", $1, $3, $4, $5, $7, $8 }' "$work/stream"
echo
ran=
for policy; do
	printf '%s: %s, load %s' "$(date +%T)" "$policy" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
	if run_one "$policy"; then
		ran="$ran $policy"
		printf ', %s done\n' "$(wc -l <"$dir/results")"
	fi
done
echo
# shellcheck disable=SC2086  # a list of words
[ -z "$ran" ] || summarise $ran
for policy in $ran; do
	if [ -n "$python" ] && [ -e "$work/$policy/store" ]; then
		printf '\n%s:\n' "$policy"
		"$root/benchmarks/jct_time.sh" "$work/$policy/store"
	fi
done
[ -n "$made" ] || echo "
Stores and logs: $work"
