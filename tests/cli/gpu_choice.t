#!/bin/sh
# gpu_choice.t - which GPUs jobs run on (the setting gpus), which GPU goes first, and how jobs are
# told their GPUs (CUDA_VISIBLE_DEVICES). A stand-in answers for NVML (tests/gpu/standin.h): this
# test was never run on a real GPU.
# shellcheck disable=SC2016,SC2154,SC2317 # Perl, jobs; $out is of run; the trap calls cleanup
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER SLURM_JOB_ID
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root COLUMNS=80
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT COLUMNS
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
C=GPU-cccccccc-0000-0000-0000-000000000003
mkdir root
mkdir -m 700 "$POLLUX_DIR"
cleanup() { end_jobs >/dev/null; }

gpu() { # gpu UUID BUS MIB NAME
	printf 'gpu %s NVIDIA %s\npci 0:%s:0\nmemory %s %s\n' "$1" "$4" "$2" "$3" "$3"
	printf 'rates 0\ntemperature 35\npersistence 1\n'
}
answers() { cat >answers.new && mv answers.new answers; }
configure() { printf '%s\n' "$@" >"$POLLUX_DIR/config"; }
devices_of() { # devices_of JOB: of its last run
	store "SELECT device FROM run_devices WHERE run_id = (SELECT max(id) FROM runs
		WHERE job_id = $1) ORDER BY 1" | xargs
}
is_on() { "$POLLUX" schedule && [ "$(devices_of "$1")" = "$2" ]; }
state() { store "SELECT state FROM jobs WHERE id = $1"; }
reason() { store "SELECT reason FROM jobs WHERE id = $1"; }
use() {
	"$POLLUX" devices --json |
		json 'print join " ", map { $_->{usable} ? 1 : 0 } @{$d->{devices}}'
}
ended() { "$POLLUX" schedule && [ "$(state "$1")" = 'done' ]; }
sleeper() { "$POLLUX" submit -q -- sleep 1000; }

# --- a small card beside a large one ---

{ gpu $A 1 4096 'T400 4GB'; gpu $B 2 49140 'RTX A6000'; } | answers
first=$(sleeper)
ok 'the larger card has the first job' wait_for 20 is_on "$first" "gpu:$B"
second=$(sleeper)
"$POLLUX" schedule
is 'the next one waits' queued "$(state "$second")"
unlike 'and is not told of the small card, which others do not have either' 'display' \
	"$(reason "$second")"
run "$POLLUX" devices
like 'devices shows the small card as not usable' '^gpu:0  no ' "$out"
like 'and says why, and how to use it' \
	"gpu:0: left out as a card for a display, beside gpu:1 with 48 GiB; to use it: gpus = all" \
	"$(echo "$out" | tr -s '\n ' ' ')"
run "$POLLUX" doctor
unlike 'doctor finds nothing wrong with that' 'pollux devices' "$out"
configure 'gpus = all'
ok 'with gpus = all it has the second job' wait_for 20 is_on "$second" "gpu:$A"
configure "gpus = $B"
"$POLLUX" schedule
is 'a job that has a GPU keeps it when the GPU is left out' running "$(state "$second")"
is 'on the same' "gpu:$A" "$(devices_of "$second")"
end_jobs >/dev/null
wait_for 20 no_supervisor

# --- which GPUs ---

{ gpu $A 1 24576 Large; echo 'display 1'; gpu $B 2 24576 Large; gpu $C 3 24576 Large; } | answers
check_use() { # check_use SETTING WANT
	configure "gpus = $1"
	is "gpus = $1" "$2" "$(use)"
}
check_use all '1 1 1'
check_use 'not display' '0 1 1'
check_use '1' '0 1 0'
check_use "0, $C" '1 0 1'
check_use 'GPU-bb' '0 1 0'
id=$(sleeper)
ok 'jobs go there' wait_for 20 is_on "$id" "gpu:$B"
"$POLLUX" cancel "$id" >/dev/null
run env POLLUX_GPUS=2 "$POLLUX" devices
like 'the environment goes before the file' '^gpu:1  no ' "$out"
gpu $A 1 24576 Large >one
echo 'display 1' >>one
mv answers three
mv one answers
configure 'gpus = not display'
like 'doctor finds that no GPU is left' 'every GPU is left out, so jobs wait: have the setting' \
	"$("$POLLUX" doctor | tr -s '\n ' ' ')"
