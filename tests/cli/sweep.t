#!/bin/sh
# sweep.t - many runs by one 'pollux submit': --param, --params, --array; what each run gets, what
# is refused, and that all of a group is stored or nothing.
# shellcheck disable=SC2016,SC2317  # other shells; functions run by status
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
export POLLUX_SLOTS=4
cleanup() { end_jobs; }

submit() { "$POLLUX" submit "$@"; }
dry() { submit --dry-run "$@"; }
see="; see 'pollux submit --help'"
refused() { # refused STATUS MESSAGE ARGUMENT...
	wanted=$1 message=$2
	shift 2
	run submit "$@"
	is "refused: $message" "$wanted::pollux: $message" "$rc:$out:$err"
}
lines() { # lines NAME WANT COMMAND...: what it prints, newlines as '|'
	name=$1 want=$2
	shift 2
	is "$name" "$want" "$("$@" 2>&1 | tr '\n' '|')"
}

# --- values ----------------------------------------------------------------------

lines 'a list has a run for each value' "true a|true 'b c'|" dry --param 'x=a,b c' -- true '{x}'
lines 'a range has both ends' 'true 1|true 2|true 3|' dry --param x=1:3 -- true '{x}'
lines 'a range counts by its steps' \
	'true 0.1|true 0.3|true 0.5|' dry --param x=0.1:0.5:0.2 -- true '{x}'
lines 'a range may count downwards' 'true 1|true 0|true -1|' dry --param x=1:-1:-1 -- true '{x}'
lines 'a range has decimals as they are written' 'true -0.10|true 0.00|true 0.10|' \
	dry --param x=-0.1:0.1:0.10 -- true '{x}'
lines 'log: gives values by equal factors' 'true 0.0001|true 0.001|true 0.01|' \
	dry --param x=log:1e-4:1e-2:3 -- true '{x}'
lines 'a colon alone makes no range' 'true host:80|' dry --param x=host:80 -- true '{x}'
lines 'the last parameter of a grid varies fastest' \
	'true 1 a 0|true 1 a 2|true 1 b 0|true 1 b 2|true 2 a 0|true 2 a 2|true 2 b 0|true 2 b 2|' \
	dry --param x=1,2 --param y=a,b --array 0-2:2 -- true '{x}' '{y}' '{index}'
lines 'a step beyond the last number gives the first alone' 'true 1|' \
	dry --array 1-3:9223372036854775807 -- true '{index}'
lines '--array takes numbers and ranges' \
	'true 1|true 3|true 7|true 8|' dry --array 1,3,7-8 -- true '{index}'
lines 'the runs of a grid have an index' \
	'true 0 a|true 1 b|' dry --param x=a,b -- true '{index}' '{x}'
lines 'parameters and an array go together' 'true 1e-3 a-5|true 1e-4 a-5|' \
	dry --param lr=1e-3,1e-4 --param x=a --array 5 -- true '{lr}' '{x}-{index}'

printf 'a,b\r\n"x,1","say ""hi"""\r\n\r\n-y,\r\n"two\nlines",{gpus}\n' >rows.csv
lines 'rows of a file have quotes, commas, empty values and newlines' \
	"true x,1 'say \"hi\"'|true -y ''|true 'two|lines' {gpus}|" \
	dry --params rows.csv -- true '{a}' '{b}'
lines 'rows of standard input need no last newline' 'true 1|true 2|' \
	sh -c 'printf "x\n1\n2" | "$POLLUX" submit --dry-run --params - -- true "{x}"'
lines 'rows and a parameter make a grid' 'true 1 a|true 1 b|true 2 a|true 2 b|' \
	sh -c 'printf "x\n1\n2\n" | "$POLLUX" submit --dry-run --params - --param y=a,b -- true \
		"{x}" "{y}"'

# --- where they are put --------------------------------------------------------------

lines 'values stand in variables, which come first' "A=1 true 1|A=2 true 2|" \
	dry --param x=1,2 --env 'A={x}' -- true '{x}'
