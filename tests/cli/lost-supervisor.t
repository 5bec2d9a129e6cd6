#!/bin/sh
# lost-supervisor.t - a command that kills its parent, again and again: the job fails.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { end_jobs; }
field() { store "SELECT $2 FROM jobs WHERE id = $1"; }
# The supervisor dies in run N; the next pass finds what is left of the run and ends it.
lose() { # lose JOB N
	"$POLLUX" schedule
	wait_for 10 told "$2" && touch "go.$1.$2"
	wait_for 10 [ -e "killed.$1.$2" ] || return 1
	wait_for 10 no_supervisor || return 1
	"$POLLUX" schedule
	wait_for 20 ended "$1" "$2"
}
holds() { [ "$(store "$1")" = 1 ]; }
told() { # told RUN: the store has the run's checkpoint, if it saves
	[ "$saves" = no ] || [ "$(field "$id" "checkpoint_samples = 10 * $1")" = 1 ]
}
ended() {
	[ "$(store "SELECT state || ' ' || stop_reason FROM runs WHERE job_id = $1 AND
		number = $2")" = 'ended orphan' ]
}
cat >kills <<'END'
if [ "$1" = saves ]; then # the supervisor writes what it learns every two seconds
	"$POLLUX" report SAMPLES=$((10 * POLLUX_RUN)) CHECKPOINT=x
	while [ ! -e "go.$POLLUX_JOB_ID.$POLLUX_RUN" ]; do sleep 0.1; done
fi
touch "killed.$POLLUX_JOB_ID.$POLLUX_RUN"
kill -9 "$PPID"
exec sleep 1000
END
saves=no
id=$("$POLLUX" submit -q --retries 0 -- sh kills)
ok 'the first run loses its supervisor' lose "$id" 1
is 'a job that lost one supervisor is to run again' 0 \
	"$(store "SELECT count(*) FROM jobs WHERE state = 'failed'")"
ok 'the second run loses its supervisor' lose "$id" 2
pauses() {
	"$POLLUX" schedule
	[ "$(field "$id" 'state, reason')" = \
		'queued|lost its supervisor 2 times in a row; again after a pause of 20 s' ]
}
ok 'the job pauses after two lost supervisors' wait_for 10 pauses
given_run all if state=ended end_boot_s-=1000
ok 'the third run loses its supervisor' lose "$id" 3
is 'a job that lost three supervisors has failed' failed "$(field "$id" state)"
is 'the reason says how many supervisors were killed' \
	"its supervisor was killed 3 times in a row, before a checkpoint: \
does its command kill its parent?" "$(field "$id" reason)"
is 'the event of the last end says it, too' "$(field "$id" reason)" \
	"$(store "SELECT text FROM events WHERE job_id = $id AND kind = 'ended'
	ORDER BY id DESC LIMIT 1")"
"$POLLUX" schedule
is 'a job that lost three supervisors is not run again' 3 "$(field "$id" runs)"
"$POLLUX" requeue "$id"
"$POLLUX" schedule
ok 'requeue gives a job with lost supervisors another try' wait_for 10 [ -e "killed.$id.4" ]
"$POLLUX" cancel "$id"
"$POLLUX" schedule
"$POLLUX" wait --timeout 600 "$id" 2>/dev/null
saves=yes
id=$("$POLLUX" submit -q --retries 0 -- sh kills saves)
for run in 1 2 3; do
	ok "a job that saves loses its supervisor in run $run" lose "$id" "$run"
done
unlike 'a job that saves goes on after three lost supervisors' failed "$(field "$id" state)"
"$POLLUX" cancel "$id"
"$POLLUX" wait --timeout 600 "$id" 2>/dev/null

# --- a failure before the loss ---
saves=no
cat >fails-first <<'END'
[ "$POLLUX_RUN" != 1 ] || kill -9 $$
while [ "$POLLUX_RUN" = 3 ] && [ ! -e third ]; do sleep 0.1; done
exec sh kills
END
id=$("$POLLUX" submit -q --retries 1 -- sh fails-first)
"$POLLUX" schedule
failed_once() { [ "$(field "$id" failures)" = 1 ]; }
ok 'a job whose training was killed has failed once' wait_for 20 failed_once
given_run all if state=ended end_boot_s-=1000
ok 'its second run loses its supervisor' lose "$id" 2
again() {
	"$POLLUX" schedule
	[ "$(field "$id" runs)" = 3 ]
}
ok 'one lost supervisor after a failure brings no pause' wait_for 8 again
touch third
ok 'its third run loses its supervisor' wait_for 20 [ -e "killed.$id.3" ]
wait_for 10 no_supervisor
"$POLLUX" schedule
wait_for 20 ended "$id" 3
ok 'the reason counts the lost supervisors, without the failure' wait_for 10 pauses
"$POLLUX" cancel "$id"

# --- a person asks for another run before a pass has found the loss ---
id=$("$POLLUX" submit -q -- sh -c '[ "$POLLUX_RUN" != 1 ] || exec sh kills')
"$POLLUX" schedule
ok 'the supervisor of a job is killed before a pass finds it' wait_for 20 [ -e "killed.$id.1" ]
wait_for 10 no_supervisor
like 'status says that nobody looks after the job' \
	"its supervisor is gone: the next pass looks after the job" "$("$POLLUX" status)"
status 'requeue accepts the job before a pass finds the loss' 0 "$POLLUX" requeue --force "$id"
"$POLLUX" schedule
ok 'the run ends with the reason of the requeue' wait_for 20 holds "SELECT count(*) FROM runs
	WHERE job_id = $id AND number = 1 AND state = 'ended' AND stop_reason = 'requeue'"
is 'an event tells that the supervisor was killed' \
	'its supervisor was killed; another one stops what is left of it' \
	"$(store "SELECT text FROM events WHERE job_id = $id AND kind = 'adopted'")"
finish
