#!/bin/sh
# overhead.sh [ROUNDS [SAMPLES]] - what pollux costs a job: examples/train doing the same work under
# pollux, timed from its log or from its reports, and alone.
#
# Rounds are interleaved, and their order turns. Alone, the trainer has the cores, the threads and
# the log of the job: only pollux is missing. Timed from its log, the trainer prints a line at every
# step, also alone; timed from reports, it sends a report at every step. A report costs the job some
# 20 us of its processor (benchmarks/reports.c); the length of a step, which is printed, decides
# what share that is. A ratio is the wall time of the command over that of the same round alone.
# Printed are the median of the ratios, their mean with its 95 % confidence interval, and the
# processor time of the supervisor. Wanted: within 0.5 %. Where the machine does anything else
# meanwhile, the interval is wider than that, and the result says nothing.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-15} samples=${2:-120000}
: "${POLLUX:=$PWD/build/pollux}" "${TRAIN:=$PWD/build/examples/train}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/pollux-overhead.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
POLLUX_DIR=$dir/store POLLUX_SLOTS=0
export POLLUX_DIR POLLUX_SLOTS
export POLLUX_SUBMIT_PASS=no # passes come when this script says so
unset POLLUX_POLICY POLLUX_REPORT_SOCKET

# Microseconds of the command, and nanoseconds of its parent's processor: that is the supervisor.
cat >"$dir/timed" <<'END'
#!/bin/sh
out=$1
shift
start=$(date +%s%N)
"$@"
end=$(date +%s%N)
read -r cpu _ <"/proc/$PPID/schedstat"
echo "$(((end - start) / 1000)) $cpu" >>"$out"
END
chmod +x "$dir/timed"

"$POLLUX" devices --json >"$dir/devices"
binding=$(sed -n 's/.*"binding": "\([0-9,-]*\)".*/\1/p' "$dir/devices" | head -n 1)
threads=$(sed -n 's/.*"cores": \([0-9]*\).*/\1/p' "$dir/devices" | head -n 1)

alone() {
	OMP_NUM_THREADS=$threads taskset -c "$binding" "$@" >"$dir/out" 2>&1 </dev/null
}

job() {
	id=$("$POLLUX" submit -q -b 64 -- "$@")
	"$POLLUX" schedule
	"$POLLUX" wait "$id" >/dev/null
	"$POLLUX" status --json "$id" | grep -q "\"step_source\": \"$name\"" || {
		echo "overhead.sh: the job was not timed from its $name" >&2
		exit 1
	}
}

measure() { # measure CASE
	name=$1
	every=1000000	# seconds: without lines
	case $name in
	alone-*) set -- alone "$dir/timed" "$dir/$name" ;;
	log) set -- job "$dir/timed" "$dir/$name" env -u POLLUX_REPORT_SOCKET ;;
	reports) set -- job "$dir/timed" "$dir/$name" ;;
	esac
	case $name in *log) every=0 ;; esac
	"$@" "$TRAIN" --hidden 1024,512 --batch 64 --initial-batch 64 --samples "$samples" \
		--checkpoint "$dir/checkpoint" --fresh \
		--checkpoint-every 1000000 --eval-every 1000000000 --log-every $every
}

i=0
while [ "$i" -lt "$rounds" ]; do
	case $((i % 4)) in
	0) order='alone-log log reports alone-reports' ;;
	1) order='log alone-log alone-reports reports' ;;
	2) order='reports alone-reports alone-log log' ;;
	3) order='alone-reports reports log alone-log' ;;
	esac
	for name in $order; do
		measure "$name"
	done
	i=$((i + 1))
done

# The mean's interval is by Student's t, at 0.975 for so many degrees of freedom.
report() { # report CASE
	paste -d ' ' "$dir/$1" "$dir/alone-$1" |
		awk '{ printf "%.9f %d %.9f\n", $1 / $3, $1, $2 / 1e3 / $1 }' |
		sort -n | awk -v name="$1" '
		BEGIN {
			n_t = split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 " \
				"2.20 2.18 2.16 2.14 2.13", t)
		}
		{ x[NR] = $1; sum += $1; squares += $1 * $1; us += $2; cpu += $3 }
		END {
			mean = sum / NR
			sd = NR > 1 ? sqrt((squares - NR * mean * mean) / (NR - 1)) : 0
			half = NR > 1 ? (NR - 1 <= n_t ? t[NR - 1] : 2) * sd / sqrt(NR) : 0
			median = (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2
			low = mean - half; high = mean + half
			verdict = NR < 2 || half > 0.005 ? "not told: too unsteady" : \
				high < 1.005 ? "met" : low > 1.005 ? "MISSED" : "not told"
			printf "%-8s / alone  median %.4f, mean %.4f (95 %% %.4f to %.4f), " \
				"%d rounds of %.1f s; supervisor %.3f %% of a core; " \
				"wanted under 1.005: %s\n", name, median, mean, low, high, NR,
				us / NR / 1e6, 100 * cpu / NR, verdict
		}'
}
echo "steps in a run: $((samples / 64))"
report log
report reports