lines 'values stand in JSON' "C='{\"lr\": 1, \"d\": {\"e\": 2}}' true|" \
	dry --param x=1 --env 'C={"lr": {x}, "d": {"e": 2}}' -- true
lines 'doubled braces make one pair' "C='{x} 1 {y} {{' true '{x} 1 {{ {y} {{y}} {}'|" \
	dry --param x=1 --env 'C={{x}} {x} {y} {{' -- true '{{x}} {x} {{ {y} {{y}} {}'
lines 'a variable of the shell stays as it is' "true '\${x} 1'|" dry --param x=1 -- true '${x} {x}'
lines 'what pollux puts in at launch stays, and is told' \
	'pollux: replaced at launch: {checkpoint}|true 1 {checkpoint}|' \
	dry --param x=1 -- true '{x}' '{checkpoint}'
lines 'a misspelt parameter is warned of' "pollux: warning: '{widht}' in argument 2 of \
the command stays as it is; did you mean {width}?|true 1 {widht}|" \
	dry --param width=1 -- true '{width}' '{widht}'
lines 'a dry run shows a single command' \
	"A=1 true 'it'\''s' 0.1|" dry --env A=1 --lr 0.1 -- true "it's" '{lr}'
ok 'dry runs make no store' [ ! -e "$POLLUX_DIR" ]

# --- what is refused ---------------------------------------------------------------------

param="option '--param'"
name="(a name has letters, digits and '_')"
refused 64 "$param wants NAME=VALUES $name, not 'x'$see" --param x -- true
refused 64 "$param wants NAME=VALUES $name, not '2x=1'$see" --param 2x=1 -- true
refused 64 "$param wants NAME=VALUES $name, not 'a-b=1'$see" --param a-b=1 -- true
refused 64 "$param wants NAME=VALUES $name, not '=1'$see" --param =1 -- true
empty='has an empty value in its list (--params takes those)'
refused 64 "$param: 'x' $empty$see" --param x= -- true '{x}'
refused 64 "$param: 'x' $empty$see" --param x=1,,2 -- true '{x}'
refused 64 "$param: 'x' $empty$see" --param x=1, -- true '{x}'
refused 64 "$param: 'b' comes twice in 'x'$see" --param x=b,a,b -- true '{x}'
refused 64 "$param: no values from 3 to 1 by steps of 1$see" --param x=3:1 -- true '{x}'
refused 64 "$param: no values from 1 to 3 by steps of 0$see" --param x=1:3:0 -- true '{x}'
refused 64 "$param: 1e-3:1e-2 counts by 1, so it has one value; A:B:STEP and log:A:B:N have \
more$see" --param x=1e-3:1e-2 -- true '{x}'
lines 'a range from a number to itself is that number' 'true 2|' dry --param x=2:2 -- true '{x}'
refused 64 "$param: more than 100,000 values from 1 to 1e9$see" --param x=1:1e9 -- true '{x}'
log='log:A:B:N wants A and B above 0 and N of 2 or more'
refused 64 "$param: $log, not 'log:0:1:3'$see" --param x=log:0:1:3 -- true '{x}'
refused 64 "$param: $log, not 'log:1:2:1'$see" --param x=log:1:2:1 -- true '{x}'
refused 64 "the parameters make more than 100,000 runs$see" \
	--param x=1:1000 --param y=1:101 -- true '{x}{y}'
refused 64 "parameter 'x' is given twice$see" --param x=1 --param x=2 -- true '{x}'
refused 64 "parameter 'x' is used nowhere: put {x} into the command, or --env x={x}$see" \
	--param x=1 -- true '{{x}}'
printf 'lr,why,seed\n0.1,usual,1\n0.2,bold,2\n' >noted.csv
run "$POLLUX" submit --dry-run --params noted.csv -- true '{lr}'
is 'columns of a file that are used nowhere are warned of' \
	"0:pollux: warning: columns 'why', 'seed' of 'noted.csv' are used nowhere: {why} in the \
command or --env why={why} uses the first" "$rc:$err"
run "$POLLUX" submit --dry-run --params noted.csv -- true '{lr}' '{seed}'
is 'one column that is used nowhere is warned of' \
	"0:pollux: warning: column 'why' of 'noted.csv' is used nowhere: {why} in the command or \
--env why={why} uses it" "$rc:$err"
refused 64 "parameter 'lr' is used nowhere: put {lr} into the command, or --env lr={lr}$see" \
	--params noted.csv -- true
