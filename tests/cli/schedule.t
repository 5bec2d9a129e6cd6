#!/bin/sh
# schedule.t - pollux schedule with real jobs: what a launch gives them, time-slicing, stopping,
# retries, and the commands that change jobs.
# shellcheck disable=SC2016  # texts for other shells
# shellcheck disable=SC2154,SC2317  # variables set by name; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_REPORT_SOCKET
: "${FAULT:=$ROOT/build/fault}"
POLLUX_SLOTS=2 POLLUX_SLICE=0.5 POLLUX_POLICY=las # goodput has its own tests
export POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY

# --- helpers ---------------------------------------------------------------------

query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
submit() { # submit ARGUMENT...: its number in $id
	id=$("$POLLUX" submit "$@") || echo "# cannot submit $*"
}
holds() { # holds SQL: it gives 1
	[ "$(query "$1")" = 1 ]
}
state() { query "SELECT state FROM jobs WHERE id = $1"; }
reason() { query "SELECT reason FROM jobs WHERE id = $1"; }
job_is() { [ "$(state "$1")" = "$2" ]; }
ended() { query "SELECT state FROM jobs WHERE id = $1" | grep -Eq 'done|failed|cancelled|timeout'; }
log() { cat "$POLLUX_DIR/logs/$1.log"; }
logged() { # logged JOB PATTERN
	grep -Eaq -e "$2" "$POLLUX_DIR/logs/$1.log"
}
running() { # running JOB: and its program has begun
	job_is "$1" running && logged "$1" '^(ready|from)'
}
comes() { # comes NAME SECONDS COMMAND...
	what=$1
	shift
	if wait_for "$@"; then result 0 "$what"
	else result 1 "$what" "$("$POLLUX" status
		tail -n 5 "$POLLUX_DIR/supervisor.log"
		tail -n 20 "$POLLUX_DIR"/logs/*)"
	fi
}
of_tree() { # the pids of jobs and supervisors of any store below $TMP
	grep -alszE "^POLLUX_DIR=$TMP/" /proc/[0-9]*/environ | while read -r file; do
		grep -alsxz supervise "${file%environ}cmdline" >/dev/null ||
			grep -alsz '^POLLUX_REPORT_SOCKET=' "$file" >/dev/null || continue
		file=${file#/proc/}
		echo "${file%/environ}"
	done
}
kill_tree() {
	for again in 1 2; do
		[ "$again" = 1 ] || sleep 0.1
		for pid in $(of_tree); do kill -9 "$pid" 2>/dev/null; done
	done
}
cleanup() {
	[ -z "${watcher-}" ] || kill -9 "$watcher" 2>/dev/null
	kill_tree
}

# Jobs of a few lines. "ready" says that the job is under way.
script() { # script NAME: its text on standard input
	{
		echo '#!/bin/sh'
		cat
	} >"$1"
	chmod +x "$1"
}
script stay <<'END' # until it is told to stop
trap 'echo stopped; exit 75' TERM
echo ready
while :; do sleep 0.1; done
END
# Counts to TOTAL, a tenth of a second each; saves when told to, goes on from there.
script count <<'END'
total=$1 file=$POLLUX_CHECKPOINT_DIR/n
n=$(cat "$file" 2>/dev/null || echo 0)
trap 'stop=1' TERM
echo "from $n"
while [ "$n" -lt "$total" ] && [ -z "$stop" ]; do
	sleep 0.1 &
	wait $!
	n=$((n + 1))
	"$POLLUX" report "SAMPLES=$n" "STEP=$n"
done
echo "$n" >"$file.new" && mv "$file.new" "$file"
"$POLLUX" report "SAMPLES=$n" "CHECKPOINT=$file"
echo "to $n"
[ "$n" -ge "$total" ] || exit 75
END

# --- nothing to do -----------------------------------------------------------------

status 'a pass without a store succeeds' 0 "$POLLUX" schedule -v
is 'a pass without a store says nothing' '' "$out$err"
ok 'a pass without a store makes none' test ! -e "$POLLUX_DIR"
status 'an argument is a usage error' 64 "$POLLUX" schedule now
is 'the argument is named' \
	"pollux: schedule takes no argument, not 'now'; see 'pollux schedule --help'" "$err"
status 'an unknown policy is a usage error' 64 "$POLLUX" schedule --policy best
is 'the message names the policies that there are' \
	"pollux: no policy 'best': goodput, pollux, las or fifo; see 'pollux schedule --help'" \
	"$err"
status 'a policy for simulations alone is a usage error' 64 "$POLLUX" schedule --policy srtf
is 'the message says that the policy is for simulations' \
	"pollux: policy 'srtf' is for 'pollux simulate' alone: use goodput, pollux, las or fifo; \
see 'pollux schedule --help'" "$err"
for wrong in 0 -1 x 0.01 1e9; do
	status "--watch $wrong is a usage error" 64 "$POLLUX" schedule --watch "$wrong"
done
for wrong in 0 -1 x 1e99; do
	status "--slice $wrong is a usage error" 64 "$POLLUX" schedule --slice "$wrong"
done
status '--slots 0 is a usage error' 64 "$POLLUX" schedule --slots 0
mkdir -m 700 "$POLLUX_DIR"
echo 'slots = many' >"$POLLUX_DIR/config"
submit --hold true
status 'wrong settings are a configuration error' 78 env -u POLLUX_SLOTS "$POLLUX" schedule
like 'wrong settings are named with their line' \
	"^pollux: bad setting 'slots' in '$POLLUX_DIR/config' line 1: " "$err"
rm "$POLLUX_DIR/config"
status 'a job cannot run a pass' 69 env POLLUX_REPORT_SOCKET=/x "$POLLUX" schedule
is 'a job is told that it cannot run a pass' 'pollux: a pass cannot be run from within a job' "$err"

# --- a dry run -----------------------------------------------------------------------

submit ./stay
dry=$id
submit -r 5 true
before=$(query .dump; find "$POLLUX_DIR/run" "$POLLUX_DIR/logs" "$POLLUX_DIR/checkpoints")
status 'a dry run succeeds' 0 "$POLLUX" schedule --dry-run
like 'a dry run says what would be started' "^start job $dry on cpu:0: " "$out"
is 'a dry run says nothing else' 1 "$(printf '%s\n' "$out" | wc -l)"
is 'a dry run changes nothing' "$before" \
	"$(query .dump; find "$POLLUX_DIR/run" "$POLLUX_DIR/logs" "$POLLUX_DIR/checkpoints")"
is 'a dry run starts nothing' '' "$(of_tree)"
status 'a pass with -v succeeds' 0 "$POLLUX" schedule -v
like 'a pass with -v says what it starts' "^start job $dry on cpu:0: " "$out"
comes 'a pass starts the job' 10 running "$dry"
status 'the next pass succeeds' 0 "$POLLUX" schedule -v
is 'the next pass finds all well and prints nothing' '' "$out$err"
is 'a job of more replicas than there are devices waits' \
	'queued: needs 5 devices; 2 can be used here' \
	"$(query "SELECT state || ': ' || reason FROM jobs WHERE id = $id")"
"$POLLUX" cancel "$dry" "$id"
comes 'a cancelled job ends' 10 job_is "$dry" cancelled

# What takes seconds by itself goes on beside the rest, and is looked at later.

script deaf <<'END' # to SIGTERM, as are its children
trap '' TERM
echo ready
while :; do sleep 1; done
END
script fails <<'END'
echo "$POLLUX_RUN"
exit 3
END
submit --grace 1 ./deaf
deaf=$id
submit --retries 1 ./fails
retried=$id
pass
comes 'a deaf job runs' 10 running "$deaf"
comes 'a job that fails runs' 10 holds "SELECT failures FROM jobs WHERE id = $retried"
"$POLLUX" cancel "$deaf"
waits_to_retry() {
	pass && [ "$(state "$retried"): $(reason "$retried")" = \
		'queued: failed 1 time; retry 1 of 1 after a pause of 10 s' ]
}
comes 'a job that failed is retried after a pause' 5 waits_to_retry
is 'the pause before the first retry is ten seconds' \
	1 "$(query "SELECT next_start_time_s - r.end_time_s BETWEEN 9.5 AND 10.5
	FROM jobs j JOIN runs r ON r.job_id = j.id WHERE j.id = $retried")"

# --- what a launch gives to a job ------------------------------------------------------

script probe <<'END'
echo ready
env -0 >"$OUT/env.$POLLUX_RUN"
printf '%s\0' "$@" >"$OUT/argv.$POLLUX_RUN"
grep -E '^(Cpus_allowed_list|SigBlk|SigIgn):' /proc/self/status >"$OUT/status.$POLLUX_RUN"
[ "$POLLUX_RUN" != 1 ] || ls -l /proc/self/fd # to the log: a redirection would be among them
{ pwd; umask; ps -o pid=,pgid=,tty= -p $$; } >"$OUT/rest.$POLLUX_RUN"
cat # standard input is empty
[ "$POLLUX_RUN" != 3 ] || echo saved >"$POLLUX_CHECKPOINT_DIR/saved"
: >"$OUT/ready.$POLLUX_RUN"
[ "$POLLUX_RUN" = 4 ] || { while :; do sleep 0.1; done; }
END
OUT=$TMP/out
export OUT
mkdir "$OUT" sub
cd sub || exit 1
submit -b 96 --max-local-batch 20 --lr 0.5 -r 1 --stop-signal USR1 \
	--resume-args '--from {checkpoint}/{run} {batch}' \
	-e MINE=1 "$TMP/probe" '{batch}' '{local_batch}' '{accum}' '{gpus}' '{port}' '{job}' \
	'{run}' '{checkpoint}' \
	'{samples}' '{lr}' '{lr_scale}' '{x}' '{resume}' 'a b' '' '*'
cd ..
probe=$id
dir=$POLLUX_DIR/checkpoints/$probe
argv() { tr '\0\n' '\n~' <"out/argv.$1"; }
variable() { # variable NAME RUN
	tr '\0\n' '\n~' <"out/env.$2" | sed -n "s/^$1=//p"
}
umask 027
(
	unset OUT # of the pass; the job has its own
	env RANK=1 MASTER_PORT=9 SLURM_JOB_ID=1 CUDA_VISIBLE_DEVICES=9 CRON=1 "$FAULT/deaf" \
		"$POLLUX" schedule
)
umask 022
comes 'a job gets its variables and arguments' 10 test -e out/ready.1
port=$(variable MASTER_PORT 1)
fds=$(log "$probe" | grep -e ' -> ')
device=$(query "SELECT device FROM run_devices JOIN runs ON runs.id = run_id WHERE job_id = $probe")
# 96 in passes of at most 20: 5 passes of 19 are 95, nearer than 100.
is 'templates are expanded, and {resume} is nothing yet' \
	"95 19 5 1 $port $probe 1 $dir 0 0.5 1 {x} a b  *" "$(argv 1 | xargs -d '\n')"
is 'an empty argument is kept' '' "$(argv 1 | sed -n 14p)"
like 'the port is a number that may be used' '^[1-9][0-9]{3,4}$' "$port"
is 'variables have the values of the templates' "$probe 1 95 19 5 1 1 $dir 10 $POLLUX_DIR" \
	"$(for name in JOB_ID RUN BATCH LOCAL_BATCH ACCUM REPLICAS LR_SCALE CHECKPOINT_DIR \
		STOP_SIGNAL DIR; do variable POLLUX_$name 1; done | xargs)"
ok 'a job has a socket for reports' test -S "$(variable POLLUX_REPORT_SOCKET 1)"
like 'the socket for reports is private' \
	'^.00$' "$(stat -c %a "$(variable POLLUX_REPORT_SOCKET 1)")"
is 'a job has what its submitter set' 1 "$(variable MINE 1)"
is 'a job has no variables of the pass' '' \
	"$(tr '\0' '\n' <out/env.1 |
		grep -E '^(RANK|SLURM|CUDA_VISIBLE_DEVICES|CRON|POLLUX_SLOTS|POLLUX_SLICE)')"
