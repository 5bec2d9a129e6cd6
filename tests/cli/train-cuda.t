#!/bin/sh
# train-cuda.t - the example trainer's --device cuda: the same results as on the
# CPU, with several GPUs, across checkpoints; and what it says of what is missing.
#
# CUDA is tests/cuda/host.c, which does on the CPU what CUDA's libraries do on
# GPUs. Where there is a GPU, the comparisons are made on it as well.
# shellcheck disable=SC2086,SC2317 # several options; functions called by name
. "$(dirname "$0")/tap.sh"

: "${CUDA_HOST:=$ROOT/build/cuda/host.so}"
data=$FASHION_MNIST
unset CUDA_VISIBLE_DEVICES
[ -x "$TRAIN" ] || skip_all "$TRAIN is not built: make examples"
[ -e "$data/train-images-idx3-ubyte.gz" ] || [ -e "$data/train-images-idx3-ubyte" ] ||
	skip_all "no Fashion-MNIST in $data: apt-get install dataset-fashion-mnist"
run "$TRAIN" --device cuda --data /nonexistent
case $err in *"CUDA's headers were not found"*)
	skip_all "the trainer was built without CUDA: nothing of it is tested here" ;;
esac
[ -e "$CUDA_HOST" ] || skip_all "$CUDA_HOST is not built: make check does"

mkdir lib
ln -s "$CUDA_HOST" lib/libcuda.so.1
for version in 11 12 13 14; do
	ln -s "$CUDA_HOST" lib/libcublas.so.$version
done

cpu() { "$TRAIN" --data "$data" --subset 6000 --hidden 32 --log-every 0 --device cpu "$@"; }
with_cuda() { # with_cuda OPTION...: on what tests/cuda/host.c offers
	LD_LIBRARY_PATH=$TMP/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		"$TRAIN" --data "$data" --subset 6000 --hidden 32 --log-every 0 "$@"
}
host() { with_cuda --device cuda "$@"; }
real() { "$TRAIN" --data "$data" --subset 6000 --hidden 32 --log-every 0 --device cuda "$@"; }

# NVRTC is the real one in one run, where it is there; then, being slow, host.c's.
run host --samples 100
case $rc:$err in
0:) result 0 'what NVRTC compiles is what the trainer loads' ;;
69:*libnvrtc*) echo "# SKIPPED: a run with the real NVRTC: $err" ;;
*) result 1 'what NVRTC compiles is what the trainer loads' "status $rc: $err" ;;
esac
for version in 11.2 12 13 14; do
	ln -s "$CUDA_HOST" lib/libnvrtc.so.$version
done

background() { # background COMMAND...: in $trainer, to the file log
	rm -f log	# else the log of the run before would be looked at until this one begins
	"$@" >log &
	trainer=$!
}
cleanup() {
	[ -z "${trainer-}" ] || kill -9 "$trainer" 2>/dev/null
	[ -z "${job-}" ] || "$POLLUX" cancel "$job" >/dev/null 2>&1
}
logged() { grep -q "^$1" log; }
field() { # field NAME FILE: the number after NAME in the last line that has it
	sed -n "s/.*\\<$1 \\([-0-9.e+]*\\).*/\\1/p" "$2" | tail -n 1
}
near() { # near A B TOLERANCE: |A - B| <= TOLERANCE |B|
	awk "BEGIN { d = $1 - $2; b = $2; exit !((d < 0 ? -d : d) <= $3 * (b < 0 ? -b : b)) }"
}
losses() { sed -n 's/^step \([0-9]*\) samples \([0-9]*\) .* loss \([0-9.]*\) .*/\1 \2 \3/p' "$1"; }
same_losses() { # same_losses FILE FILE STEPS
	losses "$1" >a
	losses "$2" | paste -d' ' - a | awk -v n="$3" -v t="$tolerance" '
		{ d = $3 - $6; if ($1 != $4 || $2 != $5 || d > t || d < -t) { print; bad = 1 } }
		END { exit bad || NR != n }'
}
same_results() { # same_results NAME STEPS: of the files want and got
	ok "$1: the same losses" same_losses want got "$2"
	ok "$1: the same accuracy" near "$(field accuracy got)" "$(field accuracy want)" 0.005
	for estimate in grad_sqr grad_var; do
		ok "$1: the same estimate of $estimate" \
			near "$(field $estimate got)" "$(field $estimate want)" "$tolerance"
	done
}

# --- the CPU's results ------------------------------------------------------------

CUDA_HOST_GPUS=3
export CUDA_HOST_GPUS
kinds=host
if real --samples 1 >/dev/null 2>&1; then
	kinds='host real'
	echo '# there is a GPU: on it as well'