refused 64 "'batch' cannot be a parameter: pollux itself puts {batch} in$see" \
	--param batch=1,2 -- true '{batch}'
refused 64 "'index' cannot be a parameter: --array gives its values$see" \
	--param index=1,2 -- true '{index}'
refused 64 "parameter 'lr': 'fast' is not a number from 1e-12 to 1e+12$see" \
	--param lr=1,fast -- true '{lr}'
refused 64 "give one of --lr and parameter 'lr'$see" --lr 1 --param lr=1 -- true '{lr}'
array="option '--array' wants numbers such as 0-19, 0-19:2 or 1,3,7, not"
for wrong in x -1 3-1 1-2: 1:2 1-5:0 1,,2 ''; do
	[ -z "$wrong" ] || refused 64 "$array '$wrong'$see" --array "$wrong" -- true
done
refused 64 "$array '0-9%2' (--max-running limits how many run)$see" --array 0-9%2 -- true
refused 64 "option '--array': '3' comes twice in 'index'$see" --array 1-3,3 -- true
refused 64 "option '--array': more than 100,000 numbers$see" --array 0-100000 -- true
refused 64 "option '--max-running' needs --param, --params or --array$see" --max-running 2 -- true
refused 66 "cannot read 'nosuch': No such file or directory" --params nosuch -- true
bad() { # bad MESSAGE CONTENT
	printf '%b' "$2" >bad.csv
	refused 65 "bad.csv:$1" --params bad.csv -- true '{a}'
}
bad '1: no header' ''
bad '2: no rows after the header' 'a\n'
bad '3: 2 fields, but the header has 1' 'a\n1\n1,2\n'
bad '2: a quoted field does not end' 'a\n"1\n2\n'
bad '2: text behind a quoted field' 'a\n"1"2\n'
bad '2: a quote within a field that does not begin with it' 'a\n1"2"\n'
bad "1: 'a b' in the header is no name of a parameter (letters, digits and '_')" 'a b\n1\n'
run submit --params rows.csv --param a=1 -- true '{a}{b}'
is 'a column and a parameter of one name are refused' \
	"64:pollux: parameter 'a' is given twice$see" "$rc:$err"
ok 'refused sweeps store nothing' [ ! -e "$POLLUX_DIR" ]

# --- what is stored ------------------------------------------------------------------------

cat >show.sh <<'END'
{
	printf '<%s>' "$@"
	printf ' %s %s %s <%s>\n' "$POLLUX_GROUP" "$POLLUX_INDEX" "$A" "$POLLUX_PARAM_v"
} >"shown.$POLLUX_JOB_ID"
END
run submit --hold --params rows.csv --name 'show {a}' -- true '{a}' '{b}'
is 'submit prints the number of a group' '0:group:1:' "$rc:$out:$err"
is 'runs have names by their parameters' "show x,1|show -y|show two
lines" "$(store "SELECT group_concat(name, '|') FROM (SELECT name FROM jobs ORDER BY id)")"
is 'JSON has the values as they were' 'a=x,1 b=say "hi" a=-y b= a=two
lines b={gpus}' "$("$POLLUX" status --json | json 'print join " ", map { "$_->{name}=$_->{value}" }
	map { @{$_->{parameters}} } sort { $a->{id} <=> $b->{id} } @{$d->{jobs}}')"
is 'JSON has the group and the index of each run' '1 0 1 1 1 2' "$("$POLLUX" status --json |
	json 'print join " ", map { "$_->{group_id} $_->{group_index}" }
	sort { $a->{id} <=> $b->{id} } @{$d->{jobs}}')"
