#!/bin/sh
# log.t - pollux log: whole, by lines, as it grows and over relaunches.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS

submit() { "$POLLUX" submit -q "$@"; }
cleanup() {
	touch "$TMP/go"
	for id in 1 2 3 4 5 6 7; do
		"$POLLUX" cancel "$id" 2>/dev/null && "$POLLUX" wait --timeout 200 "$id" 2>/dev/null
	done
	sleep 0.3
}
path() { "$POLLUX" log --path "$1"; }

status 'no store' 66 "$POLLUX" log 1
submit -n lines -- sh -c 'i=1; while [ $i -le 5 ]; do echo "line $i"; i=$((i + 1)); done' >/dev/null
submit -n held --hold -- true >/dev/null

status 'no log yet' 66 "$POLLUX" log 1
is 'is said' 'pollux: job 1 has no log yet: it is queued' "$err"
status 'of a held one neither' 66 "$POLLUX" log 2
"$POLLUX" cancel 2
status 'nor of one cancelled before it ran' 66 "$POLLUX" log 2
is 'for ever' 'pollux: job 2 has no log: it is cancelled' "$err"
status 'following that ends at once' 66 "$POLLUX" log --follow 2
status 'the name of the file is known before' 0 "$POLLUX" log --path 1
is 'and printed' "$POLLUX_DIR/logs/1.log" "$out"

"$POLLUX" schedule
"$POLLUX" wait --timeout 200 1
status 'the whole log' 0 "$POLLUX" log 1
is 'is the file' "$(cat "$(path 1)")" "$out"
like 'with what was printed' '^line 1$' "$out"
like 'and how it ended' '^\[exited with status 0\]$' "$out"
for count in 1 2 3 5; do
	run "$POLLUX" log -n "$count" 1
	is "the last $count lines" "$(tail -n "$count" "$(path 1)")" "$out"
done
status 'the last 0 lines' 0 "$POLLUX" log -n 0 1
is 'are none' '' "$out"
run "$POLLUX" log --lines 100000 1
is 'more lines than there are' "$(cat "$(path 1)")" "$out"
status 'following an ended job' 0 "$POLLUX" log -f 1
is 'prints it and ends' "$(cat "$(path 1)")" "$out"

# Logs are files: whatever is in them comes out.
printf 'no newline at the end' >"$(path 1)"
run "$POLLUX" log -n 1 1
is 'a last line without newline' 'no newline at the end' "$out"
printf 'one\ntwo' >"$(path 1)"
run "$POLLUX" log -n 1 1
is 'is a line' 'two' "$out"
printf '\n\n\n' >"$(path 1)"
is 'empty lines are lines' 2 "$("$POLLUX" log -n 2 1 | wc -l)"
: >"$(path 1)"
status 'an empty log' 0 "$POLLUX" log -n 3 1
is 'is empty' '' "$out"
head -c 3000000 /dev/urandom >"$(path 1)"
ok 'bytes come through' sh -c '"$POLLUX" log 1 | cmp - "$1"' sh "$(path 1)"
perl -e 'print "x" x 70000, "\n" for 1..20; print "y" x 65536, "\n"' >"$(path 1)"
for count in 1 2 7 20 21 22; do
	tail -n "$count" "$(path 1)" >want
	ok "the last $count lines longer than a block" \
		sh -c '"$POLLUX" log -n "$1" 1 | cmp - want' sh "$count"
done
seq 200000 >"$(path 1)"
for count in 1 1000 123456 199999; do
	tail -n "$count" "$(path 1)" >want
	ok "the last $count of many lines" sh -c '"$POLLUX" log -n "$1" 1 | cmp - want' sh "$count"
done

# Following: from before the start, over a relaunch, to the end.
submit -n growing --preempt -- sh -c 'echo "launch $POLLUX_RUN"
	while [ ! -e "$0/go" ]; do sleep 0.05; done; [ "$POLLUX_RUN" = 2 ] || exec sleep 100
	echo last; printf "no newline"' "$TMP" >/dev/null
"$POLLUX" log -f 3 >followed 2>follow.err &
follower=$!
told() { grep -q . follow.err; }
ok 'says that it waits' wait_for 10 told
is 'for the start' 'pollux: job 3 is queued; its log begins when it starts' "$(cat follow.err)"
"$POLLUX" schedule
ok 'prints what comes' wait_for 20 grep -q '^launch 1$' followed
"$POLLUX" requeue 3
"$POLLUX" schedule
ok 'goes on over a relaunch' wait_for 20 grep -q '^launch 2$' followed
touch go
status 'ends with the job, with success' 0 wait $follower
ok 'having printed all' cmp followed "$(path 3)"
like 'to the last word' '^no newline' "$(cat followed)"
like 'and how it ended' '\[exited with status 0\]$' "$(cat followed)"

