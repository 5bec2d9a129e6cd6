#!/bin/sh
# gpu.t - jobs on GPUs, as far as can be tested without one: a stand-in answers for NVML
# (tests/gpu/standin.h). The jobs, their processes and those of other users are real; the GPUs are
# not: this test was never run on a real GPU.
# shellcheck disable=SC2317  # cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
: "${FAULT:=$ROOT/build/fault}"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root COLUMNS=80
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT COLUMNS
A=GPU-aaaaaaaa-0000-0000-0000-000000000001 B=GPU-bbbbbbbb-0000-0000-0000-000000000002
mkdir root

strangers=
cleanup() {
	for id in $("$POLLUX" status --all |
		awk '$3 ~ /^(queued|starting|running|suspended|stopping|held)$/ { print $1 }'); do
		"$POLLUX" cancel "$id"
	done
	# shellcheck disable=SC2086  # a list of numbers
	[ -z "$strangers" ] || kill $strangers
	wait_for 10 all_gone
} >/dev/null 2>&1
all_gone()
{
	[ -z "$(env -u POLLUX_DIR grep -Ealzs "^POLLUX_DIR=$POLLUX_DIR" /proc/[0-9]*/environ)" ]
}

gpu() { # gpu UUID [LINE]...
	printf 'gpu %s NVIDIA RTX A6000\nmemory 49140 48000\n' "$1"
	printf 'rates 0\ntemperature 35\npersistence 1\n'
	shift
	[ $# = 0 ] || printf '%s\n' "$@"
}
answers() { cat >answers.new && mv answers.new answers; }
stranger() { # sets $pid to a process of somebody else, who is another user if that can be
	if [ "$(id -u)" = 0 ]; then
		perl -e '$( = $) = "65534 65534"; $< = $> = 65534; exec "sleep", "1000"' &
	else
		sleep 1000 &
	fi
	pid=$! strangers="$strangers $!"
	wait_for 10 grep -q '^sleep' "/proc/$pid/comm"
	owner=$(stat -c %U "/proc/$pid")
}
state()
{
	"$POLLUX" status --all |
		awk -v id="$1" '/^ID/ { jobs = 1 } jobs && $1 == id && !/^    / { print $3 }'
}
is_state() { [ "$(state "$1")" = "$2" ]; }
reason()
{
	sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT reason FROM jobs WHERE id = $1"
}
log_has() { "$POLLUX" log "$1" 2>/dev/null | grep -q "$2"; }

# --- what there is ---

{ gpu $A 'pci 0:41:0' 'nvlink 1'; gpu $B 'pci 0:42:0'; } | answers
status 'devices succeeds with two GPUs' 0 "$POLLUX" devices
is 'devices lists two GPUs and how they are joined, and no CPU slot' \
	'ID     USE  FREE GiB    OF  UTIL  TEMP  HELD BY  KIND
gpu:0  yes      46.9  48.0   0 %  35 C  -        NVIDIA RTX A6000, 48 GiB
gpu:1  yes      46.9  48.0   0 %  35 C  -        NVIDIA RTX A6000, 48 GiB
All are joined by NVLink.' "$(printf '%s\n' "$out" | sed '/^$/,$d')"
like 'devices names the driver' '^GPUs: NVIDIA driver 999.99, 2 GPUs$' "$out"
run "$POLLUX" devices --json
like 'the ids of GPUs are their UUIDs' "\"id\": \"gpu:$A\"" "$out"
like 'devices --json has the links between GPUs' '"link": "nvlink"' "$out"
{ gpu $A 'nvlink 1' 'ancestor 2 40'; gpu $B 'slowed 0x40' 'persistence 0'; gpu GPU-3; } | answers
run "$POLLUX" devices
like 'devices has a table of links that differ' '^gpu:0 +- +nvlink +node$' "$out"
like 'devices tells that heat slows a clock' '^gpu:1: its clock is slowed by heat$' "$out"
is 'devices gives the hint to persistence mode once' 1 \
	"$(printf '%s\n' "$out" | grep -c 'nvidia-smi -pm 1')"
is 'devices keeps to 80 columns' '' "$(printf '%s\n' "$out" | grep -E '.{81}' | grep -v ^CUDA)"

# --- a job on a GPU ---

gpu $A | answers
{ gpu $A; gpu $B; } | answers
first=$("$POLLUX" submit --replicas 2 -- sh -c 'env | grep ^CUDA_; sleep 1000')
pass
ok 'a job on two GPUs starts' wait_for 20 log_has "$first" '^CUDA_DEVICE_ORDER'
like 'the job is told its GPUs by number' '^CUDA_VISIBLE_DEVICES=0,1$' "$("$POLLUX" log "$first")"
like 'the job is told the order of the bus' '^CUDA_DEVICE_ORDER=PCI_BUS_ID$' \
	"$("$POLLUX" log "$first")"
like 'the head of the log names the GPUs' "^# pollux job $first run 1 on gpu:$A gpu:$B\$" \
	"$("$POLLUX" log "$first")"
run "$POLLUX" devices
like 'devices shows which job holds a GPU' "^gpu:1 +yes +46.9 +48.0 +0 % +35 C +job $first " "$out"

# Its own processes are its own, however much they hold.
leader=$(sqlite3 "$POLLUX_DIR/pollux.db" "SELECT $leader_pid FROM runs WHERE job_id = $first")
{ gpu $A "process $leader 40000 99"; gpu $B "process $leader 40000 99"; } | answers
pass
ok 'a pass leaves a job with processes on its GPUs alone' is_state "$first" running
run "$POLLUX" devices --json
is "devices --json knows the processes on the GPUs as the job's" 2 \
	"$(printf '%s\n' "$out" | grep -c "^          \"job_id\": $first,")"
