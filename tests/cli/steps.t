#!/bin/sh
# steps.t - pollux steps, and jobs that are timed from their logs, by programs that know nothing of
# pollux.
# shellcheck disable=SC2317,SC2016  # cleanup is called by the trap; quoted: for jobs' shells
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=1
submit() { "$POLLUX" submit -q "$@"; }
query() { sqlite3 "$POLLUX_DIR/pollux.db" "$1"; }
is_so() { [ "$(query "SELECT $1")" = 1 ]; }
state_is() { [ "$(query "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
between() { [ "$1" -lt "$2" ] && [ "$2" -lt "$3" ]; }
comes() { ok "$1" wait_for "$2" is_so "$3"; }	# comes NAME SECONDS SQL
cleanup() {
	[ -e "$POLLUX_DIR/pollux.db" ] || return
	for id in $(query "SELECT id FROM jobs
		WHERE state NOT IN ('done', 'failed', 'cancelled', 'timeout')"); do
		"$POLLUX" cancel "$id"
	done
	# shellcheck disable=SC2046  # a list of words
	"$POLLUX" wait --timeout 200 $(query 'SELECT id FROM jobs')
} >/dev/null 2>&1

# --- the command ---

nano() { # nano N: lines as nanoGPT prints them
	awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) {
		if (i % 10 == 1) printf "step %d: train loss 3.1, val loss 3.2\n", i - 1
		time = i == 1 ? "9000.00" : i % 10 == 1 ? "900.00" : "20.50"
		printf "iter %d: loss %.4f, time %sms, mfu 1.20%%\n", i, 3 / i, time
	} }'
}
nano 100 >nano.log
status 'steps reads a log of nanoGPT' 0 "$POLLUX" steps nano.log
is 'steps prints the pattern and the form' \
	'nanogpt: iter N: loss X, time Tms' "$(echo "$out" | sed -n 1p)"
like 'steps prints the position' '^  position +100 steps$' "$out"
like 'steps leaves steps after an evaluation out of the time' \
	'^  time of one 20\.5ms, median of [0-9]+ lines, ' "$out"
like 'steps prints how many lines are steps' '^  lines +100 of 110 are steps$' "$out"
is 'steps reads standard input' "$out" "$("$POLLUX" steps <nano.log)"
is 'steps reads standard input for "-"' "$out" "$("$POLLUX" steps - <nano.log)"
is 'steps --json has the same' 'nanogpt 100 0.0205 printed 110' \
	"$("$POLLUX" steps --json nano.log | perl -MJSON::PP -0777 -ne '
	my $d = decode_json($_);
	print join " ", @$d{qw(pattern position unit_time_s basis lines)}')"

printf 'step 1/50\nstep 2/50\nstep 3/50\n' >counted.log
status 'steps reads counters alone' 0 "$POLLUX" steps counted.log
like 'steps says that counters alone have no time in a file' \
	'^  time of one not in the lines: measured by their times of arrival' "$out"
like 'steps prints the total of counters' '^  total +50 steps$' "$out"
printf '{"turn": 5, "ms": 12.5}\n' >own.log
status 'steps finds nothing in lines of no known form' 1 "$POLLUX" steps own.log
is 'steps prints nothing of no known form on standard output' '' "$out"
is 'steps says what to do for lines of no known form' \
	"pollux: no steps recognised in 1 lines: give --step-regex, or use 'pollux report' in the \
program" "$err"
status 'steps --json finds nothing in lines of no known form' 1 "$POLLUX" steps --json own.log
like 'steps --json prints null for no pattern' '"pattern": null' "$out"
status "steps takes a regular expression of one's own" 0 "$POLLUX" steps \
	--step-regex '"turn": ([0-9]+), "ms": ([0-9.]+)' own.log
like 'milliseconds of that expression are read' '^  time of one 12\.5ms, of the last line$' "$out"
status 'a wrong regular expression is a usage error' 64 "$POLLUX" steps --step-regex '(' own.log
like 'the fault of the regular expression is told' \
	"^pollux: option '--step-regex': '\\(' is no regular expression: missing closing \
parenthesis, at offset 1$" "$err"
for digit in '\d+' '[\d.]+'; do
	status "digits may be written as in other dialects: $digit" 0 "$POLLUX" steps \
		--step-regex "\"turn\": ($digit)" own.log
done
status 'a backslash before \d does not make it digits' \
	1 "$POLLUX" steps --step-regex '\\d([0-9]+)' own.log
status 'an expression whose group is no number finds nothing' \
	1 "$POLLUX" steps --step-regex '(turn)' own.log
is 'steps says that the group is no number' \
	'pollux: no steps recognised: --step-regex matches, but its first group is no number' "$err"
status 'an expression that matches nothing finds nothing' \
	1 "$POLLUX" steps --step-regex '(downdate)' own.log
is 'steps says that no line matches' 'pollux: no steps recognised: none of 1 lines matches' "$err"
status 'an expression without a group is a usage error' 64 "$POLLUX" steps --step-regex 'x' own.log
status 'submit refuses an expression without a group' 64 "$POLLUX" submit --step-regex 'x' -- true
like 'submit says that the expression has no group' \
	"^pollux: option '--step-regex': 'x' has no group for the step" "$err"
status 'a file that is not there is refused with status 66' 66 "$POLLUX" steps nowhere.log
is 'the file that is not there is named' \
	"pollux: cannot open 'nowhere.log': No such file or directory" "$err"
status 'a directory is an input/output error' 74 "$POLLUX" steps .
status 'two files are a usage error' 64 "$POLLUX" steps nano.log own.log
is 'steps --list has all patterns' "$(grep -c '\.name = ' "$ROOT/src/steps/pattern_table.c")" \
	"$("$POLLUX" steps --list | wc -l | tr -d ' ')"

# --- logs of real programs ---

found() { # found FILE: pattern, unit, position, total
	"$POLLUX" steps --json "$1" 2>/dev/null | json 'print join " ",
		map { defined $_ ? $_ : "-" } @$d{qw(pattern unit position total)}'
}
while read -r name package version pattern unit position total; do
	case $name in ''|'#'*) continue ;; esac
	is "$package $version, $name: pattern, unit, position and total" \
		"$pattern $unit $position $total" \
		"$(found "$ROOT/tests/reference/logs/$name.log")"
