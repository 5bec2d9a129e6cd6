#!/bin/sh
# cron.t - pollux cron: the line, and what --install and --remove leave of a crontab.
#
# A FAKE crontab(1) comes first in PATH: a test must not touch the crontab of the user who runs it.
# The fake keeps the table in a file and answers as Debian's cron does; $FAKE_CRONTAB makes it
# answer otherwise.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status
. "$(dirname "$0")/tap.sh"
mkdir bin
cat >bin/crontab <<'END'
#!/bin/sh
echo "$*" >>"$CRONTAB_FILE.calls"
case ${FAKE_CRONTAB-}:$1 in
refuse:*) echo "You (somebody) are not allowed to use this program (crontab)" >&2; exit 1 ;;
full:-) cat >/dev/null; echo 'No space left on device' >&2; exit 1 ;;
busybox:-l)
	[ -e "$CRONTAB_FILE" ] || {
		echo "crontab: can't open 'somebody': No such file or directory" >&2
		exit 1
	} ;;
silent:-l) exit 3 ;;
hang:-l) exec sleep 1000 ;;
child:*) sleep 30 & ;;
status:-l) echo 'not now' >&2; exit 127 ;;
esac
case $1 in
-l)
	[ -e "$CRONTAB_FILE" ] || { echo 'no crontab for somebody' >&2; exit 1; }
	cat "$CRONTAB_FILE" ;;
-r) rm "$CRONTAB_FILE" ;;
-) cat >"$CRONTAB_FILE.new"
	[ -z "$(tail -c 1 "$CRONTAB_FILE.new")" ] ||
		{ echo 'missing newline before EOF' >&2; exit 1; }
	mv "$CRONTAB_FILE.new" "$CRONTAB_FILE" ;;
*) exit 64 ;;
esac
END
chmod +x bin/crontab
real_path=$PATH
PATH=$TMP/bin:$PATH
CRONTAB_FILE=$TMP/table
export PATH CRONTAB_FILE
unset POLLUX_DIR
program=$(readlink -f "$POLLUX")
# Under valgrind POLLUX is a script: what pollux itself takes for its name.
program=$("$POLLUX" cron | sed 's/^\* \* \* \* \* //; s/ schedule # pollux$//')
line="* * * * * $program schedule # pollux"
table() { cat "$CRONTAB_FILE"; }

status 'cron succeeds' 0 "$POLLUX" cron
is 'cron prints the line for the crontab' "$line" "$out"
like 'the line has an absolute name' '^\* \* \* \* \* (/|'"'/"')' "$out"
ok 'the line names a program' test -x "$program"
status 'cron alone installs nothing' 2 ls "$CRONTAB_FILE"
is 'cron alone does not call crontab' '' "$(cat "$CRONTAB_FILE.calls" 2>/dev/null)"

# --- variables ---
run env POLLUX_DIR=/x/y "$POLLUX" cron
is 'the line has POLLUX_DIR' "* * * * * POLLUX_DIR=/x/y $program schedule # pollux" "$out"
run env POLLUX_DIR=rel "$POLLUX" cron
is 'the line has POLLUX_DIR as an absolute path' \
	"* * * * * POLLUX_DIR=$TMP/rel $program schedule # pollux" "$out"
run env POLLUX_DIR="/a b/%c'd" "$POLLUX" cron
is 'the line quotes POLLUX_DIR for the shell, and % for cron' \
	"* * * * * POLLUX_DIR='/a b/\\%c'\\''d' $program schedule # pollux" "$out"
run env XDG_STATE_HOME=/s XDG_CONFIG_HOME=/c "$POLLUX" cron
is 'the line has the directories of XDG where POLLUX_DIR is unset' \
	"* * * * * XDG_STATE_HOME=/s XDG_CONFIG_HOME=/c $program schedule # pollux" "$out"
run env POLLUX_DIR=/x XDG_STATE_HOME=/s "$POLLUX" cron
is 'the line has POLLUX_DIR alone where XDG is set, too' \
	"* * * * * POLLUX_DIR=/x $program schedule # pollux" "$out"
status 'cron refuses a POLLUX_DIR with a newline' 78 env POLLUX_DIR='/a
b' "$POLLUX" cron
is 'cron says that a newline cannot stand in a crontab' \
	'pollux: a path with a newline cannot stand in a crontab' "$err"

# --- install, remove ---
status 'cron --install succeeds where there is no crontab' 0 "$POLLUX" cron --install
is 'cron --install says what it added' "added: $line" "$out"
is 'the crontab has the line alone' "$line" "$(table)"
status 'cron --install succeeds a second time' 0 "$POLLUX" cron --install
is 'cron --install says that the line is already there' "already there: $line" "$out"
is 'a second cron --install leaves the crontab as it was' "$line" "$(table)"
status 'cron --remove succeeds' 0 "$POLLUX" cron --remove
is 'cron --remove says what it removed' "removed: $line" "$out"
status 'cron --remove leaves no empty crontab' 2 ls "$CRONTAB_FILE"
status 'cron --remove succeeds a second time' 0 "$POLLUX" cron --remove
is 'cron --remove says that there was no line' 'not there' "$out"
: >"$CRONTAB_FILE.calls"
"$POLLUX" cron --remove >/dev/null
is 'cron --remove writes no crontab where there was no line' '-l' "$(cat "$CRONTAB_FILE.calls")"

