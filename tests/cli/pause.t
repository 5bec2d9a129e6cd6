#!/bin/sh
# pause.t - a running job that saves nothing is held by being suspended: its device goes to others,
# it keeps its memory, and release brings it back.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_SLICE=1000
export POLLUX_SLOTS POLLUX_SLICE

cleanup() { end_jobs; }
has() { [ "$(store "SELECT EXISTS (SELECT 1 FROM jobs j LEFT JOIN runs r ON r.job_id = j.id
	AND r.state <> 'ended' WHERE j.id = $1 AND $2)")" = 1 ]; }
is_suspended="j.state = 'running' AND j.held AND r.suspension = 'suspended'"
is_at_work="j.state = 'running' AND NOT j.held AND r.state = 'running' AND r.suspension = 'none'"
is_held="j.state = 'held' AND NOT j.held AND r.id IS NULL"
passes_until() { pass; has "$1" "$2"; }
logged() { grep -q "$2" "$POLLUX_DIR/logs/$1.log"; }
of_run() { store "SELECT $2 FROM runs WHERE job_id = $1 AND state <> 'ended'"; }
letter() { sed 's/.*) \(.\).*/\1/' "/proc/$(of_run "$1" "$leader_pid")/stat"; }
cat >told <<'EOF'
trap 'echo was told; exit 0' TERM
echo ready
while [ ! -e "end$POLLUX_JOB_ID" ]; do sleep 0.1; done
echo ends
EOF
start() { # start [OPTION...] [-- COMMAND]: sets $job, at work
	case " $* " in *' -- '*) ;; *) set -- "$@" -- sh told ;; esac
	job=$("$POLLUX" submit -q "$@")
	ok 'a job begins' wait_for 20 passes_until "$job" "$is_at_work"
	wait_for 20 logged "$job" ready || echo "# job $job is not ready"
}
end_job() { "$POLLUX" cancel "$1"; "$POLLUX" wait --timeout 200 "$1" 2>/dev/null; }

# --- away and back ---

start
run "$POLLUX" hold --dry-run "$job"
is 'dry-run says that the job would be suspended' "job $job would be suspended, and held" "$out"
status 'a running job that saves nothing is held' 0 "$POLLUX" hold "$job"
ok 'it is suspended when hold returns' has "$job" "$is_suspended"
is 'its processes are stopped' T "$(letter "$job")"
run env COLUMNS=160 "$POLLUX" status
like 'status says since when it is suspended, and what it keeps' \
	' held .* suspended since [0-9:]+, [0-9.]+ [KM]iB stay in memory; .pollux release 1. ' \
	"$out"
like 'it counts as held' '0 running, 1 held|no device in use; 1 held' "$out"
like 'status ID says the same' "state +held; suspended since [0-9:]+, [0-9.]+ [KM]iB stay" \
	"$("$POLLUX" status 1)"
is 'so does JSON' 'held suspended 0 1 0' "$("$POLLUX" status --json 1 | json '
	my $j = $d->{jobs}[0]; print join " ", $j->{state}, $j->{run}{suspension},
	scalar @{$j->{devices}}, $d->{held}, $d->{running} + $d->{suspended}')"
first=$job
start
ok 'its device is given to another job' has "$job" "$is_at_work"
status 'hold of a held job changes nothing' 0 "$POLLUX" hold "$first"
run "$POLLUX" requeue "$first"
is 'requeue says that it is held' "pollux: job $first is held: nothing to requeue" "$err"
status 'wait tells of it' 75 "$POLLUX" wait --timeout 0.1 "$first"
like 'wait names the command that lets it go' "job $first is held; 'pollux release $first'" "$err"
is 'it is selected as held' "job $first would be released" \
	"$("$POLLUX" release --state held --yes --dry-run)"
ok 'it is released' "$POLLUX" release "$first"
pass
ok 'it waits while its device is used' has "$first" "NOT j.held AND r.suspension = 'suspended'"
like 'it waits as a suspended job does' 'suspended' "$("$POLLUX" status "$first")"
end_job "$job"
ok 'it goes on when the device is free' wait_for 20 passes_until "$first" "$is_at_work"
touch "end$first"
ok 'it ends as if nothing had been' wait_for 20 has "$first" "j.state = 'done' AND j.runs = 1"

# --- what else may be wished of a held job ---

