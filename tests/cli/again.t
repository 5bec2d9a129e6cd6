#!/bin/sh
# again.t - pollux again: jobs like those that are there, with other options and arguments.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $err is of run; wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS
cleanup() {
	touch "$TMP/go"
	end_jobs
}
again() { run "$POLLUX" again "$@"; }
of() { store "SELECT $2 FROM jobs WHERE id = $1"; }
argv() { "$POLLUX" status --json "$1" | json 'print join("|", @{$d->{jobs}[0]{details}{argv}})'; }
printed() { "$POLLUX" log "$1" | sed '/^#/d; /^exec/d; /^\[/d'; }

cat >show <<'END'
#!/bin/sh
printf '<%s>' "$A" "$B" "${PWD##*/}" "$@"
echo
END
chmod +x show
A='a value
of lines' "$POLLUX" submit -q -w 2 -t 1h --retries 1 --grace 5 --env B=b -- ./show --lr=0.1 \
	'two words' '' "it's" >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 1

# --- an ended job ---
again 1
is 'the number' 2 "$out"
is 'nothing differs' 'pollux: job 2 is as job 1 in everything' "$err"
is 'what was asked' '2.0|3600.0|1|5.0|show' "$(of 2 'weight, time_limit_s, retries, grace_s, name')"
is 'the arguments' './show|--lr=0.1|two words||it'"'s" "$(argv 2)"
is 'the workload' "$(of 1 workload)" "$(of 2 workload)"
again -q 1
is 'quiet: the number alone' 3 "$out$err"
again 1 --set '--lr=0.1=--lr=0.3' --set words=a=b --set "it's="
is 'text is replaced' './show|--lr=0.3|two a=b||' "$(argv 4)"
is 'and said' "pollux: job 4 is as job 1, but: argument 1 --lr=0.1 -> --lr=0.3; \
argument 2 'two words' -> 'two a=b'; argument 4 'it'\\''s' -> ''" "$err"
like 'its workload follows' "show --lr=0.3 'two a=b'" "$(of 4 workload)"
mkdir elsewhere
again 1 --dry-run --set --lr=0.1=--lr=0.3 -e 'B=two words'
is 'a dry run prints the command' "B='two words' ./show --lr=0.3 'two words' '' 'it'\''s'" "$out"
is 'and what would differ' "pollux: would be as job 1, but: argument 1 --lr=0.1 -> --lr=0.3; with \
B=two words" "$err"
is 'nothing is submitted' 4 "$(store 'SELECT count(*) FROM jobs')"
again 1 -w 4 -e B=new --chdir elsewhere --name other -- ../show only 'one  more'
is 'another command, options, directory' '../show|only|one  more' "$(argv 5)"
like 'all of it is said' "^pollux: job 5 is as job 1, but: command ./show --lr=0.1 'two words' \
'' .* -> ../show only 'one  more'; directory .* -> .*/elsewhere; with B=new; name show -> other; \
weight 2 -> 4$" \
	"$err"
again 1 -- ./show
is 'no arguments' './show' "$(argv 6)"
like 'which is said' "arguments --lr=0.1 .* -> none$" "$err"
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 2 4 5
is 'the environment is the same' "$(printed 1)" "$(printed 2)"
is 'as the job sees it' "<a value
of lines><b><$(basename "$TMP")><--lr=0.3><two a=b><><>" "$(printed 4)"
is 'and on top of it' '<a value
of lines><new><elsewhere><only><one  more>' "$(printed 5)"

# --- jobs that wait, are held, run ---
cat >blocks <<'END'
touch started
while [ ! -e go ]; do sleep 0.1; done
END
"$POLLUX" submit -q -n runs --checkpoint-dir out --begin +1s -- sh blocks >/dev/null
wait_for 20 sh -c 'sleep 1; "$POLLUX" schedule; test -e started'
again runs --hold --after any:1
like 'of one that runs: not into its directory' "^pollux: job 7, which is running, has the same \
checkpoint directory, '.*/out': the two would resume from each other; .* or give --force$" "$err"
again runs --hold --after any:1 --force
is 'of one that runs, by its name' "8|held||$(of 7 checkpoint_samples)" \
	"$out|$(of 8 'state, begin_s, checkpoint_samples' | sed 's/||/||/')"
