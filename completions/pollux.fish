# fish completion for pollux(1): commands and options from its own help, jobs from its status.

function __pollux_commands
	pollux --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)$' '$1\t$2'
end

function __pollux_options
	set -l words (commandline -opc)
	test (count $words) -ge 2; or return
	pollux $words[2] --help 2>/dev/null |
		string replace -rf '^  (?:-., |    )(--[a-z-]+)(?: [A-Z]\S*)? *(.*)$' '$1\t$2'
end

function __pollux_jobs
	pollux status 2>/dev/null | string replace -rf '^ *([0-9]+) +(.*)$' '$1\t$2'
end

complete -c pollux -n __fish_use_subcommand -f -a '(__pollux_commands)'
complete -c pollux -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
	-f -a '(__pollux_options)'
complete -c pollux -n '__fish_seen_subcommand_from status explain log wait cancel hold release requeue' \
	-f -a '(__pollux_jobs)'
complete -c pollux -n '__fish_seen_subcommand_from help' -f -a '(__pollux_commands)'
complete -c pollux -n '__fish_seen_subcommand_from schedule' -s p -l policy -x \
	-a 'goodput pollux sia optimus tiresias srtf las fifo'
complete -c pollux -n '__fish_seen_subcommand_from simulate' -s p -l policy -x \
	-a 'all goodput pollux sia optimus tiresias srtf las fifo'
complete -c pollux -n '__fish_seen_subcommand_from simulate' -s k -l knowledge -x -a 'none shared full'
complete -c pollux -n '__fish_seen_subcommand_from simulate' -s l -l lengths -x -a 'unknown known'
