#!/bin/sh
# clock.t - the wall clock is set back, and forward, while jobs run: durations, slices,
# pauses and limits come from the clock that nobody sets.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

[ -r "$FAULT/preload_clock.so" ] || skip_all "$FAULT/preload_clock.so is not built: make check"
CLOCK_OFFSET_FILE=$TMP/offset
export CLOCK_OFFSET_FILE
echo 0 >"$CLOCK_OFFSET_FILE"
# The sanitizers want to be loaded first, and need not be.
preloaded() {
	LD_PRELOAD=$FAULT/preload_clock.so \
		ASAN_OPTIONS="${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0" "$@"
}
printf '#!/bin/sh\nexec env LD_PRELOAD="%s" ASAN_OPTIONS="%s" "%s" "$@"\n' \
	"$FAULT/preload_clock.so" \
	"${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0" "$POLLUX" >pollux
chmod +x pollux
preloaded "$POLLUX" --version >version 2>&1 || skip_all "cannot preload: $(cat version)"
POLLUX=$TMP/pollux
set_clock() { echo "$1" >offset.new && mv offset.new "$CLOCK_OFFSET_FILE"; }
tried_again() {
	pass
	query_is 2 "SELECT count(*) FROM runs WHERE job_id = $other AND outcome = 'failed'"
}
no_negative() { # no_negative TEXT: times and durations, as people see them
	printf '%s\n' "$1" | grep -E '(^|[ "])-[0-9]'
}

day=86400
job=$(submit -- "$work" -n 800 -s 5)
other=$(submit --retries 1 -- "$work" -n 20 -s 5 -e 3)
limited=$(submit --time-limit 1 -- "$work" -n 100000 -s 5)
POLLUX_SLOTS=3
pass
ok 'jobs run' wait_for 10 logged "$job" 'step 5 '
set_clock -$day
is 'a pass succeeds with the clock a day back' 0 "$("$POLLUX" schedule >out 2>&1; echo $?)"
late=$(submit -- "$work" -n 20)
yesterday=$(($(date +%s) - day / 2))
ok 'submissions have the clock of a day back' \
	query_is 1 "SELECT submit_time_s < $yesterday FROM jobs WHERE id = $late"
pass
out=$("$POLLUX" status -a)
is 'the status has nothing negative' '' "$(no_negative "$out")"
is 'status ID has nothing negative' '' "$(no_negative "$("$POLLUX" status "$job")")"
ok 'a failed job is tried again after its pause, not a day later' wait_for 30 tried_again
ok 'supervisors have the clock of a day back' \
	query_is 1 "SELECT launch_time_s < $yesterday AND end_time_s < $yesterday
	FROM runs WHERE job_id = $other AND number = 2"
set_clock $((10 * day))
out=$("$POLLUX" status -a)
is 'the status has nothing negative with the clock ten days ahead' '' "$(no_negative "$out")"
is 'no job seems to have run for days' '' "$(printf '%s\n' "$out" | grep -E '[0-9]d')"
ok 'the job with a time limit ends after its second' wait_for 20 job_is "$limited" timeout
set_clock -$((30 * day))
settle 60 'every job ends with the clock a month back'
exact 'the job has exactly its samples' "$job" 800
is 'the status of ended jobs has nothing negative' '' "$(no_negative "$("$POLLUX" status -a)")"
"$POLLUX" status --json -a >json 2>&1
is 'no duration in JSON is negative' '' \
	"$(grep -E '"[a-z_]*(duration|run_time|lost|service|stop)[a-z_]*_s": *-' json)"
is 'the durations of runs are plausible' '' "$(query "SELECT id, duration_s FROM runs
	WHERE duration_s < 0 OR duration_s > 60 * $TIME_SCALE")"
is 'the running times of jobs are plausible' '' "$(query "SELECT id, run_time_s FROM jobs
	WHERE run_time_s < 0 OR run_time_s > 90 * $TIME_SCALE")"
is 'the time limit was kept' 1 "$(query "SELECT run_time_s BETWEEN 1 AND 20 * $TIME_SCALE
	FROM jobs WHERE id = $limited")"
sound 'all is well after the changes of the clock'
finish