mv three answers
unlike 'which is not so where one is' 'every GPU is left out' \
	"$("$POLLUX" doctor | tr -s '\n ' ' ')"
configure 'gpus = 0,7'
like 'a number that is not there is told' "'7' is no GPU here" "$("$POLLUX" devices)"
like 'and found by doctor' "'7' is no GPU here" "$("$POLLUX" doctor | tr -s '\n ' ' ')"
configure "gpus = GPU-5a1e"
run "$POLLUX" submit -- true
is 'a UUID of another machine stops no submission' 0 "$rc"
id=$out
"$POLLUX" schedule
like 'the job waits, and its reason names the setting' 'left out by the setting gpus \(GPU-5a1e\)' \
	"$(reason "$id")"
"$POLLUX" cancel "$id" >/dev/null
for bad in banana 'all, 0' 'not displays' '-1' '0-1' 'MIG-5a1e'; do
	configure "gpus = $bad"
	status "gpus = $bad" 78 "$POLLUX" schedule
	is 'is one line' "pollux: bad setting 'gpus' in '$POLLUX_DIR/config' line 1: '$bad' is \
not all, not display, or GPUs by number or UUID (such as 0,2 or GPU-5a1e...)" "$err"
done
like 'and told at submission' 'warning: bad setting .gpus.*no job is started until' \
	"$("$POLLUX" submit -- true 2>&1)"
configure
end_jobs >/dev/null

# --- the larger card first ---

{ gpu $A 1 12288 'Small'; gpu $B 2 24576 'Large'; gpu $C 3 16384 'Middle'; } | answers
for policy in goodput las fifo pollux; do
	POLLUX_POLICY=$policy
	export POLLUX_POLICY
	for card in $B $C $A; do
		id=$(sleeper)
		ok "$policy: the largest that is free" wait_for 20 is_on "$id" "gpu:$card"
	done
	end_jobs >/dev/null
	wait_for 20 no_supervisor
done
unset POLLUX_POLICY

# --- how a job is told its GPUs ---

told() { # told JOB: CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER and how, of its last run
	wait_for 20 ended "$1" && "$POLLUX" log "$1" | sed -n 's/^told //p' | tail -n 1
}
tell='echo "told $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER $POLLUX_CUDA_DEVICES"'
submit() { "$POLLUX" submit -q "$@" -- sh -c "$tell"; }
is 'by number' '1 PCI_BUS_ID index' "$(told "$(submit)")"
is 'by UUID, for one job' "$B PCI_BUS_ID uuid" "$(told "$(submit --cuda-devices uuid)")"
again=$("$POLLUX" again -q "$(store 'SELECT max(id) FROM jobs')")
is 'and for one like it' "$B PCI_BUS_ID uuid" "$(told "$again")"
configure 'cuda_devices = uuid'
is 'by UUID, as configured' "$B PCI_BUS_ID uuid" "$(told "$(submit)")"
is 'by number all the same, for one job' '1 PCI_BUS_ID index' \
	"$(told "$(submit --cuda-devices index)")"
