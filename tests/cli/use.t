#!/bin/sh
# use.t - what runs take of their devices, beside what was declared: as a stand-in for NVML
# (tests/gpu/standin.h) tells it, which was never compared with a real GPU; and on slots of the CPU.
# shellcheck disable=SC2016,SC2317  # texts for other programs; functions run by wait_for
. "$(dirname "$0")/tap.sh"
: "${FAULT:=$ROOT/build/fault}"
cleanup() { end_jobs; }
of_run() { store "SELECT $2 FROM runs WHERE job_id = $1"; }
has() { [ "$(of_run "$1" "$2")" = 1 ]; }
took() { "$POLLUX" status "$1" | sed -n '/^took/,/^$/p' | tr -s ' '; }

# --- slots of the CPU ---

POLLUX_SLOTS=1 "$POLLUX" submit -q -- perl -e '
	my $x = "x" x (64 << 20); my $end = time + 2; 1 while time < $end' >/dev/null
POLLUX_SLOTS=1 "$POLLUX" schedule
"$POLLUX" wait --timeout 200 1
like 'status tells the cores and the memory that a run took' \
	'^ run 1 [0-9.]+ of [0-9]+ cores?, [1-9][0-9.]+ MiB of memory' "$(took 1)"
"$POLLUX" submit -q --hold -- true >/dev/null
is 'of a job that did not run it tells nothing' '' "$(took 2)"

# --- a GPU ---

if [ -z "${GPU_STANDIN-}" ]; then
	echo '# skipped: GPUs, without stand-ins for NVML: make check'
	finish
fi
. "$ROOT/tests/cli/gpu_turns.sh"
busy() { # busy JOB MIB PERCENT [LINE]: its process
	gpu "$A" "process $(leader_of "$1") $2 $3" "${4-persistence 1}" | answers
}
gpu "$A" 'energy 1000000' | answers
job=$(submit --gpu-memory 20G)
"$POLLUX" schedule
ok 'a job is on a GPU' wait_for 20 has "$job" "state = 'running'"
ok 'a look is taken before its process is there' wait_for 20 has "$job" 'watched_s > 0'
is 'what is not known is not told' '' "$(took "$job" | grep 'of a GPU')"
busy "$job" 7578 83 'temperature 71'
ok 'its memory is seen' wait_for 20 has "$job" 'used_device_memory_bytes > 0'
like 'status tells what was declared, and what it took' \
	'^ run 1 declared 19 GiB, took 7.4 GiB of a GPU \(7.4 GiB on average\), computed ' \
	"$(took "$job")"
like 'so it tells the highest temperature' ' 71 C at most$' "$(took "$job")"
busy "$job" 1000 83
ok 'a later look has another temperature' wait_for 40 has "$job" \
	'mean_device_memory_bytes < 7000 * 1048576'
like 'the highest of memory and temperature stay' ' took 7.4 GiB .* 71 C at most$' "$(took "$job")"
is 'JSON has it all' '7578 71 1 1 1' "$("$POLLUX" status --json "$job" | json '
	my $r = $d->{jobs}[0]{run}; print join " ", $r->{used_device_memory_bytes} / 1048576,
	$r->{max_temperature_c},
	$r->{mean_utilization} > 0 && $r->{mean_utilization} < 0.84 ? 1 : 0,
	$r->{mean_device_memory_bytes} > 0 ? 1 : 0, $r->{watched_s} > 0 ? 1 : 0')"
"$POLLUX" cancel "$job"
"$POLLUX" wait --timeout 200 "$job" 2>/dev/null
is 'history has it, too' 7578 "$("$POLLUX" history --json | json '
	print $d->{total}{used_device_memory_bytes} / 1048576')"
like 'so has its CSV' ',mean_utilization,used_device_memory_bytes,' "$("$POLLUX" history --csv)"

# --- a GPU that is used little ---

if [ ! -r "$FAULT/preload_clock.so" ]; then
	echo '# skipped: ten minutes, without preload_clock.so'
	finish
fi
gpu "$A" | answers
echo 0 >later
job=$(submit)
BOOT_OFFSET_FILE=$TMP/later LD_PRELOAD=$FAULT/preload_clock.so "$POLLUX" schedule
ok 'a look is taken of another job' wait_for 20 has "$job" 'watched_s > 0'
busy "$job" 1000 7
ok 'its utilization is seen' wait_for 20 has "$job" 'mean_utilization > 0'
told() { store "SELECT text FROM events WHERE job_id = $job AND kind = 'utilization'"; }
is 'nothing is told in the first minutes' '' "$(told)"
minutes() { echo "$1" >later.new && mv later.new later; }
minutes 700
is_told() { [ -n "$(told)" ]; }
ok 'after ten minutes it is told' wait_for 40 is_told
like 'the event says what may be done' \
	'^its GPU computed [0-9] % of the time for 10 minutes: .* batch, .* --share' "$(told)"
like 'status ID has it among what the run took' ' low use its GPU computed ' "$(took "$job")"
minutes 1500
ok 'ten minutes pass again' wait_for 40 has "$job" 'watched_s > 1450'
is 'it is told once' 1 "$(told | wc -l | tr -d ' ')"
finish
