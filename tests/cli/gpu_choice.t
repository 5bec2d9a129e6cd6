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
ok 'the first job gets the larger card' wait_for 20 is_on "$first" "gpu:$B"
second=$(sleeper)
"$POLLUX" schedule
is 'the second job waits beside a small card for displays' queued "$(state "$second")"
unlike 'the second job is not told of the small card' 'display' "$(reason "$second")"
run "$POLLUX" devices
like 'devices shows the small card as not usable' '^gpu:0  no ' "$out"
like 'devices says why the small card is left out, and how to use it' \
	"gpu:0: left out as a card for a display, beside gpu:1 with 48 GiB; to use it: gpus = all" \
	"$(echo "$out" | tr -s '\n ' ' ')"
run "$POLLUX" doctor
unlike 'doctor finds nothing wrong with a card that is left out' 'pollux devices' "$out"
configure 'gpus = all'
ok 'the second job gets the small card with gpus = all' wait_for 20 is_on "$second" "gpu:$A"
configure "gpus = $B"
"$POLLUX" schedule
is 'a job keeps its GPU when the setting leaves the GPU out' running "$(state "$second")"
is 'the job keeps the same GPU' "gpu:$A" "$(devices_of "$second")"
end_jobs >/dev/null
wait_for 20 no_supervisor

# --- which GPUs ---

{ gpu $A 1 24576 Large; echo 'display 1'; gpu $B 2 24576 Large; gpu $C 3 24576 Large; } | answers
check_use() { # check_use SETTING WANT
	configure "gpus = $1"
	is "the setting gpus = $1 picks the GPUs that it names" "$2" "$(use)"
}
check_use all '1 1 1'
check_use 'not display' '0 1 1'
check_use '1' '0 1 0'
check_use "0, $C" '1 0 1'
check_use 'GPU-bb' '0 1 0'
id=$(sleeper)
ok 'a job starts on a GPU that the setting names' wait_for 20 is_on "$id" "gpu:$B"
"$POLLUX" cancel "$id" >/dev/null
run env POLLUX_GPUS=2 "$POLLUX" devices
like 'POLLUX_GPUS goes before the configuration file' '^gpu:1  no ' "$out"
gpu $A 1 24576 Large >one
echo 'display 1' >>one
mv answers three
mv one answers
configure 'gpus = not display'
like 'doctor finds that the setting leaves no GPU' \
	'every GPU is left out, so jobs wait: have the setting' \
	"$("$POLLUX" doctor | tr -s '\n ' ' ')"
mv three answers
unlike 'doctor does not say that no GPU is left where one is' 'every GPU is left out' \
	"$("$POLLUX" doctor | tr -s '\n ' ' ')"
configure 'gpus = 0,7'
like 'devices tells that a number in gpus is no GPU' "'7' is no GPU here" "$("$POLLUX" devices)"
like 'doctor finds that a number in gpus is no GPU' "'7' is no GPU here" \
	"$("$POLLUX" doctor | tr -s '\n ' ' ')"
configure "gpus = GPU-5a1e"
run "$POLLUX" submit -- true
is "submit accepts a job though gpus names another machine's GPU" 0 "$rc"
id=$out
"$POLLUX" schedule
like 'the job waits, and its reason names the setting' 'left out by the setting gpus \(GPU-5a1e\)' \
	"$(reason "$id")"
"$POLLUX" cancel "$id" >/dev/null
for bad in banana 'all, 0' 'not displays' '-1' '0-1' 'MIG-5a1e'; do
	configure "gpus = $bad"
	status "schedule refuses gpus = $bad" 78 "$POLLUX" schedule
	is "schedule says in one line what is wrong with gpus = $bad" \
		"pollux: bad setting 'gpus' in '$POLLUX_DIR/config' line 1: '$bad' is \
not all, not display, or GPUs by number or UUID (such as 0,2 or GPU-5a1e...)" "$err"
done
like 'submit warns of a bad setting' 'warning: bad setting .gpus.*no job is started until' \
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
		ok "under $policy a job gets the largest card that is free" \
			wait_for 20 is_on "$id" "gpu:$card"
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
is 'a job is told its GPU by number' '1 PCI_BUS_ID index' "$(told "$(submit)")"
is '--cuda-devices uuid tells a job its GPU by UUID' "$B PCI_BUS_ID uuid" \
	"$(told "$(submit --cuda-devices uuid)")"
again=$("$POLLUX" again -q "$(store 'SELECT max(id) FROM jobs')")
is 'again tells the GPU by UUID as well' "$B PCI_BUS_ID uuid" "$(told "$again")"
configure 'cuda_devices = uuid'
is 'the setting cuda_devices = uuid tells GPUs by UUID' "$B PCI_BUS_ID uuid" "$(told "$(submit)")"
is '--cuda-devices index goes before the setting' '1 PCI_BUS_ID index' \
	"$(told "$(submit --cuda-devices index)")"
