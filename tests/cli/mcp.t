#!/bin/sh
# mcp.t - pollux mcp: the protocol, its tools with real jobs, and hostile input.
# shellcheck disable=SC2016,SC2317  # Perl in single quotes; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS

server=
cleanup() {
	exec 3>&-
	[ -z "$server" ] || kill "$server" 2>/dev/null
	end_jobs
}
tool() { # tool ID NAME ARGUMENTS: a call
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call",' "$1"
	printf '"params":{"name":"%s","arguments":%s}}\n' "$2" "$3"
}
serve() { # serve < messages: the answers of one session are in `answers`
	rc=0
	"$POLLUX" mcp >answers 2>errors || rc=$?
}
# answer ID CODE: Perl on $m, the answer with this id (undef is null); $r, its result; $t, the text
# of that; and $j, the text as JSON. Fails unless each line of `answers` is one JSON text.
answer() {
	perl -MJSON::PP -e 'my ($id, $code) = @ARGV; my $json = JSON::PP->new->utf8->allow_nonref;
		open(my $f, "<", "answers") or die; my $m;
		for (map { my $a = $json->decode($_); ref $a eq "ARRAY" ? @$a : $a } <$f>) {
			$m = $_ if ($_->{id} // "null") eq $id;
		}
		die "no answer $id" unless $m;
		my $r = $m->{result}; my $t = $r && $r->{content} ? $r->{content}[0]{text} : "";
		my $j = eval { JSON::PP->new->decode($t) };
		my $said = eval $code; die $@ if $@; print $said;' "$1" "$2" 2>&1
}
code='$m->{error}{code}'

# --- the protocol ---
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s",
"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
hello="$(echo "$hello" | tr -d '\n')\n"
# shellcheck disable=SC2059 # a format
for version in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
	printf "$hello" "$version" | serve
	is "version $version is agreed to" "$version" "$(answer 1 '$r->{protocolVersion}')"
done
# shellcheck disable=SC2059
printf "$hello" 2199-01-01 | serve
is 'an unknown version is answered with the newest' 2025-11-25 "$(answer 1 '$r->{protocolVersion}')"
is 'the server says its name and that it has tools' 'pollux 1' \
	"$(answer 1 '"$r->{serverInfo}{name} " . exists $r->{capabilities}{tools}')"
cat >messages <<'EOF'
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"p","method":"ping"}

{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"p"}}
{"jsonrpc":"2.0","id":9,"result":{}}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}}
{"jsonrpc":"2.0","id":3,"method":"resources/list"}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"shell","arguments":{}}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"status","arguments":[]}}
{"jsonrpc":"2.0","id":6,"method":"ping","params":[]}
[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"method":1}]
[{"jsonrpc":"2.0","method":"x"}]
EOF
serve <messages
is 'the end of the input ends it' 0 "$rc"
is 'nothing but the protocol is printed' '' "$(cat errors)"
is 'notifications, answers and empty lines have no answer' 7 "$(wc -l <answers)"
is 'ping is answered' '{}' "$(answer p 'JSON::PP->new->encode($r)')"
is 'the tools are listed' 'submit status explain log results wait cancel hold release' \
	"$(answer 2 'join " ", map { $_->{name} } @{$r->{tools}}')"
is 'those that only read say so' 'status explain log results wait' \
	"$(answer 2 'join " ", map { $_->{name} } grep { $_->{annotations}{readOnlyHint} }
		@{$r->{tools}}')"
is 'those that destroy say so' 'cancel hold' \
	"$(answer 2 'join " ", map { $_->{name} } grep { $_->{annotations}{destructiveHint} }
		@{$r->{tools}}')"
is 'arguments are described by the options of the command' 'integer boolean array' \
	"$(answer 2 'my $p = $r->{tools}[0]{inputSchema}{properties};
		join " ", map { $p->{$_}{type} } "batch", "dry_run", "env"')"
is 'an unknown method is told' -32601 "$(answer 3 "$code")"
is 'an unknown tool is told' "-32602 unknown tool 'shell': tools/list has those there are" \
	"$(answer 4 '"$m->{error}{code} $m->{error}{message}"')"
is 'arguments that are no object are refused' -32602 "$(answer 5 "$code")"
is 'params that are no object are refused' -32602 "$(answer 6 "$code")"
is 'a batch has one answer for each request' '1 HASH -32600' \
	"$(grep -c '^\[' answers) $(answer 7 'ref $r') $(answer null "$code")"

