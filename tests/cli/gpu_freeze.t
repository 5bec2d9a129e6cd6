#!/bin/sh
# gpu_freeze.t - pollux devices --self-test, against stand-ins for NVML and for CUDA's driver
# (tests/gpu/standin.h, tests/gpu/cuda_freeze.c). The frozen program is pollux's own and a process
# of its own; the GPUs are not real: this was never run on one.
# shellcheck disable=SC2016,SC2317  # Perl has variables; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
mkdir cards lib old empty
ln -s "$GPU_STANDIN/cuda_freeze.so" lib/libcuda.so.1
ln -s "$GPU_STANDIN/cuda_freeze.so" lib/libcublas.so.13
ln -s "$GPU_STANDIN/cuda_freeze_old.so" old/libcuda.so.1

# --- without a GPU ---

status 'devices --self-test fails where there is no GPU' 69 "$POLLUX" devices --self-test
is 'devices --self-test says in one line that there is no GPU' \
	"pollux: there is no GPU to test: POLLUX_NVML is 'none'" "$err"
is 'devices --self-test prints nothing else' '' "$out"
status 'devices refuses --self-test with --ignore' 64 "$POLLUX" devices --self-test --ignore 1

POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root COLUMNS=80
CUDA_STANDIN_DIR=$TMP/cards LD_LIBRARY_PATH=$TMP/lib
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT COLUMNS CUDA_STANDIN_DIR LD_LIBRARY_PATH
mkdir -p root/proc
printf 'MemAvailable: 8000000 kB\n' >root/proc/meminfo

gpu() { # gpu UUID: with 56 MiB free, so that the test takes 14
	printf 'gpu %s NVIDIA RTX A6000\nmemory 64 56\nrates 0\npersistence 1\n' "$1"
}
answers() { cat >answers.new && mv answers.new answers; }
driver() { printf 'driver %s\n' "$1"; }
stored() # stored DRIVER
{
	store "SELECT substr(device, 5, 5), passed, bytes >> 20, freeze_s > 0, thaw_s > 0, reason
		FROM freeze_tests WHERE driver = '$1' ORDER BY device"
}
left_over() { # processes that the stand-in was loaded into
	env -u CUDA_STANDIN_DIR grep -Elzs "^CUDA_STANDIN_DIR=$TMP/cards" /proc/[0-9]*/environ |
		grep -v "^/proc/$$/" | while read -r file; do
		tr '\0' ' ' <"${file%/environ}/cmdline" 2>/dev/null | grep -- --self-test
	done
}
nothing_left() { [ -z "$(left_over)" ]; }

# --- it passes ---

{ driver 580.95.05; gpu $A; gpu $B; } | answers
status 'devices --self-test succeeds with two GPUs' 0 "$POLLUX" devices --self-test
like 'the self-test tells bytes and times of the first GPU' \
	'^gpu:0: passed: 14 MiB to the host.s memory in [0-9.]+[num]?s \([0-9.]+ GB/s\), back in ' \
	"$out"
like 'the self-test tells that the second GPU passed' '^gpu:1: passed: 14 MiB' "$out"
is 'the store has both results, with the driver' 'GPU-a|1|14|1|1|
GPU-b|1|14|1|1|' "$(stored 580.95.05)"
unlike 'devices says nothing of GPUs that passed' 'self-test' "$("$POLLUX" devices)"
run "$POLLUX" devices --self-test --json
is 'the JSON of the self-test has devices and the driver' 'devices driver_version' \
	"$(printf '%s' "$out" | json 'print join " ", sort keys %$d')"
is 'the JSON of the self-test has all figures of a device' \
	"bytes freeze_bytes_per_s id kind lock_s name passed reason released_bytes \
restore_s save_s start_s thaw_bytes_per_s unlock_s weaker" \
	"$(printf '%s' "$out" | json 'print join " ", sort keys %{$d->{devices}[0]}')"
is 'the JSON has the bytes that became free, with three matrices' 14876672 \
	"$(printf '%s' "$out" | json 'print $d->{devices}[1]{released_bytes}')"
ok 'the self-test leaves no process' wait_for 10 nothing_left

# --- it passes, but is not as a program of PyTorch ---

{ driver 580.95.05; gpu $A; } | answers
weaker='^gpu:0: a weaker test passed, without cuBLAS: 14 MiB .*; PyTorch may be refused: '
status 'the self-test passes where cuBLAS does not start' 0 \
	env CUDA_STANDIN_CUBLAS=1 "$POLLUX" devices --self-test
