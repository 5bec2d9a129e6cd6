#!/bin/sh
# hostile.t - jobs whose reports, names and logs are not what they should be: bad values,
# datagrams of megabytes, floods; control sequences, bad UTF-8, lines of megabytes. What
# is bad is counted, the rest is heard, nothing reaches the terminal that moves it.
# shellcheck disable=SC2016,SC2317 # programs of sh -c; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

hostile=$FAULT/hostile
safe() { # safe NAME TEXT-FILE: no control character but the newline, valid UTF-8
	is "$1: no control characters" 0 \
		"$(tr -d '\n' <"$2" | LC_ALL=C tr -cd '\000-\037\177' | wc -c)"
	is "$1: no hidden control characters" '' \
		"$(LC_ALL=C grep -an "$(printf '\302[\200-\237]\\|\342\200[\250-\256]')" "$2")"
	is "$1: valid UTF-8" '' "$(LC_ALL=C.UTF-8 grep -axnv '.*' "$2")"
}
is_json() { # is_json NAME FILE
	is "$1: valid JSON" 1 \
		"$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('$2') AS TEXT))")"
}
shown() { # shown NAME [ID]: the status in every form
	"$POLLUX" status -a >table 2>&1
	safe "$1, table" table
	"$POLLUX" status -a --json >json 2>&1
	is_json "$1, all" json
	[ -n "${2-}" ] || return 0
	"$POLLUX" status "$2" >full 2>&1
	safe "$1, in full" full
	"$POLLUX" status --json "$2" >json 2>&1
	is_json "$1, one" json
}
cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
memory_kib() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }
supervisor_of() { query "SELECT $supervisor_pid FROM runs WHERE job_id = $1"; }
# AddressSanitizer needs more of everything.
memory_limit_kib=16384
case ${CFLAGS-}${ASAN_OPTIONS-} in *sanitize*|*detect*) memory_limit_kib=262144 ;; esac

# --- reports -----------------------------------------------------------------------------

job=$(submit -- sh -c '"$1" reports; sleep 0.3; "$2" -n 20 -s 5' - "$hostile" "$work")
pass
ok 'a job sends bad reports' wait_for 20 logged "$job" '^malformed'
settle 20 'the job with bad reports comes to its end'
is 'bad lines of reports are counted' "$(sed -n 's/^malformed //p' "$POLLUX_DIR/logs/$job.log")" \
	"$(query "SELECT malformed_reports FROM runs WHERE job_id = $job")"
is 'good lines of reports are heard' 'done|1000|0.5' \
	"$(query "SELECT state, printf('%d', samples), loss FROM jobs
	WHERE id = $job")"
is 'positions that fall are refused' 'SAMPLES fell from 1000 to 20' \
	"$(query "SELECT refusal FROM runs WHERE job_id = $job")"
shown 'bad reports' "$job"
like 'the text of a report is shown without control characters' 'bad \\377\\303\( ' "$(cat full)"
sound 'all is well after bad reports'

# --- floods -------------------------------------------------------------------------------

job=$(submit -- "$hostile" flood 100000)
settle 60 'a job that floods without waiting ends'
like 'the job that floods has sent all its reports' \
	'^flooded 100000, ' "$(cat "$POLLUX_DIR/logs/$job.log")"
is 'all reports that the socket took were heard' \
	"$(sed -n 's/^flooded .*, \([0-9]*\) .*/\1/p' "$POLLUX_DIR/logs/$job.log") 0" \
	"$(query "SELECT reports, malformed_reports FROM runs WHERE job_id = $job" | tr '|' ' ')"

# Several senders, so that one is always ready.
job=$(submit -- sh -c '"$1" flood & "$1" flood & "$1" flood & "$1" flood & wait' - "$hostile")
next=$(submit -- "$work" -n 200 -s 5)
pass
ok 'a job floods without end' wait_for 10 query_is 1 \
	"SELECT count(*) = 2 FROM runs WHERE state = 'running' AND $leader_pid IS NOT NULL"
