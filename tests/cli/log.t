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

status 'log fails where there is no store' 66 "$POLLUX" log 1
submit -n lines -- sh -c 'i=1; while [ $i -le 5 ]; do echo "line $i"; i=$((i + 1)); done' >/dev/null
submit -n held --hold -- true >/dev/null

status 'log fails for a queued job' 66 "$POLLUX" log 1
is 'log says that a queued job has no log yet' 'pollux: job 1 has no log yet: it is queued' "$err"
status 'log fails for a held job' 66 "$POLLUX" log 2
"$POLLUX" cancel 2
status 'log fails for a job that was cancelled before it ran' 66 "$POLLUX" log 2
is 'log says that a cancelled job has no log' 'pollux: job 2 has no log: it was cancelled' "$err"
status 'log --follow fails at once for a cancelled job' 66 "$POLLUX" log --follow 2
status 'log --path succeeds before the job runs' 0 "$POLLUX" log --path 1
is 'log --path prints the name of the file' "$POLLUX_DIR/logs/1.log" "$out"

"$POLLUX" schedule
"$POLLUX" wait --timeout 200 1
status 'log succeeds for a job that ran' 0 "$POLLUX" log 1
is 'log prints the file' "$(cat "$(path 1)")" "$out"
like 'log prints what the job printed' '^line 1$' "$out"
like 'log prints how the job ended' '^\[exited with status 0\]$' "$out"
for count in 1 2 3 5; do
	run "$POLLUX" log -n "$count" 1
	is "log -n $count prints the last lines" "$(tail -n "$count" "$(path 1)")" "$out"
done
status 'log -n 0 succeeds' 0 "$POLLUX" log -n 0 1
is 'log -n 0 prints nothing' '' "$out"
run "$POLLUX" log --lines 100000 1
is 'log prints the whole file where it has fewer lines' "$(cat "$(path 1)")" "$out"
status 'log -f succeeds for an ended job' 0 "$POLLUX" log -f 1
is 'log -f prints the log of an ended job and ends' "$(cat "$(path 1)")" "$out"

# Logs are files: whatever is in them comes out.
printf 'no newline at the end' >"$(path 1)"
run "$POLLUX" log -n 1 1
is 'log prints a last line without newline' 'no newline at the end' "$out"
printf 'one\ntwo' >"$(path 1)"
run "$POLLUX" log -n 1 1
is 'log -n counts a last line without newline' 'two' "$out"
printf '\n\n\n' >"$(path 1)"
is 'log -n counts empty lines' 2 "$("$POLLUX" log -n 2 1 | wc -l)"
: >"$(path 1)"
status 'log succeeds for an empty log' 0 "$POLLUX" log -n 3 1
is 'log prints nothing of an empty log' '' "$out"
head -c 3000000 /dev/urandom >"$(path 1)"
ok 'log prints bytes as they are' sh -c '"$POLLUX" log 1 | cmp - "$1"' sh "$(path 1)"
perl -e 'print "x" x 70000, "\n" for 1..20; print "y" x 65536, "\n"' >"$(path 1)"
for count in 1 2 7 20 21 22; do
	tail -n "$count" "$(path 1)" >want
	ok "log -n $count prints the last lines longer than a block" \
		sh -c '"$POLLUX" log -n "$1" 1 | cmp - want' sh "$count"
done
seq 200000 >"$(path 1)"
for count in 1 1000 123456 199999; do
	tail -n "$count" "$(path 1)" >want
	ok "log -n $count prints the last of many lines" \
		sh -c '"$POLLUX" log -n "$1" 1 | cmp - want' sh "$count"
done

# Following: from before the start, over a relaunch, to the end.
submit -n growing --preempt -- sh -c 'echo "launch $POLLUX_RUN"
	while [ ! -e "$0/go" ]; do sleep 0.05; done; [ "$POLLUX_RUN" = 2 ] || exec sleep 100
	echo last; printf "no newline"' "$TMP" >/dev/null
"$POLLUX" log -f 3 >followed 2>follow.err &
follower=$!
told() { grep -q . follow.err; }
ok 'log -f says that it waits for a queued job' wait_for 10 told
is 'log -f says what it waits for' 'pollux: job 3 is queued; its log begins when it starts' \
	"$(cat follow.err)"
"$POLLUX" schedule
ok 'log -f prints what the job prints' wait_for 20 grep -q '^launch 1$' followed
"$POLLUX" requeue 3
"$POLLUX" schedule
ok 'log -f goes on over a relaunch' wait_for 20 grep -q '^launch 2$' followed
touch go
status 'log -f succeeds when the job ends' 0 wait $follower
ok 'log -f printed the whole log' cmp followed "$(path 3)"
like 'log -f printed a last line without newline' '^no newline' "$(cat followed)"
like 'log -f printed how the job ended' '\[exited with status 0\]$' "$(cat followed)"

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
ok 'log -f -n 0 follows a log from its end on' wait_for 20 at_end
echo anew >"$(path 4)"
ok 'log -f prints a log begun anew from its beginning' wait_for 20 grep -q '^anew$' followed
touch go
"$POLLUX" wait --timeout 200 4
status 'log -f of a log begun anew ends with the job' 0 wait $follower

