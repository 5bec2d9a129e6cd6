#!/bin/sh
# done.t - a program that has done all its work is done, whatever it was told meanwhile; and one
# that finds nothing left to do when it is launched again.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS
cleanup() { end_jobs; }
ran() { [ "$(store "SELECT count(*) FROM runs WHERE job_id = $1 AND $2")" -gt 0 ]; }
state() { store "SELECT state FROM jobs WHERE id = $1"; }
ended() { [ "$(store "SELECT count(*) FROM jobs WHERE id = $1 AND state IN ('done', 'held',
	'failed', 'cancelled', 'timeout')")" = 1 ]; }
reason() { "$POLLUX" status --json "$1" | json 'print $d->{jobs}[0]{reason}'; }
says() { grep -qs "$2" "$POLLUX_DIR/logs/$1.log"; }

# train CODE AGAIN STATUS: CODE tells of its work; then it waits for the file go.JOB, deaf to the
# stop signal, and exits with STATUS. AGAIN: what a later launch does instead.
cat >train <<'END'
trap 'echo told' TERM
if [ "$POLLUX_RUN" -gt 1 ]; then
	eval "$2"
fi
eval "$1"
echo 'at the end'
while ! [ -e "go.$POLLUX_JOB_ID" ]; do sleep 0.05; done
exit "${3:-0}"
END
count='i=0; while [ $i -lt 20 ]; do i=$((i + 1)); '
half='i=0; while [ $i -lt 10 ]; do i=$((i + 1)); '
steps="$count"'echo "step $i/20 loss 0.1"; done'
# submit OPTION... -- CODE AGAIN STATUS: prints the job
submit() {
	options=
	while [ "$1" != -- ]; do options="$options $1"; shift; done
	shift
	# shellcheck disable=SC2086 # options
	"$POLLUX" submit -q --grace 600 --suspend never $options -- sh train "$@"
}
by_requeue() { "$POLLUX" requeue --force "$1"; }
by_hold() { "$POLLUX" hold --force "$1"; }
by_cancel() { "$POLLUX" cancel "$1"; }
by_limit() { "$POLLUX" edit --time-limit 1s "$1"; }
by_others() {
	given_run "$1" launch_boot_s-=1000
	other=$("$POLLUX" submit -q -r 2 -- true)
	"$POLLUX" schedule --policy las
}
by_shutdown() { kill -TERM "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $1")"; }
# told HOW JOB: the job is at the end of its run, is told to stop, and leaves
told() {
	id=$2
	"$POLLUX" schedule >/dev/null
	wait_for 20 says "$id" 'at the end' || return 1
	"by_$1" "$id" >/dev/null 2>&1
	wait_for 20 says "$id" '^told' || return 1
	: >"go.$id"
	wait_for 20 ran "$id" "state = 'ended'"
}
# The relaunch of the last job that was told.
again() {
	"$POLLUX" schedule >/dev/null
	wait_for 20 ended "$id"
}
done_by() { # done_by HOW WORDS NAME OPTION... -- CODE AGAIN STATUS
	how=$1 words=$2 name=$3
	shift 3
	id=$(submit "$@")
	ok "$name: the job leaves when told to stop by $how" told "$how" "$id"
	is "${name%: the job*}: the job is done, in one run" 'done 1' \
		"$(state "$id") $(store "SELECT count(*) FROM runs WHERE job_id = $id")"
	is "${name%: the job*}: the job says that its work was done" \
		"completed: all its work was done, although it was told to stop ($words)" \
		"$(reason "$id")"
}

# --- at its end by its own account ---
done_by requeue requeued 'all declared steps' --steps 20 -- "$steps"
like 'status shows that all work of a job was done' \
	"^ *$id .* done .*all its work was done, although" "$("$POLLUX" status --all)"
done_by hold held 'all declared steps, reported' --steps 20 -- \
	"$count"'"$POLLUX" report STEP=$i; done'
done_by limit 'time limit' 'the total that the log tells' -- "$steps"
done_by others preempted 'declared samples, reported' --preempt --samples 160 -- \
	"$count"'"$POLLUX" report STEP=$i SAMPLES=$((8 * i)); done'
"$POLLUX" cancel "$other" 2>/dev/null
done_by cancel cancelled 'a counter from 0' -- \
	'i=0; while [ $i -lt 20 ]; do echo "step $i/20"; i=$((i + 1)); done'
done_by shutdown 'shut down' 'all epochs' -- "$count"'echo "Epoch $i/20 loss 0.1"; done'
done_by requeue requeued 'a reported total' -- \
	'"$POLLUX" report TOTAL_STEPS=20; '"$count"'"$POLLUX" report STEP=$i; done'
done_by requeue requeued 'a word of its own, short of the total' --steps 20 -- \
	"$half"'"$POLLUX" report STEP=$i; done; "$POLLUX" report ENDED=1'
done_by hold held 'a training that ended by itself' -- '"$POLLUX" report ENDED=2'
id=$(submit --steps 20 -- "$steps")
after=$("$POLLUX" submit -q --after "ok:$id" -- true)
ok 'a job with another after it leaves when told to stop' told hold "$id"
"$POLLUX" schedule
status 'the job after one that is done starts' 0 "$POLLUX" wait --timeout 600 "$after"

done_by hold held 'the last fold' -- 'echo "fold 1/2"; echo "fold 2/2"; '"$steps"
done_by hold held 'ordinary words before numbers' -- \
	'echo "seed 42, stage 2, rounding 1/5, 3 runs"; '"$steps"
done_by hold held 'declared steps of all folds' --steps 20 -- 'echo "fold 1/2"; '"$steps"

