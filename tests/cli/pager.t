#!/bin/sh
# pager.t - tables that are longer than the terminal go through $PAGER, as git(1) has it.
# shellcheck disable=SC2016 # words for the shell of the terminal
. "$(dirname "$0")/tap.sh"
command -v script >/dev/null || skip_all 'there is no script(1) to make a terminal'
POLLUX_SLOTS=1
export POLLUX_SLOTS
"$POLLUX" submit -q --hold --array 1-30 -- true >/dev/null
mkdir bin
cat >bin/paper <<'END'
#!/bin/sh
echo "pages with LESS=$LESS"
sed 's/^/| /'
END
cp bin/paper bin/less
chmod 755 bin/paper bin/less
PATH=$TMP/bin:$PATH
# on_terminal ROWS WORDS: what a terminal of so many rows shows
on_terminal() {
	script -qec "stty rows $1 cols 80; $2" /dev/null </dev/null | tr -d '\r'
}
TERM=xterm
export TERM
unset PAGER LESS

got=$(on_terminal 20 '"$POLLUX" status --all')
is 'a table that is longer than the terminal goes through less, with the options of git' \
	'pages with LESS=FRX' "$(echo "$got" | head -1)"
is 'the pager gets every row' 30 "$(echo "$got" | grep -c '^| *[0-9]* *true.*held')"
is 'a table for which there is room does not' '' \
	"$(on_terminal 60 '"$POLLUX" status --all' | grep '|')"
is 'a selection of jobs does' 1 "$(on_terminal 20 '"$POLLUX" status 1-30' | grep -c 'pages with')"
is 'a job with all about it does' 1 "$(on_terminal 5 '"$POLLUX" status 1' | grep -c 'pages with')"
is 'history does' 1 "$(on_terminal 1 '"$POLLUX" history' | grep -c 'pages with')"
is '$PAGER is the pager' 30 "$(on_terminal 20 'PAGER="paper | grep true" "$POLLUX" status -a' |
	grep -c '^| .*held')"
is '$LESS is left as it is' 'pages with LESS=S' \
	"$(on_terminal 20 'LESS=S "$POLLUX" status -a' | head -1)"
for none in PAGER= PAGER=cat TERM=dumb PAGER=no-such-pager; do
	is "with $none the table is printed" '0 30' \
		"$(on_terminal 20 "$none \"\$POLLUX\" status -a" |
		perl -ne '$p += /\|/; $n += /true.*held/; END { printf "%d %d\n", $p, $n }')"
done
is 'without less the table is printed' 30 \
	"$(on_terminal 20 'PATH=/none "$POLLUX" status -a' | grep -c '^ *[0-9]* *true.*held')"
is 'a pipe gets no pager' '' "$("$POLLUX" status --all | grep '|')"
is 'the status is that of the command, whatever the pager does' 'status 0' \
	"$(on_terminal 20 'PAGER=false "$POLLUX" status -a; echo "status $?"' | tail -1)"
finish
