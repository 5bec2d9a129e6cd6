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
	ok "under $policy it starts first" first_runs $policy
	is 'and when it has started it is as any other' '0 0 0 0' "$(ranks)"
	ok 'no process is left' wait_for 20 no_supervisor
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
ok 'a job runs' wait_for 20 test -e started
for _ in 2 3 4 5; do
	"$POLLUX" submit -q -- true >/dev/null
done
status 'first' 0 "$POLLUX" first 4
is 'says nothing in a pipe' '' "$out$err"
is 'at once it is' 'first in line' "$(reason 4)"
"$POLLUX" schedule --policy fifo
is 'by the next pass, too' '1st in line, put first; needs 1 device' "$(reason 4)"
like 'status has it' "^  turn  *first in line" "$("$POLLUX" status 4)"
is 'the others are behind it' '2nd in line, first in first out; needs 1 device' "$(reason 2)"
"$POLLUX" first 5 3
is 'of several the one named first is the next' '0 0 2 1 3' "$(ranks)"
"$POLLUX" schedule --policy fifo
is 'all are in line' '1st 2nd 3rd 4th' "$(for id in 5 3 4 2; do reason $id | cut -d ' ' -f 1; done |
	xargs)"
is 'taken back' 'job 3: first in line yes -> no' "$("$POLLUX" edit 3 --no-first)"
is 'as it is in the store' '0 0 0 1 3' "$(ranks)"
before=$(ranks)
status 'of several by name, nobody agreed' 1 "$POLLUX" first 't*'
is '--dry-run' 'job 2 would be first in line' "$("$POLLUX" first --dry-run 2)"
status 'a job that runs' 1 "$POLLUX" first 1
is 'says so' 'pollux: job 1 is not in line: it has started already' "$err"
status 'no such job' 66 "$POLLUX" first 99
status 'no job' 64 "$POLLUX" first
status 'not a job' 64 "$POLLUX" first -- -1
is 'and nothing has changed' "$before" "$(ranks)"
"$POLLUX" hold 2
"$POLLUX" first 2
like 'a held one stays held' '^held' "$(reason 2)"
"$POLLUX" release 2
"$POLLUX" schedule --policy fifo
like 'and is next when it is released' '^1st in line, put first' "$(reason 2)"
touch go
ok 'all run' "$POLLUX" wait --timeout 200 2 3 4 5
is 'in this order' '1 2 5 4 3' "$(store 'SELECT job_id FROM runs ORDER BY id' | xargs)"
status 'a job that has ended' 1 "$POLLUX" first 2
finish
