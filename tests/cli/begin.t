#!/bin/sh
# begin.t - --begin: jobs that do not start before a time; --after any: and notok:, also with jobs
# whose turn can never come.
# shellcheck disable=SC2016,SC2154,SC2317  # $err is of run; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
TZ=UTC
export POLLUX_SLOTS TZ
cleanup() { end_jobs; }
field() { "$POLLUX" status "$1" | sed -n "s/^  $2  *//p"; }
state() { store "SELECT state FROM jobs WHERE id = $1"; }
begin() { store "SELECT begin_s FROM jobs WHERE id = $1"; }

# --- what --begin takes ---
id=$("$POLLUX" submit -q --begin '2099-12-01 22:00' -- true)
is 'a date and a time' "$(date -d '2099-12-01 22:00' +%s).0" "$(begin "$id")"
id=$("$POLLUX" submit -q --begin 2099-12-01 -- true)
is 'a date alone is at 0:00' "$(date -d 2099-12-01 +%s).0" "$(begin "$id")"
before=$(date +%s)
id=$("$POLLUX" submit -q --begin +2h -- true)
ok 'from now on' test "$(store "SELECT begin_s BETWEEN $before + 7200 AND
	CAST(strftime('%s') AS INTEGER) + 7201 FROM jobs WHERE id = $id")" = 1
for time in 00:00 12:30 23:59:59; do
	id=$("$POLLUX" submit -q --begin $time -- true)
	is "$time is within a day, at that time" "1|$(echo $time:00 | cut -c 1-8)" "$(store "SELECT
		begin_s > submit_time_s AND begin_s <= submit_time_s + 86400,
		time(begin_s, 'unixepoch') FROM jobs WHERE id = $id")"
done
id=$("$POLLUX" submit -q --begin now -- true)
is 'now is no time' '' "$(begin "$id")"
for time in 25:00 7:5 22:60 2020-01-01 2099-02-30 2099-13-01 '2099-01-01 ' +x -5 '' tomorrow \
	22:00:00:00 +1e99h '2099-12-01 22:00 x'; do
	status "refused: '$time'" 64 "$POLLUX" submit --begin="$time" -- true
done
like 'and it is said what a time is' \
	"a time to come, such as 22:00, \+2h or '2026-12-01 22:00'" "$err"
run "$POLLUX" submit --begin 25:00 -- true
like 'no such time of day' "not '25:00': a time of day is from 00:00 to 23:59" "$err"
"$POLLUX" cancel 1-20 2>/dev/null

# --- a job waits for its time, and for the clock on the wall ---
first=$("$POLLUX" submit -q --begin +90m -- true)
ok 'a pass' "$POLLUX" schedule
is 'it does not start' queued "$(state "$first")"
like 'status says when, and in how long' '^begins at [0-9-]* ?[0-9:]+ \(in 1h(29|30)m\)$' \
	"$(field "$first" reason)"
like 'so does the table' " begins at .* \\(in 1h" "$("$POLLUX" status)"
like 'JSON has the reading of the clock' '"begin_s": [0-9.]+' "$("$POLLUX" status --json "$first")"
store "UPDATE jobs SET begin_s = begin_s - 5401, next_start_time_s = begin_s - 5401
	WHERE id = $first"	# as if the clock went on
like 'when the clock is there it waits for a pass' '^may begin: waits for the next pass$' \
	"$(field "$first" reason)"
"$POLLUX" schedule
ok 'when the clock is there the job starts' "$POLLUX" wait --timeout 200 "$first"
id=$("$POLLUX" submit -q --begin +9h -- true)
"$POLLUX" schedule
"$POLLUX" edit "$id" --begin +2h >/dev/null
like 'edit: later, as status knows at once' '^begins at .* \(in (1h59m|2h)' "$(field "$id" reason)"
is 'edit: at once' "job $id: begin" "$("$POLLUX" edit "$id" --begin now | cut -d ' ' -f 1-3)"
is '... which waits for a pass' 'may begin: waits for the next pass' "$(field "$id" reason)"
"$POLLUX" schedule
ok 'it starts' "$POLLUX" wait --timeout 200 "$id"

# --- after ---
fails=$("$POLLUX" submit -q -- false)
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$fails"
cat >blocks <<'END'
while [ ! -e go ]; do sleep 0.1; done
END
blocks=$("$POLLUX" submit -q -- sh blocks)
any=$("$POLLUX" submit -q --after "any:$blocks,$fails" -- true)
both=$("$POLLUX" submit -q --after "any:$blocks" --after "$fails" -- true)
notok=$("$POLLUX" submit -q --after "notok:$fails" -- true)
never=$("$POLLUX" submit -q --after "notok:$first,any:$blocks" -- true)
mixed=$("$POLLUX" submit -q --after "any:$blocks,$any,ok:$first,$fails" -- true)
is 'any: holds to the next rule, ok: for one job' \
	"$first|ok $fails|end $blocks|any $any|any" "$(store "SELECT after_id || '|' || rule
		FROM dependencies WHERE job_id = $mixed ORDER BY after_id" | sort -n | xargs)"
"$POLLUX" schedule
ok 'any: one of them has ended' "$POLLUX" wait --timeout 200 "$any"
ok 'notok: it has failed' "$POLLUX" wait --timeout 200 "$notok"
is 'any: of one that runs waits' queued "$(state "$both")"
like 'and says for which' "after job $blocks, which is running" "$(field "$both" reason)"
like 'status has the rule' \
	"job $fails, which is failed; job $blocks \\(or another\\), which is running" \
	"$(field "$both" after)"
is 'notok: of one that is done is cancelled' cancelled "$(state "$never")"
like 'and says why' "job $first, which was to fail first, is done" "$(field "$never" reason)"
is 'JSON has the rule' 'end any' "$("$POLLUX" status --json "$both" |
	json 'print join(" ", map { $_->{rule} } @{$d->{jobs}[0]{details}{after}})')"
ok 'a job of the others that has ended will do' "$POLLUX" wait --timeout 200 "$mixed"
touch go
ok 'then the other' "$POLLUX" wait --timeout 200 "$both"
for after in any: any:,1 1,,2 ok:-1; do
	status "refused: --after $after" 64 "$POLLUX" submit --after "$after" -- true
done
for after in "nok:$first" "any:any:$first" notok any:x; do
	status "no job has this name: --after $after" 66 \
		"$POLLUX" submit --after "$after" -- true
	like 'which is told' "no job matches '${after#any:}'" "$err"
done
status 'a job that is not there' 66 "$POLLUX" submit --after any:999 -- true

# --- edit of a job that waits for both ---
first=$("$POLLUX" submit -q --begin +9h -- true)
id=$("$POLLUX" submit -q --after "$first" -- true)
"$POLLUX" schedule
"$POLLUX" edit "$id" --begin +2h >/dev/null
like 'a job that waits for another one still says so' "^after job $first" "$(field "$id" reason)"
"$POLLUX" cancel "$first" "$id" >/dev/null 2>&1
finish
