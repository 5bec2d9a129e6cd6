#!/bin/sh
# page_serve.t - the page that is served: who gets it, who gets nothing, and that a browser shows
# the present state without loading the page again.
# shellcheck disable=SC2016,SC2317  # texts for other programs; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
server=
cleanup() { [ -z "$server" ] || kill "$server" 2>/dev/null || :; end_jobs; }

# ask PORT REQUEST: sends the request, its lines without their ends; prints the answer, with \n.
ask() {
	perl -MIO::Socket::INET -e '
		my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) or exit 3;
		(my $request = shift) =~ s/\n/\r\n/g;
		print $s "$request\r\n\r\n";
		local $/;
		($_ = <$s> // "") =~ s/\r\n/\n/g;
		print' "$@"
}
# get PATH [HOST [METHOD]]: the answer to a browser
get() {
	ask "$port" "${3-GET} $1 HTTP/1.1
Host: ${2-127.0.0.1:$port}"
}
first_line() { "$@" | sed -n 1p; }
# refuses NAME COMMAND...: status 403 and nothing else
refuses() {
	refused=$1
	shift
	is "$refused" 'HTTP/1.1 403 Forbidden' \
		"$("$@" | grep -v '^\(Date\|Connection\|Content-Length: 0\)')"
}
shows() { get "/$token/body" | grep -q "$1"; }

status '--serve needs a store' 66 "$POLLUX" page --serve
"$POLLUX" submit -q --hold --name one -- true >/dev/null
for wrong in '-o x.html' '--watch 5' 80 65536 x '4000 5000'; do
	# shellcheck disable=SC2086 # words
	status "--serve refuses $wrong" 64 "$POLLUX" page --serve $wrong
done
status '--for is for --serve' 64 "$POLLUX" page --for 8h
status '--for ends the server' 0 "$POLLUX" page --serve --for 1
like 'the server tells the line for another machine' \
	'^ssh -L ([0-9]+):127\.0\.0\.1:\1 .+@.+$' "$out"

"$POLLUX" page --serve >served 2>serve.err &
server=$!
wait_for 20 grep -q Ctrl-C served
like 'the address has a random part' '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$' "$(cat served)"
port=$(sed -n 's,^http://127\.0\.0\.1:\([0-9]*\)/.*,\1,p' served)
token=$(sed -n 's,^http://.*/\(.*\)/$,\1,p' served)
is 'it listens on 127.0.0.1 alone' 0100007F "$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
	awk -v port="$(printf ':%04X' "$port")" '$4 == "0A" && substr($2, length($2) - 4) == port {
		print substr($2, 1, length($2) - 5) }')"
status 'a port that is in use is refused' 69 "$POLLUX" page --serve "$port"
is 'the message names the port' \
	"pollux: port $port is in use: name another one, or none" "$err"

get "/$token/" >answer
is 'who has the address gets the page' 'HTTP/1.1 200 OK' "$(sed -n 1p answer)"
like 'the page shows the job' '>one<' "$(cat answer)"
is 'the page is no file of a browser' 'Cache-Control: no-store' "$(grep '^Cache' answer)"
nonce=$(sed -n 's/.*<script nonce="\([0-9a-f]\{32\}\)">$/\1/p' answer)
like 'one script may run, and ask this server alone' \
	"^Content-Security-Policy: default-src 'none';.*;script-src 'nonce-$nonce';connect-src \
'self';frame-ancestors 'none'$" "$(cat answer)"
unlike 'the page has no address of others' 'https?://' "$(sed 1,/^$/d answer)"
unlike 'the content has no script' '<script' "$(get "/$token/body")"
is 'another host of the same machine is answered' 'HTTP/1.1 200 OK' \
	"$(first_line get "/$token/body" localhost:1)"
refuses 'who has no token gets nothing' get /
refuses 'who has a part of the token gets nothing' get "/${token%?}/"
refuses 'who has another token gets nothing' get "/$(echo "$token" | tr 0-9a-f 1-9a-f0)/body"
refuses 'what comes before the token counts' get "/x/$token/"
for host in evil.example "127.0.0.1.evil.example:$port" "127.0.0.1:1@evil.example" ''; do
	refuses "the host '$host' gets nothing" get "/$token/" "$host"
done
refuses 'without a host there is nothing' ask "$port" "GET /$token/ HTTP/1.0"
is 'nothing else is there' 'HTTP/1.1 404 Not Found' "$(first_line get "/$token/favicon.ico")"
is 'nothing can be posted' 'HTTP/1.1 405 Method Not Allowed' "$(first_line get "/$token/" \
	"127.0.0.1:$port" POST)"
is 'a long upload is not waited for' 'HTTP/1.1 405 Method Not Allowed' \
	"$(first_line ask "$port" "POST /$token/ HTTP/1.1
Host: localhost
Content-Length: 1000000000")"
like 'a request that is too long is refused' '^HTTP/1\.1 4' \
	"$(first_line get "/$token/$(head -c 20000 /dev/zero | tr '\0' x)")"
count_files() { find "/proc/$server/fd" -type l | wc -l; }
files_before=$(count_files)
perl -MIO::Socket::INET -e '
	my @all = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) }
		1 .. 40;
	open my $f, ">", "opened"; close $f;
	sleep 1 until -e "close"' "$port" &
crowd=$!
wait_for 20 [ -e opened ]
sleep 0.5	# the server takes what it takes
ok 'at most 16 connections are open' [ "$(($(count_files) - files_before))" -le 16 ]
touch close
wait $crowd
"$POLLUX" submit -q --hold --name two -- true >/dev/null
ok 'the content has what came later, also after a crowd' wait_for 20 shows '>two<'
is 'the server has said nothing on standard error' '' "$(cat serve.err)"

# --- a browser ---
browser=$(command -v chromium || command -v google-chrome || :)
if [ -z "$browser" ]; then
	ok 'a browser shows the present state # SKIP there is no chromium' true
else
	has() { echo "document.body.innerText.includes('$1')"; }
	perl "$ROOT/tests/cli/browser.pl" "$browser" "$TMP/browser" \
		"http://127.0.0.1:$port/$token/" "$(has two) && (window.mark = 1)" \
		"$(has three) && window.mark" >seen 2>console &
	opened=$!
	ok 'a browser shows the page' wait_for 60 [ -s seen ]
	"$POLLUX" submit -q --hold --name three -- true >/dev/null
	wait $opened
	is 'the browser shows what came later, without loading the page again' 0 $?
	is 'the console of the browser has nothing' '' "$(cat console)"
fi
end $server INT
is 'the server ends with Ctrl-C, without an error' 0 $?
server=
refuses_now() { ! ask "$port" 'GET / HTTP/1.0'; }
ok 'nobody listens then' refuses_now
finish
