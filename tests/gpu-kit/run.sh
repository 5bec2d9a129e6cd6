#!/bin/bash
# run.sh - prove pollux on this machine's GPU, step by step, and write down what was found.
#
# The steps are the files of steps/, in the order of their names. Each has a time limit, writes
# DIR/STEP.log and adds lines "STEP ok|fail|skip NAME VALUE UNIT" to DIR/lines. The rest of a skip's
# line is the reason. A step that is over adds a last line, named "time". What this machine cannot
# show is skipped, not failed. DIR/summary.md is written after each step, and DIR/RESULTS-gpu.md as
# well where there is a real GPU. Nothing that hangs makes the run much longer than the budget.
#
# The run may be stopped at any time. The next run leaves out the steps that are over, unless --only
# names them. A run ends every process that it started: these carry GPU_KIT_MARK=DIR in their
# environment. What a killed run left behind, the next run ends.
#
# It needs bash, coreutils, util-linux, grep, sed and awk; some steps need Python or PyTorch.
# Variables, for tests:
#	GPU_KIT_STEPS	the directory of the steps
#	GPU_KIT_DEVICE	cpu: what runs on PyTorch runs on the processor (cuda)
#	GPU_KIT_QUICK	1: everything small
#	GPU_KIT_STANDIN	what stands in for the GPU, in words
#	GPU_KIT_GRACE	seconds that processes have to end before they are killed (4)
#	GPU_KIT_BUILD	the programs and test libraries (build, or build/gpu-kit/build)
#	POLLUX, TRAIN, PYTHON, FASHION_MNIST
# shellcheck disable=SC2317  # no_* are called by name
set -u

usage() {
	cat <<-END
	usage: run.sh [--out DIR] [--only STEP,...] [--budget TIME] [--list]

	  --out DIR        where results go, and go on (gpu-kit-results)
	  --only STEP,...  these steps, in this order, also those that are over already; none
	                   takes the time that those after it need
	  --budget TIME    end after 90, 90s or 9m (9m)
	  --list           print the steps with their time limits

	exit status: 0 nothing failed, 1 something failed, 64 bad arguments, 73 DIR cannot be
	written, 75 the budget ended first: run it again to go on, 128+N stopped by signal N
	END
}
refuse() { # refuse STATUS TEXT...
	echo "run.sh: ${*:2}" >&2
	exit "$1"
}

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
ROOT=$(cd "$here/../.." && pwd)
: "${GPU_KIT_STEPS:=$here/steps}" "${GPU_KIT_DEVICE:=cuda}" "${GPU_KIT_QUICK:=}"
: "${GPU_KIT_STANDIN:=}" "${GPU_KIT_GRACE:=4}"
first_of() { # first_of PATH...: that there is, else the last
	local path

	for path; do
		[ ! -e "$path" ] || break
	done
	echo "$path"
}
: "${GPU_KIT_BUILD:=$(dirname "$(first_of "$ROOT"/build{,/gpu-kit/build}/pollux)")}"
: "${POLLUX:=$GPU_KIT_BUILD/pollux}" "${TRAIN:=$GPU_KIT_BUILD/examples/train}" "${PYTHON:=python3}"
: "${FASHION_MNIST:=$(first_of "$ROOT"/{data,build/gpu-kit/data}/fashion-mnist \
	/usr/share/datasets/fashion-mnist)}" "${POLLUX_DATA_DIR:=$ROOT/share}"
KIT=$here
export KIT ROOT POLLUX TRAIN PYTHON FASHION_MNIST GPU_KIT_DEVICE GPU_KIT_QUICK GPU_KIT_STANDIN
export GPU_KIT_BUILD POLLUX_DATA_DIR
export LC_ALL=C NO_COLOR=1
unset POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY POLLUX_REPORT_SOCKET COLUMNS

# --- the steps -------------------------------------------------------------------

