#!/bin/sh
# gpu_share.t - jobs beside each other on a GPU, where a suspended job keeps its memory, as far as
# can be tested without a GPU: a stand-in answers for NVML (tests/gpu/standin.h).
# shellcheck disable=SC2016,SC2317  # texts for other programs; functions called by name
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/gpu_turns.sh"
# A GPU of 24 GiB lists the first process of each job: the first has 14000 MiB, the others 5000.
free=24000 listed='1 2 3'
answers() {
	{
		echo 'gpu GPU-aaaaaaaa-0000-0000-0000-000000000001 NVIDIA GeForce RTX 4090'
		echo "memory 24576 $free"
		echo 'rates 0'
		for id in $listed; do
			pid=$(leader_of "$id" 2>/dev/null)
			mib=$([ "$id" = 1 ] && echo 14000 || echo 5000)
			[ -z "$pid" ] || echo "process $pid $mib 0"
		done
	} >answers.new
	mv answers.new answers
}
passes_until() { answers && "$POLLUX" schedule && holds "$1"; }
cat >steps <<'STEPS'
$| = 1;
for my $i (1 .. 1000000) {
	select undef, undef, undef, 0.03;
	print "step $i/1000000\n";
}
STEPS
submit() { "$POLLUX" submit -q --suspend always "$@"; }

submit --gpu-memory 14000M -- sh -c 'while :; do sleep 0.1; done' >/dev/null
answers
"$POLLUX" schedule
ok 'the first job runs' wait_for 20 passes_until "job_id = 1 AND state = 'running'"
submit --share --workload w --gpu-memory 5000M -- perl steps >/dev/null
ok 'the first job is suspended, and its memory stays' \
	wait_for 30 passes_until "job_id = 1 AND suspension = 'suspended'"
POLLUX_SLICE=100000
ok 'a job that shares runs beside that memory' wait_for 30 passes_until \
	"job_id = 2 AND state = 'running' AND step_time_s > 0"
ok 'the steps of the job that shares are measured' \
	wait_for 30 [ "$(store 'SELECT count(*) FROM observations')" != 0 ]
submit --share --workload w --gpu-memory 5000M -- perl steps >/dev/null
for _ in 1 2 3; do answers; "$POLLUX" schedule; done
is 'a third job has no room beside both' queued "$(store 'SELECT state FROM jobs WHERE id = 3')"
free=4000 listed='2 3'	# a game of 15 GiB, which the driver does not list
answers
"$POLLUX" cancel 1 >/dev/null
ok 'the suspended job ends' wait_for 30 passes_until "job_id = 1 AND state = 'ended'"
refused() { passes_until 0 || "$POLLUX" status 3 | grep -q 'job 2, .* keeps 1'; }
ok 'the third job has no room beside the second and a game' wait_for 20 refused
is 'the third job waits' queued "$(store 'SELECT state FROM jobs WHERE id = 3')"
free=24000
ok "the third job runs once the game's memory is free" \
	wait_for 30 passes_until "job_id = 3 AND state = 'running'"
is 'the third job shares the GPU with the second' '2 3' \
	"$(store "SELECT group_concat(job_id, ' ') FROM (SELECT job_id FROM
	run_devices JOIN runs ON runs.id = run_id WHERE in_use ORDER BY job_id)")"
finish
