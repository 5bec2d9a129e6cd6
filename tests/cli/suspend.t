#!/bin/sh
# suspend.t - jobs that save nothing take turns: their processes are stopped where they are, their
# devices go to others, and they go on later.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_SLICE=1 POLLUX_POLICY=las
export POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY

cleanup() { end_jobs; }
holds() { [ "$(store "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
passes_until() { "$POLLUX" schedule && holds "$1"; }
job_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
passes_until_ended() { "$POLLUX" schedule && [ "$(store "SELECT count(*) FROM jobs
	WHERE state IN ('queued', 'running')")" = 0 ]; }
logged() { grep -q "$2" "$POLLUX_DIR/logs/$1.log"; }
submit() { "$POLLUX" submit -q "$@"; }
processes_of() { # processes_of RUN: of its program
	grep -lzs "^POLLUX_REPORT_SOCKET=$POLLUX_DIR/run/$1.sock" /proc/[0-9]*/environ |
		sed 's,/proc/,,; s,/.*,,'
}
states_of() { # states_of RUN: the letters of its processes, each once
	for pid in $(processes_of "$1"); do
		sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat" 2>/dev/null
	done | sort -u | tr -d '\n'
}
ticks_of() { # ticks_of RUN: processor time of its processes
	for pid in $(processes_of "$1"); do
		sed 's/.*) //' "/proc/$pid/stat"
	done | awk '{ n += $12 + $13 } END { print n + 0 }'
}
result_of() { sed -n 's/^RESULT //p' "$POLLUX_DIR/logs/$1.log" | sort | tr '\n' ' '; }
# What a pass decides, as the store has it.
asked() { given_run "$1" if suspension=none suspension=asked; }
given() { given_run "$1" if suspension=suspended suspension=resuming; }

# Counts without a checkpoint, in two processes; forks all the time.
cat >count <<'END'
use strict;
my ($name, $steps) = @ARGV;
my $child = fork;
my $who = $child ? "parent" : "child";
my $x = length $name;
$| = 1;
for my $i (1 .. $steps) {
	for (1 .. 2000) { $x = ($x * 1103515245 + 12345) % 2147483648 }
	my $grandchild = fork // next;
	exit 0 if !$grandchild;
	waitpid $grandchild, 0;
	select undef, undef, undef, 0.02;
	print "step $i/$steps\n" if $child;
}
waitpid $child, 0 if $child;
print "RESULT $who $x\n";
END

# --- turns ---

for name in a b c; do submit -- perl count $name 150 >/dev/null; done
ok 'a job gives way to the next, though it saves nothing' wait_for 30 passes_until \
	"suspension = 'suspended' AND job_id = 1"
is 'every process of a suspended job is stopped' T "$(states_of 1)"
like 'the suspended job has several processes' '^[2-9]$' "$(processes_of 1 | wc -l | tr -d ' ')"
ok 'the next job has the device' wait_for 20 holds "state = 'running' AND job_id = 2"
before=$(ticks_of 1)
sleep 1
is 'a suspended job takes no processor time' "$before" "$(ticks_of 1)"
run env COLUMNS=120 "$POLLUX" status
like 'status says that a job is suspended, and what it keeps' \
	'^ 1  .* suspended +- .* [0-9.]+ [KM]iB kept; ' "$out"
like 'status counts the suspended job' '^1 device in use; 1 running, 1 suspended, 1 waiting$' "$out"
run "$POLLUX" status 1
like 'status ID says that the job is suspended' \
	'^  state +suspended \([0-9.]+ [KM]iB kept\)$' "$out"
like 'the event says what was kept, and how fast it stopped' \
	' suspended +[0-9.]+ MiB kept, stopped within ' "$out"
"$POLLUX" status --json 1 >suspended.json
is 'JSON has the suspended job, without a device' 'suspended suspended 0 1 1' "$(json '
	my $run = $d->{jobs}[0]{run}; print join " ", $d->{jobs}[0]{state}, $run->{suspension},
	scalar @{$run->{devices}}, $run->{kept_memory_bytes} > 1e6 ? 1 : 0, $d->{suspended}' \
	<suspended.json)"
run "$POLLUX" devices
unlike 'devices does not show the suspended job' 'job 1' "$out"
run "$POLLUX" explain 1
like 'explain says why the suspended job waits' 'in line' "$out"
like 'explain says that a turn suspends the job' '^  for others +it is suspended' "$out"
submit --after 1 --hold --checkpoint-dir other -- true >after
run "$POLLUX" status "$(cat after)"
like 'a job says that the one before it is suspended' '^  after +job 1, which is suspended$' "$out"
status 'a suspended job is waited for' 75 "$POLLUX" wait --timeout 0.1 1
is 'wait says that the job is suspended' \
	'pollux: job 1 has not ended within 0.1 s: it is suspended' "$err"
"$POLLUX" page -o page.html
like 'the page shows the suspended job without a device' \
	'#job-1">perl</a></td><td class="">suspended</td><td class=""></td>' "$(cat page.html)"
"$POLLUX" cancel "$(cat after)"
ok 'the suspended job comes back' wait_for 30 passes_until \
	"suspension = 'none' AND resumed_boot_s > 0 AND job_id = 1"
ok 'all three jobs end' wait_for 60 passes_until_ended
is 'all three jobs are done' 'done done done' \
	"$(store "SELECT state FROM jobs WHERE id < 4" | xargs)"
is 'each job had one run' '1|1 2|1 3|1' \
	"$(store 'SELECT job_id, count(*) FROM runs GROUP BY job_id' | xargs)"
for name in a b c; do
	perl count $name 150 | sed -n 's/^RESULT //p' | sort | tr '\n' ' '
done >alone
is 'suspended jobs have the results of undisturbed ones' "$(cat alone)" \
	"$(for id in 1 2 3; do result_of $id; done)"
is 'the time stopped is no running time' 0 "$(store "SELECT count(*) FROM runs
	WHERE duration_s + suspended_s > end_boot_s - launch_boot_s + 0.1
	OR (job_id = 1 AND coalesce(suspended_s, 0) = 0)")"
is 'the time stopped is in no step' 0 "$(store 'SELECT count(*) FROM runs WHERE step_time_s > 0.5')"
is 'the time stopped is no attained service' 0 "$(store "SELECT count(*) FROM jobs
	WHERE abs(attained_service_device_s - (SELECT sum(duration_s) FROM runs
		WHERE job_id = jobs.id)) > 0.01")"
is 'no job was preempted' 0 "$(store 'SELECT sum(preemptions) FROM jobs')"

# --- a person's wishes while it is suspended ---

cat >told <<'END'
trap 'echo was told; exit 0' TERM
echo ready
while :; do sleep 0.1; done
END
start() { # start [OPTION...]: sets $job, suspended
	job=$(submit "$@" -- sh told)
	"$POLLUX" schedule
	wait_for 20 logged "$job" ready || echo "# job $job did not start"
	asked "$job"
	wait_for 20 holds "job_id = $job AND suspension = 'suspended'" ||
		echo "# job $job was not suspended"
}
start
"$POLLUX" cancel "$job"
ok 'a suspended job can be cancelled' wait_for 20 job_is "$job" cancelled
ok 'a cancelled job goes on, and is told to stop' logged "$job" 'was told'
start
"$POLLUX" hold --force "$job"
ok 'a suspended job can be held' wait_for 20 job_is "$job" held
ok 'a held job goes on, and is told to stop' logged "$job" 'was told'
start
for pid in $(processes_of "$(store "SELECT max(id) FROM runs WHERE job_id = $job")"); do
	kill -9 "$pid"
done
ok 'a suspended job whose processes are killed fails' wait_for 20 job_is "$job" failed
is 'no device stays in use after those jobs' \
	0 "$(store 'SELECT count(*) FROM run_devices WHERE in_use')"

# A process that waits for a disk when its turn ends is not taken for one that somebody stopped.
job=$(WITNESS=$TMP submit -- "$FAULT/work" -v 4 sh -c 'echo ready')
"$POLLUX" schedule
asleep() { case $(states_of "$(store "SELECT max(id) FROM runs")") in *D*) ;; *) return 1 ;; esac; }
ok 'a job sleeps in the kernel' wait_for 20 asleep
asked "$job"
ok 'it is suspended' wait_for 20 holds "job_id = $job AND suspension = 'suspended'"
given "$job"
ok 'it goes on after its turn' wait_for 30 job_is "$job" 'done'