configure
run "$POLLUX" submit --cuda-devices serial -- true
is 'submit refuses any other --cuda-devices' 64 "$rc"
{ gpu $A 1 12288 'Small'; gpu $B 2 24576 'Large'; echo 'mig 1'; gpu $C 3 16384 'Middle'; } | answers
is 'with MIG on one card, the other cards are told by UUID' "$C PCI_BUS_ID index" \
	"$(told "$(submit)")"
# A card is pulled out between two runs of a job.
{ gpu $A 1 12288 'Small'; gpu $B 2 24576 'Large'; } | answers
id=$("$POLLUX" submit -q --retries 1 -- sh -c "$tell; [ \"\$POLLUX_RUN\" = 2 ]")
failed() { "$POLLUX" schedule && [ "$(store "SELECT failures FROM jobs WHERE id = $id")" = 1 ]; }
wait_for 20 failed
gpu $B 2 24576 'Large' | answers
is 'a job is told the number that its GPU has at the launch' '0 PCI_BUS_ID index' "$(told "$id")"
run "$POLLUX" submit -q -e CUDA_VISIBLE_DEVICES=5 -- sh -c "$tell"
like 'submit warns that CUDA_VISIBLE_DEVICES of --env stays' \
	'warning: CUDA_VISIBLE_DEVICES=5 stays in each run' "$err"
is 'CUDA_VISIBLE_DEVICES of --env stays' '5 PCI_BUS_ID index' "$(told "$out")"
run "$POLLUX" submit -q -e CUDA_DEVICE_ORDER=FASTEST_FIRST -- sh -c "$tell"
like 'submit warns of another CUDA_DEVICE_ORDER' 'named by UUID, not by index' "$err"
is 'a job with another order is told its GPU by UUID' "$B FASTEST_FIRST index" "$(told "$out")"
run "$POLLUX" again -q "$("$POLLUX" submit -q --hold -e CUDA_VISIBLE_DEVICES=5 -- true)"
like 'again warns that CUDA_VISIBLE_DEVICES of --env stays' \
	'warning: CUDA_VISIBLE_DEVICES=5 stays in each' "$err"
for value in '' '{gpu_list}'; do
	run "$POLLUX" submit -q --hold -e "CUDA_VISIBLE_DEVICES=$value" -- true
	is "submit does not warn of CUDA_VISIBLE_DEVICES='$value'" '' "$err"
done
run "$POLLUX" submit -q --hold --cuda-devices uuid -e CUDA_DEVICE_ORDER=FASTEST_FIRST -- true
is 'submit does not warn of another order beside UUIDs' '' "$err"
run "$POLLUX" submit --param 'n=1,2,3' -e CUDA_VISIBLE_DEVICES=5 -- sh -c 'exit {n}'
is 'submit warns once for a sweep of --env' 1 "$(echo "$err" | grep -c 'stays in each run')"
end_jobs >/dev/null

# --- the shell's CUDA_VISIBLE_DEVICES ---

for wish in 1 $B 0,1 '' -1 NoDevFiles; do
	run env CUDA_VISIBLE_DEVICES="$wish" "$POLLUX" submit -q --hold -- true
	is "submit warns of the shell's CUDA_VISIBLE_DEVICES='$wish'" 1 \
		"$(echo "$err" | grep -c "_DEVICES='$wish' of this shell is not passed on")"
done
run env CUDA_VISIBLE_DEVICES=1 "$POLLUX" submit -q --hold --param 'n=1,2' -- echo '{n}'
is "submit warns once for a sweep of the shell's variable" 1 \
	"$(echo "$err" | grep -c 'not passed on')"
run "$POLLUX" submit -q --hold -- true
is 'submit does not warn where the shell has no variable' '' "$err"
run env CUDA_VISIBLE_DEVICES=1 "$POLLUX" submit -q --hold -e CUDA_VISIBLE_DEVICES=0 -- true
unlike "submit does not warn of the shell's variable beside --env" 'not passed on' "$err"
run env CUDA_VISIBLE_DEVICES=1 "$POLLUX" submit -q --hold -e CUDA_VISIBLE_DEVICES= -- true
is 'submit does not warn beside an --env that wants no GPU' '' "$err"
cp answers asked
sed -i '1i slow 100' answers
run env CUDA_VISIBLE_DEVICES=1 timeout 25 "$POLLUX" submit -q --hold -- true
is 'submit warns though the driver hangs' "0 1" "$rc $(echo "$err" | grep -c 'not passed on')"
mv asked answers
run env CUDA_VISIBLE_DEVICES=1 POLLUX_JOB_ID=7 "$POLLUX" submit -q --hold -- true
is 'submit does not warn inside a job of pollux' '' "$err"
run env CUDA_VISIBLE_DEVICES=1 SLURM_JOB_ID=7 "$POLLUX" submit -q --hold -- true
is 'submit does not warn inside a job of Slurm' '' "$err"
run env CUDA_VISIBLE_DEVICES=1 POLLUX_NVML=none "$POLLUX" submit -q --hold -- true
is 'submit does not warn where jobs run on slots' '' "$err"
"$POLLUX" cancel all >/dev/null 2>&1

# --- slots of the CPU ---

configure 'slots = 1'
is 'a job on a slot is told no number and sees no GPU' '' "$(told "$(submit)" | xargs)"
configure
finish
