#!/bin/sh
# leftovers.t - logs and checkpoints of a store that was deleted or replaced are never those of a
# job of the present store.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"

# A job that says how many files it finds in its directory, and saves its name there.
saver() { # saver NAME
	"$POLLUX" submit -- sh -c 'echo "$(ls "$0" | wc -l) there"; echo "$1" >"$0/saved"' \
		'{checkpoint}' "$1"
}
ended() { "$POLLUX" schedule; "$POLLUX" wait --timeout 600 "$1" >waited 2>&1; }

saver first >out
saver first >out
one=1 two=2
ended "$one"
ended "$two"
is 'the second job saves its checkpoint' first "$(cat "$POLLUX_DIR/checkpoints/$two/saved")"

# --- the store is deleted ---
wait_for 5 no_supervisor
cp "$POLLUX_DIR/pollux.db" old.db
rm "$POLLUX_DIR"/pollux.db*
run saver second
like 'submit says that files of another store are there' \
	"^pollux: the store is new, but '.*/store' has logs or checkpoints of jobs up to $two of" \
	"$err"
is 'a new store begins behind the numbers of those files' $((two + 1)) "$out"
ended "$((two + 1))"
like 'the first job of a new store finds no checkpoint' '^0 there' "$("$POLLUX" log "$((two + 1))")"
is 'the checkpoint of the deleted store is as it was' first \
	"$(cat "$POLLUX_DIR/checkpoints/$two/saved")"
run "$POLLUX" submit -q --hold -- true
unlike 'the next submission says nothing of another store' 'another store' "$err"

# --- a store of elsewhere takes its place, with a job of the same number waiting ---
wait_for 5 no_supervisor
rm "$POLLUX_DIR"/pollux.db*
mkdir elsewhere
here=$POLLUX_DIR POLLUX_DIR=$PWD/elsewhere
saver third >out
POLLUX_DIR=$here
cp elsewhere/pollux.db* "$POLLUX_DIR"
ended 1
like 'job 1 of a store from elsewhere does not find the other checkpoint' '^0 there' \
	"$("$POLLUX" log 1)"
is 'job 1 of a store from elsewhere has its own checkpoint' third \
	"$(cat "$POLLUX_DIR/checkpoints/1/saved")"
is "the other store's checkpoint is beside it" first \
	"$(cat "$POLLUX_DIR"/checkpoints/1.of-????????/saved)"
ok "the other store's log is beside it" test -s "$(echo "$POLLUX_DIR"/logs/1.log.of-????????)"
like 'status tells that files of another store were moved' \
	" leftover +'.*/logs/1.log' of another store is now '.*; '.*/checkpoints/1' of another" \
	"$("$POLLUX" status 1)"

# --- a backup takes the place of its store: jobs that were submitted after it are lost ---
wait_for 5 no_supervisor
mkdir restored
POLLUX_DIR=$PWD/restored
saver fourth >out
"$POLLUX" backup copy
saver fifth >out
lost=2
ended "$lost"
is 'a job submitted after the backup saves its checkpoint' fifth \
	"$(cat "$POLLUX_DIR/checkpoints/$lost/saved")"
wait_for 5 no_supervisor
rm "$POLLUX_DIR"/pollux.db*
cp copy "$POLLUX_DIR/pollux.db"
saver sixth >out
is 'a job of the restored backup gets the number of the lost job' "$lost" "$(cat out)"
ended "$lost"
like "a job with a lost job's number does not find its checkpoint" '^0 there' \
	"$("$POLLUX" log "$lost")"
is "the lost job's checkpoint is beside it" fifth \
	"$(cat "$POLLUX_DIR"/checkpoints/"$lost".of-????????/saved)"
like 'status tells that files of a lost job were moved' \
	" leftover +'.*/logs/$lost.log' of a lost job of the same number is now '.*; '.*/checkpo" \
	"$("$POLLUX" status "$lost")"
is 'a job that the backup has keeps its checkpoint' fourth \
	"$(cat "$POLLUX_DIR/checkpoints/1/saved")"
ended 1
like 'a job that the backup has goes on from its checkpoint' '^1 there' "$("$POLLUX" log 1)"
POLLUX_DIR=$here

# --- files that were there before stores had names ---
wait_for 5 no_supervisor
rm -r "$POLLUX_DIR"
cp -r elsewhere "$POLLUX_DIR"
mkdir -p "$POLLUX_DIR/checkpoints/1"
given_job all runs=1 launches=1
echo mine >"$POLLUX_DIR/checkpoints/1/saved"
ended 1
like 'a job that ran keeps files from before stores had names' '^1 there' "$("$POLLUX" log 1)"
finish
