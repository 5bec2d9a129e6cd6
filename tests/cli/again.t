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
is 'again prints the number of the new job' 2 "$out"
is 'again says that the new job differs in nothing' 'pollux: job 2 is as job 1 in everything' "$err"
is 'the new job has the options of the first' '2.0|3600.0|1|5.0|show' \
	"$(of 2 'weight, time_limit_s, retries, grace_s, name')"
is 'the new job has the arguments of the first' './show|--lr=0.1|two words||it'"'s" "$(argv 2)"
is 'the new job has the workload of the first' "$(of 1 workload)" "$(of 2 workload)"
again -q 1
is 'again --quiet prints the number alone' 3 "$out$err"
again 1 --set '--lr=0.1=--lr=0.3' --set words=a=b --set "it's="
is '--set replaces text in arguments' './show|--lr=0.3|two a=b||' "$(argv 4)"
is 'again says which arguments --set replaced' \
	"pollux: job 4 is as job 1, but: argument 1 --lr=0.1 -> --lr=0.3; \
argument 2 'two words' -> 'two a=b'; argument 4 'it'\\''s' -> ''" "$err"
like 'the workload follows the replaced arguments' "show --lr=0.3 'two a=b'" "$(of 4 workload)"
mkdir elsewhere
again 1 --dry-run --set --lr=0.1=--lr=0.3 -e 'B=two words'
is 'again --dry-run prints the command' "B='two words' ./show --lr=0.3 'two words' '' 'it'\''s'" \
	"$out"
is 'again --dry-run says what would differ' \
	"pollux: would be as job 1, but: argument 1 --lr=0.1 -> --lr=0.3; with \
B=two words" "$err"
is 'again --dry-run submits nothing' 4 "$(store 'SELECT count(*) FROM jobs')"
again 1 -w 4 -e B=new --chdir elsewhere --name other -- ../show only 'one  more'
is 'again takes another command, options and directory' '../show|only|one  more' "$(argv 5)"
like 'again says every difference from the first job' \
	"^pollux: job 5 is as job 1, but: command ./show --lr=0.1 'two words' \
'' .* -> ../show only 'one  more'; directory .* -> .*/elsewhere; with B=new; name show -> other; \
weight 2 -> 4$" \
	"$err"
again 1 -- ./show
is 'again takes a command without arguments' './show' "$(argv 6)"
like 'again says that the arguments are gone' "arguments --lr=0.1 .* -> none$" "$err"
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 2 4 5
is 'the new job has the environment of the first' "$(printed 1)" "$(printed 2)"
is 'the new job sees the arguments that --set replaced' "<a value
of lines><b><$(basename "$TMP")><--lr=0.3><two a=b><><>" "$(printed 4)"
is '--env adds to the environment of the first job' '<a value
of lines><new><elsewhere><only><one  more>' "$(printed 5)"

# --- jobs that wait, are held, run ---
cat >blocks <<'END'
touch started
while [ ! -e go ]; do sleep 0.1; done
END
"$POLLUX" submit -q -n runs --checkpoint-dir out --begin +1s -- sh blocks >/dev/null
wait_for 20 sh -c 'sleep 1; "$POLLUX" schedule; test -e started'
again runs --hold --after any:1
like 'again refuses the checkpoint directory of a job that runs' \
	"^pollux: job 7, which is running, has the same \
checkpoint directory, '.*/out': the two would resume from each other; .* or give --force$" "$err"
again runs --hold --after any:1 --force
is 'again --force takes a running job by its name, and holds the new one' \
	"8|held||$(of 7 checkpoint_samples)" \
	"$out|$(of 8 'state, begin_s, checkpoint_samples' | sed 's/||/||/')"
like 'again --force warns that both jobs have one checkpoint directory' \
	'both have the same checkpoint directory' "$err"
again 8 --checkpoint-dir 'other-{job}'
is 'a job like a held one is queued, without dependencies' 'queued|0' \
	"$(of 9 state)|$(store 'SELECT count(*) FROM dependencies WHERE job_id = 9')"
unlike 'again does not warn where the checkpoint directory is another' 'same checkpoint' "$err"
like 'again says that the checkpoint directory is another' \
	'checkpoint dir .*/out -> .*/other-\{job\}' "$err"