# --- no end ---
not_done() { # not_done STATE NAME OPTION... -- CODE AGAIN STATUS
	want=$1 name=$2
	shift 2
	id=$(submit "$@")
	ok "$name: the job leaves when told to stop" told hold "$id"
	is "${name%: the job*}: the job is $want, not done" "$want" "$(state "$id")"
	"$POLLUX" cancel "$id" 2>/dev/null
}
not_done held 'half of the steps' --steps 20 -- "$half"'echo "step $i/20"; done'
not_done held 'all steps and status 1' --steps 20 -- "$steps" : 1
not_done held 'a bar of an epoch' -- \
	'i=0; while [ $i -lt 50 ]; do i=$((i + 1))
	printf "\r%d%%|###| %d/50 [00:01<00:00, 9.00it/s]" $((2 * i)) $i; done'
not_done held 'the total of the log, but more is declared' --steps 40 -- "$steps"
for part in 'fold 1/5' 'Fold: 2' '=== Trial 3 ===' '[Stage 1 of 3] the head' 'seed 0/3' \
	'run #1/2'; do
	not_done held "all steps of a part: $part" -- "echo '$part'; $steps"
done
not_done held 'an end that is reported, of a first fold' -- \
	'echo "fold 1/5"; "$POLLUX" report ENDED=1'
not_done held 'an epoch that begins' -- "$count"'echo "Epoch $i/20"; done'
not_done held 'an end, and another training after it' -- \
	'"$POLLUX" report ENDED=1; "$POLLUX" report STEP=1'
not_done held 'an end of which it tells after it was told to stop' -- \
	'trap "\"\$POLLUX\" report ENDED=2; echo told" TERM'
not_done held 'an end that it takes back' -- '"$POLLUX" report ENDED=1; "$POLLUX" report ENDED=0'

# --- the relaunch ---
id=$(submit -- "$half"'echo "step $i/20"; done' \
	'echo "ValueError: no training would occur"; exit 1')
ok 'a program without a sign of its end leaves when told to stop' told requeue "$id"
ok 'the relaunched program says that nothing is left, and ends' again
is 'a job whose relaunch finds nothing left is done' 'done' "$(state "$id")"
is 'the reason has the words of a relaunch that finds nothing left' \
	'completed: exit status 1: nothing was left to do after its last run, which '\
'had been told to stop: ValueError: no training would occur' "$(reason "$id")"
id=$(submit -- 'echo "step 3"; echo "step 4"; echo "step 5"' 'exit 0')
ok 'a program at step 5 leaves when told to stop' told requeue "$id"
ok 'the relaunched program exits with 0 without a step' again
is 'a job whose relaunch makes no step is done' \
	'done completed: nothing was left to do after its last run, which had been told to stop' \
	"$(state "$id") $(reason "$id")"
id=$(submit -- "$half"'echo "step $i/20"; done' 'echo "KeyError: model"; exit 1')
ok 'a program at half of its steps leaves when told to stop' told requeue "$id"
ok 'the relaunched program ends with another error' again
is 'a job whose relaunch ends with another error fails' failed "$(state "$id")"
id=$(submit -- "$half"'echo "step $i/20"; done' 'echo "nothing to resume"; exit 1' 3)
ok 'a program leaves with status 3 when told to stop' told requeue "$id"
ok 'the relaunch after status 3 says that nothing is left, and ends' again
is 'a job that left with status 3 fails, whatever its relaunch says' failed "$(state "$id")"
id=$(submit -- "$half"'echo "step $i/20"; done' \
	'for i in 11 12 13; do echo "step $i/20"; done; echo "nothing to resume"; exit 1')
ok 'a program with steps left leaves when told to stop' told requeue "$id"
ok 'the relaunched program makes steps and says that nothing is left' again
is 'a job whose relaunch makes steps fails, whatever it says' failed "$(state "$id")"
id=$("$POLLUX" submit -q -- sh -c 'echo "nothing to resume"; exit 1')
ok 'a first run that says that nothing is left ends' again
is 'a job whose first run says that nothing is left fails' failed "$(state "$id")"

# --- a supervisor that is killed ---
has_steps() { [ "$(store "SELECT CAST(steps AS INTEGER) FROM jobs WHERE id = $1")" = "$2" ]; }
has_another() { [ "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $1")" != "$2" ]; }
passed() { "$POLLUX" schedule >/dev/null; has_another "$@"; }
for steps_done in 20 10; do
	id=$(submit --steps 20 -- \
		"i=0; while [ \$i -lt $steps_done ]"'; do i=$((i + 1)); echo "step $i/20"; done')
	"$POLLUX" schedule
	ok "a program is at step $steps_done before its supervisor is killed" \
		wait_for 20 has_steps "$id" "$steps_done"
	dead=$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $id")
	kill -9 "$dead"
	ok "another supervisor takes over the program at step $steps_done" \
		wait_for 20 passed "$id" "$dead"
	ok "the new supervisor tells the program at step $steps_done to stop" \
		wait_for 20 says "$id" '^told'
	: >"go.$id"
	ok "the program at step $steps_done leaves" wait_for 20 ran "$id" "state = 'ended'"
	outcome=$(store "SELECT outcome FROM runs WHERE job_id = $id AND number = 1")
	if [ $steps_done = 20 ]; then
		is 'a program that leaves at its last step is done' 'completed done' \
			"$outcome $(state "$id")"
	else
		is 'a program that leaves before its last step is stopped' stopped "$outcome"
	fi
	"$POLLUX" cancel "$id" 2>/dev/null
done
finish