supervisor=$(supervisor_of "$job")
ticks=$(cpu_ticks "$supervisor")
start_ns=$(date +%s%N)
sleep 3
ticks=$(($(cpu_ticks "$supervisor") - ticks))
percent=$((ticks * 100000000000 / $(getconf CLK_TCK) / ($(date +%s%N) - start_ns)))
memory=$(memory_kib "$supervisor")
echo "# its supervisor: $percent % of a core, $memory KiB"
ok 'a flood costs the supervisor less than half a core' [ "$percent" -lt 50 ]
ok 'a flood costs the supervisor no memory' [ "$memory" -lt "$memory_limit_kib" ]
ok 'the store has the position of the job that floods' wait_for 10 query_is 1 \
	"SELECT last_samples > 0 FROM runs WHERE job_id = $job"
status 'cancel of the job that floods succeeds' 0 "$POLLUX" cancel "$job"
ok 'the job that floods is cancelled soon' wait_for 5 job_is "$job" cancelled
settle 20 'the job beside the flood ends'
exact 'the job beside the flood has exactly its samples' "$next" 200
ok 'the store has not grown by a row for each report' query_is 1 'SELECT count(*) < 100 FROM events'
sound 'all is well after the floods'

# --- names, arguments, directories ------------------------------------------------------------

evil=$(printf '\033[2J\033]0;owned\007 \302\233 2J \342\200\256 \377\303( \355\240\200\nx\r\ty')
mkdir "$evil"
job=$(cd "$evil" && submit --name "$evil" --workload "$evil" --env "EVIL=$evil" -- \
	"$work" -n 1 sh -c 'printf "%s" "$2" >"$1"; exit 3' - "$TMP/came-through" "$evil")
shown 'an evil name, waiting' "$job"
settle 20 'a job with an evil name ends'
shown 'an evil name' "$job"
is 'the arguments of the evil job came through as they were' "$evil" "$(cat came-through)"
status 'a command with evil words is refused' 64 "$POLLUX" "$evil"
printf '%s\n' "$err" >complaint
safe 'the complaint about a command' complaint
status 'an option with evil words is refused' 64 "$POLLUX" submit "--$evil" -- true
printf '%s\n' "$err" >complaint
safe 'the complaint about an option' complaint

# --- logs ----------------------------------------------------------------------

job=$(submit -- "$hostile" log 50)
pass
(
	"$POLLUX" log -f "$job" >followed 2>/dev/null
	echo $? >followed.status
) &
settle 60 'a job with a log of 50 MB of junk ends'
wait
log=$POLLUX_DIR/logs/$job.log
ok 'the log is larger than 50 MB' [ "$(wc -c <"$log")" -gt 52428800 ]
"$POLLUX" log "$job" >printed
ok 'log prints junk as it is' cmp printed "$log"
is 'log -f comes to its end' 0 "$(cat followed.status)"
ok 'log -f has printed the whole log' cmp followed "$log"
"$POLLUX" log -n 3 "$job" >printed
is 'log -n 3 prints three lines of megabytes' 3 "$(wc -l <printed)"
is 'log -n 3 prints the last lines' "$(tail -n 1 "$log")" "$(tail -n 1 printed)"
ok 'log -n 3 prints no NUL bytes and no carriage returns' \
	[ "$(tr -d '\r\0' <printed | wc -c)" = "$(wc -c <printed)" ]
shown 'a log of junk' "$job"
job=$(submit -- sh -c '"$1" log 2; printf "CUDA out of memory\0\377\n"; exit 1' - "$hostile")
settle 20 'a job that fails after such a log ends'
like 'status finds the reason of the failure in the log' \
	'GPU out of memory' "$("$POLLUX" status "$job")"
shown 'the failure after junk' "$job"
rm -f printed followed
sound 'all is well after logs of junk'
finish
