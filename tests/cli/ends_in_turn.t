#!/bin/sh
# ends_in_turn.t - many ends at once are told by one process, each once, also where it is killed.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY
cleanup() { end_jobs; }
lines() { wc -l <"$1"; }
has_lines() { [ "$(lines "$2")" -eq "$1" ]; }
has_event() { store "SELECT text FROM events WHERE job_id = $1 AND kind = 'told'" | grep -q "$2"; }
is_gone() { case $(ps -o stat= -p "$1") in '' | Z*) ;; *) return 1 ;; esac; }
submit_held() { # submit_held N
	for _ in $(seq "$1"); do
		"$POLLUX" submit -q --hold -- true >/dev/null || return
	done
}

mkdir -p store
touch told overlaps begun
chmod 700 store
cat >ends.sh <<'END'
mkdir busy || echo overlap >>overlaps
sleep 0.02
rmdir busy
echo "$POLLUX_JOB $POLLUX_STATE" >>told
END
echo 'on_end = sh ends.sh' >store/config
submit_held 12
"$POLLUX" cancel 1-12
ok 'jobs that never ran are told as soon as they are cancelled' wait_for 20 has_lines 12 told
is 'each end is told once' "$(for i in $(seq 12); do echo "$i cancelled"; done)" "$(sort -n told)"
is 'the ends are told one after the other' 0 "$(lines overlaps)"

# --- a process that is killed ---
cat >ends.sh <<'END'
echo "$POLLUX_JOB" >>begun
[ "$POLLUX_JOB" != 13 ] && exit
echo $PPID >teller
exec sleep 1000
END
echo 'on_end = exec sh ends.sh' >store/config
submit_held 3
"$POLLUX" cancel 13-15
wait_for 20 [ -s teller ]
"$POLLUX" schedule
"$POLLUX" schedule
is 'further passes let the first process go on' 13 "$(cat begun)"
waits=$(ps -o pid= --ppid "$(cat teller)")
kill -9 "$(cat teller)"
"$POLLUX" schedule
ok 'the ends that a killed process left are told by the next' wait_for 20 has_lines 3 begun
"$POLLUX" schedule
ok 'the ends that a killed process left are told by on_end' \
	wait_for 20 has_event 15 '^on_end: done$'
is 'no end that a killed process left is told twice' '13 14 15' "$(sort -n begun | paste -sd ' ')"
# shellcheck disable=SC2086  # one process
kill $waits

# --- a command that does not end ---
POLLUX_TELL_LIMIT=0.5
export POLLUX_TELL_LIMIT
echo "on_end = sleep 1000 & echo \$! \$\$ >pids.new; mv pids.new pids; wait" >store/config
submit_held 1
"$POLLUX" cancel 16
ok 'a command that takes too long is killed' wait_for 20 has_event 16 '^on_end: killed after 0.5 s$'
read -r child shell <pids
ok 'the child of a command that takes too long is killed, too' wait_for 20 is_gone "$child"
ok 'the shell of a command that takes too long is killed, too' wait_for 20 is_gone "$shell"
finish