step_file() { # step_file NAME
	local files=("$GPU_KIT_STEPS"/[0-9]*-"$1".*)

	[ -e "${files[0]}" ] && echo "${files[0]}"
}
said() { # said NAME KEY: what the step's file says of itself in a line "# KEY: VALUE"
	sed -n "s/^# $2: //p" "$(step_file "$1")" | head -n 1
}
seconds_of() { # seconds_of NAME limit|takes
	local value

	value=$(said "$1" "$2")
	echo "${value:-60}"
}
all_steps() {
	local file

	for file in "$GPU_KIT_STEPS"/[0-9]*-*.*; do
		file=${file##*/}
		file=${file%.*}
		echo "${file#*-}"
	done
}

# --- arguments -------------------------------------------------------------------

out=gpu-kit-results only='' budget_s=540 list=''
while [ $# -gt 0 ]; do
	case $1 in
	--out|--only|--budget)
		[ -n "${2-}" ] || refuse 64 "$1 needs a value; see run.sh --help"
		case $1 in
		--out) out=$2 ;;
		--only) only=$2 ;;
		--budget)
			[[ $2 =~ ^([0-9]{1,6})([smh]?)$ ]] ||
				refuse 64 "bad time '$2'; see run.sh --help"
			budget_s=$((10#${BASH_REMATCH[1]}))
			[ "${BASH_REMATCH[2]}" != m ] || budget_s=$((budget_s * 60))
			[ "${BASH_REMATCH[2]}" != h ] || budget_s=$((budget_s * 3600)) ;;
		esac
		shift ;;
	--list) list=1 ;;
	-h|--help)
		usage
		exit 0 ;;
	*) refuse 64 "unknown argument '$1'; see run.sh --help" ;;
	esac
	shift
