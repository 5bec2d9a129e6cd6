#!/bin/sh
# clear.t - pollux clear: ended jobs out of sight, with all that they left and taught.
# shellcheck disable=SC2016,SC2154,SC2317  # Perl; out and err are of run; cleanup of the trap
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS
cleanup() { end_jobs; }
shown() { "$POLLUX" status --json | json 'print join " ", map { $_->{id} } @{$d->{jobs}};'; }

status 'clear without a store is no input' 66 "$POLLUX" clear
good=$("$POLLUX" submit -q --name good -- true) bad=$("$POLLUX" submit -q --name bad -- false)
"$POLLUX" schedule
"$POLLUX" wait "$good" "$bad" 2>/dev/null
runs=$("$POLLUX" submit -q -- sleep 1000)
"$POLLUX" schedule
status 'a job that runs is not cleared' 1 "$POLLUX" clear "$runs"
like 'and the message says why' "^pollux: job $runs has not ended: running$" "$err"
status 'clear --dry-run succeeds' 0 "$POLLUX" clear --dry-run
is 'clear --dry-run says which jobs it means' "job $good would be cleared
job $bad would be cleared" "$out"
is 'and leaves them in sight' "$good $bad $runs" "$(shown)"
status 'clear takes a selection' 0 "$POLLUX" clear --state failed
is 'of which only the jobs are gone' "$good $runs" "$(shown)"
status 'clear asks nobody, and needs no job' 0 "$POLLUX" clear
is 'then no job that ended is in the table' "$runs" "$(shown)"
"$POLLUX" page -o page.html
ok 'nor in the page' test "$(grep -c '>good<' page.html)" = 0
is 'status --all has them' "$good $bad $runs" "$("$POLLUX" status --all --json |
	json 'print join " ", map { $_->{id} } @{$d->{jobs}};')"
like 'a job that is named is shown' '^job 1: good$' "$("$POLLUX" status "$good")"
like 'history has them' 'good' "$("$POLLUX" history --by name)"
like 'their logs are there' 'log +/' "$("$POLLUX" status "$bad")"
status 'to clear where nothing is left is no error' 0 "$POLLUX" clear
status 'a selection of which nothing is left is one' 1 "$POLLUX" clear --state failed
like 'and says so' '^pollux: nothing to clear: 1 job matches .*, none is ended, and in sight$' \
	"$err"
"$POLLUX" requeue "$bad"
is 'a job that is queued again is in sight' "$bad $runs" "$(shown)"
"$POLLUX" schedule
"$POLLUX" wait "$bad" 2>/dev/null
is 'and stays there when it has ended' "$bad $runs" "$(shown)"
finish