is 'Python in a job prints at once' 1 "$(variable PYTHONUNBUFFERED 1)"
is 'a job has threads for its slot' "$(query "SELECT run_devices.cores FROM run_devices
	JOIN runs ON runs.id = run_id
	WHERE job_id = $probe")" "$(variable OMP_NUM_THREADS 1)"
is 'a job is bound to its slot' \
	"$(query "SELECT binding FROM run_devices JOIN runs ON runs.id = run_id
	WHERE job_id = $probe")" "$(sed -n 's/^Cpus_allowed_list:[ \t]*//p' out/status.1)"
is 'no signal is blocked or ignored in a job' 'SigBlk: 0000000000000000 SigIgn: 0000000000000000' \
	"$(grep Sig out/status.1 | xargs)"
is 'a job runs in the directory of its submission' "$TMP/sub" "$(sed -n 1p out/rest.1)"
is 'a job heads a process group, with no terminal' yes \
	"$(sed -n 3p out/rest.1 | awk '{ print $1 == $2 && $3 == "?" ? "yes" : "no" }')"
like 'standard input of a job is /dev/null' ' 0 -> /dev/null$' "$fds"
like 'standard output of a job leads to the log' " 1 -> $POLLUX_DIR/run/[0-9]+.out\$" "$fds"
like 'standard error of a job leads to the log' " 2 -> $POLLUX_DIR/run/[0-9]+.out\$" "$fds"
is 'a job has no other file open but the lock of its device' "run/device-$device.lock" \
	"$(printf '%s\n' "$fds" | sed -n 's/.* -> //p' |
		grep -v -e '^/dev/null' -e '\.out$' -e '^/proc/' | sed "s,$POLLUX_DIR/,,")"

