#!/bin/sh
# completion.t - what bash completion offers: options from the program's help, jobs from a made-up
# store.
. "$(dirname "$0")/tap.sh"
command -v bash >/dev/null || skip_all 'no bash'

mkdir bin
cat >bin/pollux <<'END'
#!/bin/sh
if [ "$1 $3" = 'help JOB' ] && "$POLLUX" "$@" >/dev/null; then
	[ "$2" = cancel ] || echo '9 12 x, done'
	echo '117 mnist, running'
else
	exec "$POLLUX" "$@"
fi
END
chmod +x bin/pollux
PATH=$TMP/bin:$PATH
export ROOT

offer() { # offer WORD...: sets $got, what the last word could become
	# shellcheck disable=SC2016  # for bash
	got=$(bash -c '. "$ROOT/completions/pollux.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_pollux
		echo "${COMPREPLY[*]}"' bash "$@")
}

offer pollux sta
is 'bash completes the name of a command' 'status' "$got"
offer pollux ''
like 'bash offers all commands' '(^| )submit run schedule .* cron( |$)' "$got"
unlike 'bash does not offer commands that pollux starts itself' supervise "$got"
offer pollux devices --
is 'bash offers the options of a command' \
	'--slots --json --ignore --unignore --retry --self-test --help' "$got"
offer pollux devices --j
is 'bash completes one option of a command' '--json' "$got"
offer pollux help dev
is 'bash completes a command behind help' 'devices' "$got"
offer pollux simulate --policy ''
# shellcheck disable=SC2154  # $err is of run
run "$POLLUX" simulate --from-store --policy none-such
is 'bash offers the policies that simulate knows' \
	"$(printf '%s\n' "$err" | sed "s/.*': //; s/;.*//; s/,//g; s/ or / /")" "$got"
offer pollux schedule --policy ''
run "$POLLUX" schedule --policy none-such
is 'bash offers the policies that a pass takes' \
	"$(printf '%s\n' "$err" | sed "s/.*': //; s/;.*//; s/,//g; s/ or / /")" "$got"
offer pollux simulate -k s
is 'bash completes the value of --knowledge' 'shared' "$got"
offer pollux log ''
is 'bash offers jobs behind log' '9 117' "$got"
offer pollux cancel 9 1
is 'bash completes a second job' '117' "$got"
offer pollux cancel ''
is 'bash offers only jobs that cancel can act on' '117' "$got"
offer pollux wait --state queued,h
is 'bash completes a state behind another' 'queued,held' "$got"
offer pollux status -o id,na
is 'bash completes a column behind another' 'id,name' "$got"
offer pollux submit --after ''
is 'bash offers jobs behind --after' '9 117' "$got"
offer pollux submit --lr-rule s
is 'bash completes the value of --lr-rule' 'sqrt-gain sqrt' "$got"
offer pollux submit --preset l
is 'bash completes a preset' lightning "$got"
offer pollux profile --preset ''
is 'bash offers all presets' "$("$POLLUX" presets | cut -d ' ' -f 1 | xargs)" "$got"
offer pollux profile --lr-rule ''
is 'bash offers all values of --lr-rule that are declared' \
	'auto adascale sqrt-gain sqrt linear none' "$got"
offer pollux edit --suspend n
is 'bash completes a value of edit --suspend' 'never' "$got"
offer pollux edit --unset time-limit,beg
is 'bash completes a second value behind a comma' 'time-limit,begin' "$got"
offer pollux submit --guarantee ''
is 'bash offers numbers of devices behind --guarantee' '1 2 4 8' "$got"
offer pollux submit -- gr
like "bash completes a program behind '--'" '(^| )grep( |$)' "$got"
offer pollux submit -- grep --
is 'bash offers no options of a program' '' "$got"

# --- zsh, fish ---
cat >in_zsh <<'END'
# what _pollux offers, with the functions of zsh's completion system made up
_values() { shift 3; print -r -- $@ }
_describe() { print -r -- ${(P)@[-1]} }
_default() { print -r -- default }
words=("$@") CURRENT=$# PREFIX=$@[-1]
. "$ROOT/completions/_pollux"
END
if command -v zsh >/dev/null; then
	status 'zsh can read its completion' 0 zsh -n "$ROOT/completions/_pollux"
	is 'zsh offers the values of an option' "$("$POLLUX" presets | cut -d ' ' -f 1 | xargs)" \
		"$(zsh in_zsh pollux submit --preset '')"
	is 'zsh offers jobs behind log' '9:12 x, done 117:mnist, running' \
		"$(zsh in_zsh pollux log '')"
	is 'zsh offers its default for an option without values' default \
		"$(zsh in_zsh pollux submit --name '')"
fi
in_fish() { # in_fish LINE: what the last word could become
	fish -c "source '$ROOT/completions/pollux.fish'; complete -C '$1'" | cut -f 1 | xargs
}
if command -v fish >/dev/null; then
	is 'fish offers the values of an option' "$("$POLLUX" presets | cut -d ' ' -f 1 | xargs)" \
		"$(in_fish 'pollux submit --preset ')"
	is 'fish offers no jobs beside the values of an option' 'always auto never' \
		"$(in_fish 'pollux edit --suspend ')"
	is 'fish offers jobs behind log' '9 117' "$(in_fish 'pollux log ')"
fi
finish
