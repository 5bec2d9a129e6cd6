#!/bin/sh
# gpu_freeze_two.t - jobs of two processes on one GPU whose memory is to go to the host's, with a
# driver that hangs for one of them, and processes that end or come meanwhile. Stand-ins answer for
# NVML and for CUDA's driver (tests/gpu); the jobs are real. This was never run on a GPU.
# shellcheck disable=SC2016,SC2317  # a text for another shell; functions run by wait_for
# shellcheck disable=SC2086  # words
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/freeze_cards.sh"
POLLUX_DRIVER_LIMIT=1 POLLUX_SLICE=1000
export POLLUX_DRIVER_LIMIT POLLUX_SLICE FAULT

both_work() { grep -qs '^step' a && grep -qs '^step' b; }
work=$(printf '%s' '"$FAULT/gpu_job" 2 100000 20 >a & "$FAULT/gpu_job" 2 100000 20 >b & wait')
start() { # start COMMAND CONDITION: sets $job, at work
	rm -f a b cards/*
	job=$("$POLLUX" submit -q -- sh -c "$1")
	"$POLLUX" schedule
	ok 'a job is at work' wait_for 20 $2
}
freeze() { # freeze [FAULT]...: what a pass decides, and how the driver fails then
	[ $# = 0 ] || printf '%s\n' "$@" >cards/fail
	given_run "$job" if suspension=none suspension=asked freezes=1
}
says() { events "$job" | grep -q "$1"; }
size() { wc -c <"$1"; }
grows() { [ "$(size "$1")" -gt "$2" ]; }
goes_on() { # goes_on NAME
	before=$(size a)
	ok "$1: one process computes on" wait_for 20 grows a "$before"
	before=$(size b)
	ok "$1: the other process computes on" wait_for 20 grows b "$before"
}

gpus $A
status 'the self-test passes' 0 "$POLLUX" devices --self-test

# --- a driver that hangs ---

for fault in 'lock hang-beside,unlock hang-beside,state hang-beside' 'state hang-beside' \
	'lock hang 1' 'state hang'; do
	start "$work" both_work
	IFS=, && set -- $fault && unset IFS
	freeze "$@"
	ok "'$fault': an event says that the driver does not answer" wait_for 30 says \
		'it keeps its GPU: the driver does not answer for all of its processes, as where'
	rm -f cards/fail
	goes_on "'$fault'"
	is "'$fault': the run is not asked again, nor recorded as frozen" '||running' \
		"$(store "SELECT suspension, freeze_state, state FROM runs WHERE job_id = $job")"
	end_jobs
done

# --- a driver that dies ---

start "$work" both_work
freeze 'lock hang 1'
locked() { [ "$(od -An -t d4 -N 4 cards/"$1" | tr -d ' ')" = 1 ]; }
any_locked() { for p in $(cd cards && echo *.card); do locked "${p%.card}" && return 0; done
	return 1; }
ok 'one of two processes is locked' wait_for 20 any_locked
kill -9 "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $job")"
rm -f cards/fail
ended() { "$POLLUX" schedule && holds "job_id = $job AND state = 'ended'"; }
ok 'the next supervisor unlocks the process and ends the run' wait_for 60 ended
like 'an event says that the supervisor died while memory was moved' \
	'died while its memory was moved; it runs again' "$(events "$job")"
end_jobs

# --- a process that ends meanwhile ---

for fault in 'lock kill 1' 'checkpoint kill 1'; do
	start "$work" both_work
	freeze "$fault"
	ok "'$fault': the other process is frozen" wait_for 30 \
		holds "job_id = $job AND suspension = 'suspended' AND freeze_state = 'frozen'"
	rm -f cards/fail
	given_run "$job" suspension=resuming
	ok "'$fault': the other process comes back" wait_for 30 says 'came back in'
	end_jobs
done

# --- a process that comes meanwhile ---

start '"$FAULT/gpu_job" 2 100000 20 >a & p=$!
	until [ "$(od -An -t d4 -N 4 cards/$p 2>/dev/null | tr -d " ")" = 1 ]; do sleep 0.01; done
	"$FAULT/gpu_job" 2 100000 20 >b & wait' 'grep -qs ^step a'
freeze 'checkpoint slow'
ok 'a job keeps its GPU when a process with memory came meanwhile' \
	wait_for 30 holds "job_id = $job AND suspension IS NULL AND freeze_state IS NULL"
like 'an event names the process that came meanwhile' \
	'keeps its devices: process [0-9]* has 2 MiB there that did not go to the host' \
	"$(store "SELECT text FROM events WHERE job_id = $job AND kind = 'suspend'")"
ok 'the memory of the frozen process came back' wait_for 20 says 'came back in'
goes_on 'with a process that came'
end_jobs
finish
