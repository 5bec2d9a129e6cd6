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
	kind = 'suspend' AND text LIKE '%keeps its devices%'")" ]; }
left() { "$POLLUX" schedule; holds "job_id = $one AND suspension = 'suspended'"; }
over() { gpu "$A" | answers; "$POLLUX" cancel "$one" "$two"; wait_for 20 no_run; }
spinning spins '100 spins' ''
ok 'a job whose kernels spin while it is stopped keeps its GPU' wait_for 30 kept
like 'status says that the GPU was busy after the stop' \
	'devices: 1[0-9.]* s after its processes were stopped the GPU was 100 % busy' \
	"$("$POLLUX" status "$one" | tr -s ' ')"
unlike 'the process of a job that keeps its GPU is not stopped' T "$(state_of "$one")"
is 'a job that keeps its GPU is not asked again' '' \
	"$(store "SELECT suspension FROM runs WHERE job_id = $one")"
waits() { "$POLLUX" schedule; [ "$(store "SELECT state FROM jobs WHERE id = $two")" = queued ]; }
ok 'the other job waits while the first keeps its GPU' wait_for 20 waits
over
spinning ends '100' 's/^rates 0/rates 100/'
ok 'a job whose kernels end while it is stopped leaves its GPU' wait_for 30 left
over
spinning means '100' 's/^rates 0/rates 100/; $a means 5'
ok 'what a job did before it was stopped does not count as busy' wait_for 30 left
over
spinning card '' 's/^rates 0/rates 100/; $a answer samples 3'
ok 'a job leaves a GPU that becomes free, where no samples are told' wait_for 30 left
over
spinning card_spins '0 spins' 's/^rates 0/rates 100/; $a answer samples 3'
ok 'a job keeps a GPU that stays busy, where no samples are told' wait_for 30 kept
over
spinning neither '' '/^rates/d; $a answer samples 3'
ok 'a job leaves a GPU that tells nothing' wait_for 30 left
over
spinning stopping '100 spins' ''
wait_for 20 holds "job_id = $one AND suspension = 'asked'"
"$POLLUX" cancel "$one"
ok 'a job can be cancelled while its kernels spin' \
	wait_for 20 holds "job_id = $one AND state = 'ended'"
over

finish
