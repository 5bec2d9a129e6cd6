#!/bin/sh
# gpu_settle.t - a stopped job whose kernels compute on keeps its GPU, as far as can be tested
# without one: a stand-in answers for NVML (tests/gpu/standin.h). The jobs and their processes are
# real; the GPU and its memory are not.
# shellcheck disable=SC2016,SC2317  # programs of sed; functions called by name
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/gpu_turns.sh"
state_of() { sed 's/.*) \(.\).*/\1/' "/proc/$(leader_of "$1")/stat"; }

# --- a card that computes on although the processes are stopped ---

spinning() { # spinning WORKLOAD WORDS LINE: a job's turn is over while its process is on the GPU so
	gpu "$A" | answers
	one=$(submit --workload "$1" --gpu-memory 4G)
	"$POLLUX" schedule
	wait_for 20 holds "job_id = $one AND state = 'running'" || echo "# $one did not start"
	two=$(submit --workload "$1" --gpu-memory 4G)
	sleep 1.2
	gpu "$A" "process $(leader_of "$one") 4000 $2" | sed "$3" | answers
	"$POLLUX" schedule
}
no_run() { ! holds "state <> 'ended'"; }
kept() { "$POLLUX" schedule; [ -n "$(store "SELECT text FROM events WHERE job_id = $one AND
	kind = 'suspend' AND text LIKE '%keeps its GPU%'")" ]; }
left() { "$POLLUX" schedule; holds "job_id = $one AND suspension = 'suspended'"; }
over() { gpu "$A" | answers; "$POLLUX" cancel "$one" "$two"; wait_for 20 no_run; }
spinning spins '100 spins' ''
ok 'a job whose kernels spin while it is stopped keeps its GPU' wait_for 30 kept
like 'status says why' 'GPU: 1[0-9.]* s after its processes were stopped the GPU was 100 % busy' \
	"$("$POLLUX" status "$one" | tr -s ' ')"
unlike 'it computes on' T "$(state_of "$one")"
is 'it is not asked again' '' "$(store "SELECT suspension FROM runs WHERE job_id = $one")"
waits() { "$POLLUX" schedule; [ "$(store "SELECT state FROM jobs WHERE id = $two")" = queued ]; }
ok 'nobody has the GPU beside it' wait_for 20 waits
over
spinning ends '100' 's/^rates 0/rates 100/'
ok 'one whose kernels end leaves' wait_for 30 left
over
spinning card '' 's/^rates 0/rates 100/; $a answer samples 3'
ok 'where the driver tells no samples, the card counts: one that becomes free is left' \
	wait_for 30 left
over
spinning card_spins '0 spins' 's/^rates 0/rates 100/; $a answer samples 3'
ok 'one that does not is kept' wait_for 30 kept
over
spinning neither '' '/^rates/d; $a answer samples 3'
ok 'a card that tells nothing is left' wait_for 30 left
over
spinning stopping '100 spins' ''
wait_for 20 holds "job_id = $one AND suspension = 'asked'"
"$POLLUX" cancel "$one"
ok 'a job may be cancelled meanwhile' wait_for 20 holds "job_id = $one AND state = 'ended'"
over

finish
