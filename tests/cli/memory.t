#!/bin/sh
# memory.t - submit --memory: a limit of the host's memory, and what a job needs of it.
# shellcheck disable=SC2016,SC2317 # Perl for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
POLLUX_SLOTS=4
export POLLUX_SLOTS
cleanup() { end_jobs >/dev/null; }
submit() { "$POLLUX" submit -q "$@"; }
field() { "$POLLUX" status --json "$1" | json 'print $d->{jobs}[0]{'"$2"'} // "-"'; }
is_in() { [ "$(field "$1" state)" = "$2" ]; }
over='failed.*out of memory: used [0-9.]+ [MG]iB, limit 100 MiB'

# --- what takes more ---

alone=$(submit --memory 100M perl -e '$x = "a" x 3e8; sleep 1000')
child=$(submit --memory 100M sh -c 'perl -e "\$x = q(a) x 3e8; sleep 1000" & wait; exit 0')
less=$(submit --memory 1G perl -e '$x = "a" x 1e7; sleep 2')
pass
for job in "$alone" "$child"; do
	"$POLLUX" wait --timeout 200 "$job" >/dev/null
	like "job $job failed, and its reason has the figures" "$over" \
		"$(field "$job" state) $(field "$job" reason)"
done
like 'the table says that it ran out of memory' "^ *$alone .*failed.* out of memory: used" \
	"$("$POLLUX" status --all | tr -s ' ')"
ok 'a job that takes less is done' "$POLLUX" wait --timeout 200 "$less"
is 'the limit is in the JSON' 1073741824 "$(field "$less" memory_limit_bytes)"
like 'status has the limit' '^memory +1.0 GiB|^ *memory:? +1' "$("$POLLUX" status "$less")"

# --- what several processes share counts once ---

shared=$(submit --memory 100M perl -e '$x = "a" x 3e7; for (1 .. 3) { fork || last }
	sleep 3; wait; exit 0')
pass
ok 'pages that processes share count once' "$POLLUX" wait --timeout 200 "$shared"

# --- another limit while it runs ---

grows=$(submit --memory 10G perl -e '$x = "a" x 3e8; open F, ">grown"; close F; sleep 1000')
pass
ok 'a job has what its limit allows' wait_for 20 [ -e grown ]
"$POLLUX" edit --memory 100M "$grows" >/dev/null
ok 'a smaller limit counts at once' wait_for 20 is_in "$grows" failed
like 'its reason has that limit' "$over" "failed $(field "$grows" reason)"

# --- what fits at once ---

total=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024))
one=$(submit --memory "$((total * 85 / 100))M" sleep 1000)
pass
two=$(submit --memory "$((total * 85 / 100))M" sleep 1000)
cpu=$(submit --cpu --memory "$((total / 10))M" sleep 1000)
pass
is 'jobs whose limits do not fit beside each other do not run at once' 'running queued' \
	"$(field "$one" state | sed s/starting/running/) $(field "$two" state)"
like 'the reason says what is needed' '^waits for host memory: needs [0-9.]+ of [0-9.]+ GiB' \
	"$(field "$two" reason)"
like 'the same of a job without a device' '^waits for host memory: needs' "$(field "$cpu" reason)"
"$POLLUX" cancel "$one" >/dev/null
"$POLLUX" wait --timeout 200 "$one"
next() { pass && is_in "$cpu" running; }
ok 'when there is room the job without a device runs' wait_for 20 next
like 'a job with a device waits for what that one has' '^waits for host memory: needs' \
	"$(field "$two" reason)"
finish
