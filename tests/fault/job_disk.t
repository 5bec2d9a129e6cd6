#!/bin/sh
# job_disk.t - no run starts whose checkpoints go to a disk that is nearly full; others do.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/mounts.sh"
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

mkdir disk
mount -t tmpfs -o size=64m none "$TMP/disk" || skip_all 'cannot mount a small disk'
cleanup() {
	kill_all
	cd /
	wait_for 5 umount "$TMP/disk"
}
fill() { # all but 400 KiB
	dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null \
		count=$(($(df -k --output=avail "$TMP/disk" | tail -n 1) - 400)) || :
}
reason() { query "SELECT state || ' ' || reason FROM jobs WHERE id = $1"; }
why="could not save: the disk of '$TMP/disk' is nearly full: 0\\.[0-9] MiB of 64\\.0 MiB are free, \
less than 1 %\$"

fill
there=$(submit --checkpoint-dir "$TMP/disk" -- "$work" -n 20 -s 5)
below=$(submit --force --checkpoint-dir "$TMP/disk/a/b" -- "$work" -n 20 -s 5)
mkdir here
here=$(submit --checkpoint-dir "$TMP/here" -- "$work" -n 20 -s 5)
own=$(submit -- "$work" -n 20 -s 5)
pass
like 'a job that would save on the full disk does not start' "^queued does not start, as it $why" \
	"$(reason "$there")"
like 'a job whose directory is to be made there does not start' \
	"^queued does not start, as it $why" \
	"$(reason "$below")"
like 'status says why the job does not start' \
	"$(basename "$work") .*could not save" "$("$POLLUX" status "$there" |
	tr '\n' ' ')"
ok 'a job that saves elsewhere is done' wait_for 30 job_is "$here" "done"
ok 'a job that saves in the store is done' wait_for 30 job_is "$own" "done"
unlike 'status does not call the disk of the store full' 'No run starts' "$("$POLLUX" status)"
is 'no run of those jobs was made' \
	0 "$(query "SELECT count(*) FROM runs WHERE job_id IN ($there, $below)")"
rm disk/filler
mkdir -p disk/a/b
settle 30 'both jobs start when there is room'
is 'both jobs are done' 'done done' "$(query "SELECT group_concat(state, ' ') FROM jobs
	WHERE id IN ($there, $below)")"

# --- the logs on that disk ---

rm -rf "$POLLUX_DIR/logs"
mkdir disk/logs
ln -s "$TMP/disk/logs" "$POLLUX_DIR/logs"
fill
next=$(submit -- "$work" -n 20 -s 5)
pass
is 'no run starts while the disk of the logs is full' \
	'queued no run starts while the disk is nearly full' "$(reason "$next")"
like 'status says that the disk of the logs is nearly full' \
	"^No run starts: the disk of '.*/logs' is nearly full: " "$("$POLLUX" status)"
rm disk/filler
settle 30 'the run starts and ends when the logs have room'

# --- the disk of the logs becomes full while a job prints ---

cat >program <<'END'
$| = 1;
for ($i = 1; !-e "stop"; $i++) {
	print "line $i of a program\n" or exit 8;
	select(undef, undef, undef, 0.01) if $i % 20 == 0;
}
print "the end\n" or exit 9;
END
job=$(submit -- perl program)
pass
ok 'a job prints' wait_for 10 logged "$job" '^line 100 of'
dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null || :
log=$POLLUX_DIR/logs/$job.log
is_full() { [ "$(wc -c <"$log")" = "${size-}" ] || { size=$(wc -c <"$log"); sleep 0.5; false; }; }
ok 'the job prints until there is no room' wait_for 20 is_full
rm disk/filler
ok 'a line of the log says how much was dropped' wait_for 20 logged "$job" \
	'^\[pollux: [0-9]+ bytes of the output were dropped here: No space left on device\]$'
touch stop
settle 30 'the job that printed ends'
is 'the job is done and has not noticed' "done" "$(query "SELECT state FROM jobs WHERE id = $job")"
is 'the last words of the job are in the log' 'the end' "$(tail -n 2 "$log" | head -n 1)"
finish