fi
for kind in $kinds; do
	# host.c's products are the CPU's; a GPU rounds otherwise, and the steps amplify it.
	case $kind in host) tolerance=0.002 ;; real) tolerance=0.02 ;; esac
	# 5003 samples: the last update has 11, none for the last replicas.
	for split in '' '--accum 4' '--replicas 2' '--replicas 3 --accum 2'; do
		if [ $kind = real ] && ! real --samples 1 $split >/dev/null 2>&1; then
			echo "# SKIPPED: '$split' on real GPUs: there are too few"
			continue
		fi
		cpu --samples 5003 --batch 96 $split >want
		run $kind --samples 5003 --batch 96 $split
		printf '%s\n' "$out" >got
		is "$kind $split: nothing is said to be wrong" '0 ' "$rc $err"
		same_results "$kind $split" 53
	done
	cpu --samples 2000 --hidden 70,50,30 --lr-rule none >want
	$kind --samples 2000 --hidden 70,50,30 --lr-rule none >got
	same_results "$kind, four layers" 16
	cpu --freeze --samples 9600 --batch 96 >want
	$kind --freeze --samples 9600 --batch 96 >got
	ok "$kind: the same noise at weights that stay" \
		near "$(field scale got)" "$(field scale want)" "$tolerance"
done
tolerance=0.002
like 'the trainer says which device it runs on' \
	'^on 2 x host GPU 0$' "$(host --samples 1 --replicas 2)"
run host --samples 100 --tf32
is 'the trainer accepts --tf32' 0 "$rc"

# --- checkpoints -------------------------------------------------------------------

cpu --samples 6000 --batch 96 >want
cpu --samples 2016 --batch 96 --checkpoint moved --lr-decay-samples 6000 >one
host --samples 4032 --batch 96 --checkpoint moved --lr-decay-samples 6000 --replicas 3 >two
cpu --samples 6000 --batch 96 --checkpoint moved --lr-decay-samples 6000 >three
like 'a GPU goes on from a checkpoint of the CPU' '^resumed samples 2016 ' "$(cat two)"
like 'the CPU goes on from a checkpoint of three GPUs' '^resumed samples 4032 ' "$(cat three)"
cat one two three >got
ok 'the run on GPUs and CPU has the losses of a run on the CPU' same_losses want got 63
long='--samples 60000 --batch 64 --replicas 2'
host $long --checkpoint straight >straight.log
# On a busy machine the run may end before it is told to stop: then another is.
for _ in 1 2 3 4 5; do
	rm -rf stopped
	background env LD_LIBRARY_PATH="$TMP/lib" "$TRAIN" --data "$data" --subset 6000 \
		--hidden 32 --log-every 0 $long --device cuda --checkpoint stopped
	wait_for 20 logged 'step 50'
	kill -TERM "$trainer"
	rc=0
	wait "$trainer" || rc=$?
	trainer=
	[ "$rc" = 0 ] || break
done
ok 'a run on GPUs gets under way' logged 'step 50'
is 'SIGTERM ends a run on GPUs with status 75' 75 "$rc"
ok 'the run was stopped before its end' [ "$(field 'stopped samples' log)" -lt 60000 ]
run host $long --checkpoint stopped
like 'the next run on GPUs resumes' '^resumed samples' "$out"
ok 'a resumed run ends with the bytes of one that was never stopped' \
	cmp straight/checkpoint.bin stopped/checkpoint.bin

# --- another batch while it runs ---------------------------------------------------

printf 'VERSION=1\nBATCH=192\nLOCAL_BATCH=48\nACCUM=2\nLR_SCALE=0.5\n' >config
under_pollux() { # under_pollux COMMAND...
	POLLUX_REPORT_SOCKET=$TMP/socket POLLUX_BATCH=48 POLLUX_REPLICAS=2 POLLUX_ACCUM=1 \
		POLLUX_LOCAL_BATCH=24 POLLUX_LR_SCALE=0.5 POLLUX_CONFIG_FILE=$TMP/config "$@"
}
under_pollux cpu --samples 5003 >want
run under_pollux host --samples 5003
printf '%s\n' "$out" >got
like 'a run on GPUs takes another configuration' '^batch 48 -> 192 \(2 x 48 x 2\)' "$out"
is 'the run with another configuration says nothing wrong' '0 ' "$rc $err"
same_results 'another configuration' 27

# --- which device ------------------------------------------------------------------

unlike 'the trainer runs on the CPU without CUDA_VISIBLE_DEVICES' '^on ' "$(with_cuda --samples 1)"
unlike 'the trainer runs on the CPU with an empty CUDA_VISIBLE_DEVICES' \
	'^on ' "$(CUDA_VISIBLE_DEVICES='' with_cuda --samples 1)"