# --- hostile input ---
refused() { # refused CODE TEXT: printf's
	printf '%b\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n' "$2" | serve
	is "refused: $(printf %.40s "$2")" "$1 HASH" \
		"$(answer null "$code")$(answer 1 '" " . ref $r')"
}
refused -32700 '{"jsonrpc":"2.0",'
refused -32700 'GET / HTTP/1.1'
refused -32700 '\0377\0376'
refused -32700 '{"jsonrpc":"2.0","id":3,"method":"ping"} x'
refused -32700 '{"jsonrpc":"2.0","id":3,"method":"ping\0000"}'
refused -32700 "$(perl -e 'print "[" x 100000')"
refused -32600 '17'
refused -32600 '[]'
refused -32600 '[1]'
refused -32600 '{"id":3,"method":"ping"}'
refused -32600 '{"jsonrpc":"2.0","id":{},"method":"ping"}'
refused -32600 '{"jsonrpc":"2.0","id":null,"method":"ping"}'
refused -32600 '{"jsonrpc":"2.0","id":3,"method":7}'
{ perl -e 'print "x" x 3e6, "\n"'; printf '{"jsonrpc":"2.0","id":1,"method":"ping"}'; } | serve
is 'a huge line is refused, and the next one is read, also without a newline' '-32600 HASH' \
	"$(answer null "$code") $(answer 1 'ref $r')"
is 'the store was not made' 1 "$([ -e "$POLLUX_DIR/pollux.db" ]; echo $?)"

# --- tools ---
status=$(tool 10 status '{}')
{
	tool 1 submit '{"command":["sh","-c","echo out; exit 3"],"name":"first","env":["A=1"]}'
	tool 2 submit '{"command":["echo","{lr}"],"param":["lr=1,2"],"dry_run":true}'
	tool 3 submit '{"command":["echo","{lr}"],"param":["lr=1,2"],"hold":true}'
	tool 4 submit '{"command":["--dry-run"]}'
	tool 5 submit '{"command":"rm -rf /"}'
	tool 6 submit '{"command":["true"],"batch":"many"}'
	tool 7 submit '{"command":["true"],"no_such":1}'
	tool 8 submit '{"command":["true"],"retries":2,"hold":true,
		"name":"--hold; $(touch '"$TMP"'/bad)"}' | tr -d '\n'
	echo
	echo "$status"
} | serve
is 'a job is submitted, and its status is the answer' '1 queued first' \
	"$(answer 1 '"$j->{submitted} $j->{jobs}[0]{state} $j->{jobs}[0]{name}"')"
is 'a dry run says what it would do' 'echo 1 echo 2' \
	"$(answer 2 '$j->{would_do} =~ s/^\s+|\s+$//gr =~ s/.*?(echo \d)\s*/$1 /gsr =~ s/ $//r')"
is 'a sweep is a group of jobs' 'group:1 2' "$(answer 3 '"$j->{submitted} " . @{$j->{jobs}}')"
like 'a program that begins with - is no option' 'cannot|not found|no such' \
	"$(answer 4 '($r->{isError} ? "" : "no error ") . $t')"
like 'a command that is no array is an error' 'command is an array of texts' "$(answer 5 '$t')"
like "a wrong value has the command's own error" "option '--batch SAMPLES': 'many'" \
	"$(answer 6 '$t')"
like 'an unknown argument is named' "submit takes no argument 'no_such'" "$(answer 7 '$t')"
is 'a value is a value, whatever it looks like' "--hold; \$(touch $TMP/bad)" \
	"$(answer 8 '$j->{jobs}[0]{name}')"
ok 'and no shell sees it' test ! -e bad
is 'status lists the jobs' 'queued held held held' \
	"$(answer 10 'join " ", map { $_->{state} } @{$j->{jobs}}')"
"$POLLUX" schedule
"$POLLUX" wait -t 200 1
{
	tool 1 log '{"jobs":["1"],"lines":2}'
	tool 2 status '{"jobs":[1]}'
	tool 3 explain '{"jobs":["2"]}'
	tool 4 results '{}'
	tool 5 cancel '{"jobs":["99"]}'
	tool 6 cancel '{"jobs":["echo*"]}'
	tool 7 cancel '{"jobs":["group:1"],"yes":true}'
	tool 8 release '{"jobs":["4"]}'
	tool 9 hold '{"jobs":["4"]}'
	tool 11 hold '{}'
	tool 12 cancel '{"jobs":["--dry-run","4"]}'
	tool 13 wait '{"jobs":["1"]}'
	tool 15 log '{"jobs":["4"]}'
	tool 16 status '{"jobs":[{}]}'
} | serve
is 'log has the last lines' 'out [exited with status 3] ' \
	"$(answer 1 '$j->{log} =~ s/\s+/ /gr')"
is 'one job has its details' 'submitted assigned ended' \
	"$(answer 2 'join " ", map { $_->{kind} } @{$j->{jobs}[0]{details}{events}}')"
