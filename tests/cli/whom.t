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
status 'a name is refused with status 66 where there is no store' 66 "$POLLUX" status 'x*'
is 'the name is told in one line' "pollux: no job matches 'x*'" "$err"
status 'a state is no error where there is no store' 0 "$POLLUX" status --state running
is 'no job has that state' 'No such jobs.' "$out"

# --- five jobs that wait, one held, one done ---
for job in lr-0.1 lr-0.2 lr-0.3; do
	"$POLLUX" submit -q -n "$job" --workload sweep true
done >/dev/null
"$POLLUX" submit -q -n 'odd [1]*' true >/dev/null
"$POLLUX" submit -q -n 15-20 true >/dev/null
"$POLLUX" submit -q -n lr-held --hold true >/dev/null
"$POLLUX" submit -q -n first true >/dev/null
given_job 7 state=done end_time_s='@unixepoch()'

would 'numbers mean their jobs, in this order' '3 1' cancel 3 1
would 'a job is meant only once' '3 1 2' cancel 3 1-3 lr-0.2
would 'a range means its jobs' '2 3 4 5' cancel 2-5
would 'a range means those that there are and that can be cancelled' '6' cancel 6-1000
would 'a name means its job' '2' cancel lr-0.2
would 'a glob means the jobs of such names' '1 2 3 6' cancel 'lr*'
would 'a glob with a set means the jobs of such names' '1 3' cancel 'lr-0.[13]'
would 'a glob without a set means the other jobs' '1 3' cancel 'lr-0.[!2]'
would 'a name that looks like a glob means its job' '4' cancel 'odd [1]*'
would '--name takes a name that looks like a range' '5' cancel --name 15-20
given_job "2 5 7" group_id=7 group_index=@id
would 'a group means its runs' '2 5' cancel group:7
would 'an unknown group is told' "pollux: no job matches 'group:8'" cancel group:8
would '--name narrows a group' '2' cancel group:7 --name 'lr*'
would '--state narrows a glob' '1 2 3' cancel 'lr*' --state queued
would '--state takes several states' '1 2 3 6' cancel 'lr*' --state running,queued,held
would '--state active means all that have not ended' '1 2 3 4 5 6' cancel --state active
would '--workload takes a glob' '1 2 3' cancel --workload 'swe*'
would '--workload and --name narrow each other' '2' cancel --workload sweep --name '*2'
would '--since means jobs submitted since then' '1 2 3 4 5 6' cancel --since 1h
would 'release means the held jobs' '6' release 'lr*'
would 'hold means the jobs that are not held' '1 2 3' hold 'lr*'
would 'requeue means the jobs that have ended' '7' requeue --since 1h
given_job all submit_time_s-=7200
would '--since leaves out jobs submitted long ago' \
	"pollux: no job matches '1-6' --since 3600s" cancel 1-6 --since 1h
would '--since of requeue means jobs that ended since then' '7' requeue --since 1h

# --- what is refused ---
refused() { # refused NAME STATUS MESSAGE ARGUMENT...
	name=$1 want=$2 message=$3
	shift 3
	status "$name" "$want" "$POLLUX" "$@"
	is "$name: the message is exact" "pollux: $message" "$err"
}
refused 'a name that no job has is refused' 66 "no job matches 'zzz'" cancel zzz
refused 'a name that no job has keeps the command from other jobs' \
	66 "no job matches 'zzz'" cancel 1 zzz
refused 'a number that no job has is refused' 66 'no such job: 99' cancel 99
refused 'a range without jobs is refused' 66 "no job matches '50-60'" wait 50-60
refused 'a glob without jobs that the command can act on is refused' 1 \
	"nothing to release: 3 jobs match 'lr-0*', none is held" release 'lr-0*'
refused 'a glob whose job cannot be put first is refused' 1 \
	"no job to put first: 1 job matches 'fir*', none is queued or held" first 'fir*'
refused 'a number means its job even where the command cannot act' \
	1 'job 1 is not held: queued' release 1
refused 'number 0 is refused' 64 "'0' is not a job number; see 'pollux cancel --help'" cancel 0
refused 'an empty operand is refused' \
	64 "'' is not a job number; see 'pollux cancel --help'" cancel ''
refused 'a negative number is refused' 64 "'-4' is not a job number; see 'pollux cancel --help'" \
	cancel -- -4
refused 'a range backwards is refused' \
	64 "'3-1' is not a range of job numbers: smaller-larger; see 'pollux \
cancel --help'" cancel 3-1
refused 'a range beyond numbers is refused' \
	64 "'1-99999999999999999999' is not a range of job numbers: \
smaller-larger; see 'pollux cancel --help'" cancel 1-99999999999999999999
refused 'group 0 is refused' 64 \
	"'0' is not the number of a group; see 'pollux cancel --help'" cancel group:0
refused 'SQL is taken for a name' 66 "no job matches '1 OR 1=1'" cancel '1 OR 1=1'
refused 'a quote is taken for a character' 66 "no job matches 'a'b'" cancel "a'b"
refused 'an unknown state is refused' \
	64 "option '--state': there is no 'ru'; did you mean 'running'? there \
are queued, held, running, done, failed, cancelled, timeout, paused, active, ended; \
see 'pollux cancel --help'" \
	cancel --state queued,ru
refused 'a command without operand and selection is refused' \
	64 "which job? give its number; see 'pollux cancel --help'" \
	cancel --dry-run
