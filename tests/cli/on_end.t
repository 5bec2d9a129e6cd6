#!/bin/sh
# on_end.t - a command is run once for each end of a job, with what became of the job.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY
cleanup() { end_jobs; }
told() { grep -cs "$1" "$TMP/told"; }
told_times() { [ "$(told "$2")" = "$1" ]; }
has_event() { store "SELECT text FROM events WHERE job_id = $1 AND kind = 'told'" | grep -q "$2"; }

mkdir -p store work
chmod 700 store
cat >store/config <<END
on_end = echo "end \$POLLUX_JOB_ID \$POLLUX_STATE \$POLLUX_EXIT" >>$TMP/told
on_failure = echo "failure \$POLLUX_JOB \$POLLUX_RESULT" >>$TMP/told
END
"$POLLUX" submit -q -n good -- true >/dev/null
"$POLLUX" submit -q -- sh -c 'exit 3' >/dev/null
(cd work && "$POLLUX" submit -q --on-end \
	'pwd >>../told; grep -x "last words" "$POLLUX_LOG" >>../told' -- \
	sh -c 'echo last words') >/dev/null
"$POLLUX" submit -q --hold -n held -- true >/dev/null
"$POLLUX" schedule
ok 'on_end tells an end' wait_for 20 told_times 1 '^end 1 done 0$'
ok 'on_end tells a failure' wait_for 20 told_times 1 '^end 2 failed 3$'
ok 'on_failure tells a failure, with the reason' wait_for 20 told_times 1 '^failure 2 .*3'
ok "a job's own command runs in the directory of the job" wait_for 20 told_times 1 '/work$'
ok "a job's own command can read the log" wait_for 20 told_times 1 '^last words$'
"$POLLUX" cancel 4 2>/dev/null
"$POLLUX" schedule
ok 'on_end tells that a job that never ran is cancelled' \
	wait_for 20 told_times 1 '^end 4 cancelled $'
wait_for 20 told_times 4 '^end '
wait_for 20 no_supervisor
"$POLLUX" schedule
"$POLLUX" schedule
is 'each end is told once' 4 "$(told '^end ')"
is 'on_failure does not tell a success' 0 "$(told '^failure [134]')"
ok 'the command that was run is an event of the job' \
	wait_for 20 has_event 3 '^--on-end: done; on_end: done$'
like 'status shows the command that was run' '--on-end: done; on_end: done' "$("$POLLUX" status 3)"

"$POLLUX" requeue 1 >/dev/null
"$POLLUX" schedule
ok 'on_end tells the second end of a job that runs again' wait_for 20 told_times 2 '^end 1 done 0$'

# --- what goes wrong ---
echo 'on_end = exit 7' >store/config
"$POLLUX" submit -q -- true >/dev/null
"$POLLUX" schedule
ok 'a command that fails is an event of the job' \
	wait_for 20 has_event 5 '^on_end: failed with exit status 7$'
: >store/config
"$POLLUX" submit -q --on-end 'kill -9 $$' -- true >/dev/null
"$POLLUX" schedule
ok 'a command that is killed is an event of the job' \
	wait_for 20 has_event 6 '^--on-end: killed by signal 9$'
ok 'a job whose command was killed is done all the same' \
	wait_for 20 eval '"$POLLUX" status 6 | grep -q "done"'
wait_for 20 no_supervisor

# --- the setting in the home directory, which the pass at the end of a job must read, too ---
mkdir -p home/.config/pollux
echo "on_end = echo \"home \$POLLUX_STATE \$POLLUX_RUN_TIME\" >>$TMP/told" \
	>home/.config/pollux/config
at_home() { (unset POLLUX_DIR; HOME=$TMP/home "$POLLUX" "$@"); }
at_home submit -q -- true >/dev/null
at_home schedule
ok 'an end is told as ~/.config/pollux/config says' wait_for 20 told_times 1 '^home done '
ok 'on_end gets the running time to the millisecond' \
	grep -Eqx 'home done [0-9]+(\.[0-9]{1,3})?' told
wait_for 20 eval 'at_home status 1 | grep -q "on_end: done"'
echo 'slots = many' >home/.config/pollux/config
run env HOME="$TMP/home" POLLUX_DIR="$TMP/home/.local/state/pollux" "$POLLUX" schedule
like 'a job, which finds the store in POLLUX_DIR, has the same settings' \
	"'slots' in '.*/home/.config/pollux/config'" "$err"
echo 'slots = few' >home/.local/state/pollux/config
run env HOME="$TMP/home" POLLUX_DIR="$TMP/home/.local/state/pollux" "$POLLUX" schedule
like 'a file beside the store goes before the one in the home directory' \
	"'slots' in '.*/state/pollux/config'.*'few'" "$err"
rm -r home/.config home/.local/state/pollux/config

# A webhook, as in the manual, against a listener.
if command -v curl >/dev/null; then
	cat >listen <<'END'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) or die;
open my $p, ">", "port.new"; print $p $s->sockport; close $p; rename "port.new", "port";
my $c = $s->accept;
my ($head, $body, $n) = ("", "", 0);
while (<$c>) { $head .= $_; $n = $1 if /^Content-Length: (\d+)/i; last if /^\r?$/ }
read $c, $body, $n;
open my $f, ">", "posted.new"; print $f $body; close $f; rename "posted.new", "posted";
print $c "HTTP/1.0 204 No Content\r\n\r\n";
END
	perl listen &
	listener=$!
	wait_for 20 [ -s port ]
	"$POLLUX" submit -q -n hooked --on-end "curl -fsS --noproxy '*' -d \
		\"text=\$POLLUX_NAME \$POLLUX_STATE\" http://127.0.0.1:$(cat port)/" \
		-- true >/dev/null
	"$POLLUX" schedule
	ok 'a webhook is called' wait_for 20 [ -e posted ]
	is 'a webhook gets the name and the state of the job' 'text=hooked done' "$(cat posted)"
	ok 'the call of a webhook is an event of the job' wait_for 20 has_event 7 '^--on-end: done$'
	wait "$listener"
	wait_for 20 no_supervisor
else
	echo '# skipped: a webhook, without curl'
fi
# --- a command at a terminal, whose end its user saw ---
cat >store/config <<END
on_end = echo "end \$POLLUX_JOB \$POLLUX_STATE \$POLLUX_EXIT" >>$TMP/told
on_failure = echo "failure \$POLLUX_JOB" >>$TMP/told
END
(unset POLLUX_SUBMIT_PASS; "$POLLUX" run -q -- sh -c 'exit 3')
id=$(store 'SELECT max(id) FROM jobs')
ok 'on_end tells a run at a terminal that fails' wait_for 20 told_times 1 "^end $id failed 3\$"
ok 'the failed run at a terminal has the event of an end' \
	wait_for 20 has_event "$id" '^on_end: done$'
is 'on_failure does not tell what its user saw' 0 "$(told "^failure $id ")"
finish