# --- values that are no longer stored ---
given_environment 1 names_only=1 env=@"CAST('GONE_1' || char(0) || 'PATH' || char(0) AS BLOB)"
again 1
is 'again takes lost values from this shell, and names those missing' \
	'pollux: job 10 is as job 1, but: '\
'its values of variables are no longer stored, so those of this shell are taken, which '\
'lacks GONE_1' "$err"
is "the new job's environment is stored with its values" 0 \
	"$(store 'SELECT e.names_only FROM environments e JOIN commands c
	ON c.environment_id = e.id WHERE c.job_id = 10')"

# --- refused ---
before=$(store 'SELECT count(*) FROM jobs')
status 'again refuses a --set of text that is nowhere' 64 "$POLLUX" again 1 --set nowhere=1
is 'again says that no argument has the text' \
	"pollux: option '--set': no argument has the text that 'nowhere=1' replaces" "$err"
for set in nothing =x ''; do
	status "again refuses --set '$set'" 64 "$POLLUX" again 1 --set="$set"
done
status 'again refuses a --set of the program' 64 "$POLLUX" again 1 --set show=hide
status 'again refuses --set with a command' 64 "$POLLUX" again 1 --set lr=x -- --lr
status 'again refuses two jobs' 64 "$POLLUX" again 1 2
status 'again refuses to go without a job' 64 "$POLLUX" again
status 'again refuses a command without a job before it' 64 "$POLLUX" again -- 1
status 'again refuses a number that no job has' 66 "$POLLUX" again 99
status 'again refuses a name that no job has' 66 "$POLLUX" again nobody
status 'again refuses a weight of 0' 64 "$POLLUX" again 1 --weight 0
status 'again refuses --preset' 64 "$POLLUX" again 1 --preset x
status "again refuses '--' without a command behind it" 64 "$POLLUX" again 1 --
is "again says that there is no command behind '--'" \
	"pollux: no command behind '--'; see 'pollux again --help'" "$err"
status 'again refuses arguments without a command' 64 "$POLLUX" again 1 -- --lr 0.3
is 'again says that arguments alone are no command' \
	"pollux: behind '--' stands the whole command, as for submit, not \
'--lr'; --set changes arguments; see 'pollux again --help'" "$err"
status 'again refuses a command that does not exist' 66 \
	"$POLLUX" again 1 -- no-such-command --lr 0.3
status 'again refuses a directory that does not exist' 66 "$POLLUX" again 1 --chdir nowhere
rm show
status 'again refuses a job whose program does not exist any more' 66 "$POLLUX" again 1
status 'again refuses to wait for a job that does not exist' 66 "$POLLUX" again runs --after 99
is 'no refused command has made a job' "$before" "$(store 'SELECT count(*) FROM jobs')"

# --- another command, and names with the number ---
"$POLLUX" cancel --yes --state active
id=$("$POLLUX" submit -q --hold -n 'n{job}' -e 'N=e{job}' -- sh -c 'echo "$N $0"' old 2>/dev/null)
run "$POLLUX" again "$id"
like 'the number in a name is no difference' "as job $id in everything" "$err"
again "$id" --hold -- env
id=$out
is 'a job with another command has the program of that command' "$(command -v env)" \
	"$(store "SELECT CAST(program AS TEXT) FROM
	commands WHERE job_id = $id")"
is "the name of the new job has the new job's number" "n$id" "$(of "$id" name)"
again "$id" -- sh -c 'echo "$N $0"' new
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$out"
is "a variable of the new job has the new job's number" "e$out new" "$(printed "$out")"
"$POLLUX" edit "$id" --name 'of {job}' >/dev/null
is 'edit --name replaces {job} by the number' "of $id" "$(of "$id" name)"
again "$id" --hold
is 'again keeps a name that edit gave the job' "of $id" "$(of "$out" name)"

# --- a job of a sweep ---
id=$("$POLLUX" submit -q --array 7 --param x=5 -- \
	sh -c 'echo "$POLLUX_PARAM_x, $POLLUX_INDEX of $POLLUX_GROUP"; : {x}')
again=$("$POLLUX" again -q "$id")
other=$("$POLLUX" again -q "$again" --env POLLUX_PARAM_x=6)
POLLUX_SLOTS=2 "$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$again" "$other"
ok 'a program of a sweep finds its parameters in the environment' \
	grep -qx '5, 7 of 1' "store/logs/$again.log"
ok '--env gives a job of a sweep another parameter' grep -qx '6, 7 of 1' "store/logs/$other.log"
finish