others='# my jobs
MAILTO=me
	# indented  # pollux
@daily /usr/bin/true
0 5 * * 1  tar -zcf /b.tgz /home/   # pollux is a word here
* * * * * /usr/bin/pollux-like schedule #pollux
'
for ending in '' '
'; do
	printf '%s%s' "${others%?}" "$ending" >"$CRONTAB_FILE"
	"$POLLUX" cron --install >/dev/null
	is 'cron --install leaves other lines as they were' "$others$line" "$(table)"
	"$POLLUX" cron --remove >/dev/null
	is 'cron --remove leaves other lines as they were' "${others%?}" "$(table)"
done
printf '\n\n# end\n\n' >"$CRONTAB_FILE"
"$POLLUX" cron --install >/dev/null
"$POLLUX" cron --remove >/dev/null
ok 'cron leaves empty lines as they were' sh -c 'printf "\n\n# end\n\n" | cmp - "$CRONTAB_FILE"'

# --- what the user made of it, and what has become old ---
printf '*/5 8-18 * * 1-5 %s schedule # pollux\n' "$program" >"$CRONTAB_FILE"
status 'cron --install succeeds where the line has other times' 0 "$POLLUX" cron --install
is 'cron --install keeps the times that the user gave the line' \
	"already there: */5 8-18 * * 1-5 $program schedule # pollux" "$out"
printf '@hourly /old/pollux schedule # pollux\n' >"$CRONTAB_FILE"
status 'cron --install succeeds where the line has an old program' 0 "$POLLUX" cron --install
is 'cron --install brings the program up to date' \
	"brought up to date: @hourly $program schedule # pollux" "$out"
is "the crontab has the program of now at the user's times" "@hourly $program schedule # pollux" \
	"$(table)"
printf '%s\n# x\n%s\n' "$line" "$line" >"$CRONTAB_FILE"
"$POLLUX" cron --install >/dev/null
is 'cron --install removes a second line of the same store' "$line
# x" "$(table)"

# --- a line for each store ---
"$POLLUX" cron --install >/dev/null
POLLUX_DIR='/a b%c' "$POLLUX" cron --install >/dev/null
POLLUX_DIR=/other "$POLLUX" cron --install >/dev/null
want="$line
# x
* * * * * POLLUX_DIR='/a b\\%c' $program schedule # pollux
* * * * * POLLUX_DIR=/other $program schedule # pollux"
is 'each store has a line in the crontab' "$want" "$(table)"
POLLUX_DIR='/a b%c' "$POLLUX" cron --install >/dev/null
is 'each store has one line after another install' "$want" "$(table)"
POLLUX_DIR=/oth "$POLLUX" cron --remove >/dev/null
is 'cron --remove takes no store for one with a longer name' "$want" "$(table)"
POLLUX_DIR='/a b%c' "$POLLUX" cron --remove >/dev/null
"$POLLUX" cron --remove >/dev/null
is 'cron --remove removes the line of one store alone' "# x
* * * * * POLLUX_DIR=/other $program schedule # pollux" "$(table)"

# --- crontab(1) that will not ---
before=$(table)
export FAKE_CRONTAB
FAKE_CRONTAB=refuse
status 'cron --install fails where crontab refuses' 69 "$POLLUX" cron --install
is 'cron says why crontab refused' \
	"pollux: 'crontab -l' failed: You (somebody) are not allowed to use this program \
(crontab)" "$err"
FAKE_CRONTAB=full
status 'cron --install fails where crontab cannot write' 69 "$POLLUX" cron --install
is 'cron says why crontab could not write' "pollux: 'crontab -' failed: No space left on device" \
	"$err"
FAKE_CRONTAB=silent
: >"$CRONTAB_FILE.calls"
status 'cron --install fails where crontab fails without a word' 69 "$POLLUX" cron --install
is 'a crontab that fails is not taken for an empty one' '-l' "$(cat "$CRONTAB_FILE.calls")"
is 'the crontab stays as it was after failures' "$before" "$(table)"
FAKE_CRONTAB=hang
status 'cron --install gives a crontab that hangs up' 75 "$POLLUX" cron --install
is 'cron says that crontab gave no answer' 'pollux: crontab gave no answer in time' "$err"
FAKE_CRONTAB=child
# less than the 10 s after which an answer is no longer waited for
status 'cron --install waits for no child of crontab' 0 timeout 9 "$POLLUX" cron --install
FAKE_CRONTAB=status
status 'a status 127 of crontab itself is its refusal' 69 "$POLLUX" cron --install
is 'cron has the words of that refusal' "pollux: 'crontab -l' failed: not now" "$err"
FAKE_CRONTAB=busybox
rm "$CRONTAB_FILE"
status 'cron --install succeeds where busybox has no crontab' 0 "$POLLUX" cron --install
is 'cron --install adds the line where busybox had no crontab' "$line" "$(table)"
unset FAKE_CRONTAB
without_crontab() { PATH=/nonexistent "$program" cron --install; }
status 'cron --install fails where crontab(1) is not installed' 69 without_crontab
like 'cron says that crontab(1) is not installed' '^pollux: crontab\(1\) is not installed' "$err"

status 'cron refuses --install with --remove' 64 "$POLLUX" cron --install --remove
status 'cron refuses an operand' 64 "$POLLUX" cron install
PATH=$real_path
finish
