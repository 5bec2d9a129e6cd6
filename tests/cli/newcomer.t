#!/bin/sh
# newcomer.t - what a new user met: shares beyond the declared end, times as Slurm has them, hints
# at a shell's command line and at scripts that are not there, short names, passes of others.
# shellcheck disable=SC2016,SC2154,SC2317  # Perl; $out and $err are of run; run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cell() { "$POLLUX" status | awk -v c="$1" '$1 == "ID" { for (i = 1; i <= NF; i++) if ($i == c)
	n = i } n && $1 == "1" { print $n }'; }
shown() { [ "$(cell DONE)" = "$1" ]; }
watcher=
cleanup() {
	[ -z "$watcher" ] || kill -9 "$watcher" 2>/dev/null
	touch over end
	end_jobs
}

# --- a job that goes on beyond its declared end ---
cat >over.sh <<'END_OF_SCRIPT'
"$POLLUX" report SAMPLES=500 STEP=8 STEP_NS=20000000
while [ ! -e over ]; do sleep 0.1; done
"$POLLUX" report SAMPLES=1760 STEP=27 STEP_NS=20000000
while [ ! -e end ]; do sleep 0.1; done
END_OF_SCRIPT
"$POLLUX" submit -q -b 64 --samples 1000 sh over.sh >/dev/null
"$POLLUX" schedule
ok 'DONE shows a share of the declared end' wait_for 20 shown '50%'
touch over
ok 'DONE shows that the job is over its declared end' wait_for 20 shown over
is 'a job over its end has no time left' - "$(cell ETA)"
like 'status ID says that the job is over its declared end' \
	'^  position    samples 1760, steps 27, over its declared end$' \
	"$("$POLLUX" status 1)"
like 'explain says that the job is over its declared end' \
	'end +not known: it is over its declared end$' "$("$POLLUX" explain 1)"
is 'JSON has a done_ratio above one' '1.76' \
	"$("$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{done_ratio}')"
touch end
"$POLLUX" wait --timeout 100 1
is 'an ended job is still shown as over its end' over "$(cell DONE)"
rm over end
"$POLLUX" requeue 1
is 'DONE shows nothing for a job that is queued again' - "$(cell DONE)"
"$POLLUX" schedule
ok 'DONE shows a share again when the new run reports' wait_for 20 shown '50%'
touch over end
"$POLLUX" wait --timeout 100 1

# --- words ---
"$POLLUX" submit -q sleep 1000 >/dev/null
"$POLLUX" schedule
"$POLLUX" cancel 2
"$POLLUX" wait --timeout 100 2
out=$("$POLLUX" status 2)
like 'status ID calls a cancelled job cancelled' '^  state       cancelled$' "$out"
unlike 'status ID does not call a cancelled job stopped' 'stopped|\(cancel\)' "$out"

# --- times as Slurm has them ---
for pair in 2:00:00=7200 30:00=1800 1-12=129600 1-12:30:00=131400 90=90 90m=5400; do
	id=$("$POLLUX" submit -q --hold -t "${pair%=*}" true)
	is "a time limit of ${pair%=*} is read as Slurm reads it" "${pair#*=}.0" \
		"$(store "SELECT time_limit_s FROM jobs WHERE id = $id")"
done
for wrong in 1:60:00 1-24 : 1-; do
	status "'$wrong' is no time" 64 "$POLLUX" submit -t "$wrong" true
done
if command -v script >/dev/null; then
	submitted() { script -qec "'$POLLUX' submit --hold $* true" /dev/null </dev/null; }
	like 'a time limit without a unit is told in seconds' \
		'time limit 90 s\)' "$(submitted -t 90)"
	like 'a longer time limit is told in hours and minutes' \
		'time limit 2h00m\)' "$(submitted -t 2:00:00)"
	unlike 'a job without a time limit is told none' 'limit' "$(submitted)"
fi

# --- hints ---
status 'a command line of a shell is not a program' 66 "$POLLUX" submit 'grep a | sort'
is 'the hint says how to give a command line of a shell' \
	"pollux: command not found: 'grep a | sort'; a shell's command \
line is given as: sh -c 'grep a | sort'" "$err"
status 'a file of the directory is not found without ./' 66 "$POLLUX" submit over.sh
is 'the hint says how a file of the directory is run' \
	"pollux: command not found: 'over.sh'; the file here is run as: ./over.sh" "$err"
mkdir runs
status 'a directory is no program' 66 "$POLLUX" submit runs
is 'no hint says that a directory can be run' "pollux: command not found: 'runs'" "$err"
status 'a script that is not there is accepted' 0 "$POLLUX" submit -q --hold -- sh nosuch.sh
is 'a script that is not there is warned of' \
	"pollux: warning: there is no '$TMP/nosuch.sh': the job fails unless it is there when \
it starts" "$err"
status 'a script that is there is accepted' 0 "$POLLUX" submit -q --hold -- sh over.sh
is 'a script that is there is not warned of' '' "$err"
status 'code for a shell is accepted' 0 "$POLLUX" submit -q --hold -- sh -c 'run.sh'
is 'code for a shell is not taken for a script' '' "$err"

