#!/bin/sh
# gpu_astray.t - programs on GPUs that are not theirs or on none, containers, GPUs on which CUDA
# does not start, cards that a framework fills at its start, as far as can be tested without a GPU:
# a stand-in answers for NVML (tests/gpu/standin.h). Jobs and processes are real; GPUs and docker(1)
# are not.
# shellcheck disable=SC2317,SC2016  # functions called by name; the shells of jobs, and Perl
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
PATH=$TMP/bin:$PATH COLUMNS=400
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT PATH COLUMNS
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
mkdir root bin

others='' groups=''
is_removed() { [ ! -d "$1" ] || rmdir "$1"; }
cleanup() {
	end_jobs
	# shellcheck disable=SC2086  # lists of numbers and of paths without blanks
	{
		[ -z "$others" ] || kill $others
		for group in $groups; do wait_for 5 is_removed "$group"; done
	} 2>/dev/null
}
gpu() { # gpu UUID [LINE]...: of 24 GiB
	printf 'gpu %s NVIDIA GeForce RTX 4090\nmemory 24000 23000\nrates 0\npersistence 1\n' "$1"
	shift
	[ $# = 0 ] || printf '%s\n' "$@"
}
answers() { cat >answers.new && mv answers.new answers; }
leader_of() { store "SELECT $leader_pid FROM runs WHERE job_id = $1 AND state = 'running'"; }
runs() { [ -n "$(leader_of "$1")" ]; }
state_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
passes_until() { "$POLLUX" schedule && "$@"; }
# The last thing that was said of the job's GPUs, and how often something was.
said() { store "SELECT kind || ': ' || text FROM events WHERE job_id = $1 AND kind LIKE 'gpu%'
	ORDER BY id DESC LIMIT 1"; }
times_said() { store "SELECT count(*) FROM events WHERE job_id = $1 AND kind LIKE 'gpu%'"; }
status_of() { "$POLLUX" status "$1" | sed -n 's/^  reason  *//p'; }

# --- a process on the GPU of another job ---

{ gpu $A; gpu $B; } | answers
for _ in 1 2; do "$POLLUX" submit -q -- sleep 1000 >/dev/null; done
ok 'two jobs run' wait_for 20 passes_until runs 2
ok 'each on its GPU' wait_for 20 runs 1
one=$(leader_of 1) two=$(leader_of 2)
{ gpu $A "process $one 9000 50" "process $two 8000 50"; gpu $B; } | answers
"$POLLUX" schedule
is 'a job on the GPU of another one is told' "gpu: its process $two computes on gpu:0, which it \
was not given (job 1 has it): the program must leave CUDA_VISIBLE_DEVICES as it is" "$(said 2)"
is 'and so is that job' "gpu: process $two of job 2 computes on its gpu:0, too" "$(said 1)"
like 'status of the one' "^its process $two computes on gpu:0, " "$(status_of 2)"
like 'and of the other' "^process $two of job 2 computes on its gpu:0, too; " "$(status_of 1)"
is 'in JSON, too' "process $two of job 2 computes on its gpu:0, too" \
	"$("$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{gpu_remark}')"
"$POLLUX" schedule
is 'it is said once' '1 1' "$(times_said 1) $(times_said 2)"
{ gpu $A "process $one 9000 50"; gpu $B "process $two 8000 50"; } | answers
"$POLLUX" schedule
like 'where it ends, that is said' '^gpu-over: ' "$(said 2)"
unlike 'and status is silent' 'computes on' "$(status_of 1)$(status_of 2)"
is 'in JSON as well' '' \
	"$("$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{gpu_remark} // ""')"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel 1
"$POLLUX" wait 1
{ gpu $A "process $two 600 0"; gpu $B "process $two 8000 50"; } | answers
"$POLLUX" schedule
like 'on a free GPU, beside its own, too' "^gpu: its process $two computes on gpu:0, which it was \
not given: " "$(said 2)"
{ gpu $A "process $two 500 0"; gpu $B "process $two 8000 50"; } | answers
"$POLLUX" schedule
like 'a context of 500 MiB that does nothing is not worth a word' '^gpu-over: ' "$(said 2)"

# --- on none ---

{ gpu $A; gpu $B; } | answers
age() { store "UPDATE runs SET launch_boot_s = launch_boot_s - $2 WHERE job_id = $1"; }
before=$(times_said 2)
"$POLLUX" submit -q -- sleep 1000 >/dev/null
ok 'a third job runs' wait_for 20 passes_until runs 3
age 3 200
"$POLLUX" schedule
is 'a job on no GPU has time to prepare' 0 "$(times_said 3)"
age 3 101
"$POLLUX" schedule
like 'after five minutes it is told' '^gpu: no process of it was seen on a GPU' "$(said 3)"
like 'status shows it' '^no process of it was seen on a GPU in the 5 minutes' "$(status_of 3)"
is 'not to one that was on one' "$before" "$(times_said 2)"
three=$(leader_of 3)
{ gpu $A "process $three 100 0"; gpu $B; } | answers
"$POLLUX" schedule
like 'a context is enough to end that' '^gpu-over: ' "$(said 3)"
{ gpu $A; gpu $B; } | answers
"$POLLUX" schedule
like 'once was enough' '^gpu-over: ' "$(said 3)"
"$POLLUX" cancel 3
"$POLLUX" wait 3
"$POLLUX" submit -q -- sleep 1000 >/dev/null
ok 'a fourth job runs' wait_for 20 passes_until runs 4
age 4 400
{ gpu $A 'rates 60'; gpu $B; } | answers
"$POLLUX" schedule
is 'a GPU that is busy says that somebody is there' 0 "$(times_said 4)"
{ gpu $A 'answer processes 4'; gpu $B; } | answers
"$POLLUX" schedule
is 'and nothing is said where the driver does not list' 0 "$(times_said 4)"

# --- a card that is filled at once ---

mkdir -p jaxlib tensorflow
sleep=$(command -v sleep)
cp "$sleep" jaxlib/xla
cp "$sleep" tensorflow/core
taker() { # taker PROGRAM PART VARIABLE...: sets $pid to a job with that part of a card
	program=$1 part=$2
	shift 2
	{ gpu $A; gpu $B; } | answers
	"$POLLUX" cancel "$job" && "$POLLUX" wait "$job"
	job=$("$POLLUX" submit -q -- env "$@" "$program" 1000)
	wait_for 20 passes_until runs "$job" || return
	wait_for 20 grep -q "$program" "/proc/$(leader_of "$job")/maps" || return
	pid=$(leader_of "$job")
	for card in $A $B; do
		gpu "$card" "process $pid $((240 * part)) 0"
	done | answers
	"$POLLUX" schedule
}
job=4
taker "$TMP/jaxlib/xla" 76
like 'JAX, with 75 % of a card' "^gpu: .*JAX took 75 % of gpu:[01]'s memory at its start, \
.*XLA_PYTHON_CLIENT_PREALLOCATE=false \\(--preset jax\\)" "$(said "$job")"
like 'is shown by status' 'JAX took 75 %' "$(status_of "$job")"
taker "$TMP/jaxlib/xla" 60
unlike 'JAX with less is not' 'JAX' "$(said "$job")"
taker "$TMP/jaxlib/xla" 76 XLA_PYTHON_CLIENT_MEM_FRACTION=.75
unlike 'nor is it where somebody has said how much' 'JAX' "$(said "$job")"
taker "$TMP/jaxlib/xla" 76 XLA_CLIENT_MEM_FRACTION=.75
unlike 'by the newer variable, too' 'JAX' "$(said "$job")"
taker "$TMP/tensorflow/core" 94
like 'TensorFlow, with nearly all' 'TensorFlow took nearly all .*TF_FORCE_GPU_ALLOW_GROWTH=true' \
	"$(said "$job")"
taker "$TMP/tensorflow/core" 94 TF_FORCE_GPU_ALLOW_GROWTH=true
unlike 'not where it was told to grow' TensorFlow "$(said "$job")"
taker "$sleep" 94
unlike 'another program may need it' ' took ' "$(said "$job")"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel "$job" 2
"$POLLUX" wait "$job" 2
job=$("$POLLUX" submit -q --preset jax -- sh -c 'echo $XLA_PYTHON_CLIENT_PREALLOCATE')
wait_for 20 passes_until state_is "$job" 'done'
like 'the preset says so to the program' '^false$' "$("$POLLUX" log "$job")"

# --- containers ---

job=$("$POLLUX" submit -q --replicas 2 -- echo --gpus '"device={gpu_list}"')
wait_for 20 passes_until state_is "$job" 'done'
like '{gpu_list} is for docker' "^--gpus \"device=$A,$B\"\$" "$("$POLLUX" log "$job")"
job=$("$POLLUX" submit -q -e 'NVIDIA_VISIBLE_DEVICES={gpu_list}' -- \
	sh -c 'echo $NVIDIA_VISIBLE_DEVICES')
wait_for 20 passes_until state_is "$job" 'done'
like 'in a variable, too' "^($A|$B)\$" "$("$POLLUX" log "$job")"
job=$(POLLUX_SLOTS=1 "$POLLUX" submit -q -- echo '{gpu_list}')
on_slots() { POLLUX_SLOTS=1 "$POLLUX" schedule && state_is "$job" 'done'; }
wait_for 20 on_slots
like 'on a slot of the CPU it stays as it is' '^\{gpu_list\}$' "$("$POLLUX" log "$job")"

base=$("$POLLUX" devices | sed -n 's/^Each run gets a control group of its own in \(.*\)\.$/\1/p')
short=$(printf 'a%011x' $$) other_short=$(printf 'b%011x' $$) # in the tables
id=${short}0123456789abcdef0123456789abcdef0123456789abcdef0123
other=${other_short}0123456789abcdef0123456789abcdef0123456789abcdef0123
container() { # container ID: sets $pid to a process of it, which no run started
	sleep 1000 &
	pid=$! others="$others $!"
	mkdir -p "$base/docker-$1.scope"
	groups="$groups $base/docker-$1.scope"
	echo $pid >"$base/docker-$1.scope/cgroup.procs"
}
if [ -n "$base" ] && mkdir "$base/docker-$id.scope" 2>/dev/null; then
	groups=$base/docker-$id.scope
	# A docker that writes the number of its container.
	cat >client <<-END
		for file in own.cid cid; do echo $other >\$file; done
		while :; do sleep 0.2; done
	END
	printf '#!/bin/sh\n[ "$1" = kill ] && kill -9 $(cat "%s/docker-$2.scope/cgroup.procs")\n' \
		"$base" >bin/docker
	chmod +x bin/docker
	docker() { # docker WORD...: a job of it, whose shell has an option before its script
		"$POLLUX" submit -q --grace 0 --gpu-memory 7500M -- \
			perl -e 'exec { "/bin/sh" } "docker", @ARGV' -- -e "$TMP/client" "$@"
	}
	is_client() { tr '\0' ' ' <"/proc/$(leader_of "$1")/cmdline" | grep -q '^docker '; }
	owner() { # owner PID: the job that devices says it is of
		"$POLLUX" devices --json | json 'print map { $_->{job_id} // "none" } grep {
			$_->{pid} == '"$1"' } map { @{$_->{processes}} } @{$d->{devices}}'
	}
	job=$(docker run --gpus all image)
	ok 'a job that starts a container' wait_for 20 passes_until is_client "$job"
	beside=$("$POLLUX" submit -q -- sleep 1000)
	ok 'and another one' wait_for 20 passes_until runs "$beside"
	container "$id"
	{ gpu $A "process $pid 5000 10"; gpu $B "process $pid 5000 10"; } | answers
	"$POLLUX" schedule
	memory_of() { store "SELECT coalesce(max(device_memory_bytes), 0) FROM runs
		WHERE job_id = $1"; }
	is 'a process of the container is the job'\''s' "$job$job" "$(owner "$pid")"
	is 'as far as is known, so nothing is learnt of its memory' 0 "$(memory_of "$job")"
	is 'on another job'\''s GPU it is named, with what docker is to be told' \
		"gpu: its container \
$short computes on gpu:1, which it was not given (job $beside has it): docker run \
--gpus '\"device={gpu_list}\"'" "$(said "$job")"
	is 'that job is told, too' \
		"gpu: container $short of job $job computes on its gpu:1, too" \
		"$(said "$beside")"
	{ gpu $A; gpu $B; } | answers	# else their ends wait for what is listed to go
	"$POLLUX" cancel "$job" "$beside"
	"$POLLUX" wait "$job" "$beside"
	gpu $A "process $pid 5000 10" | answers
	ok 'without its number in a file the container outlives its job' kill -0 "$pid"
	like 'and is named where it keeps the GPU' \
		"^gpu:0: pid $pid \\([^ ]*, container $short\\) 5000 MiB" \
		"$("$POLLUX" devices)"
	{ gpu $A; gpu $B; } | answers
	job=$(docker logs -f run)
	ok 'a job that reads the words of a container' wait_for 20 passes_until is_client "$job"
	container "$id"
	{ gpu $A "process $pid 5000 10"; gpu $B "process $pid 5000 10"; } | answers
	is 'has not started the one that comes later' nonenone "$(owner "$pid")"
	kill "$pid"
	{ gpu $A; gpu $B; } | answers
	"$POLLUX" cancel "$job"
	"$POLLUX" wait "$job"

	gpu $A | answers
	rm -f cid
	job=$(docker --log-level debug run --cidfile cid image)
	ok 'a job of a container' wait_for 20 passes_until is_client "$job"
	ok 'whose number is known' wait_for 20 [ -s cid ]
	container "$other"
	gpu $A "process $pid 7000 90" | answers
	beside=$("$POLLUX" submit -q --gpu-memory 7500M -- sleep 1000)
	for _ in 1 2 3 4 5 6; do
		POLLUX_SLICE=1 POLLUX_POLICY=las "$POLLUX" schedule
		sleep 1
	done
	is 'does not give way: a suspension would not stop the container' 'none queued' \
		"$(store "SELECT suspension FROM runs WHERE job_id = $job") $(store "SELECT state
			FROM jobs WHERE id = $beside")"
	is 'what the container has there is known' 7340032000 "$(memory_of "$job")"
	store "UPDATE runs SET suspension = 'suspended' WHERE job_id = $job"
	like 'one of a suspended job keeps the GPU from others' \
		"^gpu:0: pid $pid \\(container $other_short of job $job\\) 7000 MiB, 90 %" \
		"$("$POLLUX" devices)"
	store "UPDATE runs SET suspension = 'none' WHERE job_id = $job"
	gpu $A | answers
	"$POLLUX" cancel "$beside" "$job"
	"$POLLUX" wait "$beside" "$job"
	for option in '--cidfile own.cid' --cidfile=cid "--cidfile $TMP/cid"; do
		{ gpu $A; gpu $B; } | answers
		rm -f cid own.cid
		# shellcheck disable=SC2086  # words
		job=$(docker run $option image) also=$(docker run image)
		ok "$option: two jobs of containers" wait_for 20 passes_until is_client "$also"
		ok 'both run' wait_for 20 is_client "$job"
		ok 'one number is in the file' wait_for 20 [ -s cid ]
		container "$other"
		where=$(store "SELECT device FROM runs r JOIN run_devices d ON d.run_id = r.id
			WHERE job_id = $also")
		gpu "${where#gpu:}" "process $pid 5000 10" | answers
		is 'on the GPU of the other job, too, it is the job'\''s that has its number' \
			"$job" "$(owner "$pid")"
		"$POLLUX" cancel "$also"
		"$POLLUX" wait "$also"
		ok 'the end of the other job leaves it' kill -0 "$pid"
		{ gpu $A; gpu $B; } | answers
		"$POLLUX" cancel "$job"
		"$POLLUX" wait "$job"
		is 'the end of its own job kills it, which is told' \
			"container $other_short of its docker outlived it and was killed" \
			"$(store "SELECT text FROM events
				WHERE job_id = $job AND kind = 'container'")"
	done
	{ gpu $A; gpu $B; } | answers
	rm -f cid
	printf '#!/bin/sh\nexit 1\n' >bin/docker
	job=$(docker run --cidfile cid image)
	ok 'one more' wait_for 20 passes_until is_client "$job"
	ok 'with its number' wait_for 20 [ -s cid ]
	container "$other"
	"$POLLUX" cancel "$job"
	"$POLLUX" wait "$job"
	like 'one that cannot be killed is told, with what to type' \
		"container $other_short of its docker lives on: docker kill $other_short" \
		"$("$POLLUX" status "$job")"
	kill "$pid"
else
	echo '# no control group can be made: containers are not tested'
fi

# --- a GPU on which CUDA does not start ---

dies() { # dies WORDS...: a job that prints them and fails
	"$POLLUX" submit -q "$@" -- sh -c 'echo "$0" >&2; exit 1' "$words"
}
ended() { # ended ID N: its Nth run has
	[ "$(store "SELECT count(*) FROM runs WHERE job_id = $1 AND state = 'ended'")" -ge "$2" ]
}
again() { # lets the pause after a failure pass
	store "UPDATE runs SET end_boot_s = end_boot_s - 1000 WHERE state = 'ended'"
}
runs_again() { again && "$POLLUX" schedule && ended "$1" "$2"; }
gpu $A | answers
words='RuntimeError: No CUDA GPUs are available'
a=$(dies) b=$(dies)
c=$("$POLLUX" submit -q -- sleep 1000)
ok 'a job dies as CUDA does not start' wait_for 20 passes_until ended "$a" 1
like 'it is told why' "CUDA does not start: $words; tried again without a try of its retries" \
	"$("$POLLUX" status "$a")"
is 'it waits for another try, without a failure' 'queued|0' \
	"$(store "SELECT state, failures FROM jobs WHERE id = $a")"
ok 'a second one dies there' wait_for 20 passes_until ended "$b" 1
like 'the GPU is set aside, which is an event' "gpu-aside +gpu:$A is set aside for an hour: CUDA" \
	"$("$POLLUX" status "$b")"
"$POLLUX" schedule
ok 'the third one waits' state_is "$c" queued
aside='set aside until [0-9][0-9]:[0-9][0-9]: CUDA does not start there; '
aside=${aside}'override: pollux devices --retry gpu:0'
like 'and status says for what' "$aside" "$("$POLLUX" status)"
like 'so does devices' "gpu:0: $aside " "$("$POLLUX" devices | tr -s '\n ' ' ')"
like 'and explain' "$aside" "$("$POLLUX" explain "$c")"
status 'a GPU that is not there' 66 "$POLLUX" devices --retry gpu:7
status 'not with other options' 64 "$POLLUX" devices --retry --ignore 1
status 'one GPU alone' 64 "$POLLUX" devices --retry gpu:0 gpu:1
status 'a person gives it back' 0 "$POLLUX" devices --retry gpu:0
status 'once' 1 "$POLLUX" devices --retry gpu:0
is 'which is said' 'pollux: gpu:0 is not set aside' "$err"
"$POLLUX" cancel "$a" "$b"
ok 'the third job runs' wait_for 20 passes_until runs "$c"
"$POLLUX" cancel "$c"
"$POLLUX" wait "$c"

# Where there is another GPU, the job goes there.
{ gpu $A; gpu $B; } | answers
a=$("$POLLUX" submit -q -- sh -c 'case $CUDA_VISIBLE_DEVICES in
	0) echo "cupy: CUDA_ERROR_NO_DEVICE"; exit 1 ;; esac')
ok 'a job dies twice on one GPU' wait_for 60 runs_again "$a" 2
ok 'and is done on the other one' wait_for 60 runs_again "$a" 3
is 'without a failure' 'done|0' "$(store "SELECT state, failures FROM jobs WHERE id = $a")"
is 'each in its place' "gpu:$A gpu:$A gpu:$B" "$(store "SELECT device FROM run_devices d
	JOIN runs r ON r.id = d.run_id WHERE job_id = $a ORDER BY r.number" | xargs)"
status 'all are given back' 0 "$POLLUX" devices --retry
status 'there is none left' 1 "$POLLUX" devices --retry

# A job that dies on each GPU has a fault of its own.
words='ggml_cuda_init: failed to initialize CUDA: unknown error'
a=$(dies --retries 1)
for run in 1 2 3 4; do
	ok "run $run of a job that dies everywhere" wait_for 60 runs_again "$a" $run
done
ok 'is not forgiven for ever' state_is "$a" failed
is 'its retries are used' 2 "$(store "SELECT failures FROM jobs WHERE id = $a")"
unlike 'and no GPU is set aside for it' 'set aside' "$("$POLLUX" devices)"

# Nor does one that names its GPUs itself, or whose sweep dies everywhere.
gpu $A | answers
words='RuntimeError: No CUDA GPUs are available'
a=$(dies -e CUDA_VISIBLE_DEVICES=5 --retries 1)
ok 'a job whose --env names a GPU dies' wait_for 60 runs_again "$a" 2
unlike 'and sets none aside' 'set aside' "$("$POLLUX" devices)"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel --yes --state active
"$POLLUX" submit -q --param n=1,2,3,4 -- sh -c 'echo "$0 {n}" >&2; exit 1' "$words" >sweep
first=$(head -n 1 sweep)
ok 'a sweep dies on both GPUs' wait_for 60 runs_again "$((first + 3))" 1
unlike 'and sets none aside' 'set aside' "$("$POLLUX" devices)"
"$POLLUX" cancel --yes --state active

# Where CUDA starts, the fault is the program's.
mkdir -p cards lib
ln -s "$GPU_STANDIN/cuda_freeze.so" lib/libcuda.so.1
gpu $A | answers
for _ in 1 2; do
	a=$(CUDA_STANDIN_DIR=$TMP/cards LD_LIBRARY_PATH=$TMP/lib dies)
	failed() {
		CUDA_STANDIN_DIR=$TMP/cards LD_LIBRARY_PATH=$TMP/lib "$POLLUX" schedule
		state_is "$a" failed
	}
	ok 'a job dies that finds no GPU, where there is one' wait_for 20 failed
done
like 'its own words are quoted' "failed.*: $words" "$("$POLLUX" status "$a" | tr -s '\n ' ' ')"
unlike 'and no GPU is set aside for it' 'set aside' "$("$POLLUX" devices)"

# What is no such death.
gpu $A | answers
for words in 'The NVIDIA driver on your system is too old (found version 11040)' \
	'RuntimeError: CUDA error: invalid device ordinal' \
	'RuntimeError: CUDA error: no kernel image is available for execution on the device'; do
	a=$(dies)
	ok 'another error' wait_for 20 passes_until ended "$a" 1
	ok "fails: $words" state_is "$a" failed
done
unlike 'and sets no GPU aside' 'set aside' "$("$POLLUX" devices)"

finish