configure
run "$POLLUX" submit --cuda-devices serial -- true
is 'anything else is refused' 64 "$rc"
{ gpu $A 1 12288 'Small'; gpu $B 2 24576 'Large'; echo 'mig 1'; gpu $C 3 16384 'Middle'; } | answers
is 'under MIG by UUID, on the others, too' "$C PCI_BUS_ID index" "$(told "$(submit)")"
# A card is pulled out between two runs of a job.
{ gpu $A 1 12288 'Small'; gpu $B 2 24576 'Large'; } | answers
id=$("$POLLUX" submit -q --retries 1 -- sh -c "$tell; [ \"\$POLLUX_RUN\" = 2 ]")
failed() { "$POLLUX" schedule && [ "$(store "SELECT failures FROM jobs WHERE id = $id")" = 1 ]; }
wait_for 20 failed
gpu $B 2 24576 'Large' | answers
is 'the number is that of the launch' '0 PCI_BUS_ID index' "$(told "$id")"
run "$POLLUX" submit -q -e CUDA_VISIBLE_DEVICES=5 -- sh -c "$tell"
like 'what --env sets is warned of' 'warning: CUDA_VISIBLE_DEVICES=5 stays in each run' "$err"
is 'and stays' '5 PCI_BUS_ID index' "$(told "$out")"
run "$POLLUX" submit -q -e CUDA_DEVICE_ORDER=FASTEST_FIRST -- sh -c "$tell"
like 'another order is warned of' 'named by UUID, not by index' "$err"
is 'and numbers would be wrong in it' "$B FASTEST_FIRST index" "$(told "$out")"
run "$POLLUX" again -q "$("$POLLUX" submit -q --hold -e CUDA_VISIBLE_DEVICES=5 -- true)"
like 'the next job like it is warned of it, too' 'warning: CUDA_VISIBLE_DEVICES=5 stays in each' \
	"$err"
for value in '' '{gpu_list}'; do
	run "$POLLUX" submit -q --hold -e "CUDA_VISIBLE_DEVICES=$value" -- true
	is "no GPU of others is used with '$value'" '' "$err"
done
run "$POLLUX" submit -q --hold --cuda-devices uuid -e CUDA_DEVICE_ORDER=FASTEST_FIRST -- true
is 'UUIDs that were asked for are not warned of' '' "$err"
run "$POLLUX" submit --param 'n=1,2,3' -e CUDA_VISIBLE_DEVICES=5 -- sh -c 'exit {n}'
is 'a sweep is warned once' 1 "$(echo "$err" | grep -c 'stays in each run')"
end_jobs >/dev/null

# --- the shell's CUDA_VISIBLE_DEVICES ---

for wish in 1 $B 0,1 '' -1 NoDevFiles; do
	run env CUDA_VISIBLE_DEVICES="$wish" "$POLLUX" submit -q --hold -- true
	is "the wish for '$wish' is warned of" 1 \
		"$(echo "$err" | grep -c "_DEVICES='$wish' of this shell is not passed on")"
done
run env CUDA_VISIBLE_DEVICES=1 "$POLLUX" submit -q --hold --param 'n=1,2' -- echo '{n}'
is 'once for a sweep' 1 "$(echo "$err" | grep -c 'not passed on')"
run "$POLLUX" submit -q --hold -- true
is 'without one there is no warning' '' "$err"
run env CUDA_VISIBLE_DEVICES=1 "$POLLUX" submit -q --hold -e CUDA_VISIBLE_DEVICES=0 -- true
unlike 'nor beside --env' 'not passed on' "$err"
run env CUDA_VISIBLE_DEVICES=1 "$POLLUX" submit -q --hold -e CUDA_VISIBLE_DEVICES= -- true
is 'even if that says that it wants none' '' "$err"
cp answers asked
sed -i '1i slow 100' answers
run env CUDA_VISIBLE_DEVICES=1 timeout 25 "$POLLUX" submit -q --hold -- true
is 'a driver that hangs does not keep the warning' "0 1" \
	"$rc $(echo "$err" | grep -c 'not passed on')"
mv asked answers
run env CUDA_VISIBLE_DEVICES=1 POLLUX_JOB_ID=7 "$POLLUX" submit -q --hold -- true
is 'nor of the GPUs of the job that submits' '' "$err"
run env CUDA_VISIBLE_DEVICES=1 SLURM_JOB_ID=7 "$POLLUX" submit -q --hold -- true
is 'nor of those of a job of Slurm' '' "$err"
run env CUDA_VISIBLE_DEVICES=1 POLLUX_NVML=none "$POLLUX" submit -q --hold -- true
is 'nor where jobs run on slots' '' "$err"
"$POLLUX" cancel all >/dev/null 2>&1

# --- slots of the CPU ---

configure 'slots = 1'
is 'on slots there is no number, and no GPU is seen' '' "$(told "$(submit)" | xargs)"
configure
finish
