#!/bin/sh
# chains.t - jobs behind a job that can never start: one pass decides about all of them, and
# 'requeue --dependents' brings back those that were cancelled for a job.
# shellcheck disable=SC2154,SC2317 # $out and $err are of run; functions called by name
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { end_jobs; }
submit() { id=$("$POLLUX" submit -q "$@" -- true); } # sets $id
in_state() { store "SELECT count(*) FROM jobs WHERE state = '$1'"; }
of() { store "SELECT $2 FROM jobs WHERE id = $1"; }
states() { # states ID...
	for each; do of "$each" state; done | xargs
}
state_is() { [ "$(of "$1" state)" = "$2" ]; }
anew() { # a store of its own for each part
	end_jobs
	POLLUX_DIR=$TMP/$1
	export POLLUX_DIR
}
gone=cancelled
chain() { # chain LENGTH: the first is held, each other one comes after success of the one before
	submit --hold
	for previous in $(seq "$(($1 - 1))"); do
		submit --after "ok:$previous"
	done
}
requeue() { run "$POLLUX" requeue "$@"; }

# --- one pass for a chain ---
anew chain
chain 60
"$POLLUX" cancel 1
run "$POLLUX" schedule --dry-run
is 'a dry pass would cancel all jobs behind the first' 59 \
	"$(echo "$out" | grep -c ': cancelled: job')"
"$POLLUX" schedule
is 'one pass cancels all jobs behind the first' 60 "$(in_state cancelled)"
is 'a cancelled job says which job was to succeed first' \
	'job 58, which was to succeed first, was cancelled|58' "$(of 59 'reason, cancelled_for')"
is 'the first job was cancelled by a person, for no other job' 'cancelled|' \
	"$(of 1 'reason, cancelled_for')"
like 'the JSON of status says for which job a job was cancelled' '"cancelled_for": 58' \
	"$("$POLLUX" status --json 59)"

# --- and back ---
requeue --dry-run --dependents 57
is 'requeue --dry-run prints the jobs that would come back' 'job 57 would be queued again
job 58 would be queued again
job 59 would be queued again
job 60 would be queued again' "$out"
is 'requeue --dry-run queues no job' 60 "$(in_state cancelled)"
requeue 1
is 'requeue without --dependents queues one job alone' 1 "$(in_state queued)"
requeue --dependents 1
is 'requeue --dependents queues those cancelled for a job that is queued' '0|60' \
	"$rc|$(in_state queued)"
is 'no job is marked as cancelled for another after requeue' 0 \
	"$(store 'SELECT count(*) FROM jobs WHERE cancelled_for > 0')"
requeue --dependents 1
is 'a second requeue --dependents finds nothing to requeue' \
	'1|pollux: job 1 is queued: nothing to requeue' "$rc|$err"
"$POLLUX" cancel 1 30
"$POLLUX" schedule
requeue --dependents 1
is 'a job that a person cancelled stays so, with all behind it' '29|31' \
	"$(in_state queued)|$(in_state cancelled)"
requeue --dependents 1-30
is 'a requeue of that job brings all behind it back, too' 60 "$(in_state queued)"

# --- a held job in the middle ---
anew held
chain 6
"$POLLUX" hold 4
"$POLLUX" cancel 1
"$POLLUX" schedule
is 'a held job is left as it is, and those behind it wait' \
	'cancelled cancelled cancelled held queued queued' "$(states 1 2 3 4 5 6)"
is 'a job behind the held one says that it waits for that one' 'after job 4, which is held' \
	"$(of 5 reason)"
"$POLLUX" release 4
"$POLLUX" schedule
is 'a released job is cancelled with those behind it' 6 "$(in_state cancelled)"

# --- other rules, diamonds, groups ---
anew rules
submit --hold					# 1
submit --after ok:1				# 2
submit --after ok:1				# 3
submit --after ok:2,ok:3			# 4: a diamond
submit --after 1,ok:4				# 5
submit --after notok:4 --begin +1h		# 6: may start
submit --after any:4,5 --begin +1h		# 7: may start
submit --after end:5 --begin +1h			# 8: may start
submit --after notok:5				# 9: may start, and does
"$POLLUX" submit -q --param x=1,2,3 --after ok:5 -- echo '{x}' >/dev/null	# 10 to 12
submit --after ok:group:1			# 13
submit --after notok:group:1 --begin +1h	# 14: may start
submit --after any:2 --after ok:13		# 15
"$POLLUX" cancel 1
"$POLLUX" schedule
is 'one pass cancels all jobs that can never start' \
	"$gone $gone $gone $gone $gone $gone $gone $gone $gone $gone" \
	"$(states 1 2 3 4 5 10 11 12 13 15)"
