#!/bin/sh
# sweep_later.t - after a sweep was submitted: jobs that wait for all of it or any of it, and
# further runs of it with the same parameters or others.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $err is of run; cleanup
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=2
cleanup() { end_jobs; }
again() { run "$POLLUX" again "$@"; }
of() { store "SELECT $2 FROM jobs WHERE id = $1"; }
argv() { "$POLLUX" status --json "$1" | json 'print join("|", @{$d->{jobs}[0]{details}{argv}})'; }
parameters() { "$POLLUX" status -o parameters "$1" | sed 1d; }
waits_for() {
	store "SELECT group_concat(rule || ':' || after_id, ' ') FROM (SELECT * FROM dependencies
		WHERE job_id = $1 ORDER BY after_id)"
}

"$POLLUX" submit -q --hold -b 8 --param lr=0.1,2e-1 --param w=1,2 -- \
	sh -c 'echo "{lr} {w} $POLLUX_PARAM_w"' '--width={w}' >/dev/null	# jobs 1 to 4
"$POLLUX" submit -q --hold -n 'i{index}' --array 7 -- true '{index}' >/dev/null	# job 5

# --- jobs that wait ---
status 'a job after a group is submitted' 0 "$POLLUX" submit -q --after group:1 -- true
is 'a job after a group is after each of its runs' 'ok:1 ok:2 ok:3 ok:4' "$(waits_for 6)"
status 'a job after groups with rules and beside jobs is submitted' 0 \
	"$POLLUX" submit -q --after group:1,end:6,any:5,group:2 -- true
is 'the rules for a group hold for each run' 'ok:1 ok:2 ok:3 ok:4 any:5 end:6' "$(waits_for 7)"
status 'a job after any run of a group is submitted' 0 \
	"$POLLUX" submit -q --after any:group:1,5 --after notok:group:2 -- true
is 'any: goes on behind a group' 'any:1 any:2 any:3 any:4 notok:5' "$(waits_for 8)"
status 'a group that is not there is refused with status 66' \
	66 "$POLLUX" submit --after group:9 -- true
is 'the group that is not there is named' "pollux: option '--after': no such group: 9" "$err"
status 'a group without a number is a usage error' 64 "$POLLUX" submit --after group:x -- true
status 'edit puts a run after its group' 0 "$POLLUX" edit 4 --after group:1
is 'edit says that the run is after the group' 'job 4: after group:1' "$out"
is 'a run after its group is not after itself' 'ok:1 ok:2 ok:3' "$(waits_for 4)"
status 'a circle of runs is refused' 1 "$POLLUX" edit 2 --after notok:group:1
is 'the message names the jobs of the circle' \
	'pollux: job 2 cannot come after job 4, which waits for it' "$err"
is 'a refused circle changes nothing' '' "$(waits_for 2)"

# --- another run ---
again 1
is 'again says that a run is as the other one' 'pollux: job 9 is as job 1 in everything' "$err"
is 'a run again is of its group, at its place' '1|0' "$(of 9 'group_id, group_index')"
again 2 --set w=7 --set lr=3e-2
is 'again --set says what changes' \
	"pollux: job 10 is as job 2, but: parameter w 2 -> 7; argument 2 \
'echo \"{lr} 2 \$POLLUX_PARAM_w\"' -> 'echo \"{lr} 7 \$POLLUX_PARAM_w\"'; argument 3 --width=2 -> \
--width=7; name 'sh lr=0.1 w=2' -> 'sh lr=3e-2 w=7'; lr 0.1 -> 0.03" "$err"
is 'parameters are put in wherever the sweep has them' \
	'sh|-c|echo "{lr} 7 $POLLUX_PARAM_w"|--width=7' \
	"$(argv 10)"
is 'the job has the new parameters' 'lr=3e-2 w=7' "$(parameters 10)"
again 10 --lr 0.5
is '--lr sets the parameter' 'lr=0.5 w=7|0.5' "$(parameters 11)|$(of 11 learning_rate)"
is 'a run with another learning rate has the same workload' "$(of 1 workload)" "$(of 11 workload)"
again 5 --set index=9
is '--set index sets the index' 'i9|true|9' "$(of 12 name)|$(argv 12)"
again 3 --set width=1=width=4
is 'another text makes a run a job of its own' \
	'pollux: job 13 is as job 3, but: no run of group:1; '\
'argument 3 --width=1 -> --width=4' "$err"
is 'a job of its own has no group and no false parameters' "|" \
	"$(of 13 group_id)|$(parameters 13 | tr -d -)"
again 3 -- sh other
is 'a run with another command has no group' '|sh|other' "$(of 14 group_id)|$(argv 14)"
status 'a learning rate that is no number is a usage error' 64 "$POLLUX" again 1 --set lr=fast
is 'the learning rate that is no number is named' \
	"pollux: parameter 'lr': 'fast' is not a number from 1e-12 to 1e+12; \
see 'pollux again --help'" "$err"

"$POLLUX" schedule
"$POLLUX" wait --timeout 200 10 11
like 'the run prints the new parameters' '^0\.03 7 7$|^3e-2 7 7$' "$("$POLLUX" log 10)"
like 'the run has the new parameters in its environment' '^0\.5 7 7$' "$("$POLLUX" log 11)"
finish
