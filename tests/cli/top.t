#!/bin/sh
# top.t - pollux top on a terminal of tmux: what the screen has, what keys do, how it ends.
# shellcheck disable=SC2317 # cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
command -v tmux >/dev/null || skip_all 'no tmux'
POLLUX_SLOTS=2
export POLLUX_SLOTS

status 'top wants a terminal' 69 "$POLLUX" top
is 'and says so in one line' "pollux: top wants a terminal; 'pollux status' prints the jobs, and \
'pollux devices' the devices" "$err"
status 'top takes no argument' 64 "$POLLUX" top 3

# --- a terminal ---
terminal() { LC_ALL=C.UTF-8 tmux -S "$TMP/tmux" -f /dev/null "$@"; }
screen() { terminal capture-pane -p -t top; }
shows() { screen | grep -Eq -e "$1"; }	# shows PATTERN
shows_not() { ! shows "$1"; }
keys() { terminal send-keys -t top "$@"; }
# A shell on a terminal of so many columns and rows, in which top is started by hand.
open_terminal() { # open_terminal COLUMNS ROWS
	terminal new-session -d -s top -x "$1" -y "$2" "env PS1='ready> ' ENV= sh -i" &&
		wait_for 5 shows '^ready>'
}
close_terminal() { terminal kill-server 2>/dev/null; }
start_top() { # start_top SETTING...: in the environment
	keys -l "env $* '$POLLUX' top" && keys Enter && wait_for 5 shows '^ ID|^  *ID  NAME'
}
quit_top() { keys q && wait_for 5 shows '^ready>'; }
cleanup() {
	touch "$TMP/go"
	close_terminal
	end_jobs
}
state_of() { "$POLLUX" status --json "$1" | sed -n 's/^      "state": "\(.*\)",$/\1/p'; }
state_is() { [ "$(state_of "$1")" = "$2" ]; }

# --- jobs: two run, one of them with a curve; others wait ---
cat >train.sh <<'END'
#!/bin/sh
for i in 1 2 3 4 5 6; do echo "epoch $i/40, step $i/40, loss $((9 - i)).5"; sleep 0.1; done
printf 'the last row \033[31mred\033[0m \033]0;title\007\n'
while [ ! -e "$0.go" ]; do sleep 0.1; done
END
chmod +x train.sh
hostile=$(printf 'bad\033[2J\033]0;x\007name')
"$POLLUX" submit -q -n train --suspend never -- ./train.sh
"$POLLUX" submit -q -n other --suspend never -- sleep 300
"$POLLUX" submit -q -n "$hostile" -- sleep 300
"$POLLUX" submit -q -n waits -- sleep 300
"$POLLUX" submit -q -n kept --hold -- sleep 300
"$POLLUX" submit -q -n 'lr-{x}' --param x=1,2,3,4,5 -- sleep 300
pass >/dev/null
ok 'a job runs and prints' wait_for 20 grep -q 'last row' "$POLLUX_DIR/logs/1.log"
past_curve 1 val_acc 20

ok 'a terminal of 80 x 24' open_terminal 80 24
ok 'top shows the jobs' start_top TERM=screen LC_ALL=C.UTF-8
wait_for 5 shows 'host .*%'
got=$(screen)
like 'the summary is that of status' "^ $("$POLLUX" status | head -n 1)" "$got"
like 'a device has its use and who has it' '^ cpu:0  .* 1 train$' "$got"
like 'the machine has its memory' '^ host  .* [0-9.]+/[0-9]+G' "$got"
like 'the chosen job runs' '^>  1  train  *running ' "$got"
is 'jobs are in the order of status' \
	"$("$POLLUX" status | sed -n 's/^ *\([0-9]*\)  [a-z].*/\1/p' | head -n 4 | xargs)" \
	"$(printf '%s\n' "$got" | sed -n 's/^[> ] *\([0-9]*\)  [a-z].*/\1/p' | head -n 4 | xargs)"
like 'a hostile name is text' '^  *3  bad\\033\[2J' "$got"
like 'a group has a row' '^  *-  group:1 lr-\* ' "$got"
like 'the chosen job has a pane' '^── job 1: train, running on cpu:0 ──' "$got"
like 'with its curve' ' val_acc 20' "$got"
like 'and the end of its log' '│ the last row red' "$got"
is 'the screen has 80 columns' '' "$(printf '%s\n' "$got" | perl -CS -lne 'print if length > 80')"