packed() { # packed COLUMN: the strings of group 1
	store "SELECT writefile('$TMP/packed', $1) FROM job_groups WHERE id = 1" >/dev/null
	tr '\0' '~' <packed
}
is 'the group has the command before parameters' 'true~{a}~{b}~' "$(packed argv)"
is 'the group has what varied' 'a=rows.csv~b=rows.csv~' "$(packed varied)"
is 'the group has its name' 'show {a}' "$(store 'SELECT name FROM job_groups')"
lines '-q prints the numbers of the runs' '4|5|' submit -q --hold --array 3,4 -- true '{index}'
run submit --hold --array 3 --max-running 2 -- true
is 'a sweep of one run is a group' '0:group:3:' "$rc:$out:$err"
is 'the limit of the group is stored' 2 "$(store 'SELECT max_running FROM job_groups WHERE id = 3')"

id=$(submit -q --hold -b 32 --param lr=1e-3,1e-2 --param width=1,2 -- \
	true --lr '{lr}' --w '{width}')
is 'all runs of a sweep have one workload' \
	1 "$(store "SELECT count(DISTINCT workload) FROM jobs WHERE id IN
	($(echo "$id" | tr '\n' ',' | sed 's/,$//'))")"
like 'the workload is the command before parameters' "true --lr {lr} --w {width}$" \
	"$(store 'SELECT workload FROM jobs WHERE id = 7')"
is 'each run has its learning rate' '0.001|0.001|0.01|0.01' \
	"$(store "SELECT group_concat(learning_rate, '|') FROM jobs WHERE id BETWEEN 7 AND 10")"
submit -q --hold --param w=1,2 --workload 'net {w}' -- true '{w}' >/dev/null
is 'a workload may contain a parameter' 'net 1|net 2' \
	"$(store "SELECT group_concat(workload, '|') FROM jobs WHERE id > 10")"
is 'runs that differ by arguments share an environment' 1 \
	"$(store 'SELECT count(*) FROM environments')"

# --- runs --------------------------------------------------------------------------------------

rm -rf "$POLLUX_DIR"
printf 'v\n"two words, 1"\n"it'"'"'s ""so"" `pwd` $HOME"\n"two\nlines"\n--help\n' >v.csv
echo '"{batch} {{ } {{job}} {{{run}}}"' >>v.csv
submit -q --params v.csv --env 'A={index}' -- sh show.sh '{v}' '-{v}' '{job}' >ids
ok 'a pass starts the runs' "$POLLUX" schedule
# shellcheck disable=SC2046 # numbers
ok 'all runs of the sweep end' wait_for 60 "$POLLUX" wait --timeout 1 $(cat ids)
is 'blanks and commas of a value arrive' \
	'<two words, 1><-two words, 1><1> 1 0 0 <two words, 1>' "$(cat shown.1)"
quotes="it's \"so\" \`pwd\` \$HOME"
is 'quotes of a value arrive' "<$quotes><-$quotes><2> 1 1 1 <$quotes>" "$(cat shown.2)"
is 'newlines of a value arrive' '<two
lines><-two
lines><3> 1 2 2 <two
lines>' "$(cat shown.3)"
is 'dashes of a value arrive' '<--help><---help><4> 1 3 3 <--help>' "$(cat shown.4)"
braces='{batch} {{ } {{job}} {{{run}}}'
is 'braces of a value are no template' "<$braces><-$braces><5> 1 4 4 <$braces>" "$(cat shown.5)"

# --- how many at a time ---------------------------------------------------------------------------

states() { # states GROUP
	store "SELECT group_concat(state, ' ') FROM (SELECT state FROM jobs WHERE group_id = $1
		ORDER BY id)"
}
are() { [ "$(states 2)" = "$1" ]; }
submit -q --array 0-4 --max-running 2 -- sh -c 'while [ ! -e go{index} ]; do sleep 0.05; done' >ids
ok 'a pass starts runs of the limited group' "$POLLUX" schedule
ok 'two of five run, though four slots are free' \
	wait_for 20 are 'running running queued queued queued'
