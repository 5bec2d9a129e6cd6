#!/bin/sh
# hints.t - what is said to a person who typed something near to what pollux takes, and what fits
# into 80 columns.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $out is of run; cleanup
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=1
cleanup() { end_jobs; }
says() { # says NAME STATUS MESSAGE ARGUMENT...
	wanted=$2 message=$3
	name=$1
	shift 3
	run "$POLLUX" "$@"
	is "$name" "$wanted:pollux: $message" "$rc:$err"
}

says 'submit says how to write a time from now on' 64 \
	"option '--begin' wants a time to come, such as 22:00, 8pm, +2h, \
tomorrow or '2026-12-01 22:00', not '1h': from now on, that is +1h; see 'pollux submit --help'" \
	submit --begin 1h -- true
id=$("$POLLUX" submit -q --begin +3h -- sh -c 'echo ${HOME}:')
"$POLLUX" schedule
run "$POLLUX" first "$id"
like 'first says that the job waits for its time all the same' \
	"^pollux: job $id waits for its --begin, [0-9: -]*, \
all the same; 'pollux edit $id --begin now' lets it start$" "$err"
like 'status says that the job waits for its time' '^  reason  *begins at ' \
	"$("$POLLUX" status "$id")"
says 'cancel says that a range has two ends' 66 \
	"no job matches '28-'; a range has two ends, such as 28-40" cancel 28-
says 'cancel says how to take all jobs that have not ended' 66 \
	"no job matches 'all'; all jobs that have not ended are --state active" \
	cancel all
run "$POLLUX" status -o id,foo,state
like 'status names a column that does not exist' \
	"^pollux: option '--columns': there is no 'foo'; there are id, name," "$err"
run "$POLLUX" status -o id,nmae
like 'status asks whether a mistyped column was meant as another' \
	"there is no 'nmae'; did you mean 'name'\? there are id, name," "$err"
run "$POLLUX" submit --hold --kind 'no such' -- true
like 'submit warns of a kind that is not here' \
	"^pollux: warning: job [0-9]+ needs 1 device of a kind that \
--kind 'no such' allows, but 0 can be used here: it waits until there are more; kinds here: '.+'$" \
	"$err"
run "$POLLUX" submit --hold --kind 'no such' --not-kind nor -- true
like 'submit names both patterns of kinds in its warning' \
	"that --kind 'no such' and --not-kind 'nor' allow, but" "$err"
printf '#!/bin/sh\r\n#POLLUX --name "of windows" --batch 7\r\n#POLLUX\r\n:\r\n' >script
status 'submit accepts a script whose lines end as on Windows' 0 \
	"$POLLUX" submit -q --hold -- sh script
is 'options in a script whose lines end as on Windows count' 'of windows|7' \
	"$(store "SELECT name, batch_size FROM jobs WHERE id = $out")"
printf '#POLLUX --help\n' >script
says 'submit says that --help is for the command line' 64 \
	"'script' line 1: '--help' is for the command line" submit -- sh script

# --- a group, for a script and for a person ---
status 'submit accepts a sweep into a pipe' 0 "$POLLUX" submit --hold --array 1-3 -- true
is 'submit prints into a pipe what other commands take' 'group:1' "$out"
like 'submit prints a sentence on a terminal' '^group 2: jobs [0-9]+ to [0-9]+ \(3 runs\)$' \
	"$(script -qec "'$POLLUX' submit --hold --array 1-3 -- true" /dev/null </dev/null |
		tr -d '\r')"

# --- 80 columns ---
export COLUMNS=80
cat >reports <<'END'
"$POLLUX" report SAMPLES=300000 'STATUS=accuracy 0.8871 at 552302 samples after these steps'
END
id=$("$POLLUX" submit -q -b 10 --name a-rather-long-name -- sh reports)
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$id"
wait_for 20 no_supervisor
like 'status does not cut what an ended job said' \
	'accuracy 0.8871 at 552302 samples after these steps \(' \
	"$("$POLLUX" status | tr "\n" " " | tr -s " ")"
run "$POLLUX" prune --all --dry-run
like 'prune ends with the number of records that stay' '1 record stays: models rest on it $' \
	"$(echo "$out" | tr '\n' ' ')"
is 'status and prune keep to 80 columns' '' \
	"$("$POLLUX" status | grep -E '.{81}'; echo "$out" | grep -E '.{81}')"
finish
