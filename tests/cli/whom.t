#!/bin/sh
# whom.t - which jobs a command means: numbers, ranges, names, globs, @, and the options that
# select; who is asked before several are changed.
# shellcheck disable=SC1010,SC2016,SC2154  # done is a state; Perl; $out and $err are of run
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
would() { # would NAME WANT ARGUMENT...: the jobs that cancel or another command would change
	name=$1 want=$2
	shift 2
	run "$POLLUX" "$@" --dry-run
	is "$name" "$want" "$(echo "$out" | sed -n 's/^job \([0-9]*\) .*/\1/p' | paste -sd ' ')$err"
}
of_table() { echo "$1" | sed -n 's/^ *\([0-9][0-9]*\)  .*/\1/p' | paste -sd ' '; }

# --- nothing yet ---
status 'a name where there is no store' 66 "$POLLUX" status 'x*'
is 'is said in one line' "pollux: no job matches 'x*'" "$err"
status 'a state there' 0 "$POLLUX" status --state running
is 'is none' 'No such jobs.' "$out"

# --- five jobs that wait, one held, one done ---
for job in lr-0.1 lr-0.2 lr-0.3; do
	"$POLLUX" submit -q -n "$job" --workload sweep true
done >/dev/null
"$POLLUX" submit -q -n 'odd [1]*' true >/dev/null
"$POLLUX" submit -q -n 15-20 true >/dev/null
"$POLLUX" submit -q -n lr-held --hold true >/dev/null
"$POLLUX" submit -q -n first true >/dev/null
store "UPDATE jobs SET state = 'done', end_time_s = unixepoch() WHERE id = 7"

would 'numbers' '3 1' cancel 3 1
would 'each once' '3 1 2' cancel 3 1-3 lr-0.2
would 'a range' '2 3 4 5' cancel 2-5
would 'those of a range that there are, and that the command can act on' '6' cancel 6-1000
would 'a name' '2' cancel lr-0.2
would 'a glob' '1 2 3 6' cancel 'lr*'
would 'a set' '1 3' cancel 'lr-0.[13]'
would 'and what is not in it' '1 3' cancel 'lr-0.[!2]'
would 'a name that looks like a glob' '4' cancel 'odd [1]*'
would 'a name that looks like a range' '5' cancel --name 15-20
store "UPDATE jobs SET group_id = 7, group_index = id WHERE id IN (2, 5, 7)"
would 'a group' '2 5' cancel group:7
would 'not a group' "pollux: no job matches 'group:8'" cancel group:8
would 'some of a group' '2' cancel group:7 --name 'lr*'
would 'options narrow' '1 2 3' cancel 'lr*' --state queued
would 'several states' '1 2 3 6' cancel 'lr*' --state running,queued,held
would 'all that have not ended' '1 2 3 4 5 6' cancel --state active
would 'a workload' '1 2 3' cancel --workload 'swe*'
would 'a workload and a name' '2' cancel --workload sweep --name '*2'
would 'an hour' '1 2 3 4 5 6' cancel --since 1h
would 'release means the held ones' '6' release 'lr*'
would 'hold those that are not' '1 2 3' hold 'lr*'
would 'requeue those that have ended' '7' requeue --since 1h
store "UPDATE jobs SET submit_time_s = submit_time_s - 7200"
would 'long ago' "pollux: no job matches '1-6' --since 3600s" cancel 1-6 --since 1h
would 'ended lately' '7' requeue --since 1h

# --- what is refused ---
refused() { # refused NAME STATUS MESSAGE ARGUMENT...
	name=$1 want=$2 message=$3
	shift 3
	status "$name" "$want" "$POLLUX" "$@"
	is "$name: what is said" "pollux: $message" "$err"
}
refused 'no such name' 66 "no job matches 'zzz'" cancel zzz
refused 'no such name, nothing is done to others' 66 "no job matches 'zzz'" cancel 1 zzz
refused 'no such number' 66 'no such job: 99' cancel 99
refused 'none in a range' 66 "no job matches '50-60'" wait 50-60
refused 'none that the command can act on' 1 \
	"nothing to release: 3 jobs match 'lr-0*', none is held" release 'lr-0*'
refused 'a number is always meant' 1 'job 1 is not held: queued' release 1
refused 'zero' 64 "'0' is not a job number; see 'pollux cancel --help'" cancel 0
refused 'an empty operand' 64 "'' is not a job number; see 'pollux cancel --help'" cancel ''
refused 'a number below none' 64 "'-4' is not a job number; see 'pollux cancel --help'" \
	cancel -- -4
refused 'a range backwards' 64 "'3-1' is not a range of job numbers: smaller-larger; see 'pollux \
cancel --help'" cancel 3-1
refused 'a range beyond numbers' 64 "'1-99999999999999999999' is not a range of job numbers: \
smaller-larger; see 'pollux cancel --help'" cancel 1-99999999999999999999
refused 'group zero' 64 \
	"'0' is not the number of a group; see 'pollux cancel --help'" cancel group:0
refused 'SQL is a name' 66 "no job matches '1 OR 1=1'" cancel '1 OR 1=1'
refused 'a quote is a character' 66 "no job matches 'a'b'" cancel "a'b"
refused 'no such state' 64 "option '--state': there is no 'ru'; did you mean 'running'? there \
are queued, held, running, done, failed, cancelled, timeout, paused, active, ended; \
see 'pollux cancel --help'" \
	cancel --state queued,ru