is 'the reason of the others names the limit' 'its group runs 2 of 2 at a time' \
	"$("$POLLUX" status --json 10 | json 'print $d->{jobs}[0]{reason}')"
like 'explain names the limit' 'its group runs 2 of 2 at a time' "$("$POLLUX" explain 8 2>&1)"
submit -q -- true >alone
ok 'a pass looks at a job outside the group' "$POLLUX" schedule
ok 'a job outside the group runs' wait_for 20 "$POLLUX" wait --timeout 1 "$(cat alone)"
: >go1
ok 'the next run starts when one is done' wait_for 20 are 'running done running queued queued'
ok 'a running run of the group is held' "$POLLUX" hold --force 6
ok 'the place of the held run goes to another' wait_for 20 are 'held done running running queued'
ok 'the held run is released' "$POLLUX" release 6
: >go2
ok 'the run that ran before comes first' wait_for 20 are 'running done done running queued'
touch go0 go3 go4
# shellcheck disable=SC2046 # numbers
ok 'all runs of the group end' wait_for 60 "$POLLUX" wait --timeout 1 $(cat ids)

# --- all or nothing ------------------------------------------------------------------------------

hold_store
"$POLLUX" submit -q --array 0-999 -- true >killed.out 2>&1 &
submitter=$!
ok 'submit waits for the lock of the store' wait_for 20 sh -c '[ -d "/proc/$0/fd" ] &&
	find "/proc/$0/fd" -lname "*/pollux.db" | grep -q .' "$submitter"
kill -9 "$submitter"
wait "$submitter" 2>/dev/null
let_store_go ROLLBACK
is 'a submit killed before it has written stores nothing' '11 2' \
	"$(store 'SELECT (SELECT count(*) FROM jobs),
		(SELECT count(*) FROM job_groups)' | tr '|' ' ')"
for delay in 0.01 0.03 0.06 0.1; do
	"$POLLUX" submit -q --hold --array 0-4999 -- true >/dev/null 2>&1 &
	submitter=$!
	sleep "$delay"
	kill -9 "$submitter" 2>/dev/null
	wait "$submitter" 2>/dev/null
done
is 'a submit killed at any time stores all or nothing' \
	'' "$(store 'SELECT group_id, count(*) FROM jobs
	WHERE group_id > 2 GROUP BY group_id HAVING count(*) <> 5000')"
is 'no group is without jobs' 0 "$(store 'SELECT count(*) FROM job_groups WHERE id NOT IN
	(SELECT group_id FROM jobs WHERE group_id IS NOT NULL)')"
run submit -q --array 9-10 --name "$(printf '%253s' x | tr ' ' x)-{index}" --hold -- true
is 'a later run with a name too long stores no run' \
	"64:pollux: run 1: option '--name' has" "$rc:$(echo "$err" | cut -c1-34)"
ok 'later submissions succeed' submit --hold --array 0-2 -- true
ids=$(submit -q --hold --array 0-3 -- true | paste -sd, -)
ok 'a job after all runs of a sweep is submitted' submit -q --after "$ids" -- true
is 'the job waits for each run' 4 "$(store 'SELECT count(*) FROM dependencies')"

# --- a group is one row of status ---
POLLUX_DIR=$TMP/rows
POLLUX_SLOTS=2
cat >scored <<'END'
"$POLLUX" report SAMPLES=100 LOSS=0.$1 METRIC.val_acc=0.$1
[ "$1" != 9 ] || while [ ! -e end ]; do sleep 0.1; done
END
submit -q --param lr=5,7,6,9 --param w=1 -- sh scored '{lr}' '{w}' >/dev/null
submit -q --array 0-2 --hold -- true >/dev/null
rows() {
	COLUMNS=200 "$POLLUX" status "$@" | grep -v ' in use' |
		grep -E '^ *(-|[0-9]+) ' | tr -s ' ' |
		sed 's/^ //'
}
"$POLLUX" schedule
scored_done() { [ "$(store "SELECT count(*) FROM jobs WHERE state = 'done'")" = 3 ]; }
ok 'three runs end, and one goes on' wait_for 30 scored_done
ok 'the metric of the running one is written' wait_for 30 eval \
	'[ "$(store "SELECT count(*) FROM job_metrics WHERE job_id = 4")" = 2 ]'
