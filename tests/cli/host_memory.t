#!/bin/sh
# host_memory.t - jobs that together need more of the host's memory than there is take turns.
# shellcheck disable=SC2016,SC2317 # Perl for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
POLLUX_SLOTS=3
export POLLUX_SLOTS
cleanup() { end_jobs >/dev/null; }
submit() { "$POLLUX" submit -q "$@"; }
field() { "$POLLUX" status --json "$1" | json 'print $d->{jobs}[0]{'"$2"'} // "-"'; }
states() { for job; do field "$job" state; echo; done | sed s/starting/running/ | tr '\n' ' '; }

# What runs of a workload took: 0.6 of what the machine has.
first=$(submit --workload large -- true)
"$POLLUX" schedule
wait_for 20 no_supervisor
is 'the first job ends' 'done' "$(field "$first" state)"
total=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) * 1024))
given_run all peak_memory_bytes="$((total * 6 / 10))"

one=$(submit --workload large -- sleep 1000) two=$(submit --workload large -- sleep 1000)
small=$(submit --workload small -- sleep 1000)
"$POLLUX" schedule
is 'two jobs that need more memory than there is do not run at once' \
	'running queued running ' "$(states "$one" "$two" "$small")"
like 'the reason says how much memory is needed, and how much is in use' \
	'^waits for host memory: needs [0-9.]+ of [0-9.]+ GiB, [0-9.]+ are in use$' \
	"$(field "$two" reason)"
like 'explain says that the job waits for host memory' 'waits for host memory' \
	"$("$POLLUX" explain "$two")"
"$POLLUX" cancel "$one" >/dev/null
wait_for 20 eval '[ "$(field "$one" state)" = cancelled ]'
# The pass that the end brings may have looked before, and lets no other one begin.
follows() { "$POLLUX" schedule && [ "$(states "$two" "$small")" = 'running running ' ]; }
ok 'the second job follows when the first was cancelled' wait_for 20 follows
three=$(submit --workload large -- sleep 1000)
"$POLLUX" schedule
is 'a third job waits for host memory' 'queued ' "$(states "$three")"
POLLUX_POLICY=fifo "$POLLUX" schedule
is 'policy fifo does not heed host memory' 'running ' "$(states "$three")"
end_jobs

# By plan: dp took 0.6 of the machine's memory, gc 0.2.
for plan in dp:6:.010 gc:2:.020; do
	rest=${plan#*:}
	job=$(submit -b 64 --workload w --plan "${plan%%:*}=" -- true)
	"$POLLUX" schedule
	wait_for 20 no_supervisor
	given_run "$job" peak_memory_bytes="$((total * ${rest%:*} / 10))"
	measured "$job" "${rest#*:}"
done
either() { submit -b 64 --workload w --plan dp= --plan gc= -- sleep 1000; }
six=$(either) seven=$(either)
"$POLLUX" schedule
is 'a job starts in a leaner plan where host memory is short' 'dp gc' "$(store "SELECT
	group_concat(plan, ' ') FROM (SELECT plan FROM runs WHERE job_id IN ($six, $seven)
	ORDER BY plan)")"
like 'an event says why the leaner plan was taken' \
	"plan gc .dp would be [0-9]+ % faster, but the host's memory is short" \
	"$(store "SELECT group_concat(text) FROM events WHERE kind = 'assigned'")"
end_jobs

# Nothing was measured.
four=$(submit --workload new -- sleep 1000) five=$(submit --workload new -- sleep 1000)
"$POLLUX" schedule
is 'jobs whose memory is not known run beside each other' 'running running ' \
	"$(states "$four" "$five")"
finish
