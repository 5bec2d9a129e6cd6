#!/bin/sh
# keys.t - submissions that are there already: --key and --once, of one job and of a sweep.
# shellcheck disable=SC2016,SC2317 # texts for other programs; functions run by status
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=4
cleanup() { end_jobs; }

submit() { "$POLLUX" submit "$@"; }
see="; see 'pollux submit --help'"
submits() { # submits NAME WANT ARGUMENT...: status, standard output and error of a submission
	name=$1 want=$2
	shift 2
	run submit "$@"
	is "$name" "$want" "$rc:$(echo "$out" | tr '\n' ' '):$err"
}
state() { store "SELECT state FROM jobs WHERE id = $1"; }
to_end() { # to_end JOB...: a pass, and the ends of these jobs
	pass && wait_for 60 "$POLLUX" wait --timeout 1 "$@"
	[ "$rc" != 124 ]
}

# --- one job ---------------------------------------------------------------------

submits 'a key makes a job once' '0:1 :' --key eval --hold -- true
there='pollux: job 1 is there already: it'
submits 'a held job has its key' "0:1 :$there is held" --key eval -- true other
submits '-q prints the number alone' '0:1 :' -q --key eval -- true
submits 'a dry run looks for the key, too' "0: :$there is held; nothing would be submitted" \
	--dry-run --key eval -- true
submits 'another key is another job' '0:2 :' --key other --after 1 -- true
like 'status tells the key' 'key  *eval$' "$("$POLLUX" status 1 | grep 'key ')"
is 'JSON has the key' eval "$("$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{key}')"
"$POLLUX" release 1
ok 'jobs with keys run' to_end 1
ok 'a job after one with a key runs' to_end 2
submits 'a job that is done has its key' "0:1 :$there is done" --key eval -- true
"$POLLUX" clear
submits 'so has one that was cleared' "0:1 :$there is done" --key eval -- true
submits '--after takes the number that was printed' '0:3 :' \
	--after "$(submit -q --key eval -- true)" --hold -- true
"$POLLUX" cancel 3
submits 'a command makes its own key' '0:4 :' --once --hold -e A=1 -- true x
submits 'which it has again' '0:4 :pollux: job 4 is there already: it is held' \
	--once -e A=1 -- true x
submits 'another argument is another job' '0:5 :' --once --hold -e A=1 -- true y
submits 'and another variable' '0:6 :' --once --hold -e A=2 -- true x
mkdir elsewhere
submits 'and another directory' '0:7 :' --once --hold -e A=1 --chdir elsewhere -- true x
"$POLLUX" cancel 4
submits 'a job that was cancelled is submitted anew' '0:8 :' --once --hold -e A=1 -- true x
"$POLLUX" cancel 5 6 7 8
submits 'a key for a job that fails' '0:9 :' --key bad -- false
ok 'it fails' wait_for 60 sh -c '"$POLLUX" schedule >/dev/null
	[ "$(sqlite3 "$POLLUX_DIR/pollux.db" "SELECT state FROM jobs WHERE id = 9")" = failed ]'
submits 'a job that has failed is submitted anew' '0:10 :' --key bad --hold -- true
"$POLLUX" cancel 10
"$POLLUX" prune --all >/dev/null
submits 'a job that was pruned has its key as long as its record stays' "0:1 :$there is done" \
	--key eval -- true
run submit --key a --once -- true
is 'a key of two kinds is refused' "64:pollux: give one of --key and --once$see" "$rc:$err"
run submit --key "$(printf '%256s' x)" -- true
is 'a key too long is refused' \
	"64:pollux: option '--key' wants from 1 to 255 bytes, not 256$see" "$rc:$err"

# Submissions that all wait for the lock of the store.
hold_store
for i in 1 2 3 4; do
	submit -q --key same --hold -- true >"same.$i" &
	pids="${pids-} $!"
done
let_store_go ROLLBACK
# shellcheck disable=SC2086 # pids
wait $pids
is 'submissions at the same time make one job' '11 11 11 11' \
	"$(cat same.1 same.2 same.3 same.4 | paste -sd ' ')"

# --- sweeps ------------------------------------------------------------------------

rm -rf "$POLLUX_DIR"
sweep() { submit --once "$@"; }
of_group() { # of_group GROUP: its jobs, with their parameters
	"$POLLUX" status --json "group:$1" | json 'print join " ", map {
		"$_->{id}:$_->{parameters}[0]{value}:$_->{group_index}" }
		sort { $a->{id} <=> $b->{id} } @{$d->{jobs}}'
}
fails='[ "$0" != 2 ]'
sweep -q --param x=1:3 -- sh -c "$fails" '{x}' >ids
ok 'a pass starts the sweep' pass
ok 'the sweep ends' wait_for 60 sh -c '[ "$(sqlite3 "$POLLUX_DIR/pollux.db" "SELECT group_concat(
	state, 0) FROM (SELECT state FROM jobs ORDER BY id)")" = done0failed0done ]'
submits 'a dry run has the runs that are missing' "0:sh -c '$fails' 2 sh -c '$fails' 4 :pollux: \
2 of 4 runs are there already" --once --dry-run --param x=1:4 -- sh -c "$fails" '{x}'
submits 'the runs that are missing join the group' \
	'0:group:1 :pollux: 2 of 4 runs are there already' \
	--once --hold --param x=1:4 --max-running 1 -- sh -c "$fails" '{x}'
is 'they take the place of what failed' '1:1:0 3:3:2 4:2:1 5:4:3' "$(of_group 1)"
is 'the limit of the group is the new one' 1 "$(store 'SELECT max_running FROM job_groups')"
is 'the job that failed is in no group, and out of sight' '0|1' \
	"$(store 'SELECT coalesce(group_id, 0), cleared FROM jobs WHERE id = 2')"
submits 'a sweep that is all there adds nothing' \
	'0:group:1 :pollux: 4 of 4 runs are there already' \
	--once --param x=1:4 -- sh -c "$fails" '{x}'
submits '-q prints the numbers of all, in their order' '0:1 4 3 5 6 :' \
	-q --once --hold --param x=1:5 -- sh -c "$fails" '{x}'
submits 'a key has the parameters' '0:group:2 :' --key 'k-{y}' --hold --param y=a,b -- true '{y}'
submits 'of which some are there' '0:group:2 :pollux: 1 of 2 runs is there already' \
	--key 'k-{y}' --hold --param y=b,c -- true '{y}'
submits 'one job may have a key of a sweep' \
	'0:7 :pollux: job 7 is there already: it is held' --key k-a -- true
submits 'a key without the parameters is refused' "64: :pollux: option '--key': runs 0 and 1 have \
the same, 'k': put {NAME} of each parameter into it$see" --key k --param x=1,2 -- true '{x}'
printf 'x\n1\n2\n1\n' >twice.csv
submits 'rows that are the same are refused' \
	"64: :pollux: option '--once': runs 0 and 2 are the same$see" \
	--once --params twice.csv -- true '{x}'
submits 'other rungs make another group' '0:group:3 :pollux: 1 of 2 runs is there already' \
	--key 'k-{y}' --hold --param y=c,d -b 8 --halving 'acc:max,rungs=64' -- true '{y}'
store "$(given_update job_groups id 2 'split=split by y: 1 ms at a, 9 ms at b')"
submit -q --key 'k-{y}' --hold --param y=b,e -- true '{y}' >/dev/null
is 'a run that joins a sweep that was split has its workload' 'true {y} [y=e]' \
	"$(store "SELECT substr(workload, -14) FROM jobs WHERE key = 'k-e'")"

finish
