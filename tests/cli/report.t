#!/bin/sh
# report.t - pollux report: one datagram that the supervisor understands, and no harm without one.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
unset POLLUX_REPORT_SOCKET

cleanup() {
	touch "$TMP/go"
	"$POLLUX" cancel 1 2>/dev/null && "$POLLUX" wait --timeout 200 1 2>/dev/null
	[ -z "${receiver-}" ] || kill "$receiver" 2>/dev/null
	sleep 0.3
}

# --- outside pollux ---
status 'report succeeds outside pollux' 0 "$POLLUX" report STEP=1
is 'report says nothing outside pollux' ':' "$out:$err"
status 'report -v succeeds outside pollux' 0 "$POLLUX" report -v STEP=1
is 'report -v says that pollux did not run it' \
	'pollux: not reported: not run by pollux (no POLLUX_REPORT_SOCKET)' "$err"
status 'an empty name of a socket is no error' \
	0 env POLLUX_REPORT_SOCKET= "$POLLUX" report -v STEP=1
like 'an empty name of a socket is told with -v' '^pollux: not reported' "$err"
status 'a dead socket is no error' 0 env POLLUX_REPORT_SOCKET="$TMP/none" "$POLLUX" report STEP=1
is 'a dead socket is not told' ':' "$out:$err"
status 'a dead socket is no error with -v' \
	0 env POLLUX_REPORT_SOCKET="$TMP/none" "$POLLUX" report -v STEP=1
is 'a dead socket is told with -v' \
	"pollux: cannot report to '$TMP/none': No such file or directory" "$err"
long=$TMP/$(printf '%0200d' 0)
status 'a name too long for a socket is no error' \
	0 env POLLUX_REPORT_SOCKET="$long" "$POLLUX" report -v STEP=1
like 'a name too long for a socket is told with -v' 'File name too long$' "$err"
touch file
status 'a file in place of the socket is no error' \
	0 env POLLUX_REPORT_SOCKET="$TMP/file" "$POLLUX" report -v STEP=1
like 'a file in place of the socket is told with -v' 'Connection refused$' "$err"
status 'report makes no store' 2 ls "$POLLUX_DIR"

# --- what is sent ---
cat >receive.pl <<'END'
use IO::Socket::UNIX; use Socket;
my ($path, $out) = @ARGV;
my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path) or die;
open my $f, '>', $out; select $f; $| = 1; print "ready\n";
while (defined $s->recv(my $m, 65536)) { print "[$m]\n"; }
END
perl receive.pl "$TMP/sock" "$TMP/received" &
receiver=$!
wait_for 10 grep -q ready received
POLLUX_REPORT_SOCKET=$TMP/sock
export POLLUX_REPORT_SOCKET
status 'report with all keys succeeds' \
	0 "$POLLUX" report STEP=1 SAMPLES=64 STEP_NS=1000 SYNC_NS=10 GRAD_SQR=-1.5 \
	GRAD_VAR=2e3 LOSS=0.25 EPOCH=1.5 CONFIG=2 CHECKPOINT='/a b/c' STATUS='ein Text mit = und Ü'
wait_for 10 grep -q '^]' received
is 'all keys are one datagram' 'ready
[STEP=1
SAMPLES=64
STEP_NS=1000
SYNC_NS=10
GRAD_SQR=-1.5
GRAD_VAR=2e3
LOSS=0.25
EPOCH=1.5
CONFIG=2
CHECKPOINT=/a b/c
STATUS=ein Text mit = und Ü
]' "$(cat received)"

# --- values that are not finite are values ---
n_sent=1
for value in nan NaN -nan NAN inf Infinity -inf 1e999 -1e999 'tensor(nan)' nan.; do
	status "LOSS=$value is no error" 0 "$POLLUX" report STEP=1 LOSS="$value" METRIC.x="$value"
	is "LOSS=$value is sent without a word" ':' "$out:$err"
	n_sent=$((n_sent + 1))
	wait_for 10 grep -qxF "METRIC.x=$value" received
	ok "LOSS=$value is sent as it is" grep -qxF "LOSS=$value" received
done

# --- what is left out ---
# sent WANTED: the last message
sent() {
	n_sent=$((n_sent + 1))
	wait_for 10 eval '[ "$(grep -c "^\[" received)" -ge $n_sent ]'
	is "the rest of the report is sent: $1" \
		"$1" "$(sed -n '/^\[/h; /^\[/!H; ${ x; s/\n/ /g; p; }' received |
		sed 's/^.*\[//; s/ *\]$//')"
}
for wrong in STEP STEP= STEP=-1 STEP=x STEP=1.5 '=1' '' 'step=1' FOO=1 LOSS=abc LOSS= EPOCH=-1 \
	CHECKPOINT= CONFIG= CONFIG=-1 'STEP=1 ' ' STEP=1' 'STEP=99999999999999999999' BATCH=0 \
	TOTAL_STEPS= TOTAL_SAMPLES=-1 TOTAL_EPOCHS=nan RESUMED= GRAD_SAMPLES=1.5 \
	PEAK_BYTES=9999999999999999999 LIMIT_BYTES=x OUT_OF_MEMORY=1e3 PARAMETERS= METRIC.=1 \
	METRIC.x=abc 'METRIC.a b=1' LOSS=0.5x; do
	rm -f sock.warned
	status "'$wrong' is left out" 0 "$POLLUX" report SAMPLES=7 "$wrong" STATUS=on
	like "'$wrong' is told as left out" \
		"^pollux: report: '$wrong' is left out: .*once for each run" "$err"
	is "'$wrong' is told on one line" 1 "$(printf '%s\n' "$err" | wc -l)"
	sent 'SAMPLES=7 STATUS=on'