start --time-limit 12
sleep 13
ok 'the time limit does not count the time stopped' job_is "$job" running
given "$job"
ok 'the suspended job goes on' wait_for 20 holds "job_id = $job AND suspension = 'none'"
ok 'the suspended job uses up the rest of its limit' wait_for 20 job_is "$job" timeout
is 'the time limit was used up by running' \
	1 "$(store "SELECT run_time_s BETWEEN 5.9 AND 5.9 + 2 * $TIME_SCALE AND
	(SELECT end_boot_s - launch_boot_s - duration_s FROM runs WHERE job_id = jobs.id) >= 6
	FROM jobs WHERE id = $job")"

# A limit that was taken back stays taken back, whether the run is suspended before or after that.
resumed() { given "$job"; wait_for 20 holds "job_id = $job AND suspension = 'none'"; }
start --time-limit 1h
"$POLLUX" edit "$job" --time-limit 2s >/dev/null
sleep 1			# the supervisor takes the limit
given_job "$job" time_limit_s=null
resumed
"$POLLUX" edit "$job" --grace 50 >/dev/null
asked "$job"
wait_for 20 holds "job_id = $job AND suspension = 'suspended'"
resumed
sleep 3
ok 'a limit that was taken back does not return with the devices' job_is "$job" running
"$POLLUX" cancel "$job"
"$POLLUX" wait --timeout 200 "$job" 2>/dev/null