is "the job's own processes block no GPU" '' "$(printf '%s\n' "$out" | grep '"blocks": true')"
unlike "devices says nothing of the job's own processes" 'pid' "$("$POLLUX" devices)"

# Somebody joins it: no reason to stop it.
stranger
{ gpu $A "process $pid 9000 50"; gpu $B; } | answers
pass
ok "another user's process beside a job does not stop the job" is_state "$first" running
like "devices shows another user's process beside a job" \
	"^gpu:0: pid $pid \($owner\) 9000 MiB, 50 % for less than 10 min, beside its job" \
	"$("$POLLUX" devices)"
# The device that was lost is not taken from a job that may not be preempted.
{ gpu $A 'answer all 15'; gpu $B; } | answers
pass
ok 'a lost GPU does not stop a job that saves nothing' is_state "$first" running
like 'devices says that the GPU is lost' '^gpu:0: the GPU has fallen off the bus' \
	"$("$POLLUX" devices)"
{ gpu $A; gpu $B; } | answers
"$POLLUX" cancel "$first"
"$POLLUX" wait "$first" || :

# A driver that does not answer says nothing of the GPUs that jobs compute on.
{ gpu $A; gpu $B; } | answers
first=$("$POLLUX" submit --preempt --replicas 2 -- sleep 1000)
pass
ok 'a job that may be preempted runs' wait_for 20 is_state "$first" running
for said in 'init 18' 'count 10'; do
	{ echo "$said"; gpu $A; gpu $B; } | answers
	pass
	ok "the job goes on where the driver answers '$said'" is_state "$first" running
	run "$POLLUX" devices
	like "devices shows the GPU as not usable where the driver answers '$said'" '^gpu:0 +no ' \
		"$out"
	unlike "devices shows no CPU slot where the driver answers '$said'" '^cpu:' "$out"
done
{ gpu $A 'answer uuid 10'; gpu $B; } | answers
pass
ok 'the job goes on where one of two GPUs does not tell its UUID' is_state "$first" running
mkdir -p root/sys/devices/system/cpu root/sys/bus/pci/devices/0000:01:00.0
echo 0-15 >root/sys/devices/system/cpu/online
echo 0-7 >root/sys/bus/pci/devices/0000:01:00.0/local_cpulist
{ gpu $A; gpu $B; } | answers
pass
ok 'the job goes on where other processors are near its GPU' is_state "$first" running
rm -r root/sys
{ gpu $A; gpu $B 'answer all 15'; } | answers
pass
ok 'a lost GPU takes a job off that may be preempted' wait_for 20 is_state "$first" queued
"$POLLUX" cancel "$first"

# --- somebody else's processes ---