# Progress bars: lines that are written over.
{
	echo 'epoch 1 begins'
	perl -e 'printf "\r%3d%%|#####     | %d/20000 [00:01<00:01, loss=%.9f]",
		$_ / 200, $_, 1 / $_ for 1 .. 20000'
} >"$(path 3)"
is 'log -n 1 prints the last state of a progress bar' 60 "$("$POLLUX" log -n 1 3 | wc -c)"
like 'log prints a progress bar as a terminal shows it' '^100%.#####     . 20000/20000 ' \
	"$("$POLLUX" log -n 1 3)"
is 'a progress bar counts as one line' 'epoch 1 begins' "$("$POLLUX" log -n 2 3 | head -n 1)"
ok 'log without -n prints all bytes of a progress bar' \
	sh -c '"$POLLUX" log 3 | cmp - "$1"' sh "$(path 3)"
is 'log --plain leaves a progress bar out' 'epoch 1 begins' "$("$POLLUX" log --plain 3)"
is 'log --plain -n leaves a progress bar out' 'epoch 1 begins' "$("$POLLUX" log --plain -n 1 3)"
printf '\n\033[1mloss 0.5\033[0m\r\nsaved\n' >>"$(path 3)"
is 'log --plain leaves out a bar that ended, and colours' 'epoch 1 begins loss 0.5 saved' \
	"$("$POLLUX" log --plain 3 | xargs)"
is 'log --plain -n counts the lines that are left' 'loss 0.5 saved' \
	"$("$POLLUX" log --plain -n 2 3 | xargs)"
is 'log -n without --plain counts the lines that are shown' 2 \
	"$("$POLLUX" log -n 3 3 | sed 1d | wc -l)"
perl -e 'print "\router\n"; print "\rinner $_\033[A\n" for 1 .. 500; print "\n"' >"$(path 3)"
is 'a bar below a bar counts as one line' 'inner 500' "$("$POLLUX" log -n 1 3)"
is 'log -n finds the bar above, however far back it is' 'outer inner 500' \
	"$("$POLLUX" log -n 2 3 | xargs)"
is 'two bars have no more than two lines' 2 "$("$POLLUX" log -n 100 3 | wc -l)"
status 'log accepts --plain with --path' 0 "$POLLUX" log --plain --path 3

go=$TMP/go-bar
job=$("$POLLUX" submit -q -- sh -c 'echo one; printf "\r 1%%|#  |\r 2%%|## |"
	while [ ! -e "$0" ]; do sleep 0.05; done; printf "\r100%%|###|\ntwo\nthree"' "$go")
"$POLLUX" schedule
"$POLLUX" log -f --plain "$job" >followed &
follower=$!
ok 'log -f --plain prints lines when they end' wait_for 20 grep -qx one followed
touch "$go"
status 'log -f --plain ends with the job' 0 wait $follower
is 'log -f --plain prints no progress bars' 'one two three [exited with status 0]' \
	"$(tail -n 4 followed | xargs)"

to_full_device() { "$POLLUX" log 3 >/dev/full; }
status 'log exits with 74 where the device is full' 74 to_full_device
chmod 0 "$(path 3)"
[ "$(id -u)" = 0 ] || status 'log exits with 74 where the log cannot be read' 74 "$POLLUX" log 3
rm "$(path 3)"
mkdir "$(path 3)"
status 'log exits with 74 where the log is a directory' 74 "$POLLUX" log 3

status 'log without a job takes the one that ran last' 0 "$POLLUX" log
new=$("$POLLUX" submit -q -- echo new)
"$POLLUX" log -f >followed 2>said &
follower=$!
ok 'log -f after a submission follows the submitted job' \
	wait_for 20 grep -q "^pollux: job $new (echo)" said
"$POLLUX" schedule
ok 'log -f follows the submitted job to its end' wait_for 20 grep -qx new followed
wait $follower
status 'log refuses two jobs' 64 "$POLLUX" log 1 2
status 'log refuses a job that does not exist' 66 "$POLLUX" log 99
is 'log names the job that does not exist' 'pollux: no such job: 99' "$err"
status 'log refuses a name that no job has' 66 "$POLLUX" log x
for wrong in -1 x 1.5 ''; do
	status "log refuses --lines '$wrong'" 64 "$POLLUX" log --lines "$wrong" 1
done
finish