is 'nothing was done to any job so far' \
	6 "$(store "SELECT count(*) FROM jobs WHERE end_time_s IS NULL")"

# --- who agrees ---
status 'several jobs by name are not changed without a question' 1 "$POLLUX" hold 'lr*'
is 'the jobs are listed, with what to type' "     1  queued     lr-0.1
     2  queued     lr-0.2
     3  queued     lr-0.3
pollux: hold 3 jobs? Not all were given by number: add --yes to go on; nothing was done" \
	"$err"
status 'one job by name is changed at once' 0 "$POLLUX" hold 'lr-0.[1]'
status 'several jobs by number are changed at once' 0 "$POLLUX" hold 2 3-3
is 'the jobs of both commands are held' \
	'1 2 3 6' "$(store "SELECT group_concat(id, ' ') FROM jobs WHERE state = 'held'")"
status 'several jobs by name are changed with --yes' 0 "$POLLUX" release --yes 'lr*'
is 'the jobs are released' 0 "$(store "SELECT count(*) FROM jobs WHERE state = 'held'")"
if command -v script >/dev/null; then
	ask() { # ask ANSWER: on a terminal
		echo "$1" | script -qec "'$POLLUX' cancel 'lr-0.[12]'" /dev/null | tr -d '\r'
	}
	like 'a person on a terminal is asked' '^cancel these 2 jobs\? \[y/N\]' "$(ask n)"
	is 'the answer no changes nothing' \
		0 "$(store "SELECT count(*) FROM jobs WHERE state = 'cancelled'")"
	ask y >/dev/null
	is 'the answer yes changes the jobs' '1 2' \
		"$(store "SELECT group_concat(id, ' ') FROM jobs WHERE state = 'cancelled'")"
fi

# --- commands that look ---
run "$POLLUX" status 'lr*'
is 'status of a glob is a table of its jobs' '1 2 3 6' "$(of_table "$out")"
run "$POLLUX" status lr-0.3
like 'status of a name that one job has is all about it' '^job 3: lr-0.3$' "$out"
run "$POLLUX" status @
like 'status @ is about the last submitted job' '^job 7: first$' "$out"
run "$POLLUX" status --state done --json
is 'status --json has the jobs of a state' \
	7 "$(echo "$out" | json 'print map $_->{id}, @{$d->{jobs}}')"
ids() { "$POLLUX" status "$@" -o id --csv | tail -n +2 | paste -sd ' '; } # ids ARGUMENT...
is '--sort sorts by name' '5 7 1 2 3 6 4' "$(ids --sort name)"
is '--sort sorts downwards with a minus' '4 6 3 2 1 7 5' "$(ids --sort -name)"
given_job "4 6" samples='@5 * id'
is '--sort by a number puts what is not known last' '4 6 1 2 3 5 7' "$(ids --sort samples)"
is '--sort downwards puts what is not known last as well' '6 4 1 2 3 5 7' "$(ids --sort -samples)"
given_job all submit_time_s='@submit_time_s - 1000 * (8 - id)'
is '--sort -total puts the longest wait first' '1 2 3' "$(ids --name 'lr-0*' --sort -total)"
is 'columns have the command, quoted, and nothing for the unknown' 'command,done
true,' "$("$POLLUX" status 2-2 -o command,done --csv)"
refused '--sort by an unknown column is refused' \
	64 "option '--sort' wants a column, as '--columns' names them, not '-x'; \
see 'pollux status --help'" status --sort -x
refused '--columns with --json is refused' 64 \
	"options '--summary', '--json' and '--columns' exclude each other; see \
'pollux status --help'" status -o id --json
is 'JSON of the list has the command' 'true' \
	"$("$POLLUX" status --json 1-2 | json 'print @{$d->{jobs}[0]{command}}')"
refused '--all with a selection is refused' \
	64 "option '--all' and a selection of jobs exclude each other; see 'pollux \
status --help'" status --all --state done
status 'explain means the newest job of several' 0 "$POLLUX" explain 'lr*'
is 'explain says which job it means' 'pollux: job 6 (lr-held), the newest' "$err"
refused 'explain of two jobs is refused' \
	64 "explain takes one job, not 2; see 'pollux explain --help'" \
	explain 1 2

# --- jobs that run ---
"$POLLUX" cancel 1-100
"$POLLUX" submit -q -n again sh -c 'echo eight' >/dev/null
"$POLLUX" submit -q -n again sh -c 'echo nine; exit 3' >/dev/null
"$POLLUX" submit -q -n waits --hold true >/dev/null
"$POLLUX" schedule
status 'wait by name has the status of the first that failed' 3 "$POLLUX" wait --timeout 100 again
status 'log means the job that ran last' 0 "$POLLUX" log
is 'log says which job it means' 'pollux: job 9 (again), which ran last' "$err"
like 'log prints the log of that job' '^nine$' "$out"
status 'log of a glob means the one that ran last' 0 "$POLLUX" log --state done 'ag*'
like 'log of a glob prints the log of that job' '^eight$' "$out"
refused 'log of a name without a log is refused' 66 'job 10 has no log yet: it is held' log waits
is 'completion offers jobs that can be cancelled' '10 waits, held' "$("$POLLUX" help cancel JOB)"
is 'completion offers jobs that have ended to requeue' \
	'9 again, failed' "$("$POLLUX" help requeue JOB | head -n 1)"
status 'completion of a command that takes no job is a usage error' 64 "$POLLUX" help devices JOB
finish
