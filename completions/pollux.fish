# fish completion for pollux(1): commands and options from its own help, jobs from its store.

function __pollux_commands
	pollux --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)$' '$1\t$2'
end

function __pollux_options
	set -l words (commandline -opc)
	test (count $words) -ge 2; or return
	pollux $words[2] --help all 2>/dev/null |
		string replace -rf '^  (?:-., |    )(--[a-z-]+)(?: [\[A-Z]\S*)? *(.*)$' '$1\t$2'
end

# The names that the option before the cursor takes.
function __pollux_values
	set -l words (commandline -opc)
	test (count $words) -ge 3; and string match -q -- '--*' $words[-1]; or return
	pollux help $words[2] $words[-1] 2>/dev/null
end

function __pollux_jobs
	set -l words (commandline -opc)
	test (count $words) -ge 2; or return
	count (__pollux_values) >/dev/null; and return
	pollux help $words[2] JOB 2>/dev/null | string replace -rf '^([0-9]+) (.*)$' '$1\t$2'
end

function __pollux_policies
	pollux $argv[1] --help all 2>/dev/null | string collect | string replace -ra '\s+' ' ' |
		string replace -rf '.* one of ([a-z ]*); default.*' '$1' | string split ' '
end

complete -c pollux -n __fish_use_subcommand -f -a '(__pollux_commands)'
complete -c pollux -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
	-f -a '(__pollux_options)'
complete -c pollux -n '__fish_seen_subcommand_from status explain log events wait cancel hold release requeue clear edit first again' \
	-f -a '(__pollux_jobs)'
complete -c pollux -n '__fish_seen_subcommand_from help' -f -a '(__pollux_commands)'
complete -c pollux -n '__fish_seen_subcommand_from schedule' -s p -l policy -x \
	-a '(__pollux_policies schedule)'
complete -c pollux -n '__fish_seen_subcommand_from simulate' -s p -l policy -x \
	-a 'all (__pollux_policies simulate)'
complete -c pollux -n '__fish_seen_subcommand_from simulate' -s k -l knowledge -x -a 'none shared full'
complete -c pollux -n '__fish_seen_subcommand_from simulate' -s l -l lengths -x -a 'unknown learned known'
complete -c pollux -n '__fish_seen_subcommand_from submit again' -l guarantee -x -a '1 2 4 8'
complete -c pollux -n '__fish_seen_subcommand_from forget' -l job -x \
	-a '(pollux help wait JOB 2>/dev/null | string replace " " \t)'
complete -c pollux -n 'count (__pollux_values) >/dev/null' -f -a '(__pollux_values)'
