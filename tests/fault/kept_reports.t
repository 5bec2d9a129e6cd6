#!/bin/sh
# kept_reports.t - what a program reports while nobody listens counts all the same: its supervisor
# was killed, was killed with reports that it had not read, or is stopped.
# shellcheck disable=SC2016,SC2317 # programs of sh; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
export POLLUX_SLOTS=1 POLLUX_SLICE=1000 POLLUX_POLICY=fifo

of_run() { query "SELECT $1 FROM runs WHERE id = $run"; }
positions() { of_run "printf('%d %d %d', checkpoint_samples, last_samples, lost_samples)"; }
is_gone() { ! grep -qs '^State:.*[^ZX] (' "/proc/$1/status"; }
start() { # start ARGUMENT...: sets $job, $run, $supervisor and $leader
	job=$(submit --retries 0 --stop-signal USR2 "$@")
	pass
	ok 'a job reports' wait_for 20 query_is 1 \
		"SELECT count(*) FROM runs WHERE job_id = $job AND last_samples > 0"
	run=$(query "SELECT max(id) FROM runs WHERE job_id = $job")
	supervisor=$(of_run "$supervisor_pid") leader=$(of_run "$leader_pid")
	[ -n "$leader" ] || { finish; exit; }
	kept=$POLLUX_DIR/run/$run.sock.kept
}
kill_supervisor() { kill -9 "$supervisor" && wait_for 10 is_gone "$supervisor"; }
ends() { # ends NAME: with the next pass
	wait_for 20 is_gone "$leader"
	pass
	ok "$1: its run ends" wait_for 20 run_is "$run" ended
	is "$1: no file is left" '' "$(find "$POLLUX_DIR/run" -name "$run.*")"
}
# The exit status of an orphan is not known: its job runs once more, and has nothing to do.
done_at() { # done_at NAME SAMPLES
	ends "$1"
	is "$1: the store knows how far it came" "$2 0" \
		"$(of_run "printf('%d %d', last_samples, lost_samples)")"
	settle 20 "$1: the job ends"
	is "$1: the job has exactly its samples" '' "$(inexact "$2" "id = $job")"
}
# A job that lost its run would run again, before the next one.
cancel() {
	"$POLLUX" cancel --force "$job" >/dev/null
	settle 20 'the job is cancelled'
}
at_end() { grep -q "^$1 $job " "$WITNESS/ledger"; }

# --- a program in C ---

touch paused
start --samples 150 -- "$work" -n 150 -s 2 -h "$TMP/paused"
kill_supervisor
rm paused
ok 'a program without a supervisor comes to its end' wait_for 20 at_end 'done'
done_at 'nobody listened' 150

touch paused
start --samples 150 -- "$work" -n 150 -s 2 -h "$TMP/paused"
kill -STOP "$supervisor"
rm paused
ok 'a program with a stopped supervisor comes to its end' wait_for 20 at_end 'done'
kill_supervisor
done_at 'its supervisor had not read the reports' 150

touch paused
start --samples 150 -- "$work" -n 150 -s 2 -h "$TMP/paused"
kill -STOP "$supervisor"
rm paused
ok 'a program too fast for its supervisor comes to its end' wait_for 20 at_end 'done'
kill -CONT "$supervisor"
done_at 'its supervisor was behind' 150

# As a second supervisor would have, that is killed when it has sent the signal.
touch paused
start -- "$work" -n 300 -s 2 -h "$TMP/paused"
ok 'the job that will save itself is half way' wait_for 20 logged "$job" 'step 150 '
kill_supervisor
rm paused
kill -USR2 "$leader"
ok 'the program saves itself without a supervisor and ends' wait_for 20 at_end stop
saved=$(awk -v job="$job" '$1 == "stop" && $2 == job { print $4 }' "$WITNESS/ledger")
ends 'a checkpoint that nobody heard of'
is 'the store has the checkpoint that nobody heard of' "$saved $saved 0" \
	"$(positions)"
cancel

# --- a program in Python with the helper ---

helper=$ROOT/share/pollux/torch
cat >train.py <<'END'
import os, sys, time
sys.path.insert(0, sys.argv[1])
from pollux_torch.core import Reporter
reporter = Reporter(os.environ["POLLUX_REPORT_SOCKET"])
reporter.send({"STEP": 1, "SAMPLES": 7})
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
reporter.send({"STEP": 2, "SAMPLES": 14, "CHECKPOINT": "x"})
reporter.send({"STEP": 3, "SAMPLES": 21})
reporter.send_last({"STEP": 4, "SAMPLES": 28})
open(sys.argv[2] + ".said", "w").close()
time.sleep(60)
END
if python3 -c '' 2>/dev/null; then
	for how in KILL STOP; do
		start -- python3 train.py "$helper" "$TMP/python-$how"
		kill -"$how" "$supervisor"
		[ "$how" = STOP ] || ok 'the supervisor of the program in Python is killed' \
			wait_for 10 is_gone "$supervisor"
		touch "python-$how"
		ok 'a program in Python reports to nobody' wait_for 20 test -e "python-$how.said"
		kill_now "$supervisor" "$leader"
		ends "a program in Python, and SIG$how"
		is 'the program in Python lost what came after its checkpoint' '14 28 14' \
			"$(positions)"
		cancel
	done
else
	echo '# skipped: the helper, without python3'
fi

# --- a script ---

script='"$POLLUX" report STEP=1 SAMPLES=7 CHECKPOINT=x
	while [ ! -e "$1" ]; do sleep 0.05; done
	"$POLLUX" report STEP=3 SAMPLES=21 CHECKPOINT=y
	"$POLLUX" report STEP=5 SAMPLES=35
	touch "$1.said"
	exec sleep 60'
start -- sh -c "$script" - "$TMP/alone"
kill_supervisor
touch alone
ok 'a script reports to nobody' wait_for 20 test -e alone.said
is 'reports of the script are in a file' 2 "$(grep -c '^KEPT_NS=[0-9]*$' "$kept")"
is 'nobody else may read the file of reports' 600 "$(stat -c %a "$kept")"
kill -9 "$leader"
ends 'a script that was killed'
is 'the killed script lost what came after its checkpoint' '21 35 14' \
	"$(positions)"
cancel

# --- a reboot, and what is no report ---

start -- sh -c "$script" - "$TMP/reboot"
kill_supervisor
touch reboot
ok 'a script reports to nobody before a reboot' wait_for 20 test -e reboot.said
kill -9 "$leader"
printf 'KEPT_NS=x\nSAMPLES=1\n\nSAMPLES=-4\n\n\nCHECKPOINT=z\nSAMPLES=9\n\nSAMPLES=900' >>"$kept"
given_run "run:$run" boot_id=another
ends 'a run before a reboot'
is 'kept reports that are older, bad or torn are passed over' '21 35 14' \
	"$(positions)"
cancel

start -- sh -c "$script" - "$TMP/linked"
kill_supervisor
touch secret
ln -s "$TMP/secret" "$kept"
touch linked
ok 'a script finds a link in place of the file of reports' wait_for 20 test -e linked.said
is 'the script does not write where the link leads' '' "$(cat secret)"
kill -9 "$leader"
ends 'a run without kept reports'
finish
