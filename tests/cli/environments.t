#!/bin/sh
# environments.t - the environments of jobs: stored once, forgotten a day after their last use.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"

submit() { "$POLLUX" submit -q "$@"; }
cleanup() { end_jobs; }
# Whether a value is anywhere in the files of the store.
in_files() { cat "$POLLUX_DIR"/pollux.db* | LC_ALL=C grep -a -q "$1"; }
an_hour_later() { given_setting environments_time_s 0; }
# A job that ended so long ago.
ended() { # ended STATE SECONDS ID...
	state=$1 ago=$2
	shift 2
	for job; do
		given_job "$job" state="$state" end_time_s=@"unixepoch() - $ago"
	done
}

# --- once ---
BULK=$(printf '%04000d' 7)
export BULK
first=$(submit --hold -- true)
store 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
before=$(store 'PRAGMA page_count')
copied_jobs "$first" $((first + 1)) $((first + 1000)) # a thousand commands would take a minute
for _ in 1 2 3 4 5; do last=$(submit --hold -- true); done
is 'jobs with the same environment share it' 1 \
	"$(store "SELECT count(DISTINCT environment_id) FROM commands")"
is 'the environment that jobs share is stored once' 1 "$(store 'SELECT count(*) FROM environments')"
kib=$((($(store 'PRAGMA page_count') - before) * 4))
ok "1,005 jobs of 4 KiB of environment each take $kib KiB, less than 1,000" test "$kib" -lt 1000
"$POLLUX" release "$last"
"$POLLUX" schedule
"$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$last" >/dev/null
is 'a job that shares its environment runs' 'done' \
	"$(store "SELECT state FROM jobs WHERE id = $last")"
given_none jobs
is 'the environment goes with the last job that has it' 0 \
	"$(store 'SELECT count(*) FROM environments')"
unset BULK

# --- a day after the last use ---
i=0
while [ $i -lt 60 ]; do # so many that rows move between pages
	last=$(submit --hold -e WORD=s3cret$i --env "BULK$i=$(printf "%0$((i * 50))d" 1)" -- true)
	i=$((i + 1))
done
one=$(submit --env WORD=s3cret-one --env ONLY=s3cret-only -- sh -c 'echo "$WORD $ONLY"')
two=$(submit --hold --env WORD=s3cret-one --env ONLY=s3cret-only -- true)
young=$(submit --hold --env WORD=s3cret-young -- true)
"$POLLUX" schedule
"$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$one" >/dev/null
ok 'the files of the store have the values of environments' in_files s3cret-one
given_job "$(seq -s ' ' "$last")" state=cancelled end_time_s=@"unixepoch() - 90000"
ended cancelled 90000 "$one"
ended cancelled 80000 "$young"
wait_for 10 no_supervisor
an_hour_later
run env POLLUX_KEEP_ENVIRONMENT=yes "$POLLUX" schedule -v
unlike 'a pass forgets nothing with keep_environment' forgot "$out"
"$POLLUX" schedule
ok 'a pass forgets nothing within an hour of the last look' in_files s3cret5
an_hour_later
run "$POLLUX" schedule --dry-run
ok 'a dry run of a pass forgets nothing' in_files s3cret5
run "$POLLUX" schedule -v
like 'a pass says how many environments it forgot' \
	'^forgot the values of 60 environments of ended jobs$' "$out"
missed=
i=0
while [ $i -lt 60 ]; do
	! in_files "s3cret$i" || missed="$missed $i"
	i=$((i + 1))
done
is 'the files of the store have no forgotten value' '' "$missed"
ok 'values of a job that ended less than a day ago are kept' in_files s3cret-young
ok 'values of an environment that another job needs are kept' in_files s3cret-one
run "$POLLUX" requeue "$one"
is 'a job whose values are kept can be queued again' 0 "$rc"
ended 'done' 90000 "$one" "$two"
an_hour_later
"$POLLUX" schedule
ok 'the values are gone a day after the last job ended' eval '! in_files s3cret-o'
ok 'the names of forgotten variables are kept' in_files ONLY
like 'status says that the values are no longer stored' \
	'^  environment  *names only: its values are no longer stored$' "$("$POLLUX" status "$one")"
like 'the JSON of status says that only names are stored' '"environment_names_only": true' \
	"$("$POLLUX" status --json "$one")"
like 'the JSON of status says that values of another job are stored' \
	'"environment_names_only": false' "$("$POLLUX" status --json "$young")"

# --- queued again ---
run "$POLLUX" requeue "$one"
is 'requeue refuses a job without values' 1 "$rc"
like 'requeue names the option to take, and the variables that are missing' \
	"^pollux: job $one ended more than a day ago, and the \
values of its [0-9]* variables are no longer stored: 'pollux requeue --take-env $one' takes \
those of this shell, which lacks WORD, ONLY\$" "$err"
run env WORD=1 ONLY=2 "$POLLUX" requeue "$one"
like 'requeue says that this shell has all the variables' \
	"takes those of this shell, which has them all\$" "$err"
is 'a job that requeue refused stays done' 'done' \
	"$(store "SELECT state FROM jobs WHERE id = $one")"
run env WORD=n3w "$POLLUX" requeue --take-env --dry-run "$one"
is 'requeue --take-env --dry-run says that the job would be queued' \
	"0:job $one would be queued again" "$rc:$out"
run env WORD=n3w "$POLLUX" requeue --take-env "$one"
is 'requeue --take-env takes the environment of this shell' "0:" "$rc:$out"
like 'requeue --take-env names the variables that are not set' \
	"^pollux: job $one: variables that it had and that are not set here: ONLY\$" "$err"
"$POLLUX" schedule
"$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$one" >/dev/null
like 'the requeued job has the variables of this shell' '^n3w $' "$("$POLLUX" log "$one")"
is 'the requeued job has its own directory in PWD' "PWD=$TMP" \
	"$(store "SELECT substr(e.env, instr(e.env,
	CAST('PWD=' AS BLOB)), length('PWD=$TMP')) FROM environments e JOIN commands c
	ON c.environment_id = e.id WHERE c.job_id = $one")"
status 'schedule refuses a POLLUX_KEEP_ENVIRONMENT that is none of its words' 78 \
	env POLLUX_KEEP_ENVIRONMENT=maybe "$POLLUX" schedule
like 'schedule names the bad value of POLLUX_KEEP_ENVIRONMENT' \
	"POLLUX_KEEP_ENVIRONMENT.*'maybe' is not no, yes or no-secrets" "$err"
finish