# Where there is no checkpoint, {resume} stays away; where there is one, it comes, at its place.
"$POLLUX" requeue "$probe"
comes 'a requeued job is relaunched' 10 test -e out/ready.2
is 'a job without a checkpoint has nothing to resume from' "95 2 a b" \
	"$(argv 2 | sed -n '1p; 7p; 13p' | xargs)"
"$POLLUX" requeue "$probe"
comes 'a job requeued twice is relaunched' 10 test -e out/ready.3
is 'the run that makes the first checkpoint does not resume' 0 "$(argv 3 | grep -c -- --from)"
"$POLLUX" requeue "$probe"
comes 'a job requeued three times is done' 10 job_is "$probe" 'done'
is 'the run after the first checkpoint resumes' "{x} --from $dir/4 95 a b" \
	"$(argv 4 | sed -n '12,16p' | head -n 5 | xargs -d '\n')"
is 'requeues count as preemptions, not as failures' '4 3 0' \
	"$(query "SELECT runs || ' ' || preemptions || ' ' || failures FROM jobs
		WHERE id = $probe")"
is 'the log of a job begins with its command' "# pollux job $probe run 1 on $device
exec $TMP/probe 95 19 5 1 $port $probe 1 $dir 0 0.5 1 {x} 'a b' '' '*'" \
"$(log "$probe" | head -n 2)"
is 'each run has its own beginning in the log' 4 "$(grep -c '^exec ' "$POLLUX_DIR/logs/$probe.log")"
is 'each run has its end in the log' \
	'[stopped by pollux: requeued] [stopped by pollux: requeued] '\
