# bash completion for pollux(1): commands and options from its own help, jobs from its store.
# shellcheck shell=bash

_pollux_commands() {
	pollux --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

_pollux_options() {
	pollux "$1" --help all 2>/dev/null | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

_pollux_policies() { # _pollux_policies COMMAND
	pollux "$1" --help all 2>/dev/null | tr -s ' \n' ' ' | sed -n 's/.* one of \([a-z ]*\); default.*/\1/p'
}

_pollux_choices() { # _pollux_choices COMMAND --OPTION: the names that the option takes
	pollux help "$1" "$2" 2>/dev/null
}

_pollux_jobs() { # _pollux_jobs COMMAND: those that it can act on
	pollux help "$1" JOB 2>/dev/null | cut -d ' ' -f 1
}

_pollux_pids() { # that keep a GPU, or are ignored
	pollux devices 2>/dev/null | sed -nE 's/^gpu:.* pid ([0-9]+) .*/\1/p' | sort -u
}

_pollux_offer() { # _pollux_offer WORDS CURRENT
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# The names that an option takes, also after others and a comma.
_pollux_offer_choices() { # _pollux_offer_choices COMMAND --OPTION CURRENT
	local before='' choice words=''

	[[ $3 != *,* ]] || before=${3%,*},
	for choice in $(_pollux_choices "$1" "$2"); do
		words+=" $before$choice"
	done
	_pollux_offer "$words" "$3"
}

# The command line of the job: a program first, then files.
_pollux_program() { # _pollux_program INDEX-OF-DASHES CURRENT
	if ((COMP_CWORD == $1 + 1)); then
		mapfile -t COMPREPLY < <(compgen -A command -- "$2")
	fi
	compopt -o default 2>/dev/null
}

_pollux() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_pollux_offer "$(_pollux_commands) help --help --version" "$current"
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			_pollux_program "$i" "$current"
			return
		fi
	done
	if [[ $current == -* ]]; then
		_pollux_offer "$(_pollux_options "${COMP_WORDS[1]}")" "$current"
		return
	fi
	case ${COMP_WORDS[1]}:$previous in
	simulate:--policy | simulate:-p)
		_pollux_offer "all $(_pollux_policies simulate)" "$current" ;;
	schedule:--policy | schedule:-p)
		_pollux_offer "$(_pollux_policies schedule)" "$current" ;;
	simulate:--knowledge | simulate:-k) _pollux_offer "none shared full" "$current" ;;
	simulate:--lengths | simulate:-l) _pollux_offer "unknown learned known" "$current" ;;
	help:*) _pollux_offer "$(_pollux_commands)" "$current" ;;
	submit:--after | edit:--after | again:--after | forget:--job) _pollux_offer "$(_pollux_jobs wait)" "$current" ;;
	submit:--guarantee | again:--guarantee) _pollux_offer "1 2 4 8" "$current" ;;
	devices:--*ignore) _pollux_offer "$(_pollux_pids)" "$current" ;;
	status:-o) _pollux_offer_choices status --columns "$current" ;;
	*:--*) _pollux_offer_choices "${COMP_WORDS[1]}" "$previous" "$current" ;;
	esac
	[[ ${#COMPREPLY[@]} -gt 0 ]] || _pollux_offer "$(_pollux_jobs "${COMP_WORDS[1]}")" "$current"
	[[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null
}

complete -F _pollux pollux
