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
is 'a command' 'status' "$got"
offer pollux ''
like 'all commands' '(^| )submit run schedule .* cron( |$)' "$got"
unlike 'but not what pollux starts itself' supervise "$got"
offer pollux devices --
is 'the options of a command' '--slots --json --ignore --unignore --retry --self-test --help' "$got"
offer pollux devices --j
is 'one of them' '--json' "$got"
offer pollux help dev
is 'a command to be helped with' 'devices' "$got"
offer pollux simulate --policy ''
# shellcheck disable=SC2154  # $err is of run
run "$POLLUX" simulate --from-store --policy none-such
is 'the policies that there are' \
	"$(printf '%s\n' "$err" | sed "s/.*': //; s/;.*//; s/,//g; s/ or / /")" "$got"
offer pollux schedule --policy ''
run "$POLLUX" schedule --policy none-such
is 'those that a pass takes' \
	"$(printf '%s\n' "$err" | sed "s/.*': //; s/;.*//; s/,//g; s/ or / /")" "$got"
offer pollux simulate -k s
is 'what is known' 'shared' "$got"
offer pollux log ''
is 'jobs' '9 117' "$got"
offer pollux cancel 9 1
is 'another job' '117' "$got"
offer pollux cancel ''
is 'those that it can act on' '117' "$got"
offer pollux wait --state queued,h
is 'a state after another' 'queued,held' "$got"
offer pollux status -o id,na
is 'a column after another' 'id,name' "$got"
offer pollux submit --after ''
is 'a job to wait for' '9 117' "$got"
offer pollux submit --lr-rule s
is 'a name that an option takes' 'sqrt-gain sqrt' "$got"
offer pollux submit --preset l
is 'a preset' lightning "$got"
offer pollux profile --preset ''
is 'all presets' "$("$POLLUX" presets | cut -d ' ' -f 1 | xargs)" "$got"
offer pollux profile --lr-rule ''
is 'all such names, of the table of what is declared' \
	'auto adascale sqrt-gain sqrt linear none' "$got"
offer pollux edit --suspend n
is 'a value of what can be changed' 'never' "$got"
offer pollux edit --unset time-limit,beg
is 'a value after a comma' 'time-limit,begin' "$got"
offer pollux submit --guarantee ''
is 'numbers of devices' '1 2 4 8' "$got"
offer pollux submit -- gr
like 'a program' '(^| )grep( |$)' "$got"
offer pollux submit -- grep --
is 'of which pollux knows no options' '' "$got"

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
	status 'zsh can read it' 0 zsh -n "$ROOT/completions/_pollux"
	is 'the values of an option' "$("$POLLUX" presets | cut -d ' ' -f 1 | xargs)" \
		"$(zsh in_zsh pollux submit --preset '')"
	is 'jobs' '9:12 x, done 117:mnist, running' "$(zsh in_zsh pollux log '')"
	is 'an option without values' default "$(zsh in_zsh pollux submit --name '')"
fi
in_fish() { # in_fish LINE: what the last word could become
	fish -c "source '$ROOT/completions/pollux.fish'; complete -C '$1'" | cut -f 1 | xargs
}
if command -v fish >/dev/null; then
	is 'fish: the values of an option' "$("$POLLUX" presets | cut -d ' ' -f 1 | xargs)" \
		"$(in_fish 'pollux submit --preset ')"
	is 'and no jobs beside them' 'always auto never' "$(in_fish 'pollux edit --suspend ')"
	is 'jobs' '9 117' "$(in_fish 'pollux log ')"
fi
finish