like 'a directory of checkpoints that both have' 'both have the same checkpoint directory' "$err"
again 8 --checkpoint-dir 'other-{job}'
is 'of a held one: queued, without its dependencies' 'queued|0' \
	"$(of 9 state)|$(store 'SELECT count(*) FROM dependencies WHERE job_id = 9')"
unlike 'with another directory' 'same checkpoint' "$err"
like 'which is said' 'checkpoint dir .*/out -> .*/other-\{job\}' "$err"

# --- values that are no longer stored ---
store "UPDATE environments SET names_only = 1, env = CAST('GONE_1' || char(0) || 'PATH' || char(0)
	AS BLOB) WHERE id = (SELECT environment_id FROM commands WHERE job_id = 1)" 2>/dev/null
again 1
is 'those of this shell are taken, and what it lacks is told' 'pollux: job 10 is as job 1, but: '\
'its values of variables are no longer stored, so those of this shell are taken, which '\
'lacks GONE_1' "$err"
is 'the new one has values' 0 "$(store 'SELECT e.names_only FROM environments e JOIN commands c
	ON c.environment_id = e.id WHERE c.job_id = 10')"

# --- refused ---
before=$(store 'SELECT count(*) FROM jobs')
status 'text that is nowhere' 64 "$POLLUX" again 1 --set nowhere=1
is 'is said' "pollux: option '--set': no argument has the text that 'nowhere=1' replaces" "$err"
for set in nothing =x ''; do
	status "--set '$set'" 64 "$POLLUX" again 1 --set="$set"
done
status '--set is not for the program' 64 "$POLLUX" again 1 --set show=hide
status '--set and a command' 64 "$POLLUX" again 1 --set lr=x -- --lr
status 'two jobs' 64 "$POLLUX" again 1 2
status 'no job' 64 "$POLLUX" again
status 'no job before the command' 64 "$POLLUX" again -- 1
status 'not a job' 66 "$POLLUX" again 99
status 'no such name' 66 "$POLLUX" again nobody
status 'no such value' 64 "$POLLUX" again 1 --weight 0
status 'a preset' 64 "$POLLUX" again 1 --preset x
status 'no command' 64 "$POLLUX" again 1 --
is 'is said' "pollux: no command behind '--'; see 'pollux again --help'" "$err"
status 'arguments alone' 64 "$POLLUX" again 1 -- --lr 0.3
is 'are said to be no command' "pollux: behind '--' stands the whole command, as for submit, not \
'--lr'; --set changes arguments; see 'pollux again --help'" "$err"
status 'no such command' 66 "$POLLUX" again 1 -- no-such-command --lr 0.3
status 'a directory that is not there' 66 "$POLLUX" again 1 --chdir nowhere
rm show
status 'a program that is not there any more' 66 "$POLLUX" again 1
status 'a job to wait for that is not there' 66 "$POLLUX" again runs --after 99
is 'none of them made a job' "$before" "$(store 'SELECT count(*) FROM jobs')"

# --- another command, and names with the number ---
"$POLLUX" cancel --yes --state active
id=$("$POLLUX" submit -q --hold -n 'n{job}' -e 'N=e{job}' -- sh -c 'echo "$N $0"' old 2>/dev/null)
again "$id" --hold -- env
id=$out
is 'it has its own program' "$(command -v env)" "$(store "SELECT CAST(program AS TEXT) FROM
	commands WHERE job_id = $id")"
is 'its number is in its name' "n$id" "$(of "$id" name)"
again "$id" -- sh -c 'echo "$N $0"' new
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$out"
is 'and in its variable' "e$out new" "$(printed "$out")"
"$POLLUX" edit "$id" --name 'of {job}' >/dev/null
is 'edit puts it in, too' "of $id" "$(of "$id" name)"
again "$id" --hold
is 'a name that was given since stays' "of $id" "$(of "$out" name)"

# --- a job of a sweep ---
id=$("$POLLUX" submit -q --array 7 --param x=5 -- \
	sh -c 'echo "$POLLUX_PARAM_x, $POLLUX_INDEX of $POLLUX_GROUP"; : {x}')
again=$("$POLLUX" again -q "$id")
other=$("$POLLUX" again -q "$again" --env POLLUX_PARAM_x=6)
POLLUX_SLOTS=2 "$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$again" "$other"
ok 'a program that reads its parameters from the environment finds them' \
	grep -qx '5, 7 of 1' "store/logs/$again.log"
ok 'unless another value is given' grep -qx '6, 7 of 1' "store/logs/$other.log"
finish