is 'three runs at rest are too few for a row of their own' 7 "$(rows | wc -l)"
submit -q --hold --array 0-3 --name 'held {index}' -- true >/dev/null
is 'four runs at rest have one row, and others keep theirs' \
	'- group:3 held * held - - - - - - 4 held' \
	"$(rows | grep group)"
is 'seven jobs and a row are shown' 8 "$(rows | wc -l)"
is 'the runs of a group that is named have rows' 4 "$(rows group:3 | grep -c ' held [0-3] held')"
is 'all runs have rows with --all' 11 "$(rows --all | wc -l)"
given_job 5 group_id=1
is 'the row of a group has its best run' \
	"- group:1 sh running - - - - - - 3 done, 1 running, 1 held; best val_acc 0.9 at lr=9 w=1" \
	"$(rows | grep group:1)"
is 'the running run has a row of its own' 1 "$(rows | grep -c '^4 sh lr=9 w=1 running')"
given_run 4 suspension=asked
like 'the row of a group tells the suspended run from running ones' \
	'^- group:1 sh suspended .* 3 done, 1 suspended, 1 held; ' "$(rows | grep group:1)"
ok 'the run is suspended, and goes on' wait_for 30 eval \
	'given_run 4 if suspension=suspended suspension=resuming;
	[ "$(store "SELECT resumed_boot_s > 0 FROM runs WHERE job_id = 4")" = 1 ]'
touch end
"$POLLUX" wait --timeout 200 4
wait_for 20 no_supervisor

# --- another limit ---

limit() { store "SELECT coalesce(max_running, 0) FROM job_groups WHERE id = $1"; }
group=$(submit --hold --array 0-2 --max-running 1 --weight 3 -- true |
	sed 's/group://')
lines 'a group may run more at a time' "group $group: max running 1 -> 2, at the next pass|" \
	"$POLLUX" edit "group:$group" --max-running 2
is 'the new limit of the group is stored' 2 "$(limit "$group")"
lines 'the same limit changes nothing' "group $group: nothing changes|" \
	"$POLLUX" edit "group:$group" --max-running 2
lines 'edit --dry-run shows the change of a limit' \
	"group $group: max running 2 -> none, at the next pass|" \
	"$POLLUX" edit "group:$group" --dry-run --unset max-running
is 'edit --dry-run does not change the limit' 2 "$(limit "$group")"
status 'a limit and the jobs are changed at once' \
	0 "$POLLUX" edit "group:$group" --yes --unset max-running \
	--weight 2
is 'edit prints a line for the limit and one for each job' \
	"group $group: max running 2 -> none, at the next pass
3 jobs" "$(echo "$out" | sed -n 1p; echo "$out" | grep -c 'weight 3 -> 2') jobs"
is 'the group has no limit any more' 0 "$(limit "$group")"
status 'a limit for a single job is a usage error' 64 "$POLLUX" edit 1 --max-running 2
is "the message says that the limit is a group's" \
	"pollux: --max-running is of a group: give group:N; see 'pollux edit --help'" \
	"$err"
status 'a limit that is set and unset is a usage error' \
	64 "$POLLUX" edit "group:$group" --max-running 2 --unset max-running
status 'a group that is not there is refused with status 66' \
	66 "$POLLUX" edit group:99 --max-running 2

# --- a learning rate ---

rates=$(submit -q --param lr=1e-4,.50 -b 8 -- sh -c 'echo "$1" >"rate.$2"' sh '{lr}' '{job}' |
	tr '\n' ' ')
ok 'a pass starts runs of two learning rates' "$POLLUX" schedule
# shellcheck disable=SC2086 # numbers
ok 'both runs of learning rates end' wait_for 60 "$POLLUX" wait --timeout 1 $rates
is 'a learning rate arrives as it was typed' '1e-4 .50' \
	"$(for id in $rates; do cat "rate.$id"; done | xargs)"

finish
