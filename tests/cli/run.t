#!/bin/sh
# run.t - pollux run: a command in the foreground, with a device of its own for a limited time.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_SUBMIT_PASS
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { touch go go2 go3; end_jobs; }
job_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
last() { store 'SELECT max(id) FROM jobs'; }
is_gone() { [ "$(ps -o stat= -p "$1" | tr -d ' ' | grep -v '^Z')" = '' ]; }
# Keeps the slot until the file is there.
keep='while [ ! -e "$0" ]; do sleep 0.05; done'
# A file that a command in the background writes is removed before: the shell empties it only once
# the command has a process, and until then a test would read what an earlier command wrote.
# A terminal: what is written to descriptor 4 is typed, what it shows is in the file "screen".
# A shell that waited for COMMAND would die of a Ctrl-C that COMMAND survives.
terminal() { # terminal COMMAND
	rm -f keys screen
	mkfifo keys
	# this shell's background ignores the keys, which would be inherited
	perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec @ARGV' \
		script -qec "exec $1" /dev/null <keys >screen 2>&1 &
	terminal=$!
	exec 4>keys
}
end_terminal() { # its exit status
	wait_for 20 is_over "$terminal"
	wait "$terminal"
	rc=$?
	exec 4>&-
	return "$rc"
}

# --- what it returns; there is no store yet ---
status 'run runs a command' 0 "$POLLUX" run -- echo hello
is 'run shows the output of the command' hello "$out"
is 'run says nothing on its own' '' "$err"
is 'the command reads the standard input of run' hi "$(echo hi | "$POLLUX" run -- cat)"
status 'run passes the exit status of the command on' \
	7 "$POLLUX" run -- sh -c 'echo sorry >&2; exit 7'
is 'run passes the standard error of the command on' sorry "$err"
status 'run turns a signal into 128 and its number' 137 "$POLLUX" run -- sh -c 'kill -9 $$'
status 'a command of run with variables succeeds' 0 "$POLLUX" run -e A=b -n desk -- \
	sh -c 'echo "$POLLUX_JOB_ID $A $POLLUX_REPLICAS"'
is 'the command has the variables of a job and its own' '5 b 1' "$out"
is 'commands of run are on record as jobs' 'done|failed|failed' \
	"$(store 'SELECT group_concat(state, "|") FROM jobs WHERE id IN (2, 3, 4)')"
like 'JSON says that the job is interactive' '"interactive": true' "$("$POLLUX" status --json 5)"
like 'the log of the job says where the output went' 'in the foreground' "$("$POLLUX" log 5)"
is 'run leaves no lock' '' "$(find "$POLLUX_DIR/run" -name "interactive*")"

# --- bad options ---
status 'run needs a command' 64 "$POLLUX" run
status 'run refuses a bad time' 64 "$POLLUX" run --time never -- true
status 'run refuses a range of devices' 64 "$POLLUX" run -r 1:2 -- true
like 'the option with a range of devices is named' "option '--replicas N'" "$err"
status 'run refuses an option of submit that makes no sense for it' \
	64 "$POLLUX" run --after 1 -- true
status 'a command that is not there is refused with status 66' 66 "$POLLUX" run -- no-such-program
status 'a bad interactive_limit is a configuration error' \
	78 env POLLUX_INTERACTIVE_LIMIT=0 "$POLLUX" run -- true
is 'refused commands of run are no jobs' 5 "$(last)"
printf 'not a program' >text && chmod +x text
status 'a command that cannot be executed is refused with status 66' 66 "$POLLUX" run -- ./text
like 'a command that cannot be executed is told' "cannot execute" "$err"

# --- what is said comes before what the command says ---
for round in 1 2 3; do
	terminal "'$POLLUX' run -- sh -c 'echo prompt'"
	end_terminal
	is "the line of run comes before the command's, round $round" 'runs prompt' \
		"$(grep -o 'prompt\|runs, until' screen | sed 's/,.*//' | xargs)"
done

# --- its time ---
status 'run bounds the time of a command' 129 "$POLLUX" run --time 4 -- sleep 1000
like 'run says before when the time is over' 'is over in [0-9] s' "$err"
like 'run says that the time limit stopped the command' 'stopped: time limit' "$err"
is 'a command stopped by its time is recorded as timeout' \
	timeout "$(store 'SELECT state FROM jobs ORDER BY id DESC LIMIT 1')"
status 'a time longer than interactive_limit is accepted' 0 \
	env POLLUX_INTERACTIVE_LIMIT=5m "$POLLUX" run --time 2h -- true
like 'run says that interactive_limit cuts the time' \
	'its time is 5m00s, the interactive_limit, not 2h' "$err"
"$POLLUX" run -- true
is 'interactive_limit cuts the time; the default is an hour' '300.0|3600.0' "$(store \
	'SELECT group_concat(time_limit_s, "|") FROM jobs
	WHERE id > (SELECT max(id) - 2 FROM jobs)')"