start
"$POLLUX" hold "$job"
ok 'a held job is cancelled' "$POLLUX" cancel "$job"
ok 'it ends' wait_for 20 has "$job" "j.state = 'cancelled' AND NOT j.held"
ok 'and was told to' logged "$job" 'was told'
start
"$POLLUX" hold "$job"
ok 'a held job is stopped with --force' "$POLLUX" hold --force "$job"
ok 'it is held without a run' wait_for 20 has "$job" "$is_held"
end_job "$job"
start --preempt
status 'a job that saves is held' 0 "$POLLUX" hold "$job"
ok 'it is stopped' wait_for 20 has "$job" "$is_held"
end_job "$job"

# --- not suspended ---

start --suspend never
run "$POLLUX" hold "$job"
like 'a job with --suspend never is not' \
	"nothing; .* would be lost; it cannot be suspended: its --suspend is never; --force" "$err"
ok 'it runs on' has "$job" "$is_at_work"
end_job "$job"
start -- timeout 1000 sh told
status 'a job under timeout is not' 1 "$POLLUX" hold "$job"
like 'hold says why' "^pollux: job $job runs on: .* timeout\(1\), .* 'pollux hold --force" "$err"
ok 'it runs on, and is not held' has "$job" "j.state = 'running' AND NOT j.held"
run "$POLLUX" hold "$job"
like 'a second hold says the same' 'would be lost; it is not suspended .*timeout\(1\).*; --force' \
	"$err"
end_job "$job"

# --- supervisors that die, hang, or are late ---

start
"$POLLUX" hold "$job"
kill -9 "$(of_run "$job" "$supervisor_pid")"
is_adopted() { pass; [ "$(store "SELECT count(*) FROM events WHERE job_id = $job
	AND kind = 'adopted'")" = 1 ]; }
ok 'its supervisor is killed, and another one takes over' wait_for 20 is_adopted
ok 'it stays suspended and held' has "$job" "$is_suspended"
"$POLLUX" release "$job"
ok 'and comes back' wait_for 20 passes_until "$job" "$is_at_work"
supervisor=$(of_run "$job" "$supervisor_pid")
kill -STOP "$supervisor"
"$POLLUX" hold "$job" &
holder=$!
ok 'a hold waits for a late supervisor' wait_for 20 has "$job" "j.held AND r.suspension = 'asked'"
like 'status says that it is on its way' 'held; being suspended' "$("$POLLUX" status "$job")"
ok 'it is released meanwhile' "$POLLUX" release "$job"
kill -CONT "$supervisor"
status 'hold ends well' 0 wait "$holder"
ok 'a pass brings it back' wait_for 20 passes_until "$job" "$is_at_work AND r.resumed_boot_s > 0"
supervisor=$(of_run "$job" "$supervisor_pid")
kill -STOP "$supervisor"
"$POLLUX" hold "$job" 2>hold.err &
holder=$!
wait_for 20 has "$job" "r.suspension = 'asked'" || echo '# it was not asked'
kill -9 "$supervisor"
ok 'a run that loses its supervisor on its way leaves a held job' \
	wait_for 20 passes_until "$job" "$is_held"
status 'and that hold ends well' 0 wait "$holder"
end_job "$job"
# A supervisor of an older pollux knows of no hold, and writes only that it refuses.
start
supervisor=$(of_run "$job" "$supervisor_pid")
kill -STOP "$supervisor"
"$POLLUX" hold "$job" 2>hold.err &
holder=$!
wait_for 20 has "$job" "j.held AND r.suspension = 'asked'" || echo '# it was not asked'
given_run "$job" suspension=null
status 'hold tells that an older supervisor refuses' 1 wait "$holder"
ok 'the job is not held' has "$job" "j.state = 'running' AND NOT j.held"
kill -CONT "$supervisor"
end_job "$job"
start
"$POLLUX" hold "$job"
leader=$(of_run "$job" "$leader_pid")
kill -9 "$(of_run "$job" "$supervisor_pid")"
kill -9 "$leader"
given_run "$job" boot_id=other
ok 'after a reboot it is held' wait_for 20 passes_until "$job" "$is_held"
end_job "$job"

# --- several at once ---

if [ "$(nproc)" -ge 2 ]; then
	wait_for 20 no_supervisor	# the last pass has the settings of before
	export POLLUX_SLOTS=2
	start
	first=$job
	start --suspend never
	status 'of several jobs, those that cannot be suspended are named' 1 \
		"$POLLUX" hold "$first" "$job"
	like 'each by itself' "^pollux: job $job has saved nothing" "$err"
	ok 'the other is suspended' has "$first" "$is_suspended"
	ok 'and that one runs on' has "$job" "$is_at_work"
	"$POLLUX" cancel "$first" "$job"
	"$POLLUX" wait --timeout 200 "$first" "$job" 2>/dev/null
fi

finish
