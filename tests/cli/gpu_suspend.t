#!/bin/sh
# gpu_suspend.t - jobs on GPUs that save nothing take turns, their memory staying on the GPU, as far
# as can be tested without one: a stand-in answers for NVML (tests/gpu/standin.h). The jobs and
# their processes are real; the GPU and its memory are not.
# shellcheck disable=SC2317  # functions called by name
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/gpu_turns.sh"
# The GPU lists the first process of each job that was launched, with so many MiB each.
on_gpu() { # on_gpu MIB...
	id=0
	for mib; do
		id=$((id + 1))
		pid=$(leader_of "$id")
		[ -z "$pid" ] || echo "process $pid $mib 0"
	done
}
passes_until() { # passes_until CONDITION MIB...
	wanted=$1
	shift
	gpu "$A" "$(on_gpu "$@")" | grep . | answers
	"$POLLUX" schedule && holds "$wanted"
}
state_of() { sed 's/.*) \(.\).*/\1/' "/proc/$(leader_of "$1")/stat"; }

# --- three jobs of 7 GiB on a card of 24 ---

gpu $A | answers
for _ in 1 2 3; do submit --gpu-memory 7500M >/dev/null; done
ok 'the first job gives way, and its memory stays on the GPU' \
	wait_for 20 passes_until "job_id = 1 AND suspension = 'suspended'" 7000 7000 7000
ok 'the second job runs beside that memory' \
	wait_for 20 passes_until "job_id = 2 AND state = 'running'" 7000 7000 7000
is "the first job's process is stopped" T "$(state_of 1)"
like 'status says how much memory the first job keeps on which GPU' "kept, 6.8 GiB on gpu:$A" \
	"$("$POLLUX" status 1)"
ok 'the third job has its turn beside two' \
	wait_for 20 passes_until "job_id = 3 AND state = 'running'" 7000 7000 7000
ok 'the first job has its turn again' \
	wait_for 20 passes_until "job_id = 1 AND resumed_boot_s > 0" 7000 7000 7000
is 'each job has one run' '1|1 2|1 3|1' \
	"$(store 'SELECT job_id, count(*) FROM runs GROUP BY job_id' | xargs)"
is 'the store has the memory that each job keeps' '7340032000 7340032000 7340032000' \
	"$(store 'SELECT device_memory_bytes FROM runs ORDER BY id' | xargs)"
gpu $A | answers
end_jobs

# --- what does not fit beside ---

turn() { # turn MIB OPTION...: what becomes of a job of 16 GiB when another job of so much waits
	first=$(submit --gpu-memory 16G)
	"$POLLUX" schedule
	wait_for 20 holds "job_id = $first AND state = 'running'" || echo "# $first did not start"
	other=$(submit "$@")
	sleep 1.2
	gpu "$A" "process $(leader_of "$first") 15000 0" | answers
	"$POLLUX" schedule
	store "SELECT suspension FROM runs WHERE job_id = $first"
	"$POLLUX" status "$other" >told
	gpu "$A" | answers
	"$POLLUX" cancel "$first" "$other"
	wait_for 20 no_run
} 2>/dev/null
no_run() { ! holds "state <> 'ended'"; }
is 'a job does not give way to one that does not fit beside its memory' none \
	"$(turn --gpu-memory 10G)"
like 'status tells how much memory is kept, and how much is needed' \
	'suspended jobs would keep 14.9 GiB there; it needs 9.3 GiB' "$(cat told)"
is 'a job does not give way to one whose memory is not known' none "$(turn --workload unknown)"
like 'status tells that the needed memory is not known' 'it needs an unknown part of 24.0 GiB' \
	"$(cat told)"
case $(turn --gpu-memory 5G --workload small) in
asked | suspended) result 0 'a job gives way to one that fits beside its memory' ;;
*) result 1 'a job gives way to one that fits beside its memory' "$(cat told)" ;;
esac

# --- what others have there counts, too ---

sleep 1000 &
notebook=$!
gpu "$A" "process $notebook 10000 0" | answers
"$POLLUX" devices --ignore "$notebook" >/dev/null
first=$(submit --workload beside --gpu-memory 8G)
runs() { "$POLLUX" schedule && holds "job_id = $1 AND state = 'running'"; }
ok 'the first job runs beside a process that is ignored' wait_for 20 runs "$first"
other=$(submit --workload beside --gpu-memory 8G)
sleep 1.2
gpu "$A" "process $notebook 10000 0" "process $(leader_of "$first") 8000 0" | answers
"$POLLUX" schedule
is 'a job does not give way to one that does not fit beside others' none \
	"$(store "SELECT suspension FROM runs WHERE job_id = $first")"
like 'status tells how much memory others have there' \
	'suspended jobs would keep 7.8 GiB there, and others have 9.8 GiB; it needs' \
	"$("$POLLUX" status "$other" | tr -s '\n ' ' ')"