refused 'no operand, no selection' 64 "which job? give its number; see 'pollux cancel --help'" \
	cancel --dry-run
is 'nothing was done so far' 6 "$(store "SELECT count(*) FROM jobs WHERE end_time_s IS NULL")"

# --- who agrees ---
status 'several by name, and nobody to ask' 1 "$POLLUX" hold 'lr*'
is 'they are listed, and what to type' "     1  queued     lr-0.1
     2  queued     lr-0.2
     3  queued     lr-0.3
pollux: hold these 3 jobs? they were not given by number: add --yes to go on; nothing was done" \
	"$err"
status 'one by name' 0 "$POLLUX" hold 'lr-0.[1]'
status 'several by number' 0 "$POLLUX" hold 2 3-3
is 'are held' '1 2 3 6' "$(store "SELECT group_concat(id, ' ') FROM jobs WHERE state = 'held'")"
status 'several with --yes' 0 "$POLLUX" release --yes 'lr*'
is 'are released' 0 "$(store "SELECT count(*) FROM jobs WHERE state = 'held'")"
if command -v script >/dev/null; then
	ask() { # ask ANSWER: on a terminal
		echo "$1" | script -qec "'$POLLUX' cancel 'lr-0.[12]'" /dev/null | tr -d '\r'
	}
	like 'a person is asked' '^cancel these 2 jobs\? \[y/N\]' "$(ask n)"
	is 'no is no' 0 "$(store "SELECT count(*) FROM jobs WHERE state = 'cancelled'")"
	ask y >/dev/null
	is 'yes is yes' '1 2' \
		"$(store "SELECT group_concat(id, ' ') FROM jobs WHERE state = 'cancelled'")"
fi

# --- commands that look ---
run "$POLLUX" status 'lr*'
is 'a table of those of a name' '1 2 3 6' "$(of_table "$out")"
run "$POLLUX" status lr-0.3
like 'all about the only one of its name' '^job 3: lr-0.3$' "$out"
run "$POLLUX" status @
like 'and about the last submitted' '^job 7: first$' "$out"
run "$POLLUX" status --state done --json
is 'JSON of a state' 7 "$(echo "$out" | json 'print map $_->{id}, @{$d->{jobs}}')"
ids() { "$POLLUX" status "$@" -o id --csv | tail -n +2 | paste -sd ' '; } # ids ARGUMENT...
is 'sorted by name' '5 7 1 2 3 6 4' "$(ids --sort name)"
is 'the other way' '4 6 3 2 1 7 5' "$(ids --sort -name)"
store "UPDATE jobs SET samples = 5 * id WHERE id IN (4, 6)"
is 'by a number; what is not known comes last' '4 6 1 2 3 5 7' "$(ids --sort samples)"
is 'in both directions' '6 4 1 2 3 5 7' "$(ids --sort -samples)"
store "UPDATE jobs SET submit_time_s = submit_time_s - 1000 * (8 - id)"
is 'the longest wait first' '1 2 3' "$(ids --name 'lr-0*' --sort -total)"
is 'a command, quoted for a shell; a share; what is not known' 'command,done
true,' "$("$POLLUX" status 2-2 -o command,done --csv)"
refused 'no such column' 64 "option '--sort' wants a column, as '--columns' names them, not '-x'; \
see 'pollux status --help'" status --sort -x
refused 'columns as JSON' 64 \
	"options '--summary', '--json' and '--columns' exclude each other; see \
'pollux status --help'" status -o id --json
is 'JSON of the list has the command' 'true' \
	"$("$POLLUX" status --json 1-2 | json 'print @{$d->{jobs}[0]{command}}')"
refused 'all, and some' 64 "option '--all' and a selection of jobs exclude each other; see 'pollux \
status --help'" status --all --state done
status 'explain means the newest' 0 "$POLLUX" explain 'lr*'
is 'and says so' 'pollux: job 6 (lr-held), the newest' "$err"
refused 'explain wants one job' 64 "explain takes one job, not 2; see 'pollux explain --help'" \
	explain 1 2

# --- jobs that run ---
"$POLLUX" cancel 1-100
"$POLLUX" submit -q -n again sh -c 'echo eight' >/dev/null
"$POLLUX" submit -q -n again sh -c 'echo nine; exit 3' >/dev/null
"$POLLUX" submit -q -n waits --hold true >/dev/null
"$POLLUX" schedule
status 'wait by name: the status of the first that failed' 3 "$POLLUX" wait --timeout 100 again
status 'the log of the job that ran last' 0 "$POLLUX" log
is 'which is said' 'pollux: job 9 (again), which ran last' "$err"
like 'is its log' '^nine$' "$out"
status 'of a name, the one that ran last' 0 "$POLLUX" log --state done 'ag*'
like 'where one has run' '^eight$' "$out"
refused 'the only one of its name' 66 'job 10 has no log yet: it is held' log waits
is 'what completion offers' '10 waits, held' "$("$POLLUX" help cancel JOB)"
is 'of jobs that ended' '9 again, failed' "$("$POLLUX" help requeue JOB | head -n 1)"
status 'and of a command that takes none' 64 "$POLLUX" help devices JOB
finish