'[stopped by pollux: requeued] [exited with status 0]' \
	"$(grep '^\[' "$POLLUX_DIR/logs/$probe.log" | xargs)"
is 'the end of the last run is the last line of the log' \
	'[exited with status 0]' "$(log "$probe" | tail -n 1)"

# --- ends ----------------------------------------------------------------------------

# Each starts when the one before has ended: one pass is enough for all of them.
script oom <<'END'
[ "$POLLUX_RUN" != 1 ] || echo 'RuntimeError: CUDA out of memory. Tried to allocate 2 GiB'
exit 1
END
script fine <<'END'
echo 'CUDA out of memory, trying a smaller batch'
printf 'no newline'
END
cp fails vanishing
cp fails forbidden
script badformat <fails
mkdir moving
begin() { # begin NAME ARGUMENT...: submit, and remember the number as NAME
	variable_name=$1
	shift
	submit --hold "$@" # the end of another job may bring a pass at any time
	eval "$variable_name=$id"
}
begin oom ./oom
begin fine ./fine
begin fails ./fails
begin crash sh -c 'kill -SEGV $$'
begin rt sh -c 'kill -35 $$'
begin vanished ./vanishing
begin forbidden ./forbidden
begin badformat ./badformat
begin moved --chdir moving env
begin dirs --checkpoint-dir "$TMP/fails/x" ./fine
# shellcheck disable=SC3045  # where it is not known, the list is as the default lets it through
huge=$(
	ulimit -S -s 65536 2>/dev/null || exit
	part=$(head -c 131000 /dev/zero | tr '\0' x)
	set --
	while [ $# -lt 40 ]; do set -- "$@" "$part"; done
	"$POLLUX" submit --hold true "$@"
)
begin timed -t 1 ./stay
rm vanishing
chmod -x forbidden
printf '\177not\0a program\n' >badformat
rmdir moving
# shellcheck disable=SC2086,SC2154  # none, where there is no huge one; set by begin
"$POLLUX" release $oom $fine $fails $crash $rt $vanished $forbidden $badformat $moved $dirs \
	$huge $timed
pass
last=$id
for job in $oom $fine $fails $crash $rt $vanished $forbidden $badformat $dirs $timed; do
	wait_for 20 ended "$job"
done
comes 'the end of a run starts the next job: one pass was enough' 1 ended "$last"
said() { # said NAME JOB STATE REASON LAST-LINE
	is "$1" "$3: $4 | $5" "$(state "$2"): $(reason "$2") | $(log "$2" | tail -n 1)"
}
said 'out of memory is diagnosed' "$oom" failed 'failed: exit status 1: GPU out of memory' \
	'[exited with status 1]'
said 'out of memory is not diagnosed where a job succeeded' \
	"$fine" 'done' completed '[exited with status 0]'
is 'a last line without a newline gets one' 'no newline' "$(log "$fine" | tail -n 2 | head -n 1)"
said 'an exit status is the reason of a failure' \
	"$fails" failed 'failed: exit status 3' '[exited with status 3]'
said 'a signal is the reason of a failure' \
	"$crash" failed 'failed: killed by SIGSEGV' '[killed by SIGSEGV]'
said 'a signal without a name is the reason of a failure' \
	"$rt" failed 'failed: killed by SIGRTMIN+1' '[killed by SIGRTMIN+1]'
missing="cannot execute '$TMP/./vanishing': No such file or directory"
said 'a program that is gone is the reason of a failure' \
	"$vanished" failed "failed: exit status 127: $missing" \
	"[not started: $missing]"
missing="cannot execute '$TMP/./forbidden': it has no execute bit, which chmod +x \
$TMP/./forbidden sets"
said 'a program that may not be executed is the reason of a failure' \
	"$forbidden" failed "failed: exit status 126: $missing" \
	"[not started: $missing]"
missing="cannot execute '$TMP/./badformat': Exec format error"
said 'a file that is no program is the reason of a failure' \
	"$badformat" failed "failed: exit status 126: $missing" \
	"[not started: $missing]"
# shellcheck disable=SC3045
if [ -n "$huge" ] && [ "$(ulimit -S -s 2>/dev/null)" = 8192 ]; then
	wait_for 20 ended "$huge"
	is 'a job may have arguments too long for the stack of a pass' \
		'done: completed' "$(state "$huge"): $(reason "$huge")"
fi
missing="cannot enter '$TMP/moving': No such file or directory"
tried()
{
	# The pause grows with each try. When it is over, the next try may begin at any time.
	pass && told="$(state "$moved"): $(reason "$moved")" && pause=$(echo "$told" |
		sed -n 's/.*; tried again after \([0-9]* s\): .*/\1/p') &&
		[ "$told" = "queued: could not be started; tried again after $pause: $missing" ]
}
comes 'a job waits for a directory that is gone, and is not blamed for it' 10 tried
is 'the log of a job names the directory that is gone' "[not started: $missing]" \
	"$(log "$moved" | tail -n 1)"
"$POLLUX" cancel "$moved"
said "a job's own checkpoint directory need not be there" "$dirs" 'done' completed \
	'[exited with status 0]'
said 'a time limit ends a job' "$timed" timeout 'time limit' '[stopped by pollux: time limit]'
is 'a time limit ends a job after about that time' \
	1 "$(query "SELECT run_time_s BETWEEN 1 AND 1 + 2 * $TIME_SCALE FROM jobs
	WHERE id = $timed")"
is 'exit statuses are kept' '1 0 3 -11 127 126' \
	"$(for job in "$oom" "$fine" "$fails" "$crash" "$vanished" "$forbidden"; do
		query "SELECT ifnull(exit_code, -term_signal) FROM jobs WHERE id = $job"
	done | xargs)"