is 'explain and results are answered' '0 0' \
	"$(answer 3 '0 + $r->{isError}') $(answer 4 '0 + $r->{isError}')"
is 'an error says what to do next' \
	'1 pollux: no such job: 99 Call status to see which jobs there are. ' \
	"$(answer 5 '"$r->{isError} $t" =~ s/\n/ /gr')"
like 'several jobs need yes' '"dry_run": true' "$(answer 6 '$t')"
is 'with yes they are cancelled' 'cancelled cancelled' \
	"$(answer 7 'join " ", map { $_->{state} } @{$j->{jobs}}')"
is 'release and hold answer with the states' 'queued held' \
	"$(answer 8 '$j->{jobs}[0]{state}') $(answer 9 '$j->{jobs}[0]{state}')"
like 'jobs have to be given' 'hold of which jobs' "$(answer 11 '$t')"
like 'a job that begins with - is no option' "no job matches '--dry-run'" "$(answer 12 '$t')"
is 'wait says how jobs ended' '1 failed 3' \
	"$(answer 13 '"$j->{all_ended} $j->{jobs}[0]{state} $j->{jobs}[0]{exit_code}"')"
like 'a log that is not there is an error' 'has no log' "$(answer 15 '$t')"
like 'a job that is no text is an error' 'jobs is an array' "$(answer 16 '$t')"

# --- answers of a bounded size ---
"$POLLUX" submit -q --hold --array 1-300 -n many -- echo '{index}' >group
"$POLLUX" submit -q -- perl -e 'print "line $_ \xff\e[1m", "x" x 200, "\n" for 1 .. 400' >printer
"$POLLUX" schedule
"$POLLUX" wait -t 200 "$(cat printer)"
given_events 900 time_s=@i job_id=1 kind=note text=@"'note ' || i"
{
	tool 1 status '{}'
	tool 2 log "{\"jobs\":[\"$(cat printer)\"],\"lines\":400}"
	tool 3 status '{"jobs":["1"]}'
} | serve
is 'answers have 8 KB at most' '1 1 1' "$(for id in 1 2 3; do
	answer $id 'use bytes; 0 + (length $t <= 8192 && length $t > 6000)'; echo; done | xargs)"
is 'a list says how many were left out, and how to see less' 1 "$(answer 1 '
	my $n = @{$j->{jobs}}; 0 + ($n > 10 && $n + $j->{left_out}{jobs} == 305 &&
	$j->{to_see_less} =~ /narrow/)')"
like 'a log keeps its end' '400.*exited with status 0' "$(answer 2 '$j->{log} =~ s/\n/ /gr')"
is 'events keep the newest' 'note 900' "$(answer 3 '$j->{jobs}[0]{details}{events}[-1]{text}')"

# --- a wait that ends, and one that is interrupted ---
mkfifo in
"$POLLUX" mcp <in >answers &
server=$!
exec 3>in
has_answer() { grep -q "\"id\":$1," answers; }
slow=$("$POLLUX" submit -q -- sh -c 'while [ ! -e "$0/go" ]; do sleep 0.05; done' "$TMP")
"$POLLUX" schedule
tool 5 wait "{\"jobs\":[\"$slow\"],\"timeout\":\"soon\"}" >&3
ok 'a wrong time is answered' wait_for 20 has_answer 5
like 'a wrong time is an error' "option '--timeout TIME'" "$(answer 5 '$t')"
tool 1 wait "{\"jobs\":[\"$slow\"],\"timeout\":\"0.2s\"}" >&3
ok 'a wait ends when its time is over' wait_for 20 has_answer 1
is 'and says that the job has not ended' '0 running' \
	"$(answer 1 '(0 + $j->{all_ended}) . " $j->{jobs}[0]{state}"')"
tool 2 wait "{\"jobs\":[\"$slow\"],\"timeout\":\"50s\"}" >&3
waits() { ps -o pid= --ppid "$server"; }
ok 'a wait runs' wait_for 20 waits
echo '{"jsonrpc":"2.0","id":3,"method":"ping"}' >&3
ok 'another message ends a wait' wait_for 3 has_answer 3
is 'the wait is answered first' '0 running' \
	"$(answer 2 '(0 + $j->{all_ended}) . " $j->{jobs}[0]{state}"')"
tool 4 wait "{\"jobs\":[\"$slow\"],\"any\":true,\"timeout\":\"50s\"}" >&3
touch go
ok 'a wait ends with the job' wait_for 20 has_answer 4
is 'and says which ended' "$slow 1 done" \
	"$(answer 4 '"$j->{first} $j->{all_ended} $j->{jobs}[0]{state}"')"
exec 3>&-
wait "$server"
is 'the end of the input ends the server' 0 $?
server=
status 'mcp takes no argument' 64 "$POLLUX" mcp x
finish
