#!/bin/sh
# environments.t - the environments of jobs: stored once, forgotten a day after their last use.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"

submit() { "$POLLUX" submit -q "$@"; }
cleanup() { end_jobs; }
# Whether a value is anywhere in the files of the store.
in_files() { cat "$POLLUX_DIR"/pollux.db* | LC_ALL=C grep -a -q "$1"; }
an_hour_later() { store "UPDATE settings SET value = 0 WHERE name = 'environments_time_s'"; }
# A job that ended so long ago.
ended() { # ended STATE SECONDS ID...
	state=$1 ago=$2
	shift 2
	for job; do
		store "UPDATE jobs SET state = '$state',
			end_time_s = strftime('%s', 'now') - $ago WHERE id = $job"
	done
}

# --- once ---
BULK=$(printf '%04000d' 7)
export BULK
first=$(submit --hold -- true)
store 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
before=$(store 'PRAGMA page_count')
# The rows as pollux submit writes them; a thousand processes would take a minute.
store "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
	INSERT INTO jobs (state, name, workload, submit_time_s, min_replicas, max_replicas, weight,
		preemption, retries, stop_signal, grace_s)
	SELECT 'held', 'n', 'w', 1, 1, 1, 1, 'saved', 0, 15, 60 FROM n;
	INSERT INTO commands (job_id, program, argv, directory, environment_id)
	SELECT j.id, c.program, c.argv, c.directory, c.environment_id
	FROM jobs j, commands c WHERE j.id > $first AND c.job_id = $first"
for _ in 1 2 3 4 5; do last=$(submit --hold -- true); done
is 'jobs with the same environment share it' 1 \
	"$(store "SELECT count(DISTINCT environment_id) FROM commands")"
is 'which is stored once' 1 "$(store 'SELECT count(*) FROM environments')"
kib=$((($(store 'PRAGMA page_count') - before) * 4))
ok "1,005 jobs of 4 KiB of environment each take $kib KiB, less than 1,000" test "$kib" -lt 1000
"$POLLUX" release "$last"
"$POLLUX" schedule
"$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$last" >/dev/null
is 'one of them runs' 'done' "$(store "SELECT state FROM jobs WHERE id = $last")"
store 'PRAGMA foreign_keys = ON; DELETE FROM jobs' 
is 'the last takes it away' 0 "$(store 'SELECT count(*) FROM environments')"
unset BULK

# --- a day after the last use ---
i=0
while [ $i -lt 60 ]; do # so many that rows move between pages
	last=$(submit --hold --env KEY=s3cret$i --env "BULK$i=$(printf "%0$((i * 50))d" 1)" -- true)
	i=$((i + 1))
done
one=$(submit --env KEY=s3cret-one --env ONLY=s3cret-only -- sh -c 'echo "$KEY $ONLY"')
two=$(submit --hold --env KEY=s3cret-one --env ONLY=s3cret-only -- true)
young=$(submit --hold --env KEY=s3cret-young -- true)
"$POLLUX" schedule
"$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$one" >/dev/null
ok 'values are there' in_files s3cret-one
store "UPDATE jobs SET state = 'cancelled', end_time_s = strftime('%s', 'now') - 90000
	WHERE id <= $last"
ended cancelled 90000 "$one"
ended cancelled 80000 "$young"
wait_for 10 no_supervisor
an_hour_later
run env POLLUX_KEEP_ENVIRONMENT=yes "$POLLUX" schedule -v
unlike 'with keep_environment nothing is forgotten' forgot "$out"
"$POLLUX" schedule
ok 'nor within an hour of that' in_files s3cret5
an_hour_later
run "$POLLUX" schedule --dry-run
ok 'nor by a dry run' in_files s3cret5
run "$POLLUX" schedule -v
like 'a pass forgets' '^forgot the values of 60 environments of ended jobs$' "$out"
missed=
i=0
while [ $i -lt 60 ]; do
	! in_files "s3cret$i" || missed="$missed $i"
	i=$((i + 1))
done
is 'no value is left in the files' '' "$missed"
ok 'but for a job that ended less than a day ago' in_files s3cret-young
ok 'and for one whose environment another job needs' in_files s3cret-one
run "$POLLUX" requeue "$one"
is 'which can be queued again' 0 "$rc"
ended 'done' 90000 "$one" "$two"
an_hour_later
"$POLLUX" schedule
ok 'a day after that its values are gone' eval '! in_files s3cret-o'
ok 'the names stay' in_files ONLY
like 'status says so' '^  environment  *names only: its values are no longer stored$' \
	"$("$POLLUX" status "$one")"
like 'in JSON too' '"environment_names_only": true' "$("$POLLUX" status --json "$one")"
like 'and not of a job that has them' '"environment_names_only": false' \
	"$("$POLLUX" status --json "$young")"

# --- queued again ---
run "$POLLUX" requeue "$one"
is 'a job without values is refused' 1 "$rc"
like 'in one line, which says what to do' "^pollux: job $one ended more than a day ago, and the \
values of its [0-9]* variables are no longer stored: 'pollux requeue --take-env $one' takes \
those of this shell, which lacks KEY, ONLY\$" "$err"
run env KEY=1 ONLY=2 "$POLLUX" requeue "$one"
like 'or that all are here' "takes those of this shell, which has them all\$" "$err"
is 'and stays as it is' 'done' "$(store "SELECT state FROM jobs WHERE id = $one")"
run env KEY=n3w "$POLLUX" requeue --take-env --dry-run "$one"
is 'a dry run' "0:job $one would be queued again" "$rc:$out"
run env KEY=n3w "$POLLUX" requeue --take-env "$one"
is 'the environment of this shell is taken' "0:" "$rc:$out"
like 'what is not set there is said' \
	"^pollux: job $one: variables that it had and that are not set here: ONLY\$" "$err"
"$POLLUX" schedule
"$POLLUX" wait --timeout $((10 * TIME_SCALE)) "$one" >/dev/null
like 'the job has it' '^n3w $' "$("$POLLUX" log "$one")"
is 'in the directory that it had' "PWD=$TMP" "$(store "SELECT substr(e.env, instr(e.env,
	CAST('PWD=' AS BLOB)), length('PWD=$TMP')) FROM environments e JOIN commands c
	ON c.environment_id = e.id WHERE c.job_id = $one")"
status 'a bad setting' 78 env POLLUX_KEEP_ENVIRONMENT=maybe "$POLLUX" schedule
like 'is named' "POLLUX_KEEP_ENVIRONMENT.*'maybe' is not yes or no" "$err"
finish
