#!/bin/bash
# train - the example trainer on CUDA, against itself on the processor and under compute-sanitizer.
# shows: examples/train on cuda: the processor's accuracy; memcheck and racecheck find nothing
# needs: gpu data
# limit: 300
# takes: 100
# shellcheck source=../lib.sh
. "$KIT/lib.sh"

field() { # field NAME FILE: its last value
	sed -n "s/.*\\<$1 \\([-0-9.e+]*\\).*/\\1/p" "$2" | tail -n 1
}
train() { # train DEVICE OPTION...
	"$TRAIN" --data "$FASHION_MNIST" --device "$@"
}

samples=$(quick 300000 20000)
# Weights begin alike and data come in the same order: the rest is rounding.
begun=$EPOCHREALTIME
train cuda --samples "$samples" >cuda.log
rc=$?
cuda_s=$(difference "$EPOCHREALTIME" "$begun")
cat cuda.log
check cuda-exit $rc status 'v == 0'
if [ $rc = 0 ]; then
	begun=$EPOCHREALTIME
	train cpu --samples "$samples" >cpu.log || fail cpu-exit $? status
	cpu_s=$(difference "$EPOCHREALTIME" "$begun")
	cat cpu.log
	ok accuracy-cpu "$(field accuracy cpu.log)" ''
	check accuracy-cuda "$(field accuracy cuda.log)" '' 'v > 0.7'
	off=$(difference "$(field accuracy cuda.log)" "$(field accuracy cpu.log)")
	check accuracy-difference "$off" '' 'v <= 0.003'
	ok time-cuda "$cuda_s" s
	ok time-cpu "$cpu_s" s
	ok trained-on "$(sed -n 's/^on //p' cuda.log | head -n 1)" ''
fi

# --- the sanitizer ---
if [ -n "$GPU_KIT_STANDIN" ]; then
	skip sanitizer "$GPU_KIT_STANDIN runs no kernels"
elif ! command -v compute-sanitizer >/dev/null; then
	skip sanitizer 'no compute-sanitizer'
else
	for tool in memcheck racecheck; do
		timeout 100 compute-sanitizer --tool $tool --error-exitcode 99 \
			--log-file $tool.txt "$TRAIN" --data "$FASHION_MNIST" --device cuda \
			--subset 600 --hidden 32 --samples 600 --batch 96 >$tool.log 2>&1
		rc=$?
		cat $tool.log $tool.txt
		# A sanitizer that cannot look at this card says nothing about the trainer.
		if why=$(grep -Eim1 'device not supported|unable to|internal san' $tool.txt); then
			skip "$tool" "$why"
		else
			check $tool $rc 'status' 'v == 0'
			errors=$(sed -n 's/.*SUMMARY: \([0-9]*\).*/\1/p' $tool.txt | head -n 1)
			check "$tool-errors" "$errors" errors 'v == 0'
		fi
	done
fi

# --- the trainer's own test, which compares losses step by step on a GPU that it finds ---
test=$ROOT/tests/cli/train-cuda.t
if [ -z "$GPU_KIT_STANDIN" ] && [ -e "$test" ] && [ -e "$GPU_KIT_BUILD/cuda/host.so" ]; then
	CUDA_HOST=$GPU_KIT_BUILD/cuda/host.so GPU_STANDIN='' timeout 150 sh "$test" >test.txt 2>&1
	rc=$?
	cat test.txt
	check its-test $rc status 'v == 0'
	check its-test-failures "$(grep -c '^not ok' test.txt)" checks 'v == 0'
	grep -q '^# there is a GPU' test.txt || fail its-test-on-the-GPU no ''
else
	skip its-test 'only on a GPU'
fi
