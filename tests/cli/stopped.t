#!/bin/sh
# stopped.t - somebody stops all processes of a running job, and continues them: events tell both.
# shellcheck disable=SC2016,SC2317,SC2154  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS
cleanup() { end_jobs; }

submit() { # submit: its leader and its child are in $leader and $child
	id=$("$POLLUX" submit -q -- sh -c 'sleep 1000 & echo $! >"child.$POLLUX_JOB_ID"; wait')
	"$POLLUX" schedule
	wait_for 20 [ -s "child.$id" ]
	child=$(cat "child.$id")
	wait_for 20 has_leader
}
has_leader() {
	leader=$(store "SELECT $leader_pid FROM runs WHERE job_id = $id")
	[ -n "$leader" ]
}
told() { # told JOB TIMES TEXT: by so many events
	[ "$("$POLLUX" status "$1" | grep -cE "$3")" = "$2" ]
}
stop=' somebody has stopped all its processes, and it keeps its devices: '
goes_on=' resume +it goes on, after [1-9][0-9]* s for which somebody had stopped it$'

submit
first=$id first_leader=$leader first_child=$child
submit
kill -STOP "$first_leader" "$first_child" "$leader" "$child"
ok 'an event tells that somebody has stopped a job' wait_for 30 told "$first" 1 "$stop"
ok 'and the other job' wait_for 30 told "$id" 1 "$stop"
row() { "$POLLUX" status | sed -n "s/^ *$first  *//p" | tr -s ' '; }
given_job "$first" total_steps=1000 steps=100
given_run "$first" step_time_s=1
like 'status says that the job is stopped, and no time to its end' \
	'^sh running 1 [0-9hms]+ 10% - 1000 - stopped: somebody has stopped all its processes; ' \
	"$(row)"
is 'and so does its JSON' '1 0' "$("$POLLUX" status --json "$first" | json '
	my $j = $d->{jobs}[0]; print $j->{stuck} =~ /^stopped: / ? 1 : 0, " ",
	defined $j->{eta_s} || defined $j->{end_from_s} ? 1 : 0')"
is 'no event tells that a stopped job goes on' '' \
	"$("$POLLUX" status "$first" | grep 'it goes on')"
kill -CONT "$first_leader" "$child"
ok 'an event tells that the job goes on, and after how long' wait_for 20 told "$first" 1 "$goes_on"
ok 'a job goes on as soon as one of its processes does' wait_for 20 told "$id" 1 "$goes_on"
unlike 'status no longer says that the job is stopped' 'stopped' "$(row)"
like 'it has a time to its end again' '^sh running 1 [0-9hms]+ 10% - 1000 15m00s ' "$(row)"
kill -STOP "$first_leader" "$first_child"
ok 'a second stop is told, too' wait_for 30 told "$first" 2 "$stop"
kill -CONT "$first_leader" "$first_child"
ok 'and so is its end' wait_for 20 told "$first" 2 "$goes_on"
kill -CONT "$leader"
"$POLLUX" cancel "$first" "$id"
finish
