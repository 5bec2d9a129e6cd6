#!/bin/sh
# events.t - pollux events: what happened, what happens next, and stores that come and go.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS

submit() { "$POLLUX" submit -q "$@"; }
followers=
follow() { # follow FILE [OPTION...]: in the background
	file=$1
	shift
	"$POLLUX" events --follow "$@" >"$file" 2>"$file.err" &
	follower=$!
	followers="$followers $follower"
}
cleanup() {
	# shellcheck disable=SC2086 # pids
	[ -z "$followers" ] || kill $followers 2>/dev/null
	end_jobs
}
kinds() { json 'print join " ", map { $_->{kind} } @$d'; }
lines() { perl -MJSON::PP -ne 'BEGIN { print "[" } print "," if $. > 1;
	print JSON::PP->new->encode(JSON::PP->new->utf8->decode($_)); END { print "]" }'; }
has() { grep -q "$1" "$2"; }

status 'without a store there are no events' 66 "$POLLUX" events
follow first --json
one=$(submit -n one -- true)
ok '--follow waits for a store' wait_for 20 has submitted first
two=$(submit -n two --hold -- true)
"$POLLUX" schedule
"$POLLUX" wait -t 200 "$one"
ok '--follow prints what happens' wait_for 20 has '"ended"' first
is '--json is an object on each line, in the order of the events' \
	'submitted submitted assigned ended' "$(lines <first | kinds)"
is 'an event has all its keys' 'id job_id kind run_id text time_s' \
	"$(lines <first | json 'print join " ", sort keys %{$d->[2]}')"
end "$follower" INT
is 'an interrupt ends --follow in good order' 0 $?

run "$POLLUX" events
is 'a line has time, job, kind and text' "job $two  submitted  two" \
	"$(printf '%s\n' "$out" | sed -n '2s/^[-0-9]* [0-9:]*  //; 2s/   */  /gp')"
is '--lines has the last ones' "$(printf '%s\n' "$out" | tail -n 2)" "$("$POLLUX" events -n 2)"
is 'a job has its own events' 'submitted' "$("$POLLUX" events --json "$two" | lines | kinds)"
is 'jobs are chosen by name and state' 'submitted assigned ended' \
	"$("$POLLUX" events --json --state=done 'on*' | lines | kinds)"
status 'an unknown job is refused' 66 "$POLLUX" events 99
is 'the unknown job is named' 'pollux: no such job: 99' "$err"
status 'a name that no job has is refused' 66 "$POLLUX" events --follow x
given_events 60 time_s=@'86400 * i' job_id="$two" kind=note text=@i
is 'without options there are at most 50' 50 "$("$POLLUX" events | wc -l)"
is '--since has all of that time, and nothing else' 4 "$("$POLLUX" events --since 1h | wc -l)"
given_events 1 time_s=0 kind=note text=@"char(27) || '[2J' || char(10)"
is 'what is no text is shown by numbers, and an event may have no job' '-  note  \033[2J\n' \
	"$("$POLLUX" events -n 1 | sed 's/^[-0-9]* [0-9:]*  //; s/   */  /g')"

# --- followed: jobs that come, a locked store, another store ---
follow named --json 'o*'
follow other --json --name two
submit -n only -- true >id
"$POLLUX" cancel "$two" >cancelled 2>&1
ok 'a job that comes later and matches is followed' wait_for 20 has '"only"' named
ok 'a job that is there is followed' wait_for 20 has '"cancel"' other
ok 'others are not' test "$(grep -c cancel named)$(grep -c only other)" = 00

follow all --lines 1
ok '--follow begins with the last events' wait_for 20 [ -s all ]
hold_store
let_store_go ROLLBACK
mv store kept
mv kept store
three=$(submit -n three -- true)
ok 'a store that was locked and away is followed' wait_for 20 has "job $three .*submitted" all
mv store kept
submit -n another -- true >id
ok 'another store in its place is followed' wait_for 20 has 'submitted *another' all
is 'nothing is told twice or lost' 3 "$(wc -l <all)"
end "$follower"
is 'SIGTERM ends --follow in good order' 0 $?
is 'no error was told' '' "$(cat all.err)"
rm -r store && mv kept store

# A reader that goes away: nothing more has to happen.
mkfifo fifo
follow fifo --lines 1
read -r _ <fifo
ok 'it ends when nobody reads any more' wait_for 20 is_over "$follower"
finish
