#!/bin/sh
# hung_pass.t - a driver that hangs, and a pass that hangs or is stopped: the others go on, and
# whoever is in the way is named.
# shellcheck disable=SC2317,SC2016 # functions called by name; Perl
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
COLUMNS=200
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT COLUMNS
mkdir root

answers() {
	printf "%s\ngpu GPU-1 Card\nmemory 40000 39000\nrates 0\n" "$1" >new && mv new answers
}
later() { # later SECONDS COMMAND...: by a boot clock that is so far ahead
	seconds=$1
	shift
	LD_PRELOAD=$FAULT/preload_clock.so BOOT_OFFSET=$seconds \
		ASAN_OPTIONS="${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0" "$@"
}
drivers() { # those that this test has
	grep -lx pollux-driver /proc/[0-9]*/comm 2>/dev/null | while read -r comm; do
		! grep -qs "$TMP" "${comm%/comm}/environ" || echo "$comm"
	done
}
no_driver() { [ -z "$(drivers)" ]; }
begin_pass() { # that hangs: sets $pass_pid
	"$POLLUX" schedule >out-pass 2>&1 &
	pass_pid=$!
	ok 'a pass is at work' wait_for 10 has_schedule_lock "$pass_pid"
}
end_pass() {
	kill -9 "$pass_pid"
	wait "$pass_pid" 2>/dev/null || :
}

# --- a driver that hangs -----------------------------------------------------------------------

export POLLUX_DRIVER_LIMIT=1
answers 'slow 3600'
job=$(submit -- "$work" -n 20 -s 5)
status 'a driver hangs: a pass ends' 0 timeout 60 "$POLLUX" schedule
like 'the job is told' 'gpu:0: the driver has not answered for 1 s: it hangs' \
	"$("$POLLUX" status)"
status 'the list of devices is shown' 0 timeout 60 "$POLLUX" devices
like 'which says so' '^GPUs: the driver has not answered for 1 s: it hangs$' "$out"
run timeout 60 "$POLLUX" profile -b 8 -- true
is 'a profile ends, for want of a GPU' '69 ' "$rc $out"
status 'nobody is left in the driver' 0 wait_for 5 no_driver

# Where the kernel cannot end who asked, nobody else asks.
cp "$(command -v sleep)" pollux-driver
./pollux-driver 1000 &
hanging=$!
sleep 2.5
like 'who still hangs in the driver is named' \
	"^GPUs: the driver hangs: process $hanging still waits in it$" "$("$POLLUX" devices)"
kill "$hanging"
wait "$hanging" 2>/dev/null || :
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$TMP"
	setpriv --reuid=65534 --clear-groups ./pollux-driver 1000 &
	hanging=$!
	sleep 2.5
	unlike "another user's process of that name hangs nobody" 'the driver hangs' \
		"$("$POLLUX" devices)"
	kill "$hanging"
	wait "$hanging" 2>/dev/null || :
fi
answers ''
settle 30 'it answers again: the job runs, and ends'

# --- a pass that hangs ---------------------------------------------------------------------------

[ -r "$FAULT/preload_clock.so" ] || skip_all "$FAULT/preload_clock.so is not built: make check"
export POLLUX_DRIVER_LIMIT=100000
answers 'slow 3600'
job=$(submit -- "$work" -n 20 -s 5)
begin_pass
like 'whose question is still asked hangs nobody' \
	'^GPUs: the driver has not answered for 1 s: it hangs$' \
	"$(later 7200 env POLLUX_DRIVER_LIMIT=1 "$POLLUX" devices)"
status 'another one leaves' 0 "$POLLUX" schedule -v
is 'and says why' 'another pass is at work' "$out"
status 'after 50 seconds, too' 0 later 50 "$POLLUX" schedule
unlike 'nobody is accused' 'No pass can run' "$(later 50 "$POLLUX" status)"
status 'before the next pass of cron it fails' 75 later 56 "$POLLUX" schedule
status 'after more than a minute, too' 75 later 61 "$POLLUX" schedule
is 'and names who is in the way' "pollux: the pass of process $pass_pid has been at work for 1 min \
and lets no other one begin: it may hang; 'kill -KILL $pass_pid' ends it without harm" "$err"
like 'so does status' "^No pass can run: the pass of process $pass_pid has been at work for 1 min" \
	"$(later 61 "$POLLUX" status)"