{ gpu $A "process $pid 642 0"; gpu $B; } | answers
a=$("$POLLUX" submit -- sleep 1000)
b=$("$POLLUX" submit -- sleep 1000)
c=$("$POLLUX" submit -- sleep 1000)
pass
ok 'the first job gets a GPU' wait_for 20 is_state "$a" running
is 'the first job gets the GPU that nobody computes on' "gpu:$B" \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" 'SELECT device FROM run_devices WHERE in_use')"
text="gpu:0: pid $pid ($owner) 642 MiB, 0 % for less than 10 min; override: pollux devices \
--ignore $pid"
ok 'the second job waits, as somebody computes on the other GPU' is_state "$b" queued
case $(reason "$b") in "$text; "*) result 0 'the second job is told who holds the GPU' ;;
*) result 1 'the second job is told who holds the GPU' "$(reason "$b")" ;; esac
unlike 'the third job is not told who holds the GPU' 'pid' "$(reason "$c")"
like 'status shows who holds the GPU' "[ ]gpu:0: pid $pid \(" "$("$POLLUX" status)"
run "$POLLUX" devices
like 'devices shows who holds the GPU' "^gpu:0 +no .* pid $pid \($owner\)" "$out"
changes=$(sqlite3 "$POLLUX_DIR/pollux.db" 'PRAGMA data_version; SELECT total(id) FROM events')
pass
is 'another pass writes no reason anew' "$changes" \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" 'PRAGMA data_version; SELECT total(id) FROM events')"

many=$("$POLLUX" submit --replicas 3 -- sleep 1000 2>/dev/null)
pass
unlike 'a job for three devices is not told who holds the GPU' 'pid' "$(reason "$many")"
"$POLLUX" cancel "$many"

status 'devices --ignore refuses a process that computes nowhere' 66 "$POLLUX" devices --ignore $$
is 'devices says that the process computes on no GPU' "pollux: no process $$ computes on a GPU" \
	"$err"
status 'devices --ignore accepts the process on the GPU' 0 "$POLLUX" devices --ignore "$pid"
pass
ok 'the second job gets the GPU with the ignored process' wait_for 20 is_state "$b" running
like 'devices shows that the process is ignored' "^gpu:0: pid $pid .*; ignored\$" \
	"$("$POLLUX" devices)"
"$POLLUX" cancel "$b"
"$POLLUX" wait "$b" || :
ok 'the third job follows on the GPU with the ignored process' wait_for 20 is_state "$c" running
status 'devices --unignore takes the process back' 0 "$POLLUX" devices --unignore "$pid"
status 'devices --unignore fails for a process that is not ignored' 1 \
	"$POLLUX" devices --unignore "$pid"
"$POLLUX" cancel "$a" "$c"
"$POLLUX" wait "$a" "$c" || :

# What is given out in spite of whom.
try() { # try NAME WANT LINE: the state of a job with that process on the only GPU
	gpu $A "$3" | answers
	id=$("$POLLUX" submit -- sleep 1000)
	pass
	if [ "$2" = queued ]; then
		is "a GPU with $1 is not given out" queued "$(state "$id")"
	else
		ok "a GPU with $1 is given out" wait_for 20 is_state "$id" running
	fi
	"$POLLUX" cancel "$id"
	"$POLLUX" wait "$id" || :
}
try 'an idle process of 512 MiB' running "process $pid 512 0"
like 'devices shows a process that is too little to count' \
	"^gpu:0: pid $pid .*; too little to count\$" "$("$POLLUX" devices)"
try 'a process of 513 MiB' queued "process $pid 513"
try 'a process that computes 5 % of the time' running "process $pid 100 5"
try 'a process that computes 6 % of the time' queued "process $pid 100 6"
try 'a process of unknown memory' queued "process $pid ?"
try 'a process that only draws' running "graphics $pid 9000"
gone=$(sh -c 'echo $$')
try 'a process that the driver does not name' queued "process 0 9000"
like 'devices shows the memory of a process that the driver does not name' \
	'^gpu:0: an unknown process 9000 MiB' "$("$POLLUX" devices)"
try 'a process that is no more' queued "process $gone 9000"

# --- a GPU is free when the driver says so ---