like 'a job after notok: of a cancelled job waits for its time' '^begins at' "$(of 6 reason)"
like 'a job after any: of two cancelled jobs waits for its time' '^begins at' "$(of 7 reason)"
like 'a job after the end of a cancelled job waits for its time' '^begins at' "$(of 8 reason)"
like 'a job after notok: of a whole sweep waits for its time' '^begins at' "$(of 14 reason)"
ok 'a job after notok: of a cancelled job starts in the same pass' wait_for 20 state_is 9 'done'
wait_for 20 no_supervisor # whose last act is a pass, which would cancel them again
requeue --dependents 5
is 'requeue --dependents brings back the jobs behind a job' \
	"$gone $gone $gone $gone queued queued queued queued queued queued" \
	"$(states 1 2 3 4 5 10 11 12 13 15)"
"$POLLUX" schedule
is 'a pass cancels the jobs again, as the first is not mended' \
	'cancelled cancelled cancelled cancelled cancelled cancelled' "$(states 5 10 11 12 13 15)"
requeue --dependents 1
is 'requeue --dependents of the first job brings all back' \
	'queued queued queued queued queued queued queued queued queued queued' \
	"$(states 1 2 3 4 5 10 11 12 13 15)"

# --- a failure, and a success where a failure was wanted ---
anew failure
status 'submit refuses a job that would come after itself' 66 "$POLLUX" submit --after 1 -- true
is 'submit says that the job to come after is not there' \
	"pollux: option '--after': no such job: 1" "$err"
status 'submit refuses a sweep that would come after its own group' 66 \
	"$POLLUX" submit --param x=1,2 --after group:1 -- echo '{x}'
id=$("$POLLUX" submit -q -- sh -c 'exit 3')	# 1
submit --after ok:1				# 2
submit --after ok:2				# 3
submit						# 4
submit --after notok:4				# 5
submit --after ok:5				# 6
submit --after ok:3,ok:6			# 7
ended() { "$POLLUX" schedule && state_is 1 failed && state_is 4 "done"; }
ok 'one job fails, and one does not' wait_for 10 ended
"$POLLUX" schedule
is 'one pass cancels the jobs of two chains' "$gone $gone $gone $gone $gone" "$(states 2 3 5 6 7)"
is 'a job after notok: says that the other is done' 'job 4, which was to fail first, is done' \
	"$(of 5 reason)"
requeue --dependents 1
is 'one chain comes back, with the job behind both' \
	'queued queued queued cancelled cancelled queued' "$(states 1 2 3 5 6 7)"

# --- jobs that were edited to come after later ones ---
anew edited
for job in 1 2 3 4 5; do submit --hold; done
for job in 1 2 3 4; do "$POLLUX" edit "$job" --after "ok:$((job + 1))" >/dev/null; done
"$POLLUX" release 1-4
"$POLLUX" cancel 5
"$POLLUX" schedule
is 'a pass cancels a chain that goes from the last job to the first' 5 "$(in_state cancelled)"
requeue 5
"$POLLUX" edit 5 --after ok:1 >/dev/null
is 'a job may come after one that has ended' 'ok' "$(store 'SELECT rule FROM dependencies
	WHERE job_id = 5')"
requeue --dependents 5
is 'requeue --dependents brings no job back to wait for itself' \
	"1|pollux: job 5 would come after job 1, which waits \
for it; 'pollux again 5' submits another like it" "$rc|$err"
is 'a refused requeue changes no job' 'cancelled cancelled cancelled cancelled queued' \
	"$(states 1 2 3 4 5)"
"$POLLUX" edit 5 --unset after >/dev/null
requeue --dependents 5
is 'requeue --dependents brings all back where no job waits for itself' 5 "$(in_state queued)"

# --- what is pruned ---
anew prune
chain 5
"$POLLUX" hold 3
"$POLLUX" cancel 1
"$POLLUX" schedule
"$POLLUX" prune --all >/dev/null
is 'prune keeps a job that a waiting job comes after' '2 3 4 5' \
	"$(store 'SELECT id FROM jobs' | xargs)"
"$POLLUX" release 3
"$POLLUX" schedule
is 'a job behind a pruned chain is cancelled, not started' 'cancelled cancelled cancelled' \
	"$(states 3 4 5)"
requeue --dependents 2
is 'requeue --dependents brings jobs back after a prune' 4 "$(in_state queued)"
finish