done <"$ROOT/tests/reference/logs/list"
not_known() { # not_known FILE
	"$POLLUX" steps --json "$1" | json 'print join " ",
		map { $_ ? "true" : "false" } @$d{qw(position_is_least total_may_be_of_epoch)}'
}
printf 'step 10/50\nstep 20/50\nstep 30/50\n' >tenth.log
is 'steps --json says that a position is the least' 'true false' "$(not_known tenth.log)"
like 'steps says so, too' '^  position +at least 30 steps$' "$("$POLLUX" steps tenth.log)"
bar=$ROOT/tests/reference/logs/accelerate.log
is 'steps --json says that a total may be that of an epoch' 'false true' "$(not_known "$bar")"
like 'steps says so, too, of a total' '^  total +[0-9]+ .*, perhaps not of the whole training$' \
	"$("$POLLUX" steps "$bar")"
grep -v 'Epoch 1/1 ' "$ROOT/tests/reference/logs/lightning_rich_pipe.log" >rich.log
status "Lightning's Rich bar is not in a log before its end" 1 "$POLLUX" steps rich.log
like "steps says what helps with Lightning's Rich bar" \
	"Lightning's Rich bar is for terminals: use TQDMProgressBar, or submit with --torch" "$err"

# --- a job, by its printed times ---

# Nobody told this program of pollux: it saves when it is stopped, and goes on from there.
cat >nano.py <<'END'
import os, signal, sys, time
state, first = "ckpt.txt", 1
if os.path.exists(state):
    first = int(open(state).read())
def save(signum, frame):
    global first
    open(state + ".new", "w").write(str(i))
    os.rename(state + ".new", state)
    sys.exit(0)
i = first
signal.signal(signal.SIGTERM, save)
while i <= 100000:
    time.sleep(0.01)
    print("iter %d: loss %.4f, time %.2fms, mfu 1.20%%" % (i, 3.0 / i, 11.5))
    i += 1
