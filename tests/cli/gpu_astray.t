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
passes_until() { pass && "$@"; }
# The last thing that was said of the job's GPUs, and how often something was.
said() { store "SELECT kind || ': ' || text FROM events WHERE job_id = $1 AND kind LIKE 'gpu%'
	ORDER BY id DESC LIMIT 1"; }
times_said() { store "SELECT count(*) FROM events WHERE job_id = $1 AND kind LIKE 'gpu%'"; }
status_of() { "$POLLUX" status "$1" | sed -n 's/^  reason  *//p'; }

# --- a process on the GPU of another job ---

{ gpu $A; gpu $B; } | answers
for _ in 1 2; do "$POLLUX" submit -q -- sleep 1000 >/dev/null; done
ok 'the second job runs on a GPU' wait_for 20 passes_until runs 2
ok 'the first job runs on a GPU' wait_for 20 runs 1
one=$(leader_of 1) two=$(leader_of 2)
{ gpu $A "process $one 9000 50" "process $two 8000 50"; gpu $B; } | answers
pass
is 'a job is told that it computes on the GPU of another one' \
	"gpu: its process $two computes on gpu:0, which it \
was not given (job 1 has it): the program must leave CUDA_VISIBLE_DEVICES as it is" "$(said 2)"
is 'the other job is told whose process computes on its GPU' \
	"gpu: process $two of job 2 computes on its gpu:0, too" "$(said 1)"
like 'status tells that a job computes on the GPU of another one' \
	"^its process $two computes on gpu:0, " "$(status_of 2)"
like 'status tells the other job whose process is on its GPU' \
	"^process $two of job 2 computes on its gpu:0, too; " "$(status_of 1)"
is 'the JSON of status has the remark' "process $two of job 2 computes on its gpu:0, too" \
	"$("$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{gpu_remark}')"
pass
is 'another pass does not say it again' '1 1' "$(times_said 1) $(times_said 2)"
{ gpu $A "process $one 9000 50"; gpu $B "process $two 8000 50"; } | answers
pass
like 'an event tells that a job computes there no more' '^gpu-over: ' "$(said 2)"
unlike 'status has no remark once the job is on its own GPU' 'computes on' \
	"$(status_of 1)$(status_of 2)"
is 'the JSON of status has no remark once the job is on its own GPU' '' \
	"$("$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{gpu_remark} // ""')"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel 1
"$POLLUX" wait 1
{ gpu $A "process $two 600 0"; gpu $B "process $two 8000 50"; } | answers
pass
like 'a job is told that it computes on a free GPU beside its own' \
	"^gpu: its process $two computes on gpu:0, which it was \
not given: " "$(said 2)"
{ gpu $A "process $two 500 0"; gpu $B "process $two 8000 50"; } | answers
pass
like 'an idle context of 500 MiB does not count as computing' '^gpu-over: ' "$(said 2)"

# --- on none ---

{ gpu $A; gpu $B; } | answers
age() { given_run "$1" launch_boot_s-="$2"; }
before=$(times_said 2)
"$POLLUX" submit -q -- sleep 1000 >/dev/null
ok 'the third job runs' wait_for 20 passes_until runs 3
age 3 200
pass
is 'a job on no GPU has time to prepare' 0 "$(times_said 3)"
age 3 101
pass
like 'a job is told after five minutes that it is on no GPU' \
	'^gpu: no process of it was seen on a GPU' "$(said 3)"
like 'status tells that a job is on no GPU' '^no process of it was seen on a GPU in the 5 minutes' \
	"$(status_of 3)"
is 'a job that was on a GPU once is not told that it is on none' "$before" "$(times_said 2)"
three=$(leader_of 3)
{ gpu $A "process $three 100 0"; gpu $B; } | answers
pass
like 'a small context on its GPU ends the remark' '^gpu-over: ' "$(said 3)"
{ gpu $A; gpu $B; } | answers
pass
like 'the remark does not come back when the context is gone' '^gpu-over: ' "$(said 3)"
"$POLLUX" cancel 3
"$POLLUX" wait 3
"$POLLUX" submit -q -- sleep 1000 >/dev/null
ok 'the fourth job runs' wait_for 20 passes_until runs 4
age 4 400
{ gpu $A 'rates 60'; gpu $B; } | answers
pass
is 'a job is not told that it is on none where its GPU is busy' 0 "$(times_said 4)"
{ gpu $A 'answer processes 4'; gpu $B; } | answers
pass
is 'a job is not told that it is on none where nothing is listed' 0 "$(times_said 4)"

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
	pass
}
job=4
taker "$TMP/jaxlib/xla" 76
like 'an event tells that JAX took 75 % of a card' \
	"^gpu: .*JAX took 75 % of gpu:[01]'s memory at its start, \
.*XLA_PYTHON_CLIENT_PREALLOCATE=false \\(--preset jax\\)" "$(said "$job")"
like 'status tells that JAX took 75 % of a card' 'JAX took 75 %' "$(status_of "$job")"
taker "$TMP/jaxlib/xla" 60
unlike 'JAX with less of a card is not told' 'JAX' "$(said "$job")"
taker "$TMP/jaxlib/xla" 76 XLA_PYTHON_CLIENT_MEM_FRACTION=.75
unlike 'JAX is not told where a variable says how much it takes' 'JAX' "$(said "$job")"
taker "$TMP/jaxlib/xla" 76 XLA_CLIENT_MEM_FRACTION=.75
unlike 'JAX is not told where the newer variable says how much' 'JAX' "$(said "$job")"
taker "$TMP/tensorflow/core" 94
like 'an event tells that TensorFlow took nearly all of a card' \
	'TensorFlow took nearly all .*TF_FORCE_GPU_ALLOW_GROWTH=true' "$(said "$job")"