"$POLLUX" requeue "$oom"
pass
comes 'a requeued job runs and fails again' \
	10 holds "SELECT runs = 2 AND state = 'failed' FROM jobs WHERE id = $oom"
is 'a requeued job is not diagnosed by what its last run said' \
	'failed: exit status 1' "$(reason "$oom")"

# --- stopping: the leader first ----------------------------------------------------------

script family <<'END'
sh -c 'trap "echo hit >>$OUT/child; exit" USR1; echo $$ >"$OUT/child.pid"
	while :; do sleep 0.05; done' &
trap 'stop=1' USR1
while [ ! -s "$OUT/child.pid" ]; do sleep 0.05; done
echo ready
while [ -z "$stop" ]; do sleep 0.05; done
sleep 0.5
[ ! -e "$OUT/child" ] || echo 'the child was signalled'
[ -e "$OUT/child" ] || echo 'the child was left alone'
kill -0 "$(cat "$OUT/child.pid")" && echo 'and is alive'
END
submit --stop-signal USR1 ./family
pass
comes 'a job with a child runs' 10 running "$id"
"$POLLUX" cancel "$id"
comes 'a job is told to stop by a signal of its own choice' 15 job_is "$id" cancelled
like 'only the leader gets the signal to stop' '^the child was left alone$' "$(log "$id")"
like 'the child lives while the leader stops' '^and is alive$' "$(log "$id")"
is 'the child is told to stop after the leader' hit "$(cat out/child)"
comes 'the child is gone when the job has ended' 5 test ! -e "/proc/$(cat out/child.pid)/status"

# --- the commands that change jobs, in every state ------------------------------------------

matrix=$TMP/matrix
script quick </dev/null
try() { # try STATE COMMAND STATUS STATE-AFTER [MESSAGE]
	given_job "$id" state="$1"
	run "$POLLUX" "$2" "$id"
	got="$rc $(state "$id") $err"
	want="$3 $4 ${5:+pollux: job $id $5}"
	[ "$got" = "$want" ] || echo "$2 of a $1 job: want '$want', got '$got'" >>"$matrix"
}
submit ./quick
: >"$matrix"
for ending in 'done' failed cancelled timeout; do
	try "$ending" hold 1 "$ending" "has ended already: $ending"
	try "$ending" cancel 1 "$ending" "has ended already: $ending"
	try "$ending" release 1 "$ending" "is not held: $ending"
	try "$ending" requeue 0 queued
done
try queued hold 0 held
try held hold 0 held
try queued cancel 0 cancelled
try held cancel 0 cancelled
try held release 0 queued
try queued release 1 queued 'is not held: queued'
try queued requeue 1 queued 'is queued: nothing to requeue'
try held requeue 1 held 'is held: nothing to requeue'
is 'jobs that do not run change as each command says' '' "$(cat "$matrix")"
given_job "$id" state=cancelled
for command in hold release cancel requeue; do
	status "$command of no job is a usage error" 64 "$POLLUX" "$command"
	is "$command asks which job is meant" \
		"pollux: which job? give its number; see 'pollux $command --help'" "$err"
	status "$command of number 0 is a usage error" 64 "$POLLUX" "$command" 0
	status "$command of a name that no job has is refused with status 66" \
		66 "$POLLUX" "$command" 1x
	status "$command of a job that is not there is refused with status 66" \
		66 "$POLLUX" "$command" 12345
	is "$command names the job that is not there" 'pollux: no such job: 12345' "$err"
done
submit --hold true
first=$id
submit --hold true
status 'cancel of several jobs, one of them unknown, is refused with status 66' \
	66 "$POLLUX" cancel "$first" 12345 "$id"
is 'cancel of several jobs cancels those that it can' \
	'cancelled cancelled' "$(state "$first") $(state "$id")"
is 'cancel of several jobs names the unknown one' 'pollux: no such job: 12345' "$err"

# Running ones save first.
submit ./count 1000
counter=$id
pass
saves() { # saves NAME COMMAND STATE RUN: the job has saved where it stopped
	comes "$2 lets a running job save" 10 job_is "$counter" "$3"
	is "$1: what it saved is where it stands" "$(cat "$POLLUX_DIR/checkpoints/$counter/n")" \
		"$(query "SELECT printf('%d', samples) FROM jobs WHERE id = $counter")"
	is "$1: nothing is lost" 0 \
		"$(query "SELECT printf('%d', lost_samples) FROM jobs WHERE id = $counter")"
}
counted() { holds "SELECT samples > $2 FROM jobs WHERE id = $1"; }
comes 'a job counts' 10 counted "$counter" 1
status 'a running job is not held' 1 "$POLLUX" release "$counter"
status 'hold --force of a running job that has saved nothing succeeds' \
	0 "$POLLUX" hold --force "$counter"