like 'the self-test says that it was weaker without cuBLAS' \
	"$weaker'libcublas.so.1[0-9]' does not start: its error 1" "$out"
like 'the store has the reason why the test was weaker' "^GPU-a.1.14.1.1.*does not start" \
	"$(stored 580.95.05)"
# The stand-in's driver is for CUDA 14, of which no machine has a real cuBLAS yet.
export CUDA_STANDIN_VERSION=14000
status 'the self-test passes with cuBLAS for an older CUDA' 0 "$POLLUX" devices --self-test
like 'the test with cuBLAS for an older CUDA is not weaker' '^gpu:0: passed: 14 MiB' "$out"
wheel=venv/lib/python3.12/site-packages/nvidia/cu14/lib
mkdir -p $wheel
mv lib/libcublas.so.13 lib/libcublas.so.15
status 'the self-test passes beside cuBLAS for a newer CUDA' 0 "$POLLUX" devices --self-test
like 'the test beside cuBLAS for a newer CUDA is weaker' "$weaker" "$out"
mv lib/libcublas.so.15 $wheel/libcublas.so.14
status 'the self-test passes with cuBLAS in a virtual environment' 0 env VIRTUAL_ENV="$TMP/venv" \
	"$POLLUX" devices --self-test
like 'the test with cuBLAS of a virtual environment is not weaker' '^gpu:0: passed: 14 MiB' "$out"
mv $wheel/libcublas.so.14 lib/libcublas.so.13
unset CUDA_STANDIN_VERSION
status 'the self-test passes again with the first cuBLAS' 0 "$POLLUX" devices --self-test

# --- it does not pass ---

