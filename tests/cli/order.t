#!/bin/sh
# order.t - the table of status: what runs, what waits in the order of its starts, what is held, the
# last ten that ended.
# shellcheck disable=SC2016,SC2154,SC2317  # out is of run; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_SLICE=600
export POLLUX_SLOTS POLLUX_SLICE
unset POLLUX_POLICY
cleanup() { end_passes; end_jobs; }
names() { sed -n '/ more ended/d; s/^ *[0-9-][0-9]* *\([^ ]*\) .*/\1/p' | xargs; }
table() { "$POLLUX" status | sed '1,/^ID/d' | names; }

ended=
for k in 1 2 3 4 5 6 7 8 9 10 11 12; do
	ended="$ended $("$POLLUX" submit -q -n "e$k" --workload "w$k" -- true)"
done
watch_passes 0.2
# shellcheck disable=SC2086  # one job a word
ok 'twelve jobs end' "$POLLUX" wait --timeout 100 $ended
end_passes
is 'the last ten that ended are shown, the newest at the end' 'e3 e4 e5 e6 e7 e8 e9 e10 e11 e12' \
	"$(table)"
like 'the others are counted, and it says how to see them' \
	"^2 more ended: 'pollux status --all' has them" "$("$POLLUX" status)"
is 'status --all has all, by number' 'e1 e2 e3 e4 e5 e6 e7 e8 e9 e10 e11 e12' \
	"$("$POLLUX" status --all | sed '1,/^ID/d' | names)"
group=$("$POLLUX" submit -q --hold -n many --array 1-5 -- true)
for id in $(echo "$group" | head -n 4); do
	given_job "$id" state=done end_time_s="$(($(date +%s) - 1000))"
done
like 'ended jobs of a group whose row is there are not counted' '^2 more ended' \
	"$("$POLLUX" status)"
# shellcheck disable=SC2086  # one job a word
"$POLLUX" cancel $group 2>/dev/null
"$POLLUX" clear
"$POLLUX" submit -q --hold -n held -- true >/dev/null
"$POLLUX" submit -q --begin +9h -n later -- true >/dev/null
"$POLLUX" submit -q -n long -- sleep 1000 >/dev/null
"$POLLUX" schedule
"$POLLUX" submit -q -n second -- sleep 1001 >/dev/null
"$POLLUX" submit -q -n brief -t 30 -- sleep 1 >/dev/null
looked() { # a pass that finds another one at work leaves at once
	"$POLLUX" schedule
	[ "$(store "SELECT count(*) FROM jobs WHERE state = 'queued' AND reason = ''")" = 0 ]
}
ok 'a pass has looked at all' wait_for 30 looked
is 'what runs comes first, what starts next after it, what is held at the end' \
	'long brief second later held' "$(table)"
is 'the order of a column goes before' 'held later long second brief' \
	"$("$POLLUX" status --sort id | sed '1,/^ID/d' | names)"
# Ends belong to the jobs that they are told of, whatever the order.
places() {
	"$POLLUX" status "$@" |
		sed -n 's/.* \([a-z]*\)  *queued .*: \([12]\)[a-z]* in line.*/\1 \2/p' |
		sort | xargs
}
is 'each keeps its place in every order' "$(places)" "$(places --sort -id)"
POLLUX_POLICY=fifo "$POLLUX" schedule
is 'under another policy they come as they were submitted, later ones at the end' \
	'long second brief later held' "$(POLLUX_POLICY=fifo table)"

# --- what is told of a job that runs ---
"$POLLUX" cancel --state active --yes 2>/dev/null
ok 'all are gone' wait_for 30 no_supervisor
id=$("$POLLUX" submit -q -n live -b 1 --samples 100000 -t 500 --metric 'loss=loss ([0-9.]+)' -- \
	sh -c 'while i=$((i + 1)); do echo "step $i/1000 loss 0.5"; sleep 0.1; done')
"$POLLUX" schedule
eta() { "$POLLUX" status --json "$id" | json 'print int($d->{jobs}[0]{eta_s} // -1)'; }
has_eta() { [ "$(eta)" -ge 0 ]; }
ok 'its end is known' wait_for 60 has_eta
ok 'the time to its end is at most what its limit leaves' test "$(eta)" -le 500
ok 'results has the time of a job that runs' test "$("$POLLUX" results --csv live |
	awk -F, 'NR == 2 { print ($5 > 0) }')" = 1
finish