saves held hold held
status 'a held job is released' 0 "$POLLUX" release "$counter"
pass
reached=$(cat "$POLLUX_DIR/checkpoints/$counter/n")
comes 'a released job goes on where it was' 10 counted "$counter" "$reached"
is 'a released job resumes exactly where it stopped' \
	"from 0 from $reached" "$(log "$counter" | grep ^from | xargs)"
status 'requeue of a running job succeeds' 0 "$POLLUX" requeue "$counter"
third() { [ "$(log "$counter" | grep -c '^from')" = 3 ]; }
comes 'requeue relaunches a running job at once' 10 third
"$POLLUX" hold "$counter"
status 'cancel of a job on its way to be held succeeds' 0 "$POLLUX" cancel "$counter"
saves cancelled cancel cancelled
is "the positions of a job's runs fit" '' "$(log "$counter" | awk '$1 == "to" { at = $2 }
	$1 == "from" && $2 != at + 0 { print "from " $2 ", not " at }')"

# --- precedence: weight, what keeps its devices, what may be taken -----------------------------

would() { "$POLLUX" schedule --dry-run --slots 1 --slice 500 | sed 's/:.*//'; }
wait_for 20 no_supervisor
submit -w 1 true
light=$id
submit -w 4 true
given_job "$light" attained_service_device_s=10
given_job "$id" attained_service_device_s=30
is 'a weight of 4 counts service a quarter' "start job $id on cpu" "$(would)"
given_job "$id" attained_service_device_s=50
is 'a weight of 4 counts service no less than a quarter' "start job $light on cpu" "$(would)"
is '--policy fifo goes by number' "start job $light on cpu" \
	"$("$POLLUX" schedule --dry-run --slots 1 --policy fifo | sed 's/:.*//')"
"$POLLUX" cancel "$light" "$id"

old_enough() { # old_enough JOB: its slice is over, whatever slice
	given_run "$1" if state=running launch_boot_s-=1000 assigned_boot_s-=1000
}
sharing() { # sharing NAME WANT OPTION...: what a pass would do when another job waits
	what=$1 then=$2
	shift 2
	submit "$@"
	mine=$id
	"$POLLUX" schedule --slots 1
	wait_for 10 running "$mine"
	case $* in
	*saver) wait_for 10 holds "SELECT checkpoint_samples = 1 FROM jobs WHERE id = $mine" ;;
	esac
	submit true
	fresh=$(would)
	old_enough "$mine"
	is "$what" "$then" "$(would | sed "s/job $mine /job A /; s/job $id /job B /")"
	is "$what: nothing is taken before the slice is over" '' "$fresh"
	"$POLLUX" cancel "$id"
	"$POLLUX" cancel "$mine"
	wait_for 10 job_is "$mine" cancelled
}
taken='stop job A (1 device)
start job B on cpu'
sharing 'devices are taken from a job that can resume' "$taken" --preempt ./stay
sharing '--no-preempt keeps devices' '' --no-preempt ./stay '{checkpoint}'
sharing '--suspend never keeps devices without a sign of saving' '' --suspend never ./stay
sharing 'a job without a sign of saving is suspended' 'suspend job A (1 device)
start job B on cpu' ./stay
script saver <<'END'
"$POLLUX" report SAMPLES=1 "CHECKPOINT=$0"
exec ./stay
END
sharing 'devices are taken from a job that has reported a checkpoint' "$taken" ./saver

# --- time-slicing ---------------------------------------------------------------------------

comes 'a deaf job is killed after its grace' 20 job_is "$deaf" cancelled
is 'a deaf job is killed by SIGKILL' 9 "$(query "SELECT term_signal FROM jobs WHERE id = $deaf")"
is 'a deaf job is killed only after the grace and SIGTERM to all' 1 \
	"$(query "SELECT stop_duration_s BETWEEN 5.9 AND 6 + 3 * $TIME_SCALE FROM runs
		WHERE job_id = $deaf")"

# Each run has its job's lock, and one of two.
script alone <<'END'
exec 7>"lock-$POLLUX_JOB_ID"
flock -n 7 || echo "job $POLLUX_JOB_ID runs twice" >>overlaps
exec 8>lock-one
flock -n 8 || { exec 8>lock-two; flock -n 8; } || echo "job $POLLUX_JOB_ID is a third" >>overlaps
exec ./count "$@"
END
: >overlaps
four=
for weight in 1 1 1 1; do
	submit -w "$weight" ./alone 40 '{checkpoint}'
	four="$four $id"
