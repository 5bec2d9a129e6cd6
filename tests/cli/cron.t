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

status 'the line' 0 "$POLLUX" cron
is 'is printed' "$line" "$out"
like 'with an absolute name' '^\* \* \* \* \* (/|'"'/"')' "$out"
ok 'of a program' test -x "$program"
status 'and nothing installed' 2 ls "$CRONTAB_FILE"
is 'nor asked' '' "$(cat "$CRONTAB_FILE.calls" 2>/dev/null)"

# --- variables ---
run env POLLUX_DIR=/x/y "$POLLUX" cron
is 'POLLUX_DIR is kept' "* * * * * POLLUX_DIR=/x/y $program schedule # pollux" "$out"
run env POLLUX_DIR=rel "$POLLUX" cron
is 'made absolute' "* * * * * POLLUX_DIR=$TMP/rel $program schedule # pollux" "$out"
run env POLLUX_DIR="/a b/%c'd" "$POLLUX" cron
is 'quoted for the shell, % for cron' \
	"* * * * * POLLUX_DIR='/a b/\\%c'\\''d' $program schedule # pollux" "$out"
run env XDG_STATE_HOME=/s XDG_CONFIG_HOME=/c "$POLLUX" cron
is 'else where XDG has it' \
	"* * * * * XDG_STATE_HOME=/s XDG_CONFIG_HOME=/c $program schedule # pollux" "$out"
run env POLLUX_DIR=/x XDG_STATE_HOME=/s "$POLLUX" cron
is 'POLLUX_DIR is stronger' "* * * * * POLLUX_DIR=/x $program schedule # pollux" "$out"
status 'a newline cannot stand there' 78 env POLLUX_DIR='/a
b' "$POLLUX" cron
is 'and that is said' 'pollux: a path with a newline cannot stand in a crontab' "$err"

# --- install, remove ---
status 'install where there is no crontab' 0 "$POLLUX" cron --install
is 'says what was added' "added: $line" "$out"
is 'that is the table' "$line" "$(table)"
status 'again' 0 "$POLLUX" cron --install
is 'changes nothing' "already there: $line" "$out"
is 'at all' "$line" "$(table)"
status 'remove' 0 "$POLLUX" cron --remove
is 'says what was removed' "removed: $line" "$out"
status 'and leaves no empty table' 2 ls "$CRONTAB_FILE"
status 'remove again' 0 "$POLLUX" cron --remove
is 'does nothing' 'not there' "$out"
: >"$CRONTAB_FILE.calls"
"$POLLUX" cron --remove >/dev/null
is 'and writes nothing' '-l' "$(cat "$CRONTAB_FILE.calls")"

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
	is 'other lines stay' "$others$line" "$(table)"
	"$POLLUX" cron --remove >/dev/null
	is 'as they were' "${others%?}" "$(table)"
done
printf '\n\n# end\n\n' >"$CRONTAB_FILE"
"$POLLUX" cron --install >/dev/null
"$POLLUX" cron --remove >/dev/null
ok 'empty lines too' sh -c 'printf "\n\n# end\n\n" | cmp - "$CRONTAB_FILE"'

# --- what the user made of it, and what has become old ---
printf '*/5 8-18 * * 1-5 %s schedule # pollux\n' "$program" >"$CRONTAB_FILE"
status 'another schedule' 0 "$POLLUX" cron --install
is 'is respected' "already there: */5 8-18 * * 1-5 $program schedule # pollux" "$out"
printf '@hourly /old/pollux schedule # pollux\n' >"$CRONTAB_FILE"
status 'another program' 0 "$POLLUX" cron --install
is 'is not' "brought up to date: @hourly $program schedule # pollux" "$out"
is 'in the table' "@hourly $program schedule # pollux" "$(table)"
printf '%s\n# x\n%s\n' "$line" "$line" >"$CRONTAB_FILE"
"$POLLUX" cron --install >/dev/null
is 'a second line goes' "$line
# x" "$(table)"

# --- a line for each store ---
"$POLLUX" cron --install >/dev/null
POLLUX_DIR='/a b%c' "$POLLUX" cron --install >/dev/null
POLLUX_DIR=/other "$POLLUX" cron --install >/dev/null
want="$line
# x
* * * * * POLLUX_DIR='/a b\\%c' $program schedule # pollux
* * * * * POLLUX_DIR=/other $program schedule # pollux"
is 'each store has its line' "$want" "$(table)"
POLLUX_DIR='/a b%c' "$POLLUX" cron --install >/dev/null
is 'once' "$want" "$(table)"
POLLUX_DIR=/oth "$POLLUX" cron --remove >/dev/null
is 'a store is not another with a longer name' "$want" "$(table)"
POLLUX_DIR='/a b%c' "$POLLUX" cron --remove >/dev/null
"$POLLUX" cron --remove >/dev/null
is 'and each is removed alone' "# x
* * * * * POLLUX_DIR=/other $program schedule # pollux" "$(table)"

# --- crontab(1) that will not ---
before=$(table)
export FAKE_CRONTAB
FAKE_CRONTAB=refuse
status 'crontab refuses' 69 "$POLLUX" cron --install
is 'and why' \
	"pollux: 'crontab -l' failed: You (somebody) are not allowed to use this program \
(crontab)" "$err"
FAKE_CRONTAB=full
status 'crontab cannot write' 69 "$POLLUX" cron --install
is 'and why' "pollux: 'crontab -' failed: No space left on device" "$err"
FAKE_CRONTAB=silent
: >"$CRONTAB_FILE.calls"
status 'crontab fails without a word' 69 "$POLLUX" cron --install
is 'which is not taken for an empty table' '-l' "$(cat "$CRONTAB_FILE.calls")"
is 'all stays as it was' "$before" "$(table)"
FAKE_CRONTAB=busybox
rm "$CRONTAB_FILE"
status "busybox's way to say that there is none" 0 "$POLLUX" cron --install
is 'is understood' "$line" "$(table)"
unset FAKE_CRONTAB
without_crontab() { PATH=/nonexistent "$program" cron --install; }
status 'no crontab at all' 69 without_crontab
like 'and what to do' '^pollux: crontab\(1\) is not installed' "$err"

status 'both ways at once' 64 "$POLLUX" cron --install --remove
status 'an operand' 64 "$POLLUX" cron install
PATH=$real_path
finish