kill "$notebook"
"$POLLUX" cancel "$other"
gpu "$A" "process $(leader_of "$first") 8000 0" | sed 's/^memory.*/memory 24576 6500/' | answers
other=$(submit --workload beside --gpu-memory 8G)
sleep 1.2
"$POLLUX" schedule
is 'another job does not get the GPU beside one and a game that is not listed' none \
	"$(store "SELECT suspension FROM runs WHERE job_id = $first")"
like 'status counts the game as others' \
	'suspended jobs would keep 7.8 GiB there, and others have 9.8 GiB; it needs' \
	"$("$POLLUX" status "$other" | tr -s '\n ' ' ')"
gpu "$A" | sed 's/^memory.*/memory 24576 9000/' | answers
"$POLLUX" cancel "$first" "$other"
wait_for 20 no_run
like 'devices shows memory of an unknown process on the GPU' \
	'an unknown process 15576 MiB' "$("$POLLUX" devices)"
gpu "$A" | sed '$a compute 3' | answers
first=$(submit --workload beside --gpu-memory 8G)
ok 'a job runs on a GPU in an exclusive mode' wait_for 20 runs "$first"
other=$(submit --workload beside --gpu-memory 8G)
sleep 1.2
"$POLLUX" schedule
is 'a job does not give way on a GPU in an exclusive mode' none \
	"$(store "SELECT suspension FROM runs WHERE job_id = $first")"
gpu "$A" | answers
"$POLLUX" cancel "$first" "$other"
wait_for 20 no_run

# --- two GPUs: it goes on where its memory is ---

export POLLUX_SLICE=1000
{ gpu $A; gpu $B; } | answers
one=$(submit --workload two --gpu-memory 1G)
two=$(submit --workload two --gpu-memory 1G)
"$POLLUX" schedule
ok 'the second of two jobs runs on the other GPU' \
	wait_for 20 holds "job_id = $two AND state = 'running'"
wait_for 20 holds "job_id = $one AND state = 'running'"
device_of() { store "SELECT device FROM run_devices WHERE run_id = (SELECT max(id) FROM runs
	WHERE job_id = $1)"; }
its=$(device_of "$one")
given_run "$one" suspension=asked
ok 'the first job is suspended' wait_for 20 holds "job_id = $one AND suspension = 'suspended'"
three=$(submit --workload two --gpu-memory 1G --no-preempt)
"$POLLUX" schedule
ok 'a third job runs' wait_for 20 holds "job_id = $three AND state = 'running'"
is 'the third job has the GPU of the suspended one' "$its" "$(device_of "$three")"
"$POLLUX" cancel "$two"
ok 'the second job ends, and its GPU is free' wait_for 20 holds "job_id = $two AND state = 'ended'"
"$POLLUX" schedule
"$POLLUX" schedule
is 'the suspended job does not go to the free GPU' suspended \
	"$(store "SELECT suspension FROM runs WHERE job_id = $one")"
says_so() {
	"$POLLUX" schedule
	"$POLLUX" status "$one" | grep -q "waits for $its, where it can continue"
}
ok 'status says which GPU the suspended job waits for' wait_for 20 says_so
"$POLLUX" cancel "$three"
comes_back() { "$POLLUX" schedule && holds "job_id = $one AND resumed_boot_s > 0"; }
ok 'the suspended job comes back' wait_for 20 comes_back
is 'the suspended job comes back to its own GPU' "$its" "$(device_of "$one")"
end_jobs

# --- a job whose GPU is lost moves only where it fits ---

{ gpu $A; gpu $B; } | answers
big=$(submit --workload big --gpu-memory 16G)
"$POLLUX" schedule
ok 'a job of 16 GiB runs' wait_for 20 holds "job_id = $big AND state = 'running'"
its=$(device_of "$big")
other=$(submit --workload other --gpu-memory 16G --preempt --suspend never)
"$POLLUX" schedule
ok 'another job runs on the other GPU' wait_for 20 holds "job_id = $other AND state = 'running'"
given_run "$big" suspension=asked
ok 'the job of 16 GiB is suspended' wait_for 20 holds "job_id = $big AND suspension = 'suspended'"
given_job "$big" attained_service_device_s=100000
gpu "${its#gpu:}" "process $(leader_of "$big") 15000 0" | answers
"$POLLUX" schedule
is 'a job that loses its GPU does not get that of the suspended one' 1 "$(store "SELECT count(*)
	FROM run_devices WHERE device = '$its' AND run_id IN
	(SELECT id FROM runs WHERE job_id IN ($big, $other))")"
like 'status tells how much memory the suspended job keeps there' \
	'suspended jobs would keep 1[46].[09] GiB there; it needs 1[46].[09] GiB' \
	"$("$POLLUX" status "$other")"
back() { "$POLLUX" schedule && holds "job_id = $big AND resumed_boot_s > 0"; }
ok 'the suspended job comes back to its GPU' wait_for 20 back
end_jobs
finish