gpu $A | answers
id=$("$POLLUX" submit -- sh -c "echo process \$\$ 9000 >>'$TMP/answers'")
pass
ok "a job runs whose process stays in the driver's list" wait_for 20 log_has "$id" '^exec'
ok 'the process of a job that has run is gone' wait_for 20 \
	sh -c "! kill -0 \$(sed -n 's/^process \([0-9]*\).*/\1/p' '$TMP/answers')"
sleep 1
ok 'the job runs on while the driver lists its process' is_state "$id" running
gpu $A | answers
ok 'the job is done once the driver lists its process no more' wait_for 20 is_state "$id" 'done'
unlike 'the supervisor does not complain of a driver that lets go' 'lists an ended process' \
	"$(cat "$POLLUX_DIR/supervisor.log")"
id=$("$POLLUX" submit -- sh -c "echo process \$\$ 9000 >>'$TMP/answers'")
pass
ok 'a job ends though the driver lists its process for ever' wait_for 30 is_state "$id" 'done'
like "the supervisor's log names a driver that lists an ended process" \
	"a driver lists an ended process on 'gpu:$A' for more than 10 s" \
	"$(cat "$POLLUX_DIR/supervisor.log")"

# What was there before is not waited for, whoever it is.
gpu $A "process $gone 100 0" | answers
id=$("$POLLUX" submit -- sleep 1)
pass
ok 'a job ends beside a process that was there before' wait_for 20 is_state "$id" 'done'
ok 'a job does not wait for a process that was there before' \
	[ "$(sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT duration_s < 8 FROM runs WHERE job_id = $id")" = 1 ]

# A driver that hangs keeps no run from ending.
gpu $A | answers
id=$("$POLLUX" submit -- sh -c "echo slow 1000 >>'$TMP/answers'")
pass
ok 'a job with a driver that hangs ends' wait_for 60 is_state "$id" 'done'
gpu $A | answers

