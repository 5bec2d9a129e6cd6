#!/bin/sh
# shared_checkpoints.t - jobs that would resume from each other's checkpoints are refused, unless
# --force says that this is meant.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $err is of run; cleanup
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=1
cleanup() { end_jobs; }
submit() { run "$POLLUX" submit --hold "$@"; }
count() { store 'SELECT count(*) FROM jobs'; }

# --- a sweep ---
sweep() { # sweep NAME STATUS OPTION...
	name=$1 wanted=$2
	shift 2
	POLLUX_DIR=$TMP/sweeps run "$POLLUX" submit --hold "$@" -- true '{lr}' '{seed}'
	is "$name" "$wanted" "$rc"
	POLLUX_DIR=$TMP/sweeps "$POLLUX" cancel --yes --state active >/dev/null 2>&1
}
grid() { sweep "$1" "$2" --param lr=1,2 --param seed=0,1 --checkpoint-dir "$3"; }
grid 'a sweep into one directory is refused' 64 out
is 'the message names the runs that share a directory' \
	"pollux: runs 0 and 1 have the same checkpoint directory, '$TMP/out': they would \
resume from each other; put {job} or what differs into it, or give --force" "$err"
is 'no run of the refused sweep is stored' \
	0 "$(sqlite3 "$TMP/sweeps/pollux.db" 'SELECT count(*) FROM jobs')"
grid 'a directory with the first of two parameters is refused' 64 'out-{lr}'
grid 'a directory with the second of two parameters is refused' 64 'out-{seed}'
like 'the message names the runs that the second parameter leaves alike' \
	"^pollux: runs 0 and 2 have the same .*/out-0'" "$err"
grid 'a directory with both parameters is accepted' 0 'out-{lr}-{seed}'
grid 'a directory with the number of the job is accepted' 0 'out/{job}'
grid 'a directory with the number of the run is accepted' 0 'out/{index}'
grid 'a directory with a template that stays as it is is refused' 64 'out/{run}'
grid 'a directory that only looks different is refused' 64 './a/../out'
sweep 'a directory inside that of another run is refused' \
	64 --param seed=a,a/b --param lr=1 --checkpoint-dir 'out/{seed}'
like 'the message says that one directory lies in the other' \
	"of runs 1 and 0, '.*/out/a/b' and '.*/out/a', one lies in the other" "$err"
sweep 'directories that only begin alike are accepted' 0 --param seed=a,ab,a.b --param lr=1 \
	--checkpoint-dir 'out/{seed}'
sweep '--force submits a sweep into one directory' \
	0 --force --array 0-1 --param lr=1 --param seed=2 \
	--checkpoint-dir out
sweep 'a sweep without a directory is accepted' 0 --param lr=1,2 --param seed=0
printf 'from transformers import x\n' >train.py
sweep 'an array into one directory is refused' \
	64 --array 0-1 --param lr=1 --param seed=2 --checkpoint-dir out
POLLUX_DIR=$TMP/sweeps run "$POLLUX" submit --hold --preset hf --param lr=1,2 -- python3 train.py \
	--output_dir out --lr_rate '{lr}'
like "a sweep into a preset's directory is refused" \
	"^64:pollux: .*runs 0 and 1 have the same checkpoint directory" "$rc:$err"
POLLUX_DIR=$TMP/sweeps run "$POLLUX" submit --hold --preset hf --param w=1,2 -- python3 train.py \
	--output_dir 'out-{w}'
is "a preset's directory with the parameter is accepted" \
	"0 $TMP/out-1 $TMP/out-2" "$rc $(sqlite3 "$TMP/sweeps/pollux.db" \
	'SELECT group_concat(CAST(checkpoint_dir AS TEXT), " ") FROM (SELECT checkpoint_dir FROM
	commands ORDER BY job_id DESC LIMIT 2)' | tr ' ' '\n' | sort | xargs)"