rm go
submit -n truncated -- sh -c 'while [ ! -e "$0/go" ]; do sleep 0.05; done' "$TMP" >/dev/null
"$POLLUX" schedule
have_log() { [ -s "$(path 4)" ]; }
wait_for 20 have_log
"$POLLUX" log -f -n 0 4 >followed &
follower=$!
at_end() { # it has gone to the end of the log
	fd=$(find "/proc/$follower/fd" -lname '*/4.log' -printf '%f\n') && [ -n "$fd" ] &&
		grep -Eq '^pos:.*[1-9]' "/proc/$follower/fdinfo/$fd"
}
ok 'a log is followed from its end on' wait_for 20 at_end
echo anew >"$(path 4)"
ok 'a log begun anew is printed from its beginning' wait_for 20 grep -q '^anew$' followed
touch go
"$POLLUX" wait --timeout 200 4
status 'and followed to its end' 0 wait $follower

# Progress bars: lines that are written over.
{
	echo 'epoch 1 begins'
	perl -e 'printf "\r%3d%%|#####     | %d/20000 [00:01<00:01, loss=%.9f]",
		$_ / 200, $_, 1 / $_ for 1 .. 20000'
} >"$(path 3)"
is 'the last line of a bar is its last state' 60 "$("$POLLUX" log -n 1 3 | wc -c)"
like 'as a terminal shows it' '^100%.#####     . 20000/20000 ' "$("$POLLUX" log -n 1 3)"
is 'it is one line' 'epoch 1 begins' "$("$POLLUX" log -n 2 3 | head -n 1)"
ok 'without -n all bytes are printed' sh -c '"$POLLUX" log 3 | cmp - "$1"' sh "$(path 3)"
is '--plain leaves it out' 'epoch 1 begins' "$("$POLLUX" log --plain 3)"
is 'also of the last lines' 'epoch 1 begins' "$("$POLLUX" log --plain -n 1 3)"
printf '\n\033[1mloss 0.5\033[0m\r\nsaved\n' >>"$(path 3)"
is 'a bar that ended is left out, too, and colours' 'epoch 1 begins loss 0.5 saved' \
	"$("$POLLUX" log --plain 3 | xargs)"
is 'lines are those that are left' 'loss 0.5 saved' "$("$POLLUX" log --plain -n 2 3 | xargs)"
is 'without --plain a line is one of those shown' 2 "$("$POLLUX" log -n 3 3 | sed 1d | wc -l)"
perl -e 'print "\router\n"; print "\rinner $_\033[A\n" for 1 .. 500; print "\n"' >"$(path 3)"
is 'a bar below a bar is one line' 'inner 500' "$("$POLLUX" log -n 1 3)"
is 'however far one must look back' 'outer inner 500' "$("$POLLUX" log -n 2 3 | xargs)"
is 'and there are no more' 2 "$("$POLLUX" log -n 100 3 | wc -l)"
status '--plain with --path' 0 "$POLLUX" log --plain --path 3

go=$TMP/go-bar
job=$("$POLLUX" submit -q -- sh -c 'echo one; printf "\r 1%%|#  |\r 2%%|## |"
	while [ ! -e "$0" ]; do sleep 0.05; done; printf "\r100%%|###|\ntwo\nthree"' "$go")
"$POLLUX" schedule
"$POLLUX" log -f --plain "$job" >followed &
follower=$!
ok 'following a plain log prints lines when they end' wait_for 20 grep -qx one followed
touch "$go"
status 'to the end' 0 wait $follower
is 'without bars' 'one two three [exited with status 0]' "$(tail -n 4 followed | xargs)"

to_full_device() { "$POLLUX" log 3 >/dev/full; }
status 'a full device is an input/output error' 74 to_full_device
chmod 0 "$(path 3)"
[ "$(id -u)" = 0 ] || status 'a log that cannot be read' 74 "$POLLUX" log 3
rm "$(path 3)"
mkdir "$(path 3)"
status 'a directory for a log' 74 "$POLLUX" log 3

status 'no job: the one that ran last' 0 "$POLLUX" log
new=$("$POLLUX" submit -q -- echo new)
"$POLLUX" log -f >followed 2>said &
follower=$!
ok '--follow right after a submission: that job' wait_for 20 grep -q "^pollux: job $new (echo)" said
"$POLLUX" schedule
ok 'to its end' wait_for 20 grep -qx new followed
wait $follower
status 'two jobs' 64 "$POLLUX" log 1 2
status 'an unknown job' 66 "$POLLUX" log 99
is 'is named' 'pollux: no such job: 99' "$err"
status 'a name that no job has' 66 "$POLLUX" log x
for wrong in -1 x 1.5 ''; do
	status "--lines '$wrong'" 64 "$POLLUX" log --lines "$wrong" 1
done
finish