# Nor one that answers, and then does not let go of who asked it.
gpu $A | answers
touch hangs
id=$("$POLLUX" submit -- sleep 10)
starts() { # a pass of an earlier run's end may be at work, and then this one does nothing
	ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
		LD_PRELOAD=$FAULT/preload_exit.so EXIT_HANGS_FILE=$TMP/hangs "$POLLUX" schedule
	[ "$(state "$id")" != queued ]
}
ok 'a job starts whose supervisor asks a driver that hangs' wait_for 20 starts
stuck() { # beside its command the supervisor has a child
	supervisor=$(sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT $supervisor_pid FROM runs WHERE job_id = $id") &&
		[ -n "$supervisor" ] && pgrep -P "$supervisor" -x sleep &&
		pgrep -P "$supervisor" -f 'pollux supervise'
}
ok 'the child that asked the driver stays' wait_for 10 stuck
ok 'the job ends though that child stays' wait_for 20 is_state "$id" 'done'
rm hangs

# Nor does one that not even SIGKILL ends, and that was asked for the numbers of the GPUs: such a
# child is no process of the run.
touch hangs
id=$("$POLLUX" submit -- sleep 2)
starts() {
	ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
		LD_PRELOAD=$FAULT/preload_exit.so EXIT_HANGS_FILE=$TMP/hangs \
		EXIT_HANGS_NAME=pollux-driver EXIT_HANGS_EVER=1 POLLUX_DRIVER_LIMIT=1000 \
		"$POLLUX" schedule
	[ "$(state "$id")" != queued ]
}
is_left() {
	supervisor=$(sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT $supervisor_pid FROM runs WHERE job_id = $id") &&
		[ -n "$supervisor" ] && pgrep -P "$supervisor" -x sleep &&
		pgrep -P "$supervisor" -x pollux-driver
}
ok 'a job starts whose supervisor asked a driver that hangs for ever' wait_for 20 starts
ok 'the child that cannot be killed stays beside the job' wait_for 10 is_left
ok 'the job ends beside a child that cannot be killed' wait_for 20 is_state "$id" 'done'
rm hangs

# A job of ours that strays to a GPU that it was not given.
{ gpu $A; gpu $B; } | answers
id=$("$POLLUX" submit -- sh -c "echo process \$\$ 9000 >>'$TMP/answers'; exec sleep 1000")
pass
ok 'a job on the first GPU computes on the second, too' wait_for 20 grep -q ^process answers
other=$("$POLLUX" submit -- sleep 1000)
pass
is 'the second GPU is not given to another job' queued "$(state "$other")"
like 'the waiting job is told whose process is on the GPU' \
	"^gpu:1: pid [0-9]+ \(of job $id, not given it\) 9000 MiB" "$(reason "$other")"
"$POLLUX" cancel "$id" "$other"
"$POLLUX" wait "$id" "$other" || :

# A driver that starts slowly keeps nobody else from the store.
{ echo 'slow 12'; gpu $A; } | answers
id=$("$POLLUX" submit -- sleep 1000)
"$POLLUX" schedule &
slow=$!
sleep 1
status 'jobs can be submitted while a driver starts for a pass' 0 "$POLLUX" submit --hold -- true
gpu $A | answers
"$POLLUX" cancel "$id"
wait "$slow"

# $first is being stopped, for $second to have its GPU, until there is a file `over`.
hand_over() {
	rm -f over
	first=$("$POLLUX" submit --preempt -- sh -c '
		trap "while [ ! -e over ]; do sleep 0.1; done; exit 1" TERM
		while :; do sleep 0.1; done')
	POLLUX_POLICY=las POLLUX_SLICE=0.2 "$POLLUX" schedule
	ok 'the first job runs' wait_for 20 is_state "$first" running
	sleep 1
	second=$("$POLLUX" submit -- sleep 1000)
	POLLUX_POLICY=las POLLUX_SLICE=0.2 "$POLLUX" schedule
}

# Somebody comes to a GPU between the decision and the start.
gpu $A | answers
hand_over
ok 'the second job is to have the GPU of the first' is_state "$second" starting
gpu $A "process $pid 9000" | answers
touch over
ok "the second job is not started beside another user's process" \
	wait_for 20 is_state "$second" queued
is 'a start that came to nothing counts as no run and no start' '0 1 1' \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" \
	"SELECT runs || ' ' || (launches > 0) || ' ' || (start_time_s IS NULL) FROM jobs
		WHERE id = $second")"
like 'the history names the process that was on the GPU' "^gpu:$A: pid $pid " \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" "SELECT diagnosis FROM runs WHERE job_id = $second")"
"$POLLUX" cancel "$first" "$second"
"$POLLUX" wait "$first" "$second" || :

# A driver that does not answer when a job has its GPU keeps nobody from cancelling it.
gpu $A | answers
hand_over
{ echo 'slow 9'; gpu $A; } | answers
touch over
is_checked() { [ "$(sqlite3 "$POLLUX_DIR/pollux.db" \
	"SELECT $leader_pid IS NULL FROM runs WHERE job_id = $1 AND state = 'running'")" = 1 ]; }
ok 'the second job has the GPU, and the driver does not answer' wait_for 30 is_checked "$second"
"$POLLUX" cancel "$second"
ok 'cancel ends the second job all the same' wait_for 4 is_state "$second" cancelled
is 'the second job is cancelled before the driver could answer' 1 \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" \
	"SELECT end_boot_s - launch_boot_s < 9 FROM runs WHERE job_id = $second")"
"$POLLUX" wait --timeout 200 "$second" || :
ok 'the cancelled job never started its program' [ ! -e "$POLLUX_DIR/logs/$second.log" ]
gpu $A | answers
"$POLLUX" cancel "$first"
"$POLLUX" wait "$first" || :
sleep 10	# of a pass that asks it, too

# Nor does one keep the reports of a profile from being read: there is room for ten.
cat >reporting <<'END'
#!/usr/bin/perl
use IO::Socket::UNIX;
my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => $ENV{POLLUX_REPORT_SOCKET}) or die;
$socket->blocking(0);
open my $answers, '>>', $ENV{NVML_STANDIN} or die;
print $answers "slow 3\n";
close $answers;
for my $i (1 .. 500) {
	$socket->send("STEP=$i\nSAMPLES=" . 8 * $i . "\nSTEP_NS=10000000\n");
	select undef, undef, undef, 0.01;
}
sleep 1000;
END
chmod +x reporting
run "$POLLUX" profile -b 8 --budget 9 --points 1 --workload reporting -- ./reporting
gpu $A | answers
is 'a profile reads its reports while a driver is asked' 1 \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT max(reports) > 400 FROM runs JOIN jobs ON jobs.id = job_id
		WHERE jobs.workload = 'reporting'")"

# --- GPUs that cannot be used ---

gpu $A 'mig 1' | answers
id=$("$POLLUX" submit -- sleep 1000)
pass
like 'the job is told that MIG is on' '^gpu:0: MIG is on, .*nvidia-smi -i 0 -mig 0' \
	"$(reason "$id")"
gpu $A 'answer all 15' | answers
pass
like 'the job is told that the GPU is lost' '^gpu:0: the GPU has fallen off the bus' \
	"$(reason "$id")"
mkdir -p root/sys/bus/pci/devices/0000:41:00.0
echo 0x10de >root/sys/bus/pci/devices/0000:41:00.0/vendor
echo 0x030000 >root/sys/bus/pci/devices/0000:41:00.0/class
echo 'init 9' | answers
pass
is 'a job gets no CPU slot where the driver is not loaded' queued "$(state "$id")"
like 'the job is told that the driver is not loaded' \
	'^gpu:0: cannot ask for GPUs: the NVIDIA driver is not loaded' "$(reason "$id")"
run "$POLLUX" devices
like 'devices tells that the driver is not loaded' \
	'^GPUs: cannot ask for GPUs: the NVIDIA driver is not loaded$' "$out"
run env POLLUX_NVML="$GPU_STANDIN/nvml_old.so" "$POLLUX" devices
like 'devices tells that the library is too old' \
	"NVML has no 'nvmlDeviceGetUUID'; the NVIDIA driver is too old" "$out"

# CPU slots are there for the asking.
"$POLLUX" cancel "$id"
id=$("$POLLUX" submit -- sh -c 'env | grep ^CUDA_VISIBLE_DEVICES; sleep 1000')
POLLUX_SLOTS=1 "$POLLUX" schedule
ok 'a job starts on slots that POLLUX_SLOTS asks for' wait_for 20 is_state "$id" running
is 'the job on slots has the slot cpu:0' cpu:0 \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" 'SELECT device FROM run_devices WHERE in_use')"
ok 'the job on slots sees no GPU' wait_for 20 log_has "$id" '^CUDA_VISIBLE_DEVICES=$'
"$POLLUX" cancel "$id"
"$POLLUX" wait "$id" || :
rm -r root/sys

# --- which libraries are opened ---

libraries() { # libraries COMMAND...: those of CUDA that it opens
	# its own: a supervisor of the last one may still write
	opened=$(mktemp "$TMP/opened.XXXXXX")
	LD_PRELOAD=$FAULT/preload_dlopen.so DLOPEN_FILE=$opened \
		ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
		"$@" >/dev/null
	<"$opened" \
		grep -oE 'file=[^ ]*(libcuda|libcudart|libcublas|libnvidia-ml|nvml_)[^ ]*' | sort -u
}
id=$("$POLLUX" submit --hold sleep 1000)
gpu $A | answers
is 'a pass with a GPU opens NVML and no other library' "file=$POLLUX_NVML" \
	"$("$POLLUX" release "$id"; libraries "$POLLUX" schedule)"
is 'status opens no library' '' "$(libraries "$POLLUX" status)"
starts() { # starts COMMAND...: how often it starts NVML
	rm -f starts
	NVML_STANDIN_STARTS=$TMP/starts "$POLLUX" "$@" >/dev/null 2>&1
	touch starts
	wc -l <starts
}
for words in 'devices' 'devices --json' 'schedule' "explain $id" 'doctor'; do
	# shellcheck disable=SC2086  # words
	is "'$words' starts NVML once" 1 "$(starts $words)"
done
for words in 'status' "status $id" "log $id" 'submit --hold true'; do
	# shellcheck disable=SC2086  # words
	is "'$words' does not start NVML" 0 "$(starts $words)"
done
unset POLLUX_NVML
is 'a pass without a GPU opens no library' '' "$(libraries "$POLLUX" schedule)"
is 'status without a GPU opens no library' '' "$(libraries "$POLLUX" status)"
POLLUX_NVML=none
run env -u POLLUX_NVML "$POLLUX" devices
like 'devices says that there is no GPU' \
	'^GPUs: no NVIDIA GPU on the PCI bus, and no driver of one$' "$out"
finish