done
rm -f sock.warned
status 'two bad fields are no error' 0 "$POLLUX" report LOSS=x STEP=y SAMPLES=8
like 'two bad fields are told in one line' \
	"^pollux: report: 'LOSS=x' is left out: LOSS cannot have this value \(and 1 more\)" "$err"
sent 'SAMPLES=8'
status 'another bad field is no error' 0 "$POLLUX" report LOSS=x SAMPLES=9
is 'another bad field is not told again' '' "$err"
sent 'SAMPLES=9'
rm -f sock.warned
status 'bad fields alone are no error' 0 "$POLLUX" report LOSS=x STEP=y
like 'bad fields alone are told' 'LOSS=x' "$err"
rm -f sock.warned
status 'a key in another case is no error' 0 "$POLLUX" report loss=1
like 'the right case of a key is named' 'did you mean LOSS?' "$err"
rm -f sock.warned
status 'an unknown key is no error' 0 "$POLLUX" report FOO=1
is 'an unknown key is answered with all keys of the manual' \
	"$(sed -n '/^.Ss Keys/,/^.El/s/^.It Cm //p' "$ROOT/man/pollux-report.1" |
		sed 's/ , / /g' | tr ' ' '\n' | sort)" \
	"$(printf '%s\n' "$err" | sed 's/.* keys are //; s/;.*//' | tr ' ' '\n' | sort)"
rm -f sock.warned
status 'a value with a newline is no error' 0 "$POLLUX" report 'STATUS=a
STEP=2'
is 'a value with a newline is told on one line' 1 "$(printf '%s\n' "$err" | wc -l)"
big=$(printf '%0900d' 0)
rm -f sock.warned
status 'more than a datagram takes is no error' \
	0 "$POLLUX" report SAMPLES=10 STATUS="$big" STATUS="$big" \
	STATUS="$big" STATUS="$big" STATUS="$big" STATUS="$big" STATUS="$big" STATUS="$big" \
	STATUS="$big" STATUS="$big" STEP=11
like 'the field beyond a datagram is told' 'with it the report would be too long' "$err"
n_sent=$((n_sent + 1))
wait_for 10 grep -qx STEP=11 received
status 'a script with set -e goes on' 0 env -u POLLUX_REPORT_SOCKET \
	sh -ec '"$POLLUX" report LOSS=nan; "$POLLUX" report LOSS=x 2>/dev/null; true'
status 'a report of nothing is a usage error' 64 "$POLLUX" report
status 'words without a key are a usage error' 64 "$POLLUX" report 'done' 0.5
status 'an unknown option among fields is a usage error' 64 "$POLLUX" report STEP=1 --frobnicate
sleep 0.2
is 'nothing else was sent' "$n_sent" "$(grep -c '^\[' received)"
kill $receiver
wait $receiver 2>/dev/null
receiver=
unset POLLUX_REPORT_SOCKET

# --- to a supervisor ---
"$POLLUX" submit -q --samples 1000 -- sh -c '"$POLLUX" report STEP=10 SAMPLES=640 LOSS=0.5
	"$POLLUX" report METRIC.acc=0.8 METRIC.val/loss=0.34 SAMPLES=320
	"$POLLUX" report METRIC.acc=0.91
	"$POLLUX" report STATUS="half way" CHECKPOINT=ckpt SAMPLES=640
	while [ ! -e "$0/go" ]; do sleep 0.05; done; exit 0' "$TMP" >/dev/null
"$POLLUX" schedule
arrived() { "$POLLUX" status --json 1 | grep -q '"status_text": "half way"'; }
ok 'a report arrives at the supervisor' wait_for 20 arrived
run "$POLLUX" status --json 1
like 'status has the reported samples' '^      "samples": 640,' "$out"
like 'status has the reported steps' '^      "steps": 10,' "$out"
like 'status has the reported loss' '^      "loss": 0.5,' "$out"
like 'status has the reported checkpoint' '^      "checkpoint_samples": 640,' "$out"
is 'JSON has the last value of each metric, and where it was' \
	'acc 0.91 640; loss 0.5 640; val/loss 0.34 640; ' "$(
	printf '%s\n' "$out" | json 'print map { "$_->{name} $_->{last} $_->{samples}; " }
		@{$d->{jobs}[0]{details}{metrics}}')"
like 'status shows the metrics' 'metrics +acc 0.91, val/loss 0.34$' "$("$POLLUX" status 1)"
like 'explain shows the metrics' 'metrics +acc 0.91, val/loss 0.34$' "$("$POLLUX" explain 1)"
like 'the JSON of explain has the metrics' '"name": "val/loss"' "$("$POLLUX" explain --json 1)"
touch go
status 'the job that reported ends as it would' 0 "$POLLUX" wait --timeout 200 1
finish
