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
status 'outside pollux' 0 "$POLLUX" report STEP=1
is 'nothing happens' ':' "$out:$err"
status 'with -v' 0 "$POLLUX" report -v STEP=1
is 'it is said' 'pollux: not reported: not run by pollux (no POLLUX_REPORT_SOCKET)' "$err"
status 'an empty name is none' 0 env POLLUX_REPORT_SOCKET= "$POLLUX" report -v STEP=1
like 'either' '^pollux: not reported' "$err"
status 'a dead socket' 0 env POLLUX_REPORT_SOCKET="$TMP/none" "$POLLUX" report STEP=1
is 'is no failure' ':' "$out:$err"
status 'with -v' 0 env POLLUX_REPORT_SOCKET="$TMP/none" "$POLLUX" report -v STEP=1
is 'it is said' "pollux: cannot report to '$TMP/none': No such file or directory" "$err"
long=$TMP/$(printf '%0200d' 0)
status 'a name too long for a socket' 0 env POLLUX_REPORT_SOCKET="$long" "$POLLUX" report -v STEP=1
like 'is one too' 'File name too long$' "$err"
touch file
status 'a file' 0 env POLLUX_REPORT_SOCKET="$TMP/file" "$POLLUX" report -v STEP=1
like 'that is no socket' 'Connection refused$' "$err"
status 'no store is made' 2 ls "$POLLUX_DIR"

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
status 'all keys' 0 "$POLLUX" report STEP=1 SAMPLES=64 STEP_NS=1000 SYNC_NS=10 GRAD_SQR=-1.5 \
	GRAD_VAR=2e3 LOSS=0.25 EPOCH=1.5 CONFIG=2 CHECKPOINT='/a b/c' STATUS='ein Text mit = und Ü'
wait_for 10 grep -q '^]' received
is 'are one datagram' 'ready
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

# --- what is not ---
for wrong in STEP STEP= STEP=-1 STEP=x STEP=1.5 '=1' '' 'step=1' FOO=1 LOSS=nan LOSS=inf EPOCH=-1 \
	CHECKPOINT= CONFIG= CONFIG=-1 'STEP=1 ' ' STEP=1' 'STEP=99999999999999999999' \
	TOTAL_STEPS= TOTAL_SAMPLES=-1 TOTAL_EPOCHS=nan RESUMED= GRAD_SAMPLES=1.5 \
	PEAK_BYTES=9999999999999999999 LIMIT_BYTES=x OUT_OF_MEMORY=1e3 PARAMETERS=; do
	status "'$wrong' is a usage error" 64 "$POLLUX" report STEP=1 "$wrong"
	like 'with the keys' '^pollux: cannot report .* STEP SAMPLES .* CHECKPOINT STATUS CONFIG ' \
		"$err"
	is 'all of those in the manual' \
		"$(sed -n '/^.Ss Keys/,/^.El/s/^.It Cm //p' "$ROOT/man/pollux-report.1" |
			sed 's/ , / /g' | tr ' ' '\n' | sort)" \
		"$(printf '%s\n' "$err" | sed 's/.* key of //; s/ and a value.*//' |
			tr ' ' '\n' | sort)"
	is 'on one line' 1 "$(printf '%s\n' "$err" | wc -l)"
done
status 'a newline would be two lines' 64 "$POLLUX" report 'STATUS=a
STEP=2'
is 'said on one' 1 "$(printf '%s\n' "$err" | wc -l)"
status 'nothing is a usage error' 64 "$POLLUX" report
status 'an option among them' 64 "$POLLUX" report STEP=1 --frobnicate
big=$(printf '%0900d' 0)
status 'more than a datagram takes' 64 "$POLLUX" report STATUS="$big" STATUS="$big" STATUS="$big" \
	STATUS="$big" \
	STATUS="$big" STATUS="$big" STATUS="$big" STATUS="$big" STATUS="$big" STATUS="$big"
like 'is too long' 'too long: at most' "$err"
sleep 0.2
is 'none of these was sent in part' 1 "$(grep -c '^\[' received)"
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
ok 'a report arrives' wait_for 20 arrived
run "$POLLUX" status --json 1
like 'samples' '^      "samples": 640,' "$out"
like 'steps' '^      "steps": 10,' "$out"
like 'loss' '^      "loss": 0.5,' "$out"
like 'checkpoint' '^      "checkpoint_samples": 640,' "$out"
is 'metrics: the last value, and where it was reported' \
	'acc 0.91 640; loss 0.5 640; val/loss 0.34 640; ' "$(
	printf '%s\n' "$out" | json 'print map { "$_->{name} $_->{last} $_->{samples}; " }
		@{$d->{jobs}[0]{details}{metrics}}')"
like 'status shows them' 'metrics +acc 0.91, val/loss 0.34$' "$("$POLLUX" status 1)"
like 'explain too' 'metrics +acc 0.91, val/loss 0.34$' "$("$POLLUX" explain 1)"
like 'and its JSON' '"name": "val/loss"' "$("$POLLUX" explain --json 1)"
touch go
status 'and the job ends as it would' 0 "$POLLUX" wait --timeout 200 1
finish
