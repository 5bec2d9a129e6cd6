#!/bin/sh
# hung_supervisor.t - a supervisor that is stopped or hangs is noticed, named, continued, and
# replaced if it does not answer then; a machine that slept is no reason for that.
# shellcheck disable=SC2317,SC2016 # functions called by name; Perl
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
COLUMNS=250
export COLUMNS

run_of() { query "SELECT max(id) FROM runs WHERE job_id = $1"; }
supervisor_of() { query "SELECT $supervisor_pid FROM runs WHERE id = $1"; }
# Time passes: all that the lock's file says becomes older by so many seconds.
age() { # age RUN SECONDS [continued]: the supervisor was continued, and is silent all the same
	perl -e 'my ($path, $s, $continued) = @ARGV; open my $f, "+<", $path or die;
		read $f, my $text, 224;
		my @lines = unpack "(A112)*", $text;
		$lines[0] =~ s/^(\d+ \d+) (\S+)/sprintf "%s %.3f", $1, $2 - $s/e;
		$lines[1] =~ s/(\d+\.\d+)/sprintf "%.3f", $1 - $s/ge if @lines > 1;
		$lines[1] =~ s/nan/1.0/ if $continued;
		seek $f, 0, 0; print $f map { sprintf "%-111s\n", $_ } @lines' \
		"$POLLUX_DIR/run/$1.lock" "$2" "${3-}"
}
stop_supervisor() { # stop_supervisor JOB: sets $run and $pid
	run=$(run_of "$1") pid=$(supervisor_of "$run")
	kill -STOP "$pid"
	ok 'the supervisor of the job is stopped' wait_for 5 is_stopped "$pid"
}
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
actions() { "$POLLUX" schedule -v | sed 's/ for [0-9]* s$//'; }
signed() { # the supervisor of the run has just shown that it lives
	perl -e 'open my $f, "<", shift or die; my (undef, undef, $s) = split " ", <$f>;
		open my $up, "<", "/proc/uptime" or die; exit((split " ", <$up>)[0] - $s > 10)' \
		"$POLLUX_DIR/run/$1.lock"
}

# --- stopped -----------------------------------------------------------------------------------

touch paused
job=$(submit -- "$work" -n 400 -s 5 -h "$TMP/paused")
pass
ok 'a job runs' wait_for 10 logged "$job" 'step 5 '
stop_supervisor "$job"
age "$run" 15
is 'a pass does nothing after 15 s of silence' '' "$(actions)"
unlike 'status says nothing after 15 s of silence' 'has not answered' "$("$POLLUX" status)"
age "$run" 20
is 'a pass does nothing yet after 35 s of silence' '' "$(actions)"
silent="its supervisor, process $pid, has not answered for [0-9]+s: passes continue or replace it"
like 'status names the silent supervisor' "^ *$job .*$silent" "$("$POLLUX" status)"
like 'status ID names the silent supervisor' "$silent" "$("$POLLUX" status "$job")"
like 'explain names the silent supervisor' "$silent" "$("$POLLUX" explain "$job")"
is 'JSON has the time of silence' 1 "$("$POLLUX" status --json |
	json 'my $s = $d->{jobs}[0]{supervisor_silent_s}; print $s > 30 && $s < 60 ? 1 : $s')"
is 'another pass right after does nothing' '' "$(actions)"
age "$run" 60
stopped="process $pid, stopped by a signal, which has not answered"
is 'a pass continues the supervisor a minute later' \
	"continue the supervisor of job $job, $stopped" "$(actions)"
is 'the history has that it was continued' "continue the supervisor of job $job, $stopped" \
	"$(query "SELECT text FROM events WHERE kind = 'supervisor'" | sed 's/ for [0-9]* s$//')"
ok 'the continued supervisor answers' wait_for 10 signed "$run"
is 'the supervisor is the same as before' "$pid" "$(supervisor_of "$run")"
is 'the next pass has nothing to do' '' "$(actions)"
rm paused
settle 30 'the job of the continued supervisor ends'
exact 'the job has exactly its samples' "$job" 400
is 'the run of the job was not disturbed' \
	1 "$(query "SELECT count(*) FROM runs WHERE job_id = $job")"

# --- a machine that slept -------------------------------------------------------------------------

job=$(submit -- "$work" -n 4000 -s 5)
pass
ok 'a job runs whose supervisor will be silent for long' wait_for 10 logged "$job" 'step 5 '
stop_supervisor "$job"
age "$run" 5000
is 'a pass does nothing after a long silence that no pass saw' '' "$(actions)"
kill -CONT "$pid"
ok 'the supervisor answers after the long silence' wait_for 10 signed "$run"
is 'the next pass does nothing after the long silence' '' "$(actions)"

# --- one that does not answer ---------------------------------------------------------------------

stop_supervisor "$job"
age "$run" 100
is 'a pass only notes the supervisor that is silent again' '' "$(actions)"
age "$run" 50 continued
is 'a pass replaces a supervisor that stays silent' \
	"replace the supervisor of job $job, process $pid, stopped by a signal, \
which has not answered" \
	"$(actions | grep replace)"
ok 'the run of the replaced supervisor has ended' wait_for 10 run_is "$run" ended
is 'the run of the replaced supervisor was stopped' 'stopped orphan' \
	"$(query "SELECT outcome, stop_reason FROM runs WHERE id = $run" | tr '|' ' ')"
settle 60 'the job goes on and ends under the new supervisor'
exact 'the job of two supervisors has exactly its samples' "$job" 4000
sound 'all is well after the replacement'

# --- time limits ----------------------------------------------------------------------------------

job=$(submit -- "$work" -n 100000 -s 5)
pass
ok 'a job with a time limit to come runs' wait_for 10 logged "$job" 'step 5 '
stop_supervisor "$job"
# Not before, or the supervisor could be there for the end of the time.
given_job "$job" time_limit_s=2
sleep 2
age "$run" 100
is 'a silent supervisor misses the time limit' '' "$(actions)"
age "$run" 50 continued
pass
ok 'the next supervisor keeps the time limit' wait_for 20 job_is "$job" timeout
settle 30 'all jobs have ended'
sound 'all is well after the time limit'
finish
