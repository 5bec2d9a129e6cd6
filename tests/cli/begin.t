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
is '--begin takes a date and a time' "$(date -d '2099-12-01 22:00' +%s).0" "$(begin "$id")"
id=$("$POLLUX" submit -q --begin 2099-12-01 -- true)
is '--begin takes a date alone as its 0:00' "$(date -d 2099-12-01 +%s).0" "$(begin "$id")"
before=$(date +%s)
id=$("$POLLUX" submit -q --begin +2h -- true)
ok '--begin +2h counts from now on' test "$(store "SELECT begin_s BETWEEN $before + 7200 AND
	CAST(strftime('%s') AS INTEGER) + 7201 FROM jobs WHERE id = $id")" = 1
for time in 00:00 12:30 23:59:59; do
	id=$("$POLLUX" submit -q --begin $time -- true)
	is "--begin $time is within a day, at that time" "1|$(echo $time:00 | cut -c 1-8)" \
		"$(store "SELECT
		begin_s > submit_time_s AND begin_s <= submit_time_s + 86400,
		time(begin_s, 'unixepoch') FROM jobs WHERE id = $id")"
done
while read -r time clock; do
	id=$("$POLLUX" submit -q --begin "$time" -- true)
	is "--begin $time is at $clock" "1|$clock" "$(store "SELECT
		begin_s > submit_time_s AND begin_s <= submit_time_s + 86400,
		time(begin_s, 'unixepoch') FROM jobs WHERE id = $id")"
done <<'END'
8pm 20:00:00
8:30AM 08:30:00
12am 00:00:00
12pm 12:00:00
noon 12:00:00
midnight 00:00:00
tomorrow 00:00:00
END
id=$("$POLLUX" submit -q --begin 'tomorrow 23:59' -- true)
is '--begin tomorrow takes a time of day' 1 "$(store "SELECT
	date(begin_s, 'unixepoch') = date(submit_time_s, 'unixepoch', '+1 day') AND
	time(begin_s, 'unixepoch') = '23:59:00' FROM jobs WHERE id = $id")"
before=$(date +%s)
for time in now+1h now+1hour now+60minutes; do
	id=$("$POLLUX" submit -q --begin "$time" -- true)
	ok "--begin $time is +1h" test "$(store "SELECT begin_s BETWEEN $before + 3600 AND
		CAST(strftime('%s') AS INTEGER) + 3601 FROM jobs WHERE id = $id")" = 1
done
id=$("$POLLUX" submit -q --begin now -- true)
is '--begin now sets no time' '' "$(begin "$id")"
for time in 25:00 7:5 22:60 2020-01-01 2099-02-30 2099-13-01 '2099-01-01 ' +x -5 '' \
	tomorrowx 'tomorrow ' 13pm 0am 8:5pm pm now+ now+1fortnight now+hour today \
	22:00:00:00 +1e99h '2099-12-01 22:00 x'; do
	status "submit refuses --begin '$time'" 64 "$POLLUX" submit --begin="$time" -- true
done
like 'submit says what a time for --begin is' \
	"a time to come, such as 22:00, 8pm, \+2h, tomorrow or '2026-12-01 22:00'" "$err"
run "$POLLUX" submit --begin 25:00 -- true
like 'submit says that there is no such time of day' \
	"not '25:00': a time of day is from 00:00 to 23:59, or from 12am to 11:59pm" "$err"
run "$POLLUX" submit --begin 13:00pm -- true
like 'submit says what a time of half a day is' "'13:00pm': .* or from 12am to 11:59pm" "$err"
"$POLLUX" cancel 1-40 2>/dev/null

# --- a job waits for its time, and for the clock on the wall ---
first=$("$POLLUX" submit -q --begin +90m -- true)
ok 'a pass succeeds while a job waits for its time' "$POLLUX" schedule
is 'a job does not start before its time' queued "$(state "$first")"
like 'status says when a job begins, and in how long' \
	'^begins at [0-9-]* ?[0-9:]+ \(in 1h(29|30)m\)$' "$(field "$first" reason)"
like 'the table of status says when a job begins' " begins at .* \\(in 1h" "$("$POLLUX" status)"
like 'the JSON of status has the time at which a job begins' '"begin_s": [0-9.]+' \
	"$("$POLLUX" status --json "$first")"
