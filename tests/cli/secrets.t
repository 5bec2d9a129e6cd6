#!/bin/sh
# secrets.t - variables that look like credentials: jobs get them, no command shows them, and they
# leave the store when their jobs have ended.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"

submit() { "$POLLUX" submit -q "$@"; }
cleanup() { end_jobs; }
# Whether a text is in any file of pollux's but the logs of jobs.
in_files() { grep -r -a -q --exclude-dir=logs "$1" "$POLLUX_DIR"; }
wait_job() { "$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$1" >/dev/null; }
is_gone() { pass && ! in_files "$1"; }
HF_TOKEN=s3cret-shell
export HF_TOKEN

# --- a job has them ---
one=$(submit --hold --env API_KEY=s3cret-option --env KEYBOARD=qwerty -- \
	sh -c 'echo "$HF_TOKEN $API_KEY $KEYBOARD" >seen')
ok 'the store has the credentials of a job that waits' in_files s3cret-option
pass
for words in "status $one" "status --json $one" "status --all" "explain $one" history \
	"explain --json $one" "history --json" doctor "page --output page.html" "schedule -n" \
	"results $one" "log --all $one" "edit --dry-run --name x $one" config \
	"prune --all --dry-run" events "events --json" \
	"again --dry-run -e HF_TOKEN=s3cret-again $one" \
	"submit --dry-run -e A_SECRET=s3cret -- true" \
	"submit --dry-run -e A_SECRET=s3cret-{x} --param x=1,2 -- true"; do
	# shellcheck disable=SC2086 # words of a command
	"$POLLUX" $words </dev/null >>shown 2>&1
done
cat page.html >>shown
like 'a dry run names the variable' '^A_SECRET=\*\*\* true$' "$(cat shown)"
like 'again names the variable' 'with HF_TOKEN=\*\*\*' "$(cat shown)"
is 'no command shows a credential' '' "$(grep -n s3cret- shown)"

# --- they go when the job has ended ---
"$POLLUX" release "$one"
pass
wait_job "$one"
is 'the job had its variables' 's3cret-shell s3cret-option qwerty' "$(cat seen)"
ok 'a pass after the end deletes them from the files' wait_for 10 is_gone s3cret-
ok 'other variables stay' in_files qwerty
like 'status says which are gone' '^  environment  *HF_TOKEN, API_KEY: no longer stored' \
	"$("$POLLUX" status "$one")"
two=$(submit --hold -- true)
three=$(submit --hold -- true)
"$POLLUX" cancel "$two"
pass
ok 'the credentials that another job has, too, stay' in_files s3cret-shell
"$POLLUX" cancel "$three"
ok 'they go with a job that never ran' wait_for 10 is_gone s3cret-

# --- and are taken from the shell that runs the job again ---
run "$POLLUX" requeue "$one"
is 'requeue refuses a job whose credential this shell lacks' 1 "$rc"
like 'requeue says which one, and what to do' \
	"^pollux: job $one: API_KEY left the store when the job ended, and is not set here: set \
it, or 'pollux requeue --take-env $one' goes without\$" "$err"
run env API_KEY=n3w HF_TOKEN=t3n "$POLLUX" requeue "$one"
is 'requeue takes them from this shell, and says so' \
	"0:pollux: job $one gets HF_TOKEN, API_KEY from this shell: they left the store when it \
ended" \
	"$rc:$err"
pass
wait_job "$one"
is 'the job has the new credentials, and its other variables' 't3n n3w qwerty' "$(cat seen)"
pass
run "$POLLUX" again --hold --env API_KEY=other "$one"
like 'again takes what this shell has' \
	"as job $one, but: HF_TOKEN is this shell's, as it left the store; with API_KEY=\*\*\*\$" \
	"$err"
"$POLLUX" cancel --state active -y
run "$POLLUX" again --hold "$one"
like 'again says what the new job lacks' \
	"without API_KEY, which left the store and is not set here\$" "$err"
"$POLLUX" cancel --state active -y

# --- where somebody reads the store meanwhile ---
wait_for 10 is_gone s3cret-
last=$(submit --hold -- true)
mkfifo hold
sqlite3 "$POLLUX_DIR/pollux.db" <hold >held &
reader=$!
exec 3>hold
echo "BEGIN; SELECT count(*) > 0 FROM jobs;" >&3
wait_for 10 [ -s held ]
"$POLLUX" cancel "$last"
pass
exec 3>&-
wait "$reader"
ok 'what a reader kept in the log of the store goes by a later pass' is_gone s3cret-

# --- settings ---
run env POLLUX_KEEP_ENVIRONMENT=no-secrets "$POLLUX" submit -q --hold --env A_KEY=s3cret-e -- \
	sh -c 'echo "$HF_TOKEN" >seen'
like 'a submission says which are not stored' \
	'^pollux: keep_environment is no-secrets: the job runs without HF_TOKEN, A_KEY$' "$err"
ok 'with no-secrets they are never stored' eval '! in_files s3cret-'
"$POLLUX" release "$out"
pass
wait_job "$out"
is 'the job ran without them' '' "$(cat seen)"
POLLUX_KEEP_ENVIRONMENT=yes
export POLLUX_KEEP_ENVIRONMENT
last=$(submit -- true)
pass
wait_job "$last"
pass
ok 'with yes they stay as long as the job' in_files s3cret-shell
finish