done
list=$(echo "${four# }" | tr ' ' ,)
"$POLLUX" schedule --watch 0.2 &
watcher=$!
progress() { # all four have begun while none has finished
	[ "$(query "SELECT count(*) FROM jobs WHERE id IN ($list) AND samples >= 1")" = 4 ]
}
finished()
{
	[ "$(query "SELECT count(*) FROM jobs WHERE id IN ($list) AND state = 'done'")" = "${1-4}" ]
}
comes 'four jobs on two slots all make progress' 20 progress
ok 'none of the four jobs has finished while others begin' finished 0
comes 'all four jobs finish' 40 finished
is 'the four jobs did all that they had to do, and lost nothing' '40 0 40 0 40 0 40 0' \
	"$(query "SELECT printf('%d %d', samples, lost_samples) FROM jobs WHERE id IN ($list)" |
		xargs)"
is 'each of the four jobs was preempted' 4 \
	"$(query "SELECT count(*) FROM jobs WHERE id IN ($list) AND preemptions > 0")"
is 'never more than two jobs ran at once, and never one twice' '' "$(cat overlaps)"
for job in $four; do
	log "$job" | awk -v job="$job" \
		'$1 == "from" { if ($2 != at + 0) print job ": from " $2 ", not " at }
		$1 == "to" { at = $2 }'
done >jumps
is 'each run goes on where the one before it stopped' '' "$(cat jumps)"

# --- --watch -----------------------------------------------------------------------------

submit ./stay
stays=$id
comes '--watch sees a job that is submitted' 5 running "$stays"
end "$watcher" INT
is 'an interrupt ends --watch in good order' 0 $?
watcher=
is 'jobs go on when --watch ends' running "$(state "$stays")"
"$POLLUX" schedule --watch 3600 >watched 2>&1 &
watcher=$!
submit true
comes 'a change wakes --watch before its time' 10 ended "$id"
end "$watcher"
is 'SIGTERM ends --watch in good order' 0 $?
watcher=
is '--watch without -v says nothing' '' "$(cat watched)"
"$POLLUX" cancel "$stays"

POLLUX_DIR=$TMP/fresh
"$POLLUX" schedule --watch 3600 &
watcher=$!
sleep 0.3 # it has found no store by then; if not, all the better
submit true
comes '--watch sees the first job of a new store' 10 ended "$id"
end "$watcher"
watcher=
mkdir "$TMP/edited"
POLLUX_DIR=$TMP/edited
echo 'policy = fifo' >"$POLLUX_DIR/config"
setting()
{
	sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT value FROM settings WHERE name = '$1'"
}
policy_is() { [ "$(setting POLLUX_POLICY)" = "$1" ]; }
submit sleep 60
env -u POLLUX_POLICY "$POLLUX" schedule --watch 0.2 2>watched &
watcher=$!
ok '--watch has the policy of the file' wait_for 10 policy_is fifo
echo 'policy = las' >"$POLLUX_DIR/config"
ok '--watch takes another policy when the file is edited' wait_for 10 policy_is las
echo 'policy = lass' >"$POLLUX_DIR/config"
ok '--watch tells a policy that there is not' wait_for 10 grep -q lass watched
echo 'policy = goodput' >"$POLLUX_DIR/config.new"
sleep 1
is '--watch tells a wrong policy once' \
	"pollux: bad setting 'policy' in '$POLLUX_DIR/config' line 1: 'lass' is not one of \
goodput pollux las fifo; the settings stay as they were" "$(cat watched)"
ok '--watch keeps the last good policy' policy_is las
mv "$POLLUX_DIR/config.new" "$POLLUX_DIR/config"
ok '--watch takes the policy when the file is right again' wait_for 10 policy_is goodput
"$POLLUX" cancel "$id"
end "$watcher"
watcher=
POLLUX_DIR=$TMP/store

# A pass that comes while another is at work (here: kept from the store by a third) leaves at once.
submit true # otherwise the first has nothing to write, and does not wait
sqlite3 -batch "$POLLUX_DIR/pollux.db" 'BEGIN IMMEDIATE' '.shell touch locked; sleep 4' COMMIT &
blocker=$!
wait_for 5 test -e locked
"$POLLUX" schedule &
first=$!
wait_for 5 \
	sh -c "grep -q 'schedule.lock' /proc/locks ||
		ls -l /proc/$first/fd | grep -q schedule.lock"
status 'a second pass leaves at once' 0 "$POLLUX" schedule
is 'a second pass leaves silently' '' "$out$err"
status 'a second pass with -v leaves at once' 0 "$POLLUX" schedule -v
is 'a second pass with -v says why it leaves' 'another pass is at work' "$out"
wait "$first"
is 'the first pass waits for its turn, and succeeds' 0 $?
wait "$blocker"
comes 'the first pass starts the job' 10 job_is "$id" 'done'

# --- a job that is relaunched on another number of devices -------------------------------------

