#!/bin/sh
# program.t - examples/preemptible.py saves when told to stop, resumes, and counts each sample once.
# shellcheck disable=SC2016,SC2317  # Perl in quotes; functions run by wait_for and the trap
. "$(dirname "$0")/tap.sh"
cleanup() { end_jobs; }

command -v python3 >/dev/null || skip_all 'no python3'
POLLUX_SLOTS=1
export POLLUX_SLOTS

samples() { "$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{samples} // 0'; }
is_under_way() { [ "$(samples)" -gt 0 ]; }

"$POLLUX" submit -q --preempt --batch 256 --samples 100000 -- \
	python3 "$ROOT/examples/preemptible.py" >/dev/null
"$POLLUX" schedule
ok 'the example program reports samples' wait_for 20 is_under_way
"$POLLUX" requeue 1
status 'the example program is stopped, runs again, and ends' \
	0 "$POLLUX" wait --timeout $((60 * TIME_SCALE)) 1
is 'the example program ran twice and did no sample twice' '2 100096 0' \
	"$(store "SELECT runs, CAST(samples AS int), CAST(lost_samples AS int) FROM jobs" |
		tr '|' ' ')"
is 'its checkpoint holds the same number of samples' 100096 \
	"$(json 'print $d->{samples}' <"$POLLUX_DIR/checkpoints/1/state.json")"
finish