like 'the trainer runs on the GPU that CUDA_VISIBLE_DEVICES names' '^on 1 x host GPU 0$' \
	"$(CUDA_VISIBLE_DEVICES=GPU-1 with_cuda --samples 1)"
unlike '--device cpu goes before CUDA_VISIBLE_DEVICES' \
	'^on ' "$(CUDA_VISIBLE_DEVICES=0 with_cuda --samples 1 --device cpu)"
run env CUDA_VISIBLE_DEVICES=GPU-1 CUDA_HOST_GPUS=0 LD_LIBRARY_PATH="$TMP/lib" \
	"$TRAIN" --data "$data" --subset 600 --samples 100
is 'the trainer runs on the CPU where CUDA does not open' 0 "$rc"
is 'the trainer says that it runs on the CPU then' \
	'train: cannot use CUDA: no CUDA-capable device is detected; on the CPU then' \
	"$err"

# --- on the GPUs that pollux gives ---------------------------------------------------

if [ -e "${GPU_STANDIN-}/nvml_new.so" ]; then
	POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
	export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
	unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
	mkdir root
	for gpu in GPU-aaaaaaaa-0000-0000-0000-000000000001 \
		GPU-bbbbbbbb-0000-0000-0000-000000000002; do
		printf 'gpu %s NVIDIA H200\nmemory 49140 48000\nrates 0\n' $gpu
	done >answers
	job=$(LD_LIBRARY_PATH=$TMP/lib "$POLLUX" submit --quiet --batch 96 --replicas 2 \
		--samples 5003 -- \
		"$TRAIN" --data "$data" --subset 6000 --hidden 32 --log-every 0 --samples 5003 \
		--initial-batch 96)
	"$POLLUX" schedule
	status 'a job of pollux on two GPUs ends well' 0 "$POLLUX" wait \
		--timeout $((60 * TIME_SCALE)) "$job"
	"$POLLUX" log "$job" >got
	like 'the job of pollux ran on both GPUs' '^on 2 x host GPU 0$' "$(cat got)"
	cpu --samples 5003 --batch 96 --initial-batch 96 --replicas 2 >want
	same_results 'under pollux' 53
else
	echo '# SKIPPED: a job of pollux on GPUs: GPU_STANDIN does not say where the stand-ins are'
fi

# --- what is missing ---------------------------------------------------------------

refused() { # refused STATUS PATTERN COMMAND...: one line, nothing trained
	want=$1 pattern=$2
	shift 2
	run "$@"
	if [ "$rc" = "$want" ] && printf '%s\n' "$err" | grep -Eq "^train: $pattern" &&
		[ "$(printf '%s\n' "$err" | wc -l)" -eq 1 ]; then
		result 0 "train exits $want: $pattern"
	else
		result 1 "train exits $want: $pattern" "status $rc: $err"
	fi
}
refused 69 '4 replicas need as many GPUs: CUDA shows 3$' host --replicas 4 --samples 1
refused 69 'cannot use CUDA: no CUDA-capable device is detected$' \
	env CUDA_HOST_GPUS=0 LD_LIBRARY_PATH="$TMP/lib" "$TRAIN" --device cuda --data "$data"
refused 69 'cannot use CUDA 1[0-9]: the NVIDIA driver is for CUDA 10\.2 at most$' \
	env CUDA_HOST_DRIVER=10020 LD_LIBRARY_PATH="$TMP/lib" "$TRAIN" --device cuda --data "$data"
# All training images are copied to a GPU: 44 MiB, or 4 of the tenth in the GPU kit.
refused 69 'cannot allocate 44? MiB on GPU 0: out of memory$' \
	env CUDA_HOST_MEMORY=4000000 LD_LIBRARY_PATH="$TMP/lib" "$TRAIN" --device cuda \
	--data "$data"
refused 69 'cannot use CUDA: this version compiles for no GPU as old as compute capability 5\.2$' \
	env CUDA_HOST_CAPABILITY=52 LD_LIBRARY_PATH="$TMP/lib" "$TRAIN" --device cuda --data "$data"
CUDA_HOST_CAPABILITY=121 host --samples 500 >got
like 'a GPU newer than NVRTC has the kernels translated' '^done samples 500 ' "$(cat got)"
cp moved/checkpoint.bin before.bin
# (The leak checker does not survive a program that ends while its threads wait.)
refused 71 'cannot compute on GPU [01]: unspecified launch failure$' \
	env ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" CUDA_HOST_BREAK=40 \
	LD_LIBRARY_PATH="$TMP/lib" "$TRAIN" --device cuda --data "$data" \
	--subset 6000 --hidden 32 --replicas 2 --samples 60000 --checkpoint moved
ok 'a failure on a GPU leaves the checkpoint alone' cmp before.bin moved/checkpoint.bin
finish