# fails DRIVER FAULT STATUS PATTERN: one GPU, with a driver of this version and this fault
fails() {
	rm -f cards/*
	{ driver "$1"; gpu $A; } | answers
	[ -z "$2" ] || echo "$2" >cards/fail
	status "the self-test fails where the driver has the fault '$2'" 1 \
		"$POLLUX" devices --self-test
	like "the self-test says in one line why '$2' is a failure" "^gpu:0: not passed: $3" "$out"
	is "the self-test counts the GPUs that did not pass with '$2'" \
		'pollux: 1 of 1 GPUs did not pass' "$err"
	like "the store has the failure '$2'" "^GPU-a\|0\|0\|\|\|$3" "$(stored "$1")"
	[ "$2" = 'checkpoint wait' ] || # no driver answers then
		like "devices tells of the failure '$2'" \
			"^gpu:0: did not pass its last self-test: $3" "$("$POLLUX" devices)"
}
fails 1 'lock 801' 'cannot lock process [0-9]+: the driver does not support it, for this GPU or for'
fails 2 'lock 600' 'cannot lock process [0-9]+: its work on the GPU did not end in time; it runs on'
fails 3 'checkpoint 800' 'cannot save the GPU memory of process [0-9]+: not permitted; persistence'
fails 4 'checkpoint 2' 'cannot save the GPU memory of process [0-9]+: out of memory \(CUDA error 2'
fails 5 'checkpoint failed' 'cannot save the GPU memory of process [0-9]+: the operating system'
fails 6 'checkpoint after' 'cannot save the GPU memory of process [0-9]+: a stand-in.s error \(CUDA'
fails 7 'checkpoint wrong' 'the test.s program came to a wrong result'
fails 8 'restore 304' \
	'cannot restore the GPU memory of process [0-9]+: the operating system refused'
fails 9 'restore wrong' 'the test.s program came to a wrong result'
fails 10 'unlock 401' 'cannot unlock process [0-9]+: it is in another state than the driver said'
fails 11 'lock kill' 'cannot lock process [0-9]+: it has ended|the test.s program has died'
fails 12 'state 999' \
	'cannot ask for the state of process [0-9]+: a stand-in.s error \(CUDA error 999'
export CUDA_STANDIN_MIB=10
fails 13 '' 'cannot allocate GPU memory: out of memory'
unset CUDA_STANDIN_MIB
export LD_LIBRARY_PATH="$TMP/old" CUDA_STANDIN_VERSION=12040
fails 14 '' \
	'the NVIDIA driver cannot move a process.s memory to the host.s: it is for CUDA 12.4, and'
unset CUDA_STANDIN_VERSION
export LD_LIBRARY_PATH="$TMP/lib"
ok 'failed self-tests leave no process' wait_for 10 nothing_left
is 'failed self-tests leave no frozen memory' '' "$(find cards -name '*.host')"
# Once the test's program has memory, the driver answers nobody.
touch wait
{
	wait_for 60 sh -c 'ls cards/*.card'
	{ echo 'slow 1000'; driver 15; gpu $A; } | answers
	rm wait
} >/dev/null 2>&1 &
hangs=$!
export POLLUX_DRIVER_LIMIT=2 CUDA_STANDIN_WAIT="$TMP/wait"
fails 15 'checkpoint wait' 'the driver does not tell how much memory is free'
unset POLLUX_DRIVER_LIMIT CUDA_STANDIN_WAIT
wait $hangs || :
ok 'a self-test whose driver hangs leaves no process' wait_for 10 nothing_left

# --- a test that cannot be made changes nothing ---

rm -f cards/*
{ driver 580.95.05; gpu $A; } | answers
printf 'MemAvailable: 200000 kB\n' >root/proc/meminfo
status 'the self-test exits with 75 where the host has no room' 75 "$POLLUX" devices --self-test
like "the self-test says how much of the host's memory it needs" \
	'^gpu:0: not passed: 0.3 GiB of the host.s memory are needed, and 0.2 GiB are free$' "$out"
is 'the self-test counts the GPUs that could not be tested' \
	'pollux: 1 of 1 GPUs could not be tested now' "$err"
printf 'MemAvailable: 8000000 kB\n' >root/proc/meminfo
id=$("$POLLUX" submit -q -- sleep 1000)
"$POLLUX" schedule
wait_for 20 sh -c "\"$POLLUX\" status --all | grep -q running"
status 'the self-test exits with 75 for a GPU that a job has' 75 "$POLLUX" devices --self-test
like 'the self-test says which job holds the GPU' \
	"^gpu:0: not passed: device '.*' is held by job $id;" "$out"
"$POLLUX" cancel "$id"
"$POLLUX" wait --timeout 300 "$id" || :
is 'the store keeps what passed before' 'GPU-a|1|14|1|1|
GPU-b|1|14|1|1|' "$(stored 580.95.05)"

# --- the stand-in itself: which GPU a program gets, by CUDA's rules ---

{ driver 580.95.05; gpu $A; gpu $B; } | answers
: "${FAULT:=$ROOT/build/fault}"
on() { # on NUMBER...: the GPUs, by pollux's numbers, on which a program computes
	"$POLLUX" devices --json | json 'print join ",", map { $_->{name} } grep {
		@{$_->{processes}} } @{$d->{devices}}'
}
is_on() { [ "$(on)" = "$1" ]; }
uses() { # uses CUDA_VISIBLE_DEVICES GPU: a program that has this variable
	env ${1:+"CUDA_VISIBLE_DEVICES=$1"} "$FAULT/gpu_job" 4 200 50 >/dev/null &
	program=$!
	ok "a program with CUDA_VISIBLE_DEVICES='$1' computes on $2" wait_for 20 is_on "$2"
	kill "$program"
	wait "$program" || :
}
unset CUDA_VISIBLE_DEVICES
uses '' gpu:0
uses 1 gpu:1
uses 1,0 gpu:1
uses GPU-bbb gpu:1
uses "$A,7" gpu:0
for wrong in 2 7,0 GPU-ccc -1; do
	run env CUDA_VISIBLE_DEVICES=$wrong "$FAULT/gpu_job" 4 1 1
	is "a program with CUDA_VISIBLE_DEVICES='$wrong' finds no GPU" \
		'gpu_job: device: error 100' "$err"
done
{ driver 580.95.05; gpu $A; echo compute 3; gpu $B; echo compute 2; } | answers
"$FAULT/gpu_job" 4 200 50 >/dev/null &
program=$!
ok 'one process may compute on an exclusive GPU' wait_for 20 is_on gpu:0
run "$FAULT/gpu_job" 4 1 1
is 'a second process may not compute on an exclusive GPU' 'gpu_job: context: error 46' "$err"
run env CUDA_VISIBLE_DEVICES=1 "$FAULT/gpu_job" 4 1 1
is 'no process may compute on a prohibited GPU' 'gpu_job: context: error 46' "$err"
kill "$program"
wait "$program" || :
finish