taker "$TMP/tensorflow/core" 94 TF_FORCE_GPU_ALLOW_GROWTH=true
unlike 'TensorFlow is not told where a variable lets it grow' TensorFlow "$(said "$job")"
taker "$sleep" 94
unlike 'another program that takes nearly all is not told' ' took ' "$(said "$job")"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel "$job" 2
"$POLLUX" wait "$job" 2
job=$("$POLLUX" submit -q --preset jax -- sh -c 'echo $XLA_PYTHON_CLIENT_PREALLOCATE')
wait_for 20 passes_until state_is "$job" 'done'
like 'the preset jax sets the variable for the program' '^false$' "$("$POLLUX" log "$job")"

# --- containers ---

job=$("$POLLUX" submit -q --replicas 2 -- echo --gpus '"device={gpu_list}"')
wait_for 20 passes_until state_is "$job" 'done'
like '{gpu_list} in the command names the GPUs for docker' "^--gpus \"device=$A,$B\"\$" \
	"$("$POLLUX" log "$job")"
job=$("$POLLUX" submit -q -e 'NVIDIA_VISIBLE_DEVICES={gpu_list}' -- \
	sh -c 'echo $NVIDIA_VISIBLE_DEVICES')
wait_for 20 passes_until state_is "$job" 'done'
like '{gpu_list} in a variable names the GPU for docker' "^($A|$B)\$" "$("$POLLUX" log "$job")"
job=$(POLLUX_SLOTS=1 "$POLLUX" submit -q -- echo '{gpu_list}')
on_slots() { POLLUX_SLOTS=1 "$POLLUX" schedule && state_is "$job" 'done'; }
wait_for 20 on_slots
like '{gpu_list} stays as it is on a slot of the CPU' '^\{gpu_list\}$' "$("$POLLUX" log "$job")"

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
	ok 'a job runs that starts a container' wait_for 20 passes_until is_client "$job"
	beside=$("$POLLUX" submit -q -- sleep 1000)
	ok 'another job runs beside it' wait_for 20 passes_until runs "$beside"
	container "$id"
	{ gpu $A "process $pid 5000 10"; gpu $B "process $pid 5000 10"; } | answers
	pass
	memory_of() { store "SELECT coalesce(max(device_memory_bytes), 0) FROM runs
		WHERE job_id = $1"; }
	is "the container's process belongs to the job, on both GPUs" "$job$job" "$(owner "$pid")"
	is "the run's memory is not learnt from a container taken for its own" 0 \
		"$(memory_of "$job")"
	is "a job is told that its container is on another job's GPU" \
		"gpu: its container \
$short computes on gpu:1, which it was not given (job $beside has it): docker run \
--gpus '\"device={gpu_list}\"'" "$(said "$job")"
	is 'the other job is told whose container is on its GPU' \
		"gpu: container $short of job $job computes on its gpu:1, too" "$(said "$beside")"
	{ gpu $A; gpu $B; } | answers	# else their ends wait for what is listed to go
	"$POLLUX" cancel "$job" "$beside"
	"$POLLUX" wait "$job" "$beside"
	gpu $A "process $pid 5000 10" | answers
	ok 'a container whose number is in no file outlives its job' kill -0 "$pid"
	like 'devices names a container that keeps a GPU' \
		"^gpu:0: pid $pid \\([^ ]*, container $short\\) 5000 MiB" "$("$POLLUX" devices)"
	{ gpu $A; gpu $B; } | answers
	job=$(docker logs -f run)
	ok 'a job runs that reads the log of a container' wait_for 20 passes_until is_client "$job"
	container "$id"
	{ gpu $A "process $pid 5000 10"; gpu $B "process $pid 5000 10"; } | answers
	is 'a container that comes later does not belong to a reader of logs' nonenone \
		"$(owner "$pid")"
	kill "$pid"
	{ gpu $A; gpu $B; } | answers
	"$POLLUX" cancel "$job"
	"$POLLUX" wait "$job"

	gpu $A | answers
	rm -f cid
	job=$(docker --log-level debug run --cidfile cid image)
	ok 'a job of a container with --cidfile runs' wait_for 20 passes_until is_client "$job"
	ok 'the number of its container is in the file' wait_for 20 [ -s cid ]
	container "$other"
	gpu $A "process $pid 7000 90" | answers
	beside=$("$POLLUX" submit -q --gpu-memory 7500M -- sleep 1000)
	for _ in 1 2 3 4 5 6; do
		POLLUX_SLICE=1 POLLUX_POLICY=las "$POLLUX" schedule
		sleep 1
	done
	is 'a job of a container does not give way by suspension' 'none queued' \
		"$(store "SELECT suspension FROM runs WHERE job_id = $job") $(store "SELECT state
			FROM jobs WHERE id = $beside")"
	is "the memory of a job's container is known" 7340032000 "$(memory_of "$job")"
	given_run "$job" suspension=suspended
	like "a suspended job's container keeps the GPU from others" \
		"^gpu:0: pid $pid \\(container $other_short of job $job\\) 7000 MiB, 90 %" \
		"$("$POLLUX" devices)"
	given_run "$job" suspension=none
	gpu $A | answers
	"$POLLUX" cancel "$beside" "$job"
	"$POLLUX" wait "$beside" "$job"
	for option in '--cidfile own.cid' --cidfile=cid "--cidfile $TMP/cid"; do
		{ gpu $A; gpu $B; } | answers
		rm -f cid own.cid
		# shellcheck disable=SC2086  # words
		job=$(docker run $option image) also=$(docker run image)
		ok "$option: the second job of a container runs" \
			wait_for 20 passes_until is_client "$also"
		ok "$option: the first job of a container runs" wait_for 20 is_client "$job"
		ok "$option: the number of one container is in the file" wait_for 20 [ -s cid ]
		container "$other"
		where=$(store "SELECT device FROM runs r JOIN run_devices d ON d.run_id = r.id
			WHERE job_id = $also")
		gpu "${where#gpu:}" "process $pid 5000 10" | answers
		is "$option: the container belongs to the job with its number" \
			"$job" "$(owner "$pid")"
		"$POLLUX" cancel "$also"
		"$POLLUX" wait "$also"
		ok "$option: the end of the other job leaves the container alive" kill -0 "$pid"
		{ gpu $A; gpu $B; } | answers
		"$POLLUX" cancel "$job"
		"$POLLUX" wait "$job"
		is "$option: the end of its own job kills the container" \
			"container $other_short of its docker outlived it and was killed" \
			"$(store "SELECT text FROM events
				WHERE job_id = $job AND kind = 'container'")"
	done
	{ gpu $A; gpu $B; } | answers
	rm -f cid
	printf '#!/bin/sh\nexit 1\n' >bin/docker
	job=$(docker run --cidfile cid image)
	ok 'a job runs whose container cannot be killed' wait_for 20 passes_until is_client "$job"
	ok 'a container that cannot be killed has its number in the file' wait_for 20 [ -s cid ]
	container "$other"
	"$POLLUX" cancel "$job"
	"$POLLUX" wait "$job"
	like 'status tells how to kill a container that lives on' \
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
	given_run all if state=ended end_boot_s-=1000
}
runs_again() { again && pass && ended "$1" "$2"; }
gpu $A | answers
words='RuntimeError: No CUDA GPUs are available'
a=$(dies) b=$(dies)
c=$("$POLLUX" submit -q -- sleep 1000)
# The pause after the failure of the first job lasts, however busy the machine is.
dies_first() { passes_until ended "$a" 1 && given_run "$a" end_boot_s+=1000; }
ok 'the first job dies as CUDA does not start' wait_for 20 dies_first
like 'status tells the first job that CUDA does not start' \
	"CUDA does not start: $words; tried again without a try of its retries" \
	"$("$POLLUX" status "$a")"
is 'the first job waits for another try, without a failure' 'queued|0' \
	"$(store "SELECT state, failures FROM jobs WHERE id = $a")"
ok 'a second job dies on the same GPU' wait_for 20 passes_until ended "$b" 1
like 'an event tells that the GPU is set aside' "gpu-aside +gpu:$A is set aside for an hour: CUDA" \
	"$("$POLLUX" status "$b")"
pass
ok 'the third job waits' state_is "$c" queued
aside='set aside until [0-9][0-9]:[0-9][0-9]: CUDA does not start there; '
aside=${aside}'override: pollux devices --retry gpu:0'
like 'status tells that the third job waits for a GPU set aside' "$aside" "$("$POLLUX" status)"
like 'devices tells that the GPU is set aside' "gpu:0: $aside " \
	"$("$POLLUX" devices | tr -s '\n ' ' ')"
like 'explain tells that the GPU is set aside' "$aside" "$("$POLLUX" explain "$c")"
status 'devices --retry refuses a GPU that is not there' 66 "$POLLUX" devices --retry gpu:7
status 'devices refuses --retry with --ignore' 64 "$POLLUX" devices --retry --ignore 1
status 'devices --retry refuses two GPUs' 64 "$POLLUX" devices --retry gpu:0 gpu:1
status 'devices --retry gives the GPU back' 0 "$POLLUX" devices --retry gpu:0
status 'devices --retry fails for a GPU that is not set aside' 1 "$POLLUX" devices --retry gpu:0
is 'devices says that the GPU is not set aside' 'pollux: gpu:0 is not set aside' "$err"
"$POLLUX" cancel "$a" "$b"
ok 'the third job runs on the GPU that was given back' wait_for 20 passes_until runs "$c"
"$POLLUX" cancel "$c"
"$POLLUX" wait "$c"

# Where there is another GPU, the job goes there.
{ gpu $A; gpu $B; } | answers
a=$("$POLLUX" submit -q -- sh -c 'case $CUDA_VISIBLE_DEVICES in
	0) echo "cupy: CUDA_ERROR_NO_DEVICE"; exit 1 ;; esac')
ok 'a job dies twice on one of two GPUs' wait_for 60 runs_again "$a" 2
ok 'the job ends on the other GPU' wait_for 60 runs_again "$a" 3
is 'the job is done without a failure' 'done|0' \
	"$(store "SELECT state, failures FROM jobs WHERE id = $a")"
is 'the job had two runs on one GPU and one on the other' "gpu:$A gpu:$A gpu:$B" \
	"$(store "SELECT device FROM run_devices d
	JOIN runs r ON r.id = d.run_id WHERE job_id = $a ORDER BY r.number" | xargs)"
status 'devices --retry gives all GPUs back' 0 "$POLLUX" devices --retry
status 'devices --retry fails where no GPU is set aside' 1 "$POLLUX" devices --retry

# A job that dies on each GPU has a fault of its own.
words='ggml_cuda_init: failed to initialize CUDA: unknown error'
a=$(dies --retries 1)
for run in 1 2 3 4; do
	ok "run $run of a job that dies everywhere ends" wait_for 60 runs_again "$a" $run
done
ok 'a job that dies everywhere fails' state_is "$a" failed
is 'a job that dies everywhere uses its retries' 2 \
	"$(store "SELECT failures FROM jobs WHERE id = $a")"
unlike 'a job that dies everywhere sets no GPU aside' 'set aside' "$("$POLLUX" devices)"

# Nor does one that names its GPUs itself, or whose sweep dies everywhere.
gpu $A | answers
words='RuntimeError: No CUDA GPUs are available'
a=$(dies -e CUDA_VISIBLE_DEVICES=5 --retries 1)
ok 'a job dies whose --env names a GPU' wait_for 60 runs_again "$a" 2
unlike 'a job whose --env names a GPU sets none aside' 'set aside' "$("$POLLUX" devices)"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel --yes --state active
"$POLLUX" submit -q --param n=1,2,3,4 -- sh -c 'echo "$0 {n}" >&2; exit 1' "$words" >sweep
first=$(head -n 1 sweep)
ok 'a sweep dies on both GPUs' wait_for 60 runs_again "$((first + 3))" 1
unlike 'a sweep that dies on both GPUs sets none aside' 'set aside' "$("$POLLUX" devices)"
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
	ok 'a job that finds no GPU where CUDA starts fails' wait_for 20 failed
done
like 'status quotes the words of a job that finds no GPU' "failed.*: $words" \
	"$("$POLLUX" status "$a" | tr -s '\n ' ' ')"
unlike 'a job that finds no GPU where CUDA starts sets none aside' 'set aside' \
	"$("$POLLUX" devices)"
# cron gives passes no LD_LIBRARY_PATH, by which programs find CUDA's driver.
gpu $A | answers
export CUDA_STANDIN_DIR="$TMP/cards"
for _ in 1 2; do
	a=$(LD_LIBRARY_PATH=/none:$TMP/lib dies)
	ok 'a job dies that alone knows where the driver is' wait_for 20 passes_until ended "$a" 1
done
unlike 'a job whose own variable names the place of the driver sets no GPU aside' 'set aside' \
	"$("$POLLUX" devices)"
ok 'such a job has failed' state_is "$a" failed
unset CUDA_STANDIN_DIR

# What is no such death.
gpu $A | answers
for words in 'The NVIDIA driver on your system is too old (found version 11040)' \
	'RuntimeError: CUDA error: invalid device ordinal' \
	'RuntimeError: CUDA error: no kernel image is available for execution on the device'; do
	a=$(dies)
	ok "a job dies that says: $words" wait_for 20 passes_until ended "$a" 1
	ok "the job fails that said: $words" state_is "$a" failed
done
unlike 'jobs with other errors of CUDA set no GPU aside' 'set aside' "$("$POLLUX" devices)"

finish
