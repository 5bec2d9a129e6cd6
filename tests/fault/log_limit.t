#!/bin/sh
# log_limit.t - a log that is too large loses its middle, while the job goes on writing.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

: >probe
if ! fallocate -l 1M probe || ! fallocate -p -o 0 -l 512K probe; then
	skip_all "files in $TMP cannot have holes made"
fi 2>/dev/null
disk_bytes() { echo $(($(stat -c %b "$1") * 512)); }
is_below() { [ "$(disk_bytes "$log")" -lt "$1" ]; }
mkdir -p "$POLLUX_DIR"
chmod 700 "$POLLUX_DIR"
echo 'log_limit = 2M' >"$POLLUX_DIR/config"
touch more
# 8 MB at once, then a line now and then.
cat >program <<'END'
seq -f 'a line of a program, number %.0f' 1 200000
i=0
while [ -e more ]; do i=$((i + 1)); echo "late line $i"; sleep 0.1; done
echo 'the last line'
END
job=$("$POLLUX" submit -- sh program)
"$POLLUX" schedule
log=$POLLUX_DIR/logs/$job.log
ok 'a job prints too much' wait_for 10 logged "$job" 'number 200000$'
ok 'the log of the job soon takes less than the limit' wait_for 10 is_below 2097152
lines=$(grep -ac 'late line' "$log")
more_lines() { [ "$(grep -ac 'late line' "$log")" -gt "$lines" ]; }
ok 'the job goes on writing' wait_for 10 more_lines
"$POLLUX" log -f "$job" >followed &
follower=$!
rm more
ok 'the job with a long log ends' wait_for 10 job_is "$job" "done"
wait "$follower"
"$POLLUX" log "$job" >printed
is 'the log begins with the first lines of the job' \
	'a line of a program, number 1' "$(sed -n 3p printed)"
is 'the log ends with the exit status' '[exited with status 0]' "$(tail -n 1 printed)"
is 'log -f prints the same as log' "$(cksum <printed)" "$(cksum <followed)"
dropped=$(sed -n 's/^\[pollux: \([0-9]*\) bytes of the log were dropped here\] *$/\1/p' printed)
ok 'one line says how much was dropped' [ "$dropped" -gt 5000000 ]
is 'the dropped and the printed bytes make up the whole log' "$(stat -c %s "$log")" \
	"$((dropped + $(wc -c <printed) - 80))"
is 'all other lines of the log are whole' '' "$(sed 1,2d printed |
	grep -Eavx 'a line of a program, number [0-9]+|late line [0-9]+|the last line|\[.*\] *')"
is 'the lines of the log are in order' '' "$(sed -n 's/.*number //p' printed | sort -nuc 2>&1)"
is 'the last lines of the log are all there' \
	'late line 1' "$(grep -a 'late line' printed | head -n 1)"
# The job's own limit, above the configuration's.
touch more
job=$("$POLLUX" submit -q --log-limit 4M -- sh program)
"$POLLUX" schedule
log=$POLLUX_DIR/logs/$job.log
ok 'a job with a limit of its own prints too much' wait_for 10 logged "$job" 'number 200000$'
ok 'the log takes less than the limit of the job' wait_for 10 is_below 4194304
ok 'the log takes more than the configured limit' [ "$(disk_bytes "$log")" -gt 2097152 ]
rm more
ok 'the job with a limit of its own ends' wait_for 10 job_is "$job" "done"
is 'JSON has the limit of the log' 4194304 "$("$POLLUX" status --json "$job" |
	sed -n 's/.*"log_limit_bytes": \([0-9]*\),*$/\1/p')"
status 'a log limit without a unit is a usage error' 64 "$POLLUX" submit --log-limit 5 -- true
like 'the message says what a log limit is' \
	"'--log-limit SIZE' wants an amount from 1M to 1000T, such as 512M, not '5'" \
	"$err"
status 'a log limit that is too small is a usage error' 64 "$POLLUX" submit --log-limit 1K -- true
job=1
like 'log -n 2 prints the last lines of a cut log' '^the last line$' "$("$POLLUX" log -n 2 "$job")"
finish
