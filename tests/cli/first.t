#!/bin/sh
# first.t - pollux first: a job starts before any other that waits, under each policy of a pass.
# shellcheck disable=SC2154,SC2317  # $err and $out are of run; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() {
	touch "$TMP/go"
	end_jobs
}
reason() { "$POLLUX" status "$1" | sed -n 's/^  reason  *//p'; }
ranks() { store 'SELECT first_rank FROM jobs ORDER BY id' | xargs; }
first_runs() { # first_runs POLICY: of four jobs the third is put first, and starts first
	POLLUX_DIR=$TMP/$1
	for _ in 1 2 3 4; do
		"$POLLUX" submit -q --no-preempt -- true >/dev/null
	done
	"$POLLUX" first 3
	"$POLLUX" schedule --policy "$1"
	"$POLLUX" wait --timeout 200 1 2 3 4
	[ "$(store 'SELECT job_id FROM runs ORDER BY id LIMIT 1')" = 3 ]
}

for policy in goodput pollux las fifo; do
	POLLUX_DIR=$TMP/$policy
	ok "the job that was put first starts first under $policy" first_runs $policy
	is 'no job is put first any more once it has started' '0 0 0 0' "$(ranks)"
	ok 'no supervisor is left' wait_for 20 no_supervisor
done

# --- the line, while a job keeps the slot ---
POLLUX_DIR=$TMP/store
cat >blocks <<'END'
trap 'exit 1' TERM
touch started
while [ ! -e go ]; do sleep 0.1; done
END
"$POLLUX" submit -q --no-preempt -- sh blocks >/dev/null
"$POLLUX" schedule --policy fifo
ok 'the first job runs' wait_for 20 test -e started
for _ in 2 3 4 5; do
	"$POLLUX" submit -q -- true >/dev/null
done
status 'first succeeds for a waiting job' 0 "$POLLUX" first 4
is 'first says nothing in a pipe' '' "$out$err"
is 'status says at once that the job is first in line' 'first in line' "$(reason 4)"
"$POLLUX" schedule --policy fifo
is 'the next pass says that the job was put first' '1st in line, put first; needs 1 device' \
	"$(reason 4)"
like "status shows that the job's turn is first in line" "^  turn  *first in line" \
	"$("$POLLUX" status 4)"
is 'the other jobs are behind the one that was put first' \
	'2nd in line, first in first out; needs 1 device' "$(reason 2)"
"$POLLUX" first 5 3
is 'of several jobs the one named first is next' '0 0 2 1 3' "$(ranks)"
"$POLLUX" schedule --policy fifo
is 'each waiting job has its place in line' '1st 2nd 3rd 4th' \
	"$(for id in 5 3 4 2; do reason $id | cut -d ' ' -f 1; done |
	xargs)"
is "edit --no-first takes a job's place back" 'job 3: first in line yes -> no' \
	"$("$POLLUX" edit 3 --no-first)"
is "the store has the other jobs' places" '0 0 0 1 3' "$(ranks)"
before=$(ranks)
status 'first refuses several jobs by name where nobody agreed' 1 "$POLLUX" first 't*'
is 'first --dry-run says which job would be first' 'job 2 would be first in line' \
	"$("$POLLUX" first --dry-run 2)"
status 'first refuses a job that runs' 1 "$POLLUX" first 1
is 'first says that the job has started already' \
	'pollux: job 1 is not in line: it has started already' "$err"
status 'first refuses a job that does not exist' 66 "$POLLUX" first 99
status 'first refuses to go without a job' 64 "$POLLUX" first
status 'first refuses an operand that names no job' 64 "$POLLUX" first -- -1
is 'refused commands change no place in line' "$before" "$(ranks)"
"$POLLUX" hold 2
"$POLLUX" first 2
like 'a held job that was put first stays held' '^held' "$(reason 2)"
"$POLLUX" release 2
"$POLLUX" schedule --policy fifo
like 'a job that was put first is next when it is released' '^1st in line, put first' "$(reason 2)"
touch go
ok 'all jobs run' "$POLLUX" wait --timeout 200 2 3 4 5
is 'the jobs run in the order of the line' '1 2 5 4 3' \
	"$(store 'SELECT job_id FROM runs ORDER BY id' | xargs)"
status 'first refuses a job that has ended' 1 "$POLLUX" first 2
finish
