#!/bin/sh
# config.t - pollux config: every setting, its value, and whence that is.
# shellcheck disable=SC2154  # out and err are of run
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY POLLUX_TORCH POLLUX_HELPER POLLUX_SUSPEND_MEMORY
settings=$POLLUX_DIR/config
row() { "$POLLUX" config | sed -n "s/^$1  *//p" | tr -s ' '; }

status 'config succeeds without a file' 0 "$POLLUX" config
like 'it names the file' "^Lines are those of $settings\.$" "$out"
is 'a setting has its default' '10m default' "$(row slice)"
is 'one that is not set has none' '- default' "$(row on_end)"
mkdir -p "${settings%/*}"
printf 'slice = 90s\n\n# two slots\nslots = 2 # here\npolicy=las\npolicy = fifo\n' >"$settings"
is 'a value from the file is as it is written, with its line' '90s line 1' "$(row slice)"
is 'blank lines and comments count as lines' '2 line 4' "$(row slots)"
is 'the last line of a setting holds' 'fifo line 6' "$(row policy)"
is 'a variable comes before the file' '5m POLLUX_SLICE' "$(POLLUX_SLICE=5m row slice)"
is 'an empty variable does not' '90s line 1' "$(POLLUX_SLICE='' row slice)"
POLLUX_SLICE=x
export POLLUX_SLICE
status 'a wrong variable is a configuration error' 78 "$POLLUX" config
is 'of which no setting is printed' '' "$out"
like 'and the variable is named' "bad variable 'POLLUX_SLICE'" "$err"
unset POLLUX_SLICE
echo 'slize = 3' >>"$settings"
status 'a wrong line is a configuration error' 78 "$POLLUX" config
like 'and the line is named' "line 7; did you mean 'slice'" "$err"
status 'config takes no operand' 64 "$POLLUX" config slice
# A setting by two names: the value is that of the name that was read last.
printf 'torch = no\n' >"$settings"
is 'a former name has the value that it gives' 'no line 1' "$(row torch)"
is 'the present name has no default then' '- default' "$(row helper)"
echo 'helper = on' >>"$settings"
is 'of two names the last one has the value' 'on line 2, - default' "$(row helper), $(row torch)"
is 'a variable comes before both' 'no POLLUX_TORCH, - default' \
	"$(POLLUX_TORCH=no row torch), $(POLLUX_TORCH=no row helper)"
# What is printed as a default, written into the file, is the default.
rm "$settings"
"$POLLUX" config | sed -n '3,$ { /^torch/d; s/^\([^ ]*\)  *\(.*[^ ]\)  *default$/\1 = \2/p; }' |
	grep -v '= -$' >written
defaults=$("$POLLUX" config | sed 1d | awk '{ print $1, $2 }')
mv written "$settings"
is 'the defaults can be written as they are printed' "$defaults" \
	"$("$POLLUX" config | sed 1d | awk '{ print $1, $2 }')"
finish
