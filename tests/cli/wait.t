#!/bin/sh
# wait.t - pollux wait: the job's own exit status, and all other ways to end.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS

submit() { "$POLLUX" submit -q "$@"; }
cleanup() {
	touch "$TMP/go" "$TMP/again"
	for id in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		"$POLLUX" cancel "$id" 2>/dev/null && "$POLLUX" wait --timeout 200 "$id" 2>/dev/null
	done
	sleep 0.3
}
limit=$((20 * TIME_SCALE))

status 'a job is refused with status 66 where there is no store' 66 "$POLLUX" wait 1
done=$(submit -- true)
failed=$(submit -- sh -c 'exit 3')
killed=$(submit -- sh -c 'kill -9 $$')
segv=$(submit -- sh -c 'kill -SEGV $$')
limited=$(submit --time-limit 1s --grace 1s -- sleep 100)
cancelled=$(submit --hold -- true)
"$POLLUX" cancel "$cancelled"
slow=$(submit -- sh -c 'while [ ! -e "$0/go" ]; do sleep 0.05; done; exit 7' "$TMP")
held=$(submit --hold -- sh -c 'exit 5')
"$POLLUX" schedule

status 'wait for a job that is done succeeds' 0 "$POLLUX" wait -t $limit "$done"
is 'wait for a job that is done prints nothing' ':' "$out:$err"
status "a failure is the job's own" 3 "$POLLUX" wait -t $limit "$failed"
is 'wait says nothing of a failure' ':' "$out:$err"
status 'a killed job is 128 and its signal' 137 "$POLLUX" wait -t $limit "$killed"
status 'a job with a segmentation fault is 139' 139 "$POLLUX" wait -t $limit "$segv"
status 'a time limit is 124, as of timeout(1)' 124 "$POLLUX" wait -t $limit "$limited"
status 'a cancelled job is 125' 125 "$POLLUX" wait -t $limit "$cancelled"
status 'several jobs have the first status that is not 0' \
	3 "$POLLUX" wait -t $limit "$done" "$failed" "$killed"
status 'several jobs are looked at in the order of the arguments' \
	137 "$POLLUX" wait -t $limit "$killed" "$done" "$failed"
status 'a job that is given twice has its status' 3 "$POLLUX" wait -t $limit "$failed" "$failed"
status 'several jobs that are done have status 0' 0 "$POLLUX" wait -t $limit "$done" "$done"

status 'wait --timeout ends with status 75' 75 "$POLLUX" wait --timeout 0.3 "$slow"
like 'wait --timeout says that the job has not ended' \
	"^pollux: job $slow has not ended within 0\\.3 s: it is (running|queued)\$" "$err"
status '--timeout 0 does not wait' 75 "$POLLUX" wait --timeout 0 "$slow"
status '--timeout 0 is enough for a job that has ended' 3 "$POLLUX" wait --timeout 0 "$failed"
status 'a job that has ended does not end the wait for another' 75 "$POLLUX" wait --timeout 0.3 \
	"$failed" "$slow"

"$POLLUX" wait -t $limit "$slow" "$held" 2>waited.err &
waiter=$!
told() { grep -q . waited.err; }
ok 'wait says that a job is held' wait_for 20 told
sleep 0.5
is 'wait says once that a job is held' \
	"pollux: job $held is held; 'pollux release $held' lets it go" "$(cat waited.err)"
touch go
"$POLLUX" release "$held"
"$POLLUX" schedule
status 'wait waits for the held job to its end' 7 wait $waiter

missing=$(submit -- sh -c 'exit 1')
interpreter=$TMP/script
printf '#!/bin/sh\n' >"$interpreter"
chmod +x "$interpreter"
broken=$(submit -- "$interpreter")
printf '#!/nonexistent\n' >"$interpreter"	# while it waits: submit refuses such a script
"$POLLUX" schedule
status 'a job with status 1 has this status' 1 "$POLLUX" wait -t $limit "$missing"
status 'a program without its interpreter cannot be executed' 126 "$POLLUX" wait -t $limit "$broken"

status 'with --any a job that has ended ends the wait' 0 "$POLLUX" wait --any -t $limit "$done"
is '--any prints the job that ended' "$done" "$out"
status '--any exits as the first job in the order given that has ended' \
	3 "$POLLUX" wait --any -t $limit "$failed" "$done"
is '--any prints the job as which it exits' "$failed" "$out"
waiting=$(submit --name open -- sh -c 'while [ ! -e "$0/again" ]; do sleep 0.05; done' "$TMP")
later=$(submit --hold --name open -- true)
"$POLLUX" schedule
status '--any waits while all run or are held' 75 "$POLLUX" wait --any -t 0.3 "$waiting" "$later"
"$POLLUX" wait --any -t $limit "$later" "$waiting" >any.out 2>any.err &
waiter=$!
touch again
status '--any returns when the first job ends' 0 wait $waiter
is '--any prints that job, not the first one given' "$waiting" "$(cat any.out)"
"$POLLUX" cancel "$later"
status 'where --state leaves no job, there is nothing to wait for' \
	0 "$POLLUX" wait --state active -t $limit
is 'nothing to wait for prints nothing' ':' "$out:$err"
status 'the jobs of a name that have all ended are not waited for' \
	0 "$POLLUX" wait --any --state active -t $limit 'op*'
status 'a name that no job has is refused with --state, too' 66 "$POLLUX" wait --state active x
status 'without --state, jobs of a name exit as they ended' 125 "$POLLUX" wait open

status 'wait without a job is a usage error' 64 "$POLLUX" wait
is 'wait asks for which job' \
	"pollux: wait for which job? give its number; see 'pollux wait --help'" "$err"
status 'an unknown job is refused with status 66' 66 "$POLLUX" wait 99
is 'the unknown job is named' 'pollux: no such job: 99' "$err"
status 'an unknown job behind a known one is refused with status 66' 66 "$POLLUX" wait "$done" 99
status 'a name that no job has is refused with status 66' 66 "$POLLUX" wait "$done" x
for wrong in -1 x '' 1.5.5; do
	status "--timeout '$wrong' is a usage error" 64 "$POLLUX" wait --timeout "$wrong" "$done"
done
finish