# --- a second submission ---
submit --checkpoint-dir out -- true
first=$out
again() { # again NAME DIRECTORY OPTION...: refused
	name=$1 directory=$2
	shift 2
	before=$(count)
	submit --checkpoint-dir "$directory" "$@" -- true
	like "$name is refused, and names the job" \
		"^1:pollux: job $first, which is held, has the " "$rc:$err"
	is "$name is not stored" "$before" "$(count)"
}
taken() { # taken NAME DIRECTORY OPTION...
	name=$1 directory=$2
	shift 2
	submit --checkpoint-dir "$directory" "$@" -- true
	is "$name is accepted" '0:' "$rc:$err"
	"$POLLUX" cancel --yes "$out" >/dev/null
}
again 'the same directory' out
like 'the message says how to mend the same directory' \
	"the same checkpoint directory, '$TMP/out': the two would resume from \
each other; give another one, wait by --after $first, or give --force\$" "$err"
mkdir -p out deep
ln -s out link
ln -s ../out deep/link
again 'the directory with slashes behind it' out///
again 'the directory by another way' "./deep/../out/."
again 'the directory by its full path' "$TMP/out"
again 'a link to the directory' link
again 'a link in another directory' deep/link
again 'a directory below it' out/new
again 'a directory around it' .
again 'the directory as seen from another one' ../out --chdir deep
again 'the directory for a sweep' out --param x=1 -e 'A={x}'
again 'the directory with a glob' out --checkpoint-glob '*.pt' # the first one has none
taken 'another directory' other
taken 'a directory whose name begins alike' out2
taken 'a directory with the number of the job' 'out2/{job}'
taken 'the directory for a job after the first' out --after "$first"
taken "the directory for a job after the first's success" out --after "ok:$first"
submit --hold --after "$first" -- true
taken 'the directory for a job after a job after the first' out --after "$out"
again 'the directory for a job after any of several' out --after "any:$first,$out"
taken 'the directory with --force' out --force
submit -- true
taken 'a directory beside a job that has none' other
run "$POLLUX" submit --dry-run --checkpoint-dir out -- true
is 'a dry run does not look for the same directory' 0 "$rc"

# --- globs tell files in one directory from each other ---
submit --checkpoint-dir globs --checkpoint-glob 'a*.pt' -- true
run "$POLLUX" submit --hold --checkpoint-dir globs --checkpoint-glob 'b*.pt' -- true
is 'other names of files in one directory are accepted' '0:' "$rc:$err"
run "$POLLUX" submit --hold --checkpoint-dir globs --checkpoint-glob 'a*.pt' -- true
is 'the same names of files in one directory are refused' 1 "$rc"

# --- other ways to it ---
"$POLLUX" cancel --yes --state active >/dev/null
submit --checkpoint-dir out -- true
is 'a job that has ended keeps no directory' 0 "$rc"
second=$out
run "$POLLUX" requeue "$first"
like 'requeue refuses an ended job beside one with its directory' \
	"job $second, which is held, has the same" "$err"
is 'the job that was not queued again stays as it was' \
	cancelled "$(store "SELECT state FROM jobs WHERE id = $first")"
run "$POLLUX" again --hold "$second"
like 'again refuses a job with the same directory' \
	"^1:pollux: job $second, which is held" "$rc:$err"
run "$POLLUX" again --hold --force "$second"
like 'again --force warns once of the same directory' \
	'^0:pollux: job .*both have the same checkpoint directory' \
	"$rc:$(echo "$err" | tr '\n' ' ')"
run "$POLLUX" again --hold --checkpoint-dir 'out2/{job}' "$second"
is 'again accepts another directory' 0 "$rc"
"$POLLUX" cancel --yes --state active >/dev/null
submit --checkpoint-dir out -- true
run "$POLLUX" requeue --force "$first"
is 'requeue --force queues the job beside one with its directory' \
	queued "$(store "SELECT state FROM jobs WHERE id = $first")"

# --- two at once ---
"$POLLUX" cancel --yes --state active >/dev/null
for _ in 1 2 3 4; do
	"$POLLUX" submit --hold --checkpoint-dir race -- true >/dev/null 2>&1 &
done
wait
is 'one of four submissions at once is accepted' 1 "$(store "SELECT count(*) FROM jobs
	WHERE state = 'held'")"
finish