# --- commands by their beginnings ---
is "'st' is short for status" "$("$POLLUX" status --csv)" "$("$POLLUX" st --csv)"
is 'a beginning that only one command has stands for it' \
	"$("$POLLUX" help submit)" "$("$POLLUX" help sub)"
status 'a beginning of several commands is a usage error' 64 "$POLLUX" re
like 'the commands with that beginning are named' "^pollux: 're' could be release, requeue" "$err"
status 'what pollux starts itself has no short name' 64 "$POLLUX" sup

# --- all that was asked of a job, and which run of a sweep it is ---
"$POLLUX" submit -q -n swept --param lr=1e-3,1e-2 --metric 'acc=acc ([0-9.]+)' --kind '*x*' \
	--on-end 'echo end' --hold -- echo '{lr}' >/dev/null
id=$(store 'SELECT max(id) FROM jobs')
out=$("$POLLUX" status)
like 'the first run of a sweep is told by its parameters' \
	"^ *$((id - 1)) +swept lr=1e-3 +held" "$out"
like 'the second run of a sweep is told by its parameters' "^ *$id +swept lr=1e-2 +held" "$out"
out=$("$POLLUX" status "$id")
like 'status ID has the parameters' '^  sweep +group:[0-9]+: lr=1e-2$' "$out"
like 'status ID has the metric' '^  metric +acc=acc \(\[0-9\.\]\+\)$' "$out"
like 'status ID has the kind' '^  kind +\*x\*$' "$out"
like 'status ID has the command for the end' '^  on end +echo end$' "$out"

# --- steps of the log, and how many there are ---
id=$("$POLLUX" submit -q -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo "step $i/9 loss 0.$i"
	sleep 0.1; done')
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$id"
like 'the number of steps stands beside the last step' '^  position    steps 9 of 9, 100.0% done$' \
	"$("$POLLUX" status "$id")"

# --- what other passes do ---
"$POLLUX" cancel --state active --yes
first=$("$POLLUX" submit -q -- sh -c 'while [ ! -e go ]; do sleep 0.1; done')
"$POLLUX" schedule --watch 3600 -v >watched 2>&1 &
watcher=$!
ok 'a watcher tells what its own pass started' \
	wait_for 20 grep -q "^start job $first on cpu:0" watched
second=$("$POLLUX" submit -q true)
ok 'a watcher looks at the job that was submitted next' wait_for 20 test -n \
	"$(store "SELECT 1 FROM jobs WHERE id = $second")"
touch go
"$POLLUX" wait --timeout 200 "$second"
ok 'a watcher tells of the next start, whichever pass did it' wait_for 20 \
	grep -Eq "^(another pass: )?start job $second on cpu:0" watched
is 'a watcher tells of a start once' 1 "$(grep -c "start job $second " watched)"
third=$("$POLLUX" submit -q true)
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$third"
ok "a watcher tells of a job that a person's pass started" \
	wait_for 20 grep -q "start job $third on cpu:0" watched
end "$watcher"
watcher=

# --- a job that fails behind its last step ---
id=$("$POLLUX" submit -q --steps 8 -- sh -c '"$POLLUX" report STEP=8; exit 3')
"$POLLUX" schedule
"$POLLUX" wait --timeout 100 "$id"
is 'a job that fails behind its last step has all its steps' 'failed|8.0' \
	"$(store "SELECT state, steps FROM jobs WHERE id = $id")"
is 'a failed job has no done_ratio' '' "$("$POLLUX" status --json "$id" |
	json 'print $d->{jobs}[0]{done_ratio} // ""')"
unlike 'a failed job is not shown as 100 % done' '% done' "$("$POLLUX" status "$id")"

# --- a job that ends with its last batch ---
id=$("$POLLUX" submit -b 64 --samples 1000 -- "$POLLUX" report SAMPLES=1024 STEP=16)
"$POLLUX" schedule
"$POLLUX" wait --timeout 100 "$id"
is 'the rest of the last batch is not over the declared end' 1 \
	"$("$POLLUX" status --json "$id" | json 'print $d->{jobs}[0]{done_ratio}')"

# --- a rule of --after ---
run "$POLLUX" submit --after bad:1 -- true
is 'an unknown rule of --after is refused, and the rules are named' \
	"66:pollux: option '--after': no job matches 'bad:1', and 'bad' is no rule; there are ok, \
notok, end and any" "$rc:$err"
finish
