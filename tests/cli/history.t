#!/bin/sh
# history.t - pollux history: real jobs are summed by day, name, workload and group.
# shellcheck disable=SC2016,SC2317  # texts for Perl; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2 POLLUX_POLICY=fifo TZ=UTC
export POLLUX_SLOTS POLLUX_POLICY TZ
cleanup() { end_jobs; }

status 'history fails where there is no store' 66 "$POLLUX" history
"$POLLUX" submit -q --name 'a, "b"' --workload w -- sh -c 'sleep 1' >/dev/null
"$POLLUX" submit -q --name bad --workload w -- false >/dev/null
"$POLLUX" submit -q --hold --name never -- true >/dev/null
status 'history succeeds before any job ran' 0 "$POLLUX" history
is 'history says that no job ran' 'No job ran then.' "$out"
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 1 2 >/dev/null 2>&1
wait_for 20 no_supervisor

"$POLLUX" history --json >sums
is 'history counts two jobs, one done and one failed' '2 1 1' \
	"$(json 'my $t = $d->{total}; print "@$t{qw(jobs done failed)}"' <sums)"
is 'the device time is that of the runs' same "$(json 'my $t = $d->{total}{device_s};
	print abs($t - '"$(store 'SELECT sum(duration_s * replicas) FROM runs')"') < 1e-6 * $t
		? "same" : $t' <sums)"
is 'the wait is from submission to start' same "$(json 'my $t = $d->{total}{mean_wait_s};
	print abs($t - '"$(store 'SELECT avg(start_time_s - submit_time_s)
		FROM jobs WHERE runs')"') < 1e-6
		? "same" : $t' <sums)"
is 'the gain is null where none is known' null "$(grep -c '"gain": null' sums | sed 's/^2$/null/')"
like 'history has a row for each day' '^20[0-9-]{8} +2 +1 +1 ' "$("$POLLUX" history)"
like 'history has a row for all days' '^all +2 +1 +1 ' "$("$POLLUX" history)"
"$POLLUX" history --by name --csv >csv
is 'the CSV has a header and two rows' 3 "$(wc -l <csv | xargs)"
like 'the CSV quotes a name with a comma and quotes' '^"a, ""b""",1,1,0,0,0,[1-9]' "$(cat csv)"
is 'history by workload counts both jobs' 'w,2' \
	"$("$POLLUX" history --by workload --csv | sed 1d | cut -d , -f 1,2)"
is 'history by group counts jobs of no group' '-,2' \
	"$("$POLLUX" history --by group --csv | sed 1d | cut -d , -f 1,2)"
is 'history keeps to 80 columns' '' "$(COLUMNS=80 "$POLLUX" history --by workload |
	awk 'length > 80')"
# The first job ran for four of the last hours of a day, and two of the next, 40 days ago.
began=$((($(date +%s) / 86400 - 40) * 86400 - 4 * 3600))
given_run 1 launch_time_s=$began end_time_s=$((began + 21600)) duration_s=21600
given_job 1 submit_time_s=$((began - 3600)) start_time_s=$began end_time_s=$((began + 21600))
is 'jobs older than the period do not count' 1 \
	"$("$POLLUX" history --csv | sed 1d | awk -F , '{ n += $2 } END { print n }')"
is 'the time of a run over midnight is shared out' '14400 7200' \
	"$("$POLLUX" history --since 60d --csv | sed 1d | cut -d , -f 7 | head -n 2 | xargs)"
is 'the wait of a run over midnight counts for its first day' '3600' \
	"$("$POLLUX" history --since 60d --csv | sed -n 2p | cut -d , -f 8)"
is 'history by user names the owner of the store' "$(stat -c %U "$POLLUX_DIR/pollux.db"),2" \
	"$("$POLLUX" history --since 60d --by user --csv | sed 1d | cut -d , -f 1,2)"
status 'history refuses a bad key' 64 "$POLLUX" history --by moon
like 'history names the right keys' 'day, name, workload, group or user' "$err"
status 'history refuses a bad time' 64 "$POLLUX" history --since yesterday
status 'history refuses --csv with --json' 64 "$POLLUX" history --csv --json
status 'history refuses an operand' 64 "$POLLUX" history 17
if command -v gnuplot >/dev/null; then
	status 'history --plot draws a picture' 0 \
		"$POLLUX" history --since 60d --by name --plot names.svg
	is 'gnuplot does not complain of the picture' '' "$err"
	like 'the picture is whole' '^</svg>$' "$(cat names.svg)"
	like 'the picture has a name as it is' '(>|CDATA\[)a, "b"' "$(cat names.svg)"
	like 'the picture is in hours' '(>|CDATA\[)hours' "$(cat names.svg)"
fi
status 'history --plot fails where no job ran' 1 "$POLLUX" history --since 1s --plot none.svg
status 'history --plot refuses another format' 64 "$POLLUX" history --plot x.pdf

# --- groups ---
"$POLLUX" submit -q --array 1-3 -- sh -c 'sleep 0.2; exit {index}' >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 4 5 6 >/dev/null 2>&1
is 'history by group has the jobs of a sweep in one row' 'group:1,3,0,3' \
	"$("$POLLUX" history --by group --csv | grep '^group:' | cut -d , -f 1-4)"
finish