# --- whose device is given back to whom ---

if [ "$(nproc)" -ge 2 ]; then
	wait_for 20 no_supervisor	# the last pass has the settings of before
	export POLLUX_SLOTS=2
	first=$(submit -- perl count first 100000)
	second=$(submit -- perl count second 100000)
	"$POLLUX" schedule
	ok 'the first of two jobs runs' wait_for 20 logged "$first" 'step 3/'
	ok 'the second of two jobs runs' wait_for 20 logged "$second" 'step 3/'
	asked "$first"
	ok 'the first job is suspended' \
		wait_for 20 holds "job_id = $first AND suspension = 'suspended'"
	third=$(submit -- perl count third 100000)
	"$POLLUX" schedule
	ok 'a third job gets the core of the first' wait_for 20 logged "$third" 'step 3/'
	"$POLLUX" cancel "$second"
	ok 'the first job goes on where the second was' wait_for 20 holds \
		"job_id = $first AND resumed_boot_s > 0"
	run_id=$(store "SELECT id FROM runs WHERE job_id = $first")
	binding=$(store "SELECT binding FROM run_devices WHERE run_id = $run_id")
	bound_there() {
		[ "$(for pid in $(processes_of "$run_id"); do
			sed -n 's/^Cpus_allowed_list:\t//p' /proc/"$pid"/task/*/status
		done | sort -u)" = "$binding" ]
	}
	ok 'all threads of the first job are bound to that core' wait_for 20 bound_there
	size=$(wc -l <"$POLLUX_DIR/logs/$first.log")
	grown() { [ "$(wc -l <"$POLLUX_DIR/logs/$first.log")" -gt "$size" ]; }
	ok 'the first job counts on' wait_for 20 grown
	is 'each device is in use by one job' 'cpu:0 cpu:1' "$(store "SELECT device FROM run_devices
		WHERE in_use ORDER BY device" | xargs)"
	"$POLLUX" cancel "$first" "$third"
	ok 'the three jobs end' wait_for 20 passes_until_ended
	export POLLUX_SLOTS=1
else
	echo '# skipped: another core, with one core'
fi

# --- who is suspended, and who is not ---

program='perl count x 100000'
two_jobs() { # two_jobs OPTION...: sets $job, which has had its slice while another waits
	# shellcheck disable=SC2086  # a list of words
	job=$(submit "$@" -- $program)
	"$POLLUX" schedule
	wait_for 20 logged "$job" 'step 3/\|ready' || echo "# job $job did not start"
	other=$(submit -- perl count y 100000)
	sleep 1.2
	"$POLLUX" schedule
}
end_two() {
	"$POLLUX" cancel "$job" "$other"
	"$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$job" "$other"
	wait_for 20 no_supervisor	# their last passes have the settings of before
}
wait_for 20 no_supervisor	# its last pass has the slots of before
two_jobs --suspend never
like 'a job with --suspend never keeps its device' 'keeps 1 device: it has saved nothing' \
	"$(env COLUMNS=200 "$POLLUX" status)"
end_two
two_jobs --no-preempt
is 'a job with --no-preempt is not suspended' \
	never:none "$(store "SELECT suspend || ':' || suspension FROM jobs j
	JOIN runs r ON r.job_id = j.id WHERE j.id = $job")"
end_two
two_jobs --no-preempt --suspend auto
ok 'a job with --no-preempt --suspend auto is suspended' wait_for 20 passes_until \
	"job_id = $job AND suspension = 'suspended'"
end_two
program='sh told'
job=$(submit --preempt -- sh told)
"$POLLUX" schedule
wait_for 20 logged "$job" ready
is 'explain says that a turn stops a job that resumes' 'it is stopped, and relaunched later' \
	"$("$POLLUX" explain "$job" | sed -n 's/^  for others  *//p')"
"$POLLUX" cancel "$job"
wait_for 20 no_supervisor
two_jobs --preempt
ok 'a job that resumes is stopped' \
	wait_for 20 passes_until "job_id = $job AND stop_reason = 'preempt'"
end_two
two_jobs --preempt --suspend always
ok 'a job that resumes is suspended with --suspend always' wait_for 20 passes_until \
	"job_id = $job AND suspension = 'suspended'"
end_two
sed '/^trap/d' told >deaf
program='sh deaf'
two_jobs --preempt
like 'explain says that a turn suspends a job that saves nothing' '^it is suspended' \
	"$("$POLLUX" explain "$job" | sed -n 's/^  for others  *//p')"
ok 'a job that does not heed the stop signal is suspended' wait_for 20 passes_until \
	"job_id = $job AND suspension = 'suspended'"
end_two
two_jobs --preempt --suspend never
ok 'a job that does not heed it is stopped with --suspend never' wait_for 20 passes_until \
	"job_id = $job AND stop_reason = 'preempt'"
end_two
program='perl count x 100000'
export POLLUX_SUSPEND_MEMORY=0%
two_jobs
is 'no job is suspended where no memory may be kept' none \
	"$(store "SELECT suspension FROM runs WHERE job_id = $job")"
export POLLUX_SUSPEND_MEMORY=50%
ok 'a job is suspended where memory may be kept' \
	wait_for 20 passes_until "job_id = $job AND suspension = 'suspended'"
export POLLUX_SUSPEND_MEMORY=0%
"$POLLUX" cancel "$other"
ok 'a job that is suspended already comes back' wait_for 20 passes_until \
	"job_id = $job AND resumed_boot_s > 0"
unset POLLUX_SUSPEND_MEMORY
end_two
# --- programs that stop themselves, and that count the time ---
# As script(1) does: its child was stopped, which it sees when both go on.
cat >stops-itself <<'END'
use strict;
$| = 1;
my $stops = 2;
$SIG{CONT} = sub { kill STOP => $$ if $stops-- > 0 };
print "ready\n";
for my $i (1 .. 100000) { select undef, undef, undef, 0.05; print "step $i\n" }
END
program='perl stops-itself'
two_jobs
ok 'a job that watches its stops is suspended' wait_for 30 passes_until \
	"job_id = $job AND suspension = 'suspended'"
"$POLLUX" cancel "$other"
ok 'that job comes back' wait_for 30 passes_until "job_id = $job AND resumed_boot_s > 0"
at() { grep -c step "$POLLUX_DIR/logs/$job.log"; }
was=$(at)
goes_on() { [ "$(at)" -gt "$((was + 20))" ]; }
ok 'a process that stops itself when it goes on is continued again' wait_for 30 goes_on
end_two
# One of its processes was stopped before, and not by pollux.
cat >stops-child <<'END'
sleep 1000 &
echo "$!" >stopped-child
kill -STOP "$!"
exec perl count x 100000
END
program='sh stops-child'
two_jobs
ok 'a job with a stopped process is suspended' wait_for 30 passes_until \
	"job_id = $job AND suspension = 'suspended'"
"$POLLUX" cancel "$other"
ok 'it comes back, too' wait_for 30 passes_until "job_id = $job AND resumed_boot_s > 0"
was=$(at)
ok 'its other processes go on' wait_for 30 goes_on
is 'a process that was stopped before the suspension stays so' T \
	"$(sed 's/.*) \(.\).*/\1/' "/proc/$(cat stopped-child)/stat")"
end_two
program='timeout 1000 perl count x 100000'
two_jobs
ok 'a job under timeout(1) is not suspended' wait_for 30 passes_until \
	"job_id = $job AND suspension IS NULL"
like 'the event says what counts the time' \
	' suspend +it is not suspended and keeps its devices: timeout\(1\), among its processes' \
	"$("$POLLUX" status "$job")"
end_two
two_jobs --suspend always
ok 'it is with --suspend always' wait_for 30 passes_until \
	"job_id = $job AND suspension = 'suspended'"
end_two
program='perl count x 100000'

status 'suspend_memory in bytes is a configuration error' 78 env POLLUX_SUSPEND_MEMORY=4G \
	"$POLLUX" schedule
like 'the message says what suspend_memory takes' "from 0% to 100%" "$err"
status 'an unknown --suspend is a usage error' 64 "$POLLUX" submit --suspend often -- true
finish