# --- keys ---
keys Down
ok 'the next job is chosen' wait_for 5 shows '^>  2  other '
keys '?'
ok 'help has the keys' wait_for 5 shows '^  c  *cancel it, after a question'
keys '?' /
keys -l WAITS
ok 'a filter leaves other jobs out' wait_for 5 shows_not '  train '
ok 'and chooses among what is left' shows '^>  4  waits '
keys Enter h
ok 'a job is held' wait_for 10 state_is 4 held
ok 'and the screen says so' wait_for 5 shows '^ job 4, waits: held'
keys r
ok 'a job is released' wait_for 10 state_is 4 queued
keys h
ok 'and held again' wait_for 10 state_is 4 held
ok 'the command has answered' wait_for 5 shows '^ job 4, waits: held'
keys f
ok 'what a command says is shown' wait_for 5 shows '^ job 4, waits: first in line|^ job 4 '
keys c
ok 'cancel asks' wait_for 5 shows '^ Cancel job 4, waits\? \[y/N\]'
keys n
ok 'no leaves the job' wait_for 5 shows '^ job 4 was left as it is'
is 'as it was' held "$(state_of 4)"
keys c
wait_for 5 shows 'Cancel job 4'
keys y
ok 'yes cancels the job' wait_for 10 state_is 4 cancelled
ok 'which the row says' wait_for 5 shows '  waits  *cancelled '
keys Escape
ok 'without the filter all jobs are back' wait_for 5 shows '  train '
keys Home
wait_for 5 shows '^>  1  train'
keys l
ok 'the log has the whole screen' wait_for 5 shows '^epoch 1/40, step 1/40, loss 8.5'
like 'without what is no text' '^the last row red$' "$(screen)"
keys l c
ok 'what a job would lose is told, or that it is asked to stop' wait_for 5 \
	shows '^ Cancel job 1, train\?'
keys n
quit_top
unlike 'the screen is as it was before' 'job 1: train' "$(screen)"

# --- other terminals ---
terminal pipe-pane -t top "cat >'$TMP/bytes'"
start_top TERM=vt100 LC_ALL=C NO_COLOR=1
ok 'bars and lines are of ASCII' wait_for 5 shows '^-- job 1: train, running on cpu:0 --'
is 'nothing else is on the screen' '' "$(screen | LC_ALL=C grep '[^ -~]')"
ok 'it grows with the terminal' terminal resize-window -t top -x 120 -y 40
ok 'and shows more' wait_for 5 shows 'ETA  MS/STEP  REASON'
is 'columns of the last row' 1 "$(screen | grep -c '^ l log  h hold .* q quit$')"
quit_top
terminal pipe-pane -t top
wait_for 5 grep -q 'NAME' bytes
unlike 'no colour was sent' "$(printf '\033')\\[([0-9]+;)*3[0-9](;[0-9]+)*m" \
	"$(tr -d '\000' <bytes)"
unlike 'no escape sequence of others' "$(printf '\033')\\]|$(printf '\007')" \
	"$(tr -d '\000' <bytes)"
keys -l "env TERM=dumb '$POLLUX' top; echo status=\$?"
keys Enter
ok 'a terminal that cannot place text is refused' wait_for 5 shows '^status=69'

# --- signals ---
keys -l 'clear; stty -g >before'
keys Enter
wait_for 5 test -s before
start_top TERM=screen LC_ALL=C.UTF-8
keys C-z
ok 'Ctrl-Z gives the shell' wait_for 5 shows '^ready>'
keys -l fg
keys Enter
ok 'fg brings the screen back' wait_for 5 shows '^>  1  train'
pid=$(ps -eo pid,args | sed -n "s|^ *\([0-9]*\) $POLLUX top\$|\1|p" | head -n 1)
kill "$pid"
ok 'SIGTERM ends it' wait_for 5 shows '^ready>'
keys -l 'stty -g >after'
keys Enter
ok 'the terminal answers' wait_for 5 test -s after
is 'and is as it was' "$(cat before)" "$(cat after)"
finish