# --- it comes first, and others are told ---
for policy in goodput pollux las fifo; do
	rm -f go before said why
	wait_for 20 no_supervisor
	POLLUX_POLICY=$policy
	export POLLUX_POLICY
	given_run all duration_s=0 # as if the last turn was long ago
	"$POLLUX" submit -q --no-preempt -- sh -c "$keep" go >/dev/null
	wait_for 20 eval '"$POLLUX" schedule; job_is $(last) running'
	"$POLLUX" submit -q --no-preempt -- touch before >/dev/null
	"$POLLUX" run -- sh -c '[ ! -e before ] && echo first; exit 3' >said 2>why &
	run=$!
	ok "$policy: run says that it waits" wait_for 20 grep -q 'job [0-9]* waits' why
	touch go
	wait "$run"
	is "$policy: run ends as its command does" 3 $?
	is "$policy: run comes before a job that waited longer" first "$(cat said)"
	ok "$policy: the job that waited longer comes next" wait_for 20 [ -e before ]
done
rm -f go before said
wait_for 20 no_supervisor
given_run "$(store 'SELECT max(id) FROM jobs WHERE interactive = 1')" duration_s=1e5
"$POLLUX" submit -q -- sh -c "$keep" go >/dev/null
"$POLLUX" schedule
"$POLLUX" submit -q -- touch before >/dev/null
"$POLLUX" run -q -- sh -c '[ -e before ] && echo later' >said 2>&1 &
run=$!
ok 'a second run waits after a long interactive turn' \
	wait_for 20 eval '[ "$(store "SELECT interactive FROM jobs WHERE id = $(last)")" = 1 ]'
touch go
wait "$run"
is 'the queue has its turn before the next interactive one' later "$(cat said)"
given_run all duration_s=0

# --- at the end of a slice ---
wait_for 20 no_supervisor
rm -f go
POLLUX_SLICE=1s POLLUX_POLICY=goodput
export POLLUX_SLICE
"$POLLUX" submit -q --preempt -- sleep 1000 >/dev/null
training=$(last)
"$POLLUX" schedule
wait_for 20 job_is "$training" running
"$POLLUX" run -q -- sh -c 'touch have; '"$keep" go &
run=$!
ok 'run gets the slot when the slice of a job is over' \
	wait_for 20 eval '"$POLLUX" schedule; [ -e have ]'
id=$(last)
ok 'an interactive job is never stopped for others' \
	wait_for 20 eval '"$POLLUX" schedule; "$POLLUX" status | grep -q "interactive turn until"'
like 'other jobs are told of the interactive turn' \
	'1 device is in an interactive turn until ..:.. at the latest' \
	"$("$POLLUX" status --json "$training")"
like 'status says that an interactive job runs, and until when' \
	"^ *$id .* running .* interactive, until ..:.. at the latest" \
	"$("$POLLUX" status)"
for word in hold requeue first edit; do
	if [ $word = edit ]; then set -- --weight 2; else set --; fi
	status "an interactive job cannot be changed by $word" 1 "$POLLUX" "$word" "$id" "$@"
	like "$word says that the job is one of 'pollux run'" "of 'pollux run'" "$err"
done
touch go
wait "$run"
is 'the interactive job ends as its command does' 0 $?
"$POLLUX" cancel --force "$training"
"$POLLUX" wait "$training" >/dev/null 2>&1
unset POLLUX_SLICE
wait_for 20 no_supervisor

# --- cancelled by others ---
rm -f pid why
"$POLLUX" run -- sh -c 'echo $$ >pid; exec sleep 1000' 2>why &
run=$!
wait_for 20 [ -s pid ]
"$POLLUX" cancel "$(last)"
wait "$run"
is 'cancel ends an interactive job' 129 $?
like 'run says that cancel stopped its command' 'was stopped: cancel' "$(cat why)"

# --- its process dies ---
rm -f go pid
"$POLLUX" run -q -- sh -c 'echo $$ >pid; exec sleep 1000' &
run=$!
wait_for 20 [ -s pid ]
command=$(cat pid)
kill -9 "$run"
wait "$run" 2>/dev/null
ok 'a run that is killed has its job cancelled' wait_for 20 eval 'job_is $(last) cancelled'
ok 'a run that is killed has its command ended' wait_for 20 is_gone "$command"
status 'the device is free after a run was killed' 0 "$POLLUX" run -- true

rm -f pid
"$POLLUX" run -q -- sh -c 'echo $$ >pid; exec sleep 1000' &
run=$!
wait_for 20 [ -s pid ]
command=$(cat pid)
kill -9 "$run" "$(store "SELECT $supervisor_pid FROM runs ORDER BY id DESC LIMIT 1")"
wait "$run" 2>/dev/null
ok 'a pass cancels the job of a run killed with its supervisor' \
	wait_for 20 eval '"$POLLUX" schedule; job_is $(last) cancelled'
ok 'the pass ends the command of that run' is_gone "$command"

