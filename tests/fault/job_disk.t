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
below=$(submit --checkpoint-dir "$TMP/disk/a/b" -- "$work" -n 20 -s 5)
mkdir here
here=$(submit --checkpoint-dir "$TMP/here" -- "$work" -n 20 -s 5)
own=$(submit -- "$work" -n 20 -s 5)
pass
like 'a job that saves there does not start, and says why' "^queued does not start, as it $why" \
	"$(reason "$there")"
like 'nor one whose directory is not there yet' "^queued does not start, as it $why" \
	"$(reason "$below")"
like 'status says why' "$(basename "$work") .*could not save" "$("$POLLUX" status "$there" |
	tr '\n' ' ')"
ok 'others do' wait_for 30 job_is "$here" "done"
ok 'and end' wait_for 30 job_is "$own" "done"
unlike 'the store has room' 'No run starts' "$("$POLLUX" status)"
is 'no run of it was made' 0 "$(query "SELECT count(*) FROM runs WHERE job_id IN ($there, $below)")"
rm disk/filler
mkdir -p disk/a/b
settle 30 'with room, they start'
is 'and end well' 'done done' "$(query "SELECT group_concat(state, ' ') FROM jobs
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
like 'status says so' "^No run starts: the disk of '.*/logs' is nearly full: " "$("$POLLUX" status)"
rm disk/filler
settle 30 'with room, it does'
finish
