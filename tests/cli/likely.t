#!/bin/sh
# likely.t - when a waiting job is told to start, and when nothing is told.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLICE POLLUX_POLICY
POLLUX_SLOTS=1
export POLLUX_SLOTS

cleanup() { end_jobs; }
# Jobs of one workload; each ends once there is a file of its number.
alike() {
	"$POLLUX" submit -q -n alike --workload w -- sh -c '
		while [ ! -e "$0/$POLLUX_JOB_ID" ]; do sleep 0.1; done' "$TMP"
}
runs() { [ "$(store "SELECT state FROM runs WHERE job_id = $1 AND state = 'running'")" ]; }
row() { "$POLLUX" status | grep "^ *$1 "; }
reason() { "$POLLUX" status "$1" | sed -n 's/^  reason  *//p'; }
next_start() { "$POLLUX" status "$1" | sed -n 's/^  next start  *//p'; }
told() { # told JOB KEY...: of its JSON
	job=$1
	shift
	"$POLLUX" status --json "$job" | KEYS="$*" json '
		print join " ", map { $d->{jobs}[0]{$_} // "null" } split " ", $ENV{KEYS}'
}

first=$(alike) second=$(alike) third=$(alike)
"$POLLUX" schedule
ok 'the first job runs' wait_for 20 runs "$first"
"$POLLUX" schedule

# --- nothing is known ---
like 'a job of which nothing is known says so' 'needs 1 device; unknown length; ' \
	"$(reason "$second")"
unlike 'no start is told of a job while nothing is known' \
	'likely|latest|assumed' "$(row "$second"; row "$third")"
is 'no start is told of the job in full either' ' ' "$(next_start "$second") $(next_start "$third")"
is 'JSON has no times of the job either' 'null null null null' \
	"$(told "$third" likely_start_time_s likely_end_time_s end_from_s end_to_s)"
unlike 'explain tells no start of the job either' 'likely|to start' "$("$POLLUX" explain "$third")"
is 'no end is told of a running job of which nothing is known' 'null null' \
	"$(told "$first" end_from_s end_to_s)"

# --- a sibling has ended ---
touch "$TMP/$first"
"$POLLUX" wait --timeout 200 "$first"
ok 'the second job runs' wait_for 20 runs "$second"
given_job "$first" attained_service_device_s=7200
"$POLLUX" schedule
unlike 'the length is known by a sibling that has ended' 'unknown length' "$(reason "$third")"
start=$(next_start "$third")
like 'the likely start is told' '^likely about [0-9: -]+' "$start"
near_two_hours() {
	told "$third" likely_start_time_s | perl -ne '
		my $in = $_ - time; print $in > 3600 && $in < 14400 ? "yes" : "in $in s"'
}
is 'the likely start is about when the running sibling is as long' yes "$(near_two_hours)"
has() { case $1 in *"$2"*) echo yes ;; *) echo "$1" ;; esac; }
bound_in_h() { given_job "$third" next_start_time_s=$(($(date +%s) + 3600 * $1)); }
bound_in_h 4
like 'a bound that somebody can plan by is told' '; at the latest ' "$(next_start "$third")"
bound_in_h 50
unlike 'a bound is left out where the job likely starts long before' latest "$(next_start "$third")"
is 'the table tells the same' yes "$(has "$(row "$third")" "${start%%;*}")"
is 'explain tells the same' yes \
	"$(has "$("$POLLUX" explain "$third" | tr -s '\n ' '  ')" "to start ${start%%;*}")"
like 'JSON has the likely start and end, in order' '^yes$' \
	"$(told "$third" likely_start_time_s end_from_s \
	likely_end_time_s end_to_s | perl -ane '
	print $F[0] <= $F[2] && $F[1] <= $F[2] && $F[2] <= $F[3] ? "yes" : $_')"

# --- a time limit ---
brief=$("$POLLUX" submit -q -n brief --workload b -t 1m -- true)
"$POLLUX" schedule
unlike 'the length of a job with a time limit is known' 'unknown length' "$(reason "$brief")"

# --- another policy ---
POLLUX_POLICY=fifo "$POLLUX" schedule
is 'nothing is told under another policy' 'null null null null' \
	"$(told "$third" likely_start_time_s likely_end_time_s end_from_s end_to_s)"
for job in "$second" "$third"; do touch "$TMP/$job"; done
finish
