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
stop_pass() {
	kill -STOP "$pass_pid"
	wait_for 10 grep -q '^State:.T' "/proc/$pass_pid/status"
}
end_pass() {
	kill -9 "$pass_pid"
	wait "$pass_pid" 2>/dev/null || :
}

# --- a driver that hangs -----------------------------------------------------------------------

export POLLUX_DRIVER_LIMIT=1
answers 'slow 3600'
job=$(submit -- "$work" -n 20 -s 5)
status 'a pass ends while the driver hangs' 0 timeout 60 "$POLLUX" schedule
like 'status says that the driver hangs' 'gpu:0: the driver has not answered for 1 s: it hangs' \
	"$("$POLLUX" status)"
status 'devices ends while the driver hangs' 0 timeout 60 "$POLLUX" devices
like 'devices says that the driver hangs' \
	'^GPUs: the driver has not answered for 1 s: it hangs$' "$out"
run timeout 60 "$POLLUX" profile -b 8 -- true
is 'a profile fails while the driver hangs' '69 ' "$rc $out"
status 'no process is left in the driver' 0 wait_for 5 no_driver

# Where the kernel cannot end who asked, nobody else asks.
cp "$(command -v sleep)" pollux-driver
./pollux-driver 1000 3>&- &
hanging=$!
sleep 2.5
like 'devices names the process that still hangs in the driver' \
	"^GPUs: the driver hangs: process $hanging still waits in it$" "$("$POLLUX" devices)"
kill "$hanging"
wait "$hanging" 2>/dev/null || :
# Who asked may live on: 'schedule --watch', or the supervisor that an orphan comes to.
perl -e 'unless (fork) { $0 = "pollux-driver"; sleep 1000; exit } wait' 3>&- &
caller=$!
ok 'a caller that lives on has asked a driver' wait_for 10 pgrep -P "$caller" -x pollux-driver
hanging=$(pgrep -P "$caller" -x pollux-driver)
sleep 2.5
like 'who hangs is named, too, where the caller asks nothing any more' \
	"^GPUs: the driver hangs: process $hanging still waits in it$" "$("$POLLUX" devices)"
kill "$hanging"
wait "$caller" 2>/dev/null || :
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
settle 30 'the job ends when the driver answers again'

# --- a pass that hangs ---------------------------------------------------------------------------

[ -r "$FAULT/preload_clock.so" ] || skip_all "$FAULT/preload_clock.so is not built: make check"
export POLLUX_DRIVER_LIMIT=100000
answers 'slow 3600'
job=$(submit -- "$work" -n 20 -s 5)
begin_pass
like 'a question that a pass still asks counts as hanging' \
	'^GPUs: the driver has not answered for 1 s: it hangs$' \
	"$(later 7200 env POLLUX_DRIVER_LIMIT=1 "$POLLUX" devices)"
status 'another pass leaves' 0 "$POLLUX" schedule -v
is 'another pass says that one is at work' 'another pass is at work' "$out"
status 'another pass leaves after 50 seconds' 0 later 50 "$POLLUX" schedule
unlike 'status accuses no pass after 50 seconds' 'No pass can run' "$(later 50 "$POLLUX" status)"
status 'another pass fails before the next one of cron' 75 later 56 "$POLLUX" schedule
status 'another pass fails after more than a minute' 75 later 61 "$POLLUX" schedule
is 'another pass names the one that hangs, and how to end it' \
	"pollux: the pass of process $pass_pid has been at work for 1 min \
and lets no other one begin: it may hang; 'kill -KILL $pass_pid' ends it without harm" "$err"
like 'status names the pass that hangs' \
	"^No pass can run: the pass of process $pass_pid has been at work for 1 min" \
	"$(later 61 "$POLLUX" status)"
stop_pass
unlike 'a stopped pass is left alone for seconds' 'No pass can run' "$(later 5 "$POLLUX" status)"
status 'another pass fails beside one stopped for ten seconds' 75 later 11 "$POLLUX" schedule
like 'the message has the age of the stopped pass' \
	"^pollux: the pass of process $pass_pid has been at work for 1[1-9] s .* stopped" \
	"$err"
like 'the message says that the pass is stopped, and how to go on' \
	"it is stopped; 'kill -CONT $pass_pid' continues it, 'kill -KILL $pass_pid' ends it" \
	"$(later 7200 "$POLLUX" schedule 2>&1)"
is 'JSON names the pass that hangs' "the pass of process $pass_pid has been at work for 2.0 h" \
	"$(later 7200 "$POLLUX" status --json |
		json 'print $d->{hung_pass} =~ s/ and lets.*//r')"
like 'explain names the pass that hangs' "^ *passes  *the pass of process $pass_pid" \
	"$(later 7200 env POLLUX_DRIVER_LIMIT=1 "$POLLUX" explain "$job")"
end_pass

# A pass that has just taken the lock has not signed the file, however old its process is; nor has
# one that is stopped right then.
begin_pass
printf '%111s\n' '' >"$POLLUX_DIR/schedule.lock"
unlike 'a pass that has not signed is young' 'No pass can run' "$(later 7200 "$POLLUX" status)"
status 'another pass leaves beside one that has not signed' 0 later 7200 "$POLLUX" schedule
unlike 'doctor advises to kill nobody beside one that has not signed' 'kill -' \
	"$(later 7200 env POLLUX_DRIVER_LIMIT=1 "$POLLUX" doctor)"
stop_pass
like 'status names a stopped pass that has not signed' \
	"^No pass can run: the pass of process $pass_pid has been at work and .* is stopped;" \
	"$("$POLLUX" status)"
status 'another pass fails beside a stopped one that has not signed' 75 "$POLLUX" schedule
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
ok 'the supervisor that asked the driver ends' wait_for 20 no_supervisor
answers 'slow 3600'
export POLLUX_DRIVER_LIMIT=100000

# The file still names the dead one, and another process has the lock.
perl -e 'open my $f, "+<", shift or die; my $lock = pack("s s l! l! i", 1, 0, 0, 0, 0);
	fcntl($f, 37, $lock) or die; $| = 1; print "locked\n"; sleep 1000' \
	"$POLLUX_DIR/schedule.lock" >locked &
holder=$!
ok 'a process that is no pass has the lock' wait_for 5 grep -q locked locked
status 'a pass leaves beside a lock of somebody unknown' 0 later 100 "$POLLUX" schedule
is 'the pass names nobody for that lock' '' "$err"
is 'JSON names nobody for that lock' null "$(later 100 "$POLLUX" status --json |
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
ok 'no process of the pass is left in the driver' wait_for 5 no_driver
answers ''
settle 30 'the next pass starts the job, which ends'
sound 'all is well after the hung passes'
finish
