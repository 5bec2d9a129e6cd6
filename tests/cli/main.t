#!/bin/sh
# main.t - what all commands share: usage, help, version, closed and full streams.
# shellcheck disable=SC2317  # functions run by status
. "$(dirname "$0")/tap.sh"

status 'no command is status' 0 "$POLLUX"
is 'and says the same' "$("$POLLUX" status)" "$out"
status 'an empty command is a usage error' 64 "$POLLUX" ''
for option in --help -h help; do
	status "$option succeeds" 0 "$POLLUX" "$option"
	like "$option lists the commands" '^  status ' "$out"
	is "$option prints nothing on stderr" '' "$err"
done
unlike 'what pollux starts itself is not listed' '^  supervise ' "$out"
is 'help is 80 columns at most' '' "$(printf '%s\n' "$out" | grep -E '.{81}')"
for option in --version -V version; do
	status "$option succeeds" 0 "$POLLUX" "$option"
	like "$option prints name and version" '^pollux [0-9]+\.[0-9]+\.[0-9]+$' "$out"
done

status 'a mistyped command is a usage error' 64 "$POLLUX" statsu
is 'the nearest command is named for a mistyped one' \
	"pollux: unknown command 'statsu'; did you mean 'status'?" "$err"
status 'an unknown command is a usage error' 64 "$POLLUX" frobnicate
is 'an unknown command is told where help is' \
	"pollux: unknown command 'frobnicate'; see 'pollux --help'" "$err"
for pair in ls:status ps:status kill:cancel rm:cancel logs:log sbatch:submit resume:release \
	watch:'status --watch'; do
	run "$POLLUX" "${pair%%:*}"
	is "the command that others call ${pair%%:*} is named" \
		"pollux: unknown command '${pair%%:*}'; here that is '${pair#*:}'" "$err"
done
for pair in gpus:replicas gres:replicas priority:weight dependency:after cwd:chdir; do
	run "$POLLUX" submit "--${pair%%:*}=1" -- true
	is "the option that others call --${pair%%:*} is named" \
		"pollux: unknown option '--${pair%%:*}'; here that is '--${pair#*:}'" "$err"
done
for pair in '-g:--replicas' '-J:--name' '-d:--after'; do
	run "$POLLUX" submit "${pair%%:*}" 1 -- true
	is "the option that others call ${pair%%:*} is named" \
		"pollux: unknown option '${pair%%:*}'; here that is '${pair#*:}'" "$err"
done
for pair in '--output:sh -c' '-o:pollux log' '--stdin:<FILE' '--urgent:pollux first' \
	'-m:--on-end' '--wait:pollux wait'; do
	status "submit has no option ${pair%%:*}" 64 "$POLLUX" submit "${pair%%:*}" x -- true
	like "what others do by ${pair%%:*} is told" "option '${pair%%:*}'; .*${pair#*:}" "$err"
done
run "$POLLUX" --gpus 1
is 'where a command is missing no option is named' \
	"pollux: unknown option '--gpus'; see 'pollux --help'" "$err"
status 'another command has no such option' 64 "$POLLUX" wait --gpus 1
is 'and is not said to' "pollux: unknown option '--gpus'; see 'pollux wait --help'" "$err"
status 'an unknown option is a usage error' 64 "$POLLUX" --frobnicate
is 'an unknown option is called an option' \
	"pollux: unknown option '--frobnicate'; see 'pollux --help'" "$err"
status 'a command of control characters is a usage error' 64 "$POLLUX" "$(printf 'a\033[1m\nb')"
is 'control characters of a command are shown by numbers and letters' \
	"pollux: unknown command 'a\\033[1m\\nb'; see 'pollux --help'" "$err"
short=$("$POLLUX" submit --help | grep -c '^  [ -]')
ok 'the help of submit shows what people use' test "$short" -lt 40
like 'and says how to see the others' "^'pollux submit --help all' has all options" \
	"$("$POLLUX" submit --help)"
for command in again edit profile simulate; do
	"$POLLUX" "$command" --help >short
	ok "$command --help shows some options" test "$(grep -c '^  \(-., \|    \)--' short)" -le 16
	like "$command --help says how to see the others" "^'pollux $command --help all' has all" \
		"$(cat short)"
done
like '--help all has headings' '^checkpoints, and turns with other jobs:$' \
	"$("$POLLUX" submit --help all)"
is 'help names the groups of commands' \
	'every day: results: devices and models: upkeep: what if:' \
	"$("$POLLUX" --help | grep '^[a-z ]*:$' | xargs)"
status 'help of an unknown command is a usage error' 64 "$POLLUX" help statsu
status 'help of two commands is a usage error' 64 "$POLLUX" help status log

# Every command has help, which fits, and refuses an unknown option by its own name.
for command in $("$POLLUX" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	status "$command --help succeeds" 0 "$POLLUX" "$command" --help
	like "$command --help begins with its usage" "^usage: pollux $command( |\$)" "$out"
	is "$command --help is 80 columns at most" '' \
		"$(printf '%s\n' "$out" | grep -E '.{81}')"
	is "help $command prints the same as $command --help all" \
		"$("$POLLUX" "$command" --help all)" "$("$POLLUX" help "$command")"
	by_help=$("$POLLUX" "$command" --hel)
	is "$command takes a beginning of a long option for it" "$out" "$by_help"
	status "$command refuses an unknown option" 64 "$POLLUX" "$command" --zzzzzzzz
	is "$command names the option that it does not know" \
		"pollux: unknown option '--zzzzzzzz'; see 'pollux $command --help'" "$err"
done

# Output that does not arrive.
to_full_device() { "$POLLUX" --help >/dev/full; }
# A fifo both ends of which were open, and then only ours.
to_nobody() { (
	trap '' PIPE
	mkfifo fifo
	exec 3<>fifo
	exec 4>fifo
	exec 3<&-
	"$POLLUX" --help >&4
); }
status 'a full device is an input/output error' 74 to_full_device
is 'a full device is told once' \
	'pollux: cannot write to standard output: No space left on device' "$err"
mcp_to_full_device() { echo '{}' | "$POLLUX" mcp >/dev/full; }
status 'so it is for a command that flushes by itself' 74 mcp_to_full_device
is 'which tells it once, too' \
	'pollux: cannot write to standard output: No space left on device' "$err"
status 'a reader that left is an input/output error' 74 to_nobody
is 'a reader that left gets no message' '' "$err"

# Streams closed at the start do not become files of ours.
without_stdout() { "$POLLUX" --help >&-; }
without_stdin() { "$POLLUX" --help <&-; }
without_any() { "$POLLUX" frobnicate <&- >&- 2>&-; }
status 'closed stdout: what was to be printed is an input/output error' 74 without_stdout
is 'closed stdout is told' 'pollux: cannot write to standard output: Bad file descriptor' "$err"
quiet_without_stdout() { "$POLLUX" release 1 >&-; }
status 'a command that prints nothing does not miss stdout' 66 quiet_without_stdout
status 'help does not need stdin' 0 without_stdin
status 'a command without any stream still has its exit status' 64 without_any
status 'help of an option that is not there is a usage error' 64 "$POLLUX" help submit --nosuch
like 'help names the option that is not there' "^pollux: unknown option '--nosuch'" "$err"
finish