done
steps=$(all_steps)
for name in ${only//,/ }; do
	grep -qx -e "$name" <<<"$steps" ||
		refuse 64 "unknown step '$name'; there are ${steps//$'\n'/ }"
done
[ -z "$only" ] || steps=${only//,/$'\n'}
if [ -n "$list" ]; then
	for name in $steps; do
		printf '%-16s %4s s  %s\n' "$name" "$(seconds_of "$name" limit)" \
			"$(said "$name" shows)"
	done
	exit 0
fi

mkdir -p "$out" 2>/dev/null || refuse 73 "cannot write to '$out'"
OUT=$(cd "$out" && pwd)
touch "$OUT/lines" 2>/dev/null || refuse 73 "cannot write to '$OUT'"
export OUT
# One run at a time; a killed one holds nothing.
exec 8>"$OUT/.lock"
flock -w 2 8 2>/dev/null || refuse 73 "another run is writing to '$OUT'"

# --- processes -------------------------------------------------------------------

marked() { # the processes that carry this run's mark
	grep -lsxzF -e "GPU_KIT_MARK=$OUT" /proc/[0-9]*/environ | sed 's|^/proc/\([0-9]*\)/.*|\1|'
}
end_marked() { # asks them to end; those that do not in GPU_KIT_GRACE seconds are killed
	local pids tries

	mapfile -t pids < <(marked)
	[ ${#pids[@]} -gt 0 ] || return 0
	echo "run.sh: ending processes: ${pids[*]}" >>"$OUT/run.log"
	kill -TERM "${pids[@]}" 2>/dev/null
	for ((tries = 0; tries < 10 * GPU_KIT_GRACE + 50; tries++)); do
		mapfile -t pids < <(marked)
		[ ${#pids[@]} -gt 0 ] || return 0
		[ "$tries" -lt $((10 * GPU_KIT_GRACE)) ] || kill -KILL "${pids[@]}" 2>/dev/null
		sleep 0.1
	done
	echo "run.sh: these processes do not end: ${pids[*]}" | tee -a "$OUT/run.log" >&2
}
scratch=
clean_up() {
	end_marked
	[ -z "$scratch" ] || rm -rf "$scratch"
}
stopped=
trap 'stopped=1' HUP
trap 'stopped=2' INT
trap 'stopped=15' TERM
trap clean_up EXIT

# --- what there is ---------------------------------------------------------------

# Where the driver's libraries lie apart, as in some containers, they are named to the linker.
if [ -d /usr/local/nvidia/lib64 ] && ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
	export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/nvidia/lib64
fi
[ ! -d /usr/local/nvidia/bin ] || PATH=$PATH:/usr/local/nvidia/bin
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin

# Each look at the GPUs may start their driver, which takes seconds: there is one, for all that is
# said of them.
gpu=$(timeout -k 1 30 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null |
	sed -n '1s/, /, driver /p')
version=$(timeout -k 1 10 "$POLLUX" --version 2>&1)
no_gpu() { # why there is none; nothing where there is one
	[ -z "$gpu" ] || return
	if command -v nvidia-smi >/dev/null; then
		echo 'nvidia-smi shows no GPU'
	else
		compgen -G '/dev/nvidia[0-9]*' >/dev/null || echo 'no GPU on this machine'
	fi
}
no_python() {
	timeout -k 1 20 "$PYTHON" -c 'import ctypes, json, statistics, subprocess' 2>/dev/null ||
		echo "no $PYTHON with its library"
}
no_torch() {
	local why

	why=$(no_python)
	[ -z "$why" ] || { echo "$why"; return; }
	timeout -k 1 60 "$PYTHON" - 2>/dev/null <<-'END' || echo 'no PyTorch'
	import os, sys
	try:
	    import torch
	except ImportError:
	    sys.exit(1)
	if os.environ["GPU_KIT_DEVICE"] == "cuda" and not torch.cuda.is_available():
	    print("PyTorch", torch.__version__, "sees no GPU")
	END
}
no_data() {
	[ -e "$FASHION_MNIST/train-images-idx3-ubyte.gz" ] ||
		echo "no Fashion-MNIST in $FASHION_MNIST"
}
declare -A missing
look() { # look STEP: for what it needs, each thing once
	local need

	for need in $(said "$1" needs); do
		[ -n "${missing[$need]+known}" ] || missing[$need]=$("no_$need")
	done
}
why_not() { # why_not STEP: the first thing that it needs and this machine lacks
	local need

	for need in $(said "$1" needs); do
		[ -z "${missing[$need]}" ] || { echo "${missing[$need]}"; return; }
	done
}

# --- one step --------------------------------------------------------------------

is_over() { # is_over STEP: its result will not change by going on
	grep -Eq "^$1 (ok|fail) time " "$OUT/lines"
}
forget() { # forget STEP: what it said before
	grep -v "^$1 " "$OUT/lines" >"$OUT/lines.new"
	mv "$OUT/lines.new" "$OUT/lines"
}
conclude() { # conclude STEP SECONDS EXIT-STATUS: its last line
	local name=$1 result=skip

	if [ "$3" != 0 ] && ! grep -q "^$name fail" "$OUT/lines"; then
		echo "$name fail exit $3 status" >>"$OUT/lines"
	fi
	grep -q "^$name ok" "$OUT/lines" && result=ok
	grep -q "^$name fail" "$OUT/lines" && result=fail
	# A step that said nothing failed.
	[ $result != skip ] || grep -q "^$name skip" "$OUT/lines" || result=fail
	echo "$name $result time $2 s" >>"$OUT/lines"
	grep "^$name " "$OUT/lines"
}
run_step() { # run_step STEP SECONDS: fails where the run is to end
	local name=$1 limit_s=$2 begun=$SECONDS rc=0 file why
	local cut=

	forget "$name"
	why=$(why_not "$name")
	if [ -n "$why" ]; then
		echo "$name skip all - $why" >>"$OUT/lines"
		conclude "$name" 0 0
		return 0
	fi
	[ "$limit_s" -ge "$(seconds_of "$name" limit)" ] || cut=1
	file=$(step_file "$name")
	local run=(bash "$file")
	[ "${file##*.}" != py ] || run=("$PYTHON" "$file")
	mkdir -p "$scratch/$name"
	set -m		# a process group of its own
	(cd "$scratch/$name" && GPU_KIT_MARK=$OUT STEP=$name SCRATCH=$PWD STEP_SECONDS=$limit_s \
		PYTHONPATH=$KIT${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1 \
		PYTHONDONTWRITEBYTECODE=1 \
		exec "${run[@]}") >"$OUT/$name.log" 2>&1 8>&- </dev/null &
	local pid=$!
	set +m
	while [ -z "$stopped" ] && [ $((SECONDS - begun)) -lt "$limit_s" ] &&
			kill -0 $pid 2>/dev/null; do
		sleep 0.1
	done
	if kill -0 $pid 2>/dev/null; then
		kill -TERM -- -$pid 2>/dev/null
		end_marked	# one that a driver holds (D) cannot be waited for
		grep -qs '^State:.*D (' /proc/$pid/status || wait $pid 2>/dev/null
		[ -z "$stopped" ] || return 1
		if [ -n "$cut" ]; then
			echo "$name skip rest - its $limit_s s ended first" >>"$OUT/lines"
			return 1
		fi
		echo "$name fail limit $limit_s s" >>"$OUT/lines"
	else
		wait $pid 2>/dev/null || rc=$?
		end_marked
	fi
	rm -rf "${scratch:?}/$name"
	conclude "$name" $((SECONDS - begun)) "$rc"
}

# --- the summary -----------------------------------------------------------------

table() {
	echo '| step | result | what | value | unit |'
	echo '|---|---|---|---|---|'
	awk '{
		rest = ""
		for (i = 5; i <= NF; i++) rest = rest (i > 5 ? " " : "") $i
		gsub(/\|/, "/", rest)
		printf "| %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, rest
	}' "$OUT/lines"
}
count() { grep -Ec "^[^ ]+ $1 " "$OUT/lines"; }
describe() { # describe TITLE
	echo "# $1"
	echo
	if [ -n "$GPU_KIT_STANDIN" ]; then
		echo "**No GPU was used**: $GPU_KIT_STANDIN stood in for it. No figure is a card's."
	elif [ -n "$(no_gpu)" ]; then
		echo "**No GPU was used**: $(no_gpu)."
	else
		echo "GPU: ${gpu:-not named}."
	fi
	echo "Run on $(date -u '+%Y-%m-%d %H:%M UTC'), $(uname -sr), $(nproc) processors," \
		"${version:-no pollux that answers}."
	echo "$(count ok) lines ok, $(count fail) failed, $(count skip) skipped."
	echo
	table
}
summarize() {
	describe 'The GPU kit: summary' >"$OUT/summary.md.new"
	mv "$OUT/summary.md.new" "$OUT/summary.md"
	[ -z "$GPU_KIT_STANDIN" ] && [ -z "$(no_gpu)" ] || return 0
	describe 'Results on a GPU' >"$OUT/RESULTS-gpu.md.new"
	mv "$OUT/RESULTS-gpu.md.new" "$OUT/RESULTS-gpu.md"
}

# --- all of it -------------------------------------------------------------------

clean_up	# what a killed run left
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpu-kit.XXXXXX") || refuse 73 "no directory for scratch files"
rc=0
needed_s=0	# by those that are still to come
chosen=()
for name in $steps; do
	if [ -z "$only" ] && is_over "$name"; then
		echo "# $name is over: $(sed -n "s/^$name \([a-z]*\) time .*/\1/p" "$OUT/lines")"
		continue
	fi
	chosen+=("$name")
	look "$name"
	[ -n "$(why_not "$name")" ] || needed_s=$((needed_s + $(seconds_of "$name" takes)))
done
for name in "${chosen[@]}"; do
	left_s=$((budget_s - SECONDS)) takes_s=$(seconds_of "$name" takes)
	[ -z "$(why_not "$name")" ] || takes_s=0
	needed_s=$((needed_s - takes_s))
	if [ "$left_s" -le 0 ] || [ "$left_s" -lt "$takes_s" ]; then
		echo "# $name is left for the next run: $left_s s of the budget remain"
		rc=75
		continue
	fi
	share_s=$left_s		# what hangs also takes a while to end
	[ -z "$only" ] || [ $needed_s = 0 ] || share_s=$((left_s - needed_s - GPU_KIT_GRACE - 15))
	[ $share_s -ge "$takes_s" ] || share_s=$takes_s
	limit_s=$(seconds_of "$name" limit)
	[ "$limit_s" -le "$share_s" ] || limit_s=$share_s
	if ! run_step "$name" "$limit_s"; then
		summarize
		[ -z "$stopped" ] || exit $((128 + stopped))
		echo "# $name is left for the next run: its $limit_s s ended first"
		rc=75
		continue
	fi
	summarize
done
summarize
[ $rc != 0 ] || ! grep -Eq '^[^ ]+ fail ' "$OUT/lines" || rc=1
echo "# $(count ok) ok, $(count fail) failed, $(count skip) skipped: $OUT/summary.md"
exit $rc