"$POLLUX" submit -q -- sh -c "$keep" go >/dev/null
wait_for 20 eval '"$POLLUX" schedule; job_is $(last) running'
rm -f why
"$POLLUX" run -- touch wrong 2>why &
run=$!
wait_for 20 grep -q waits why
id=$(last)
kill -9 "$run"
wait "$run" 2>/dev/null
ok 'a pass cancels the job of a run killed while it waits' \
	wait_for 20 eval '"$POLLUX" schedule; job_is $id cancelled'
is 'the pass removes the lock of that run' '' "$(find "$POLLUX_DIR/run" -name "interactive*")"
"$POLLUX" run -q -- touch wrong 2>/dev/null &
run=$!
wait_for 20 eval '[ $(last) != $id ]'
id=$(last)
kill -TERM "$run"
wait "$run" 2>/dev/null
is 'SIGTERM ends a run that waits' 143 $?
is 'SIGTERM cancels the job of a run that waits' \
	cancelled "$(store "SELECT state FROM jobs WHERE id = $id")"

# --- its process was stopped: it does not begin the run that it is given ---
"$POLLUX" run -q -- touch wrong 2>why &
run=$!
wait_for 20 eval '[ "$(last)" != "$id" ]'
id=$(last)
kill -STOP "$run"
touch go
ok 'a stopped run is given a device' wait_for 20 eval '"$POLLUX" schedule; job_is $id running'
given_run all assigned_boot_s-=60
ok 'a stopped run does not keep its device for ever' \
	wait_for 20 eval '"$POLLUX" schedule; job_is $id cancelled'
kill -CONT "$run"
wait "$run"
is 'a stopped run fails when it goes on' 125 $?
like 'a stopped run is told that its job was cancelled' \
	'ended before it ran: cancelled' "$(cat why)"
rm -f go
"$POLLUX" submit -q -- sh -c "$keep" go >/dev/null
wait_for 20 eval '"$POLLUX" schedule; job_is $(last) running'

# --- a terminal ---
if [ -n "$(command -v script)" ]; then
	terminal "'$POLLUX' run -- touch wrong"
	wait_for 20 grep -q 'waits' screen
	printf '\003' >&4
	end_terminal
	is 'Ctrl-C ends a run that waits' 130 $?
	ok 'Ctrl-C cancels the job of a run that waits' job_is "$(last)" cancelled
	touch go
	wait_for 20 no_supervisor
	is 'commands of runs that were ended while they waited never ran' \
		'' "$(ls wrong 2>/dev/null)"

	cat >keys.sh <<-'END'
	trap 'echo got it' INT
	touch ready
	while [ ! -e go2 ]; do sleep 0.05; done
	exit 5
	END
	terminal "'$POLLUX' run -- sh keys.sh"
	ok 'run says on a terminal until when the command runs' \
		wait_for 20 grep -q 'runs, until' screen
	wait_for 20 [ -e ready ]
	printf '\003' >&4
	ok 'Ctrl-C goes to the command of run' wait_for 20 grep -q 'got it' screen
	touch go2
	end_terminal
	is 'a command that heeds Ctrl-C goes on to its own end' 5 $?

	terminal "env PS1='$ ' bash --norc -i"
	cat >stops.sh <<-'END'
	echo begun
	while [ ! -e go3 ]; do sleep 0.05; done
	echo ended
	END
	echo "'$POLLUX' run -- sh stops.sh" >&4
	wait_for 20 grep -q begun screen
	printf '\032' >&4
	ok 'Ctrl-Z stops run' wait_for 20 grep -q Stopped screen
	touch go3
	echo 'fg; echo back=$?' >&4
	ok 'fg continues run' wait_for 20 grep -q 'back=0' screen
	ok 'a command that fg continued reaches its end' grep -q ended screen
	echo "'$POLLUX' run -- bash --norc -i; echo inner=\$?" >&4
	wait_for 20 grep -q 'inner=\$' screen
	echo 'echo pid=$$ in $POLLUX_JOB_ID' >&4
	ok 'a shell in run has the terminal' wait_for 20 grep -q 'pid=[0-9]* in [0-9]' screen
	echo 'exit 9' >&4
	ok 'a shell in run gives the terminal back' wait_for 20 grep -q 'inner=9' screen
	rm -f pid
	echo "'$POLLUX' run -- sh -c 'echo \$\$ >pid; exec sleep 1000'" >&4
	wait_for 20 [ -s pid ]
	kill -9 "$terminal"
	end_terminal 2>/dev/null
	ok 'a closed terminal ends the command of run' wait_for 20 is_gone "$(cat pid)"
	ok 'a closed terminal ends the job of run' wait_for 20 eval '! job_is $(last) running'
fi
wait_for 20 no_supervisor

# --- the terminal ---
is 'a turn knows the terminal, which other jobs do not' 'vt220 24' \
	"$(TERM=vt220 LINES=24 "$POLLUX" run -q -- sh -c 'echo "$TERM $LINES"' 2>/dev/null)"
is 'what -e gives goes before' vt100 \
	"$(TERM=vt220 "$POLLUX" run -q -e TERM=vt100 -- sh -c 'echo "$TERM"' 2>/dev/null)"
finish