kill -STOP "$pass_pid"
unlike 'a stopped one is left alone for seconds' 'No pass can run' "$(later 5 "$POLLUX" status)"
status 'and named after ten' 75 later 11 "$POLLUX" schedule
like 'with its age' \
	"^pollux: the pass of process $pass_pid has been at work for 1[1-9] s .* stopped" \
	"$err"
like 'a stopped one is called so' \
	"it is stopped; 'kill -CONT $pass_pid' continues it, 'kill -KILL $pass_pid' ends it" \
	"$(later 7200 "$POLLUX" schedule 2>&1)"
is 'the JSON has it' "the pass of process $pass_pid has been at work for 2.0 h" \
	"$(later 7200 "$POLLUX" status --json |
		json 'print $d->{hung_pass} =~ s/ and lets.*//r')"
like 'explain has it' "^ *passes  *the pass of process $pass_pid" \
	"$(later 7200 env POLLUX_DRIVER_LIMIT=1 "$POLLUX" explain "$job")"
end_pass

# A pass that has just taken the lock has not signed the file, however old its process is; nor has
# one that is stopped right then.
begin_pass
printf '%111s\n' '' >"$POLLUX_DIR/schedule.lock"
unlike 'a pass that has not signed is young' 'No pass can run' "$(later 7200 "$POLLUX" status)"
status 'and nobody is advised to kill it' 0 later 7200 "$POLLUX" schedule
unlike 'by doctor neither' 'kill -' \
	"$(later 7200 env POLLUX_DRIVER_LIMIT=1 "$POLLUX" doctor)"
kill -STOP "$pass_pid"
like 'a stopped pass that has not signed is named, too' \
	"^No pass can run: the pass of process $pass_pid has been at work and .* is stopped;" \
	"$("$POLLUX" status)"
status 'by other passes, too' 75 "$POLLUX" schedule
end_pass

# doctor lists devices for seconds, and a run starts meanwhile: its supervisor is no stranger.
export POLLUX_DRIVER_LIMIT=100
answers 'slow 3'
job=$(submit -- "$work" -n 20 -s 5)
"$POLLUX" schedule &
starting=$!
ok 'a pass is about to start a run' wait_for 10 has_schedule_lock "$starting"
sleep 1
unlike 'doctor, which comes before the run, advises to kill nobody' 'kill -' "$("$POLLUX" doctor)"
wait "$starting"
"$POLLUX" cancel "$job"
"$POLLUX" wait --timeout 100 "$job"
ok 'its supervisor, which has asked the driver, too, ends' wait_for 20 no_supervisor
answers 'slow 3600'
export POLLUX_DRIVER_LIMIT=100000

# The file still names the dead one, and another process has the lock.
perl -e 'open my $f, "+<", shift or die; my $lock = pack("s s l! l! i", 1, 0, 0, 0, 0);
	fcntl($f, 37, $lock) or die; $| = 1; print "locked\n"; sleep 1000' \
	"$POLLUX_DIR/schedule.lock" >locked &
holder=$!
ok 'somebody unknown has the lock' wait_for 5 grep -q locked locked
status 'nobody is named' 0 later 100 "$POLLUX" schedule
is 'at all' '' "$err"
is 'nor in JSON' null "$(later 100 "$POLLUX" status --json |
	json 'print defined $d->{hung_pass} ? "named" : "null"')"
kill "$holder"
wait "$holder" 2>/dev/null || :

# --- a pass that nobody ends ---------------------------------------------------------------------

job=$(submit -- "$work" -n 20 -s 5)
run env LD_PRELOAD="$FAULT/preload_clock.so" ALARM_FACTOR=0.005 \
	ASAN_OPTIONS="${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0" \
	timeout 100 "$POLLUX" schedule
is 'a pass ends itself after ten minutes' \
	'75 pollux: the pass took more than 10 minutes, and was given up' "$rc $err"
ok 'and nobody is left in the driver' wait_for 5 no_driver
answers ''
settle 30 'the next one does its work'
sound 'all is well'
finish