given_job "$first" begin_s-=5401 next_start_time_s='@begin_s - 5401'	# as if the clock went on
like 'a job whose time has come waits for the next pass' '^may begin: waits for the next pass$' \
	"$(field "$first" reason)"
"$POLLUX" schedule
ok 'a job starts once its time has come' "$POLLUX" wait --timeout 200 "$first"
id=$("$POLLUX" submit -q --begin +9h -- true)
"$POLLUX" schedule
"$POLLUX" edit "$id" --begin +2h >/dev/null
like 'edit gives a job a later time, which status knows at once' '^begins at .* \(in (1h59m|2h)' \
	"$(field "$id" reason)"
is "edit --begin now takes a job's time away" "job $id: begin" \
	"$("$POLLUX" edit "$id" --begin now | cut -d ' ' -f 1-3)"
is 'a job without its time waits for the next pass' 'may begin: waits for the next pass' \
	"$(field "$id" reason)"
"$POLLUX" schedule
ok 'a job whose time edit took away starts' "$POLLUX" wait --timeout 200 "$id"

# --- after ---
fails=$("$POLLUX" submit -q -- false)
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$fails"
cat >blocks <<'END'
while [ ! -e go ]; do sleep 0.1; done
END
blocks=$("$POLLUX" submit -q -- sh blocks)
any=$("$POLLUX" submit -q --after "any:$blocks,$fails" -- true)
both=$("$POLLUX" submit -q --after "any:$blocks" --after "end:$fails" -- true)
notok=$("$POLLUX" submit -q --after "notok:$fails" -- true)
run "$POLLUX" submit -q --after "$fails" -- true
is 'submit warns of a job after a failed one' "pollux: warning: job $fails has failed: a job \
after its success is cancelled; --after end:$fails starts it all the same" "$err"
never=$("$POLLUX" submit -q --after "notok:$first,any:$blocks" -- true)
mixed=$("$POLLUX" submit -q --after "any:$blocks,$any,end:$fails,$first" -- true)
is 'any: holds to the next rule, end: for one job' \
	"$first|ok $fails|end $blocks|any $any|any" "$(store "SELECT after_id || '|' || rule
		FROM dependencies WHERE job_id = $mixed ORDER BY after_id" | sort -n | xargs)"
"$POLLUX" schedule
ok 'a job after any: of two starts when one has ended' "$POLLUX" wait --timeout 200 "$any"
ok 'a job after notok: starts when the other has failed' "$POLLUX" wait --timeout 200 "$notok"
is 'a job after any: waits for the one that runs' queued "$(state "$both")"
pass
like 'status says which job a job waits for' "after job $blocks, which is running" \
	"$(field "$both" reason)"
like 'status shows the rule of each job that is waited for' \
	"job $fails .to end., which has failed; job $blocks .or another., which is running" \
	"$(field "$both" after)"
is 'a job after notok: of a job that is done is cancelled' cancelled "$(state "$never")"
like 'the reason says which job was to fail first' "job $first, which was to fail first, is done" \
	"$(field "$never" reason)"
is 'the JSON of status has the rule of each job' 'end any' "$("$POLLUX" status --json "$both" |
	json 'print join(" ", map { $_->{rule} } @{$d->{jobs}[0]{details}{after}})')"
ok 'a job after any: of several starts when one of them has ended' \
	"$POLLUX" wait --timeout 200 "$mixed"
touch go
ok 'a job after two others starts when the second has ended' "$POLLUX" wait --timeout 200 "$both"
for after in any: any:,1 1,,2 ok:-1; do
	status "submit refuses --after $after" 64 "$POLLUX" submit --after "$after" -- true
done
for after in "nok:$first" "any:any:$first" notok any:x; do
	status "submit finds no job of this name: --after $after" 66 \
		"$POLLUX" submit --after "$after" -- true
	like "submit names what no job matches: --after $after" "no job matches '${after#any:}'" \
		"$err"
done
status 'submit refuses to wait for a job that does not exist' 66 \
	"$POLLUX" submit --after any:999 -- true

# --- edit of a job that waits for both ---
first=$("$POLLUX" submit -q --begin +9h -- true)
id=$("$POLLUX" submit -q --after "$first" -- true)
"$POLLUX" schedule
"$POLLUX" edit "$id" --begin +2h >/dev/null
like 'a job with a time and another to wait for names the other' "^after job $first" \
	"$(field "$id" reason)"
"$POLLUX" cancel "$first" "$id" >/dev/null 2>&1
finish