if [ -x "$TRAIN" ] && ls "$FASHION_MNIST"/train-images-idx3-ubyte* >/dev/null 2>&1; then
	submit -b 128 -r 1:2 "$TRAIN" --data "$FASHION_MNIST" --hidden 512,256 \
		--samples 1000000000 \
		--lr-decay-samples 0 --eval-every 4096 --checkpoint '{checkpoint}'
	trained=$id
	POLLUX_SLICE=0.2 "$POLLUX" schedule --watch 0.2 &
	watcher=$!
	evaluated() { # evaluated RUN: twice or more in this run
		[ "$(log "$trained" | awk -v run="$1" '/^exec/ { n++ }
			n == run && / accuracy / { k++ } END { print (k > 1) }')" = 1 ]
	}
	comes 'a trainer alone has both devices' 30 evaluated 1
	submit --no-preempt ./stay
	other=$id
	comes 'a trainer trains on with another job beside it' 30 evaluated 2
	"$POLLUX" cancel "$other"
	comes 'a trainer trains on when the other job is gone' 30 evaluated 3
	status 'cancel of a trainer succeeds' 0 "$POLLUX" cancel "$trained"
	comes 'cancel lets a trainer save' 20 job_is "$trained" cancelled
	end "$watcher"
	watcher=
	is 'the trainer ran on 2 devices, on 1, on 2' '2 1 2' \
		"$(query "SELECT replicas FROM runs WHERE job_id = $trained
			AND launch_boot_s IS NOT NULL" | xargs)"
	is 'the trainer always had its batch size' '128 64 128 128 128 64' \
		"$(query "SELECT batch_size, local_batch_size FROM runs
		WHERE job_id = $trained AND launch_boot_s IS NOT NULL" | tr '|' ' ' | xargs)"
	is 'each run of the trainer resumes where the one before stopped' '' \
		"$(log "$trained" | awk '
		$1 == "resumed" { n++; if ($3 != at) print "resumed at " $3 ", not " at }
		$1 == "stopped" { at = $3 }
		END { if (n != 2) print n " resumed" }')"
	is 'the accuracy of the trainer does not jump back' '' "$(log "$trained" | awk '
		/^exec/ { first = 1 }
		$1 == "samples" && $3 == "accuracy" {
			if (first && before != "" && $4 < before - 0.06)
				print "from " before " to " $4
			before = $4
			first = 0
		}')"
	is "the store knows the trainer's last sample, and no loss" \
		"$(log "$trained" | sed -n 's/^stopped samples \([0-9]*\) .*/\1/p' | tail -n 1) 0" \
		"$(query "SELECT printf('%d %d', samples, lost_samples) FROM jobs
			WHERE id = $trained")"
else
	n=$((n + 1))
	echo "ok $n - a trainer on 2 devices, 1 and 2 # SKIP no trainer, or no Fashion-MNIST"
fi

# --- the retry that was due in between ----------------------------------------------------------

retry_ended() { pass && job_is "$retried" failed; }
comes 'the job fails after its last retry' 20 retry_ended
is 'the job that was retried had two runs' '1 2' "$(log "$retried" | grep -x '[0-9]' | xargs)"
is 'the retry began at least ten seconds after the first run' 1 \
	"$(query "SELECT max(launch_boot_s) - min(end_boot_s) >= 10 FROM runs
		WHERE job_id = $retried")"
is 'all failures of the job are counted' \
	2 "$(query "SELECT failures FROM jobs WHERE id = $retried")"

# --- cron --------------------------------------------------------------------------------------

# Deep enough that a socket's path does not fit: it is made under /tmp, and removed.
home=$TMP/home/$(printf '%0100d' 0)
mkdir -p "$home"
at_home() { env -u POLLUX_DIR -u POLLUX_SLOTS -u POLLUX_SLICE HOME="$home" "$@"; }
id=$(at_home env MINE=kept "$POLLUX" submit \
	sh -c 'echo "$MINE" "$HOME" "$POLLUX_REPORT_SOCKET"; "$POLLUX" submit true')
status "a pass in cron's bare environment succeeds" 0 env -i HOME="$home" "$POLLUX" schedule
is "a pass in cron's environment says nothing" '' "$out$err"
POLLUX_DIR=$home/.local/state/pollux
both_done() { [ "$(query "SELECT count(*) FROM jobs WHERE state = 'done'")" = 2 ]; }
bare_pass() { env -i HOME="$home" "$POLLUX" schedule && both_done; }
comes 'the pass runs the job, and what that submits' 15 bare_pass
like "the job has its submitter's environment and a short socket" \
	"^kept $home /tmp/pollux-[^/]*/1.sock\$" "$(log 1)"
is 'the short socket is gone with its directory' '' \
	"$(ls -d "$(log 1 | sed -n 's,.* \(/tmp/pollux-[^/]*\)/1.sock$,\1,p')" 2>/dev/null)"

# --- nothing is left ----------------------------------------------------------------------------

POLLUX_DIR=$TMP/store
quiet() { [ -z "$(of_tree)" ]; }
comes 'no process is left' 10 quiet
is 'no socket and no lock of a run is left' '' \
	"$(find "$POLLUX_DIR/run" -name '*.sock' -o -name '[0-9]*.lock')"
is 'no device is in use' 0 "$(query 'SELECT count(*) FROM run_devices WHERE in_use')"
unlike 'no supervisor met a fault of its own' \
	'Sanitizer|runtime error|^==|no longer|ended already' \
	"$(cat "$POLLUX_DIR/supervisor.log")"
is 'the store is whole' ok "$(query 'PRAGMA integrity_check')"
finish
