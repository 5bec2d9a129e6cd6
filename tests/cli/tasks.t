#!/bin/sh
# tasks.t - what people do in a day, each task as it is first typed: the command succeeds, and what
# it prints, or what came of it, is what it was typed for. A day as a whole: day.t.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_SUBMIT_PASS
export POLLUX_SLOTS=2
PATH=$(cd "$(dirname "$POLLUX")" && pwd):$PATH
cleanup() {
	touch "$TMP/go"
	end_jobs
}
field() { store "SELECT $2 FROM jobs WHERE name = '$1' ORDER BY id DESC LIMIT 1"; }
is_now() { [ "$(field "$1" state)" = "$2" ]; }
# task NAME PATTERN COMMAND: as typed into a shell; the pattern is of a line that it prints, in
# which its exit status counts unless it is 0.
task() {
	task_out=$(sh -c "$3" 2>&1 </dev/null) || task_out="$task_out
exit status $?"
	like "$1: $3" "$2" "$task_out"
}
cat >train.py <<'END'
import os, time
for step in range(1, 21):
    print("step %d/20 loss=%.3f" % (step, 2 / step), flush=True)
    while step == 10 and not os.path.exists("go"):
        time.sleep(0.05)
END
printf '#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\n' >wait.sh
printf '#!/bin/sh\n#pollux -n script -t 2h\necho "$1"\n' >options.sh
chmod +x wait.sh options.sh
printf 'lr,seed\n0.1,1\n0.3,2\n' >points.csv

task submit '^1$' 'pollux submit python3 train.py'
task submit '^2$' 'pollux submit ./wait.sh'
ok 'both jobs run' wait_for 20 is_now wait.sh running
ok 'the steps of a job are followed' wait_for 20 eval 'pollux status | grep -q "train.py.* 50% "'
task see '^2 devices in use; 2 running' pollux
task 'see one job' '^  position .*10' 'pollux status train.py'
task 'read a log' '^step 10/20 loss=0.200' 'pollux log 1'
task explain '1 device' 'pollux explain train.py'
task pause '' 'pollux hold wait.sh'
ok 'the job gives its device up' wait_for 20 eval 'pollux status | grep -q "^1 device in use"'
task 'go on' '' 'pollux release wait.sh'
task names '^3$' 'pollux submit -n third ./wait.sh'
task hold '^$' 'pollux hold third'
task release '^$' 'pollux release third'
task urgent '^$' 'pollux first third'
task depend '^4$' 'pollux submit -n after --after 1 -- echo after'
task night '^5$' 'pollux submit -n night --begin 22:00 ./wait.sh'
task limit '^6$' 'pollux submit -n limit -t 90m ./wait.sh'
task edit '^job 6: time limit 1h30m -> 2h00m$' 'pollux edit limit -t 2h'
task 'cancel one' '^$' 'pollux cancel limit'
is 'the job is cancelled' cancelled "$(field limit state)"
task again '^7$' 'pollux again limit --name again'
task 'cancel several' '^$' 'pollux cancel 5 7'
task grid '^group:1$' 'pollux submit --param lr=0.1,0.3 --param seed=1,2 -- \
	printf "step %s/3 loss={lr} seed={seed}\\n" 1 2 3'
task CSV '^group:2$' 'pollux submit --params points.csv -- echo {lr} {seed}'
task 'script lines' '^14$' 'pollux submit ./options.sh hello'
is 'the line in the script limits the time of the job' 7200.0 "$(field script time_limit_s)"
task notify '^15$' 'pollux submit -n told --on-end "echo \$POLLUX_STATE >told" -- true'
task input '^16$' 'pollux submit -n input -- sh -c "cat <points.csv"'
task output '^17$' 'pollux submit -n output -- sh -c "echo hello >out.txt"'
task 'a key' '^18$' 'pollux submit -n keyed --key a -- true'
task 'the same key' '^18' 'pollux submit -n keyed --key a -- true'
task 'a job that fails' '^19$' 'pollux submit -n fails -- sh -c "exit 3"'
touch go
task wait '^$' 'pollux wait --timeout 200 train.py after'
task 'wait for a sweep' '^$' 'pollux wait --timeout 200 group:1 group:2'
task 'wait for all that is left' 'exit status 3$' 'pollux wait --timeout 200 --state active,failed'
task 'the log of what read a file' '^0.1,1$' 'pollux log input'
task 'the output in its file' '^hello$' 'cat out.txt'
ok 'the end of a job was told' wait_for 20 grep -qx 'done' told
task 'the log of a script' '^hello$' 'pollux log script'
task 'the log of a failed job' 'status 3' 'pollux log fails'
task compare '^ *9 +0\.1 +2 ' 'pollux results group:1'
task retry '^$' 'pollux requeue fails'
task 'read a log of elsewhere' 'tqdm' \
	'printf "10%%|#         | 1/10 [00:01<00:09, 1.0s/it]\n" | pollux steps'
task shell '^1 device$' 'pollux run -- sh -c "echo \$POLLUX_REPLICAS device"'
task history '^all +20 ' 'pollux history'
task make '^21$' 'printf "all:\n\t@pollux submit -- true\n" >Makefile; make -s'
task 'read JSON' '^train.py$' 'pollux status --all --json | python3 -c "
import json, sys
print(json.load(sys.stdin)[\"jobs\"][0][\"name\"])"'
task page '^1$' 'pollux page -o page.html; grep -c "</html>" page.html'
task 'what happened' 'job 1 .*done|done' 'pollux events'
task 'an agent asks' '"serverInfo"' 'printf "%s\n" "{\"jsonrpc\": \"2.0\", \"id\": 1,
\"method\": \"initialize\", \"params\": {\"protocolVersion\": \"2025-06-18\",
\"capabilities\": {}, \"clientInfo\": {\"name\": \"test\", \"version\": \"1\"}}}" |
	tr "\n" " " | pollux mcp'
task settings 'slice' 'pollux config'
task 'cancel all' '^$' 'pollux submit -q sleep 100 >sleeping; pollux cancel -y --state active'
task '200 jobs' '^200$' 'seq 200 | sed "1i n" >many.csv
	pollux submit --hold --params many.csv -- true {n} >/dev/null
	pollux status --json | grep -c "\"state\": \"held\""'
task 'see 200 jobs as one row' '^ - +group:3 true .*200 held' 'pollux status'
task clear '^$' 'pollux cancel -y group:3; pollux clear'
task 'nothing is left to see' '^No jobs; ' 'pollux'
task 'look for trouble' '^[0-9]+ checks?|no trouble|all is well' 'pollux doctor'
finish