END
cat >bar.py <<'END'
import sys, time
n, total, t0 = 0, 100000, time.time() - 30
while n < total:
    time.sleep(0.02)
    n += 1
    if n % 5 == 0:
        s = int(time.time() - t0)
        bar = "\r  1%%|1         | %d/%d [%02d:%02d<10:00, 48.00it/s, loss=2.1]"
        sys.stderr.write(bar % (n, total, s // 60, s % 60))
        sys.stderr.flush()
END
ok 'python3 is there (tools/need.sh brings it)' command -v python3
job=$(submit -b 64 --preempt -- python3 nano.py)
"$POLLUX" schedule
comes 'a program that reports nothing is timed' 20 \
	"count(*) = 1 FROM observations WHERE n_windows >= 2 AND abs(step_time_s - 0.0115) < 1e-6"
comes 'samples are steps of a batch' 5 'samples = 64 * steps AND steps > 100 FROM jobs'
run "$POLLUX" status "$job"
like 'status says that step times are from the log' \
	'^  step times  from its log, pattern nanogpt$' "$out"
is 'JSON says that step times are from the log' \
	'log nanogpt' "$("$POLLUX" status --json "$job" | perl -MJSON::PP -0777 -ne '
	print join " ", @{decode_json($_)->{jobs}[0]{run}}{qw(step_source step_pattern)}')"
ok 'the program sent no report' is_so 'reports = 0 FROM runs'
before=$(query 'SELECT CAST(steps AS INTEGER) FROM jobs')
"$POLLUX" requeue "$job"
ok 'the program that reports nothing is stopped' \
	wait_for 20 is_so "state = 'ended' FROM runs WHERE number = 1"
"$POLLUX" schedule
comes 'the program goes on from where it was' 30 \
	"state = 'running' AND step_source = 'log:nanogpt' FROM runs WHERE number = 2"
comes 'the steps of the job go on from where they were' 10 "steps > $before AND runs = 2 FROM jobs"
is 'the time to the first step is known of both runs' 2 \
	"$(query 'SELECT count(*) FROM runs WHERE first_step_s > 0')"
"$POLLUX" cancel "$job"
"$POLLUX" wait "$job" >/dev/null 2>&1

# --- by arrival ---

bar=$(submit -b 8 -- python3 bar.py)
"$POLLUX" schedule
comes 'a progress bar is timed by arrival' 60 \
	"count(*) = 1 FROM observations o JOIN runs r ON r.id = o.run_id WHERE r.job_id = $bar
		AND n_windows >= 2"
t=$(query "SELECT CAST(1e6 * step_time_s AS INTEGER) FROM runs WHERE job_id = $bar")
ok "the bar's step time is near the real one ($t us of 20000)" between 19900 "$t" \
	$((TIME_SCALE * 100000))
is 'the total of the bar is known' \
	100000.0 "$(query "SELECT printed_total_steps FROM jobs WHERE id = $bar")"
like 'status says how long the bar will take' '^  rate +samples/s [0-9.]+, to its end [0-9]+m' \
	"$("$POLLUX" status "$bar")"
like 'explain says when the bar ends' '^  end +about ' "$("$POLLUX" explain "$bar")"
"$POLLUX" cancel "$bar"
"$POLLUX" wait "$bar" >/dev/null 2>&1

# --- a regular expression, and reports that win ---

own=$(submit --step-regex '^u=([0-9]+) t=([0-9.]+)' \
	-- sh -c 'n=0; while :; do n=$((n + 1)); echo "u=$n t=7.5"; sleep 0.02; done')
"$POLLUX" schedule
comes 'a job with an expression of its own is timed by it' 20 \
	"step_source = 'log:step-regex' AND abs(step_time_s - 0.0075) < 1e-9 FROM runs
		WHERE job_id = $own"
like 'status shows the expression' '^  step regex  \^u=' "$("$POLLUX" status "$own")"
"$POLLUX" cancel "$own"
"$POLLUX" wait "$own" >/dev/null 2>&1

log_is_read() { # the supervisor has it open for reading, beside for its own lines
	for fd in "/proc/$pid/fd"/*; do
		case $(readlink "$fd") in
		*/logs/"$told".log)
			grep -q '^flags:.*0$' "/proc/$pid/fdinfo/${fd##*/}" && return 0 ;;
		esac
	done
	return 1
}
told=$(submit -b 4 -- sh -c 'n=0; while :; do
	n=$((n + 1)); echo "iter $n: loss 1, time 5.00ms"
	[ ! -e go ] || "$0" report STEP="$n" STEP_NS=30000000
	sleep 0.03
done' "$POLLUX")
"$POLLUX" schedule
comes 'a job that reports nothing yet is timed by its log' 20 \
	"step_source = 'log:nanogpt' AND abs(step_time_s - 0.005) < 1e-9 FROM runs
		WHERE job_id = $told"
pid=$(query "SELECT $supervisor_pid FROM runs WHERE job_id = $told")
ok 'the log of that job is read' log_is_read
: >go
comes 'the job is timed by its reports once it has some' 20 \
	"step_source = 'reports' AND abs(step_time_s - 0.03) < 1e-9 FROM runs WHERE job_id = $told"
like 'status says that step times are from reports' \
	'^  step times  from its reports$' "$("$POLLUX" status "$told")"
ok 'the log of that job is read on, for metrics' log_is_read
"$POLLUX" cancel "$told"
"$POLLUX" wait "$told" >/dev/null 2>&1

both=$(submit -- sh -c 'n=0; while :; do
	n=$((n + 1)); echo "epoch 1/10 batch $((2 * n))/500"
	"$0" report STEP="$n" STEP_NS=30000000
	sleep 0.03
done' "$POLLUX")
"$POLLUX" schedule
comes 'the log gives the total of steps that are reported without one' 30 \
	"abs(printed_total_steps - 2500) < 300 AND step_source = 'reports' FROM jobs
		JOIN runs ON job_id = jobs.id WHERE job_id = $both"
"$POLLUX" cancel "$both"
"$POLLUX" wait "$both" >/dev/null 2>&1

# --- what a log may hold ---

mad=$(submit -- sh -c \
	'head -c 3000000 /dev/urandom; head -c 3000000 /dev/zero; printf "\033]"
	yes "step step iter batch" | head -c 3000000
	n=0; echo; while :; do n=$((n + 1)); printf "\377step %d of it\n" $n; sleep 0.05; done')
"$POLLUX" schedule
comes 'steps are found after megabytes of anything' 30 \
	"step_source = 'log:generic_num' AND steps >= 3 FROM jobs JOIN runs ON job_id = jobs.id
		WHERE job_id = $mad"
"$POLLUX" cancel "$mad"
"$POLLUX" wait "$mad" >/dev/null 2>&1
brief=$(submit -b 2 -- sh -c 'for n in 1 2 3 4; do echo "step $n"; done; printf "step 5"')
"$POLLUX" schedule
"$POLLUX" wait "$brief" >/dev/null
ok 'the last words of a short job count, without a newline' is_so \
	"steps = 5 AND samples = 10 FROM jobs WHERE id = $brief"
finish
