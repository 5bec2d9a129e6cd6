#!/bin/sh
# limits.t - a job runs under the umask, the nice value and the limits of its submission.
# shellcheck disable=SC2016,SC2317,SC3045  # texts for other shells; ulimit of dash
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS
cleanup() { end_jobs; }
here=$(nice)

show='umask; nice; ulimit -n; ulimit -t; ulimit -H -n'
hard=$(ulimit -H -n)
(umask 0027 && ulimit -S -n 300 && ulimit -S -t 5000 &&
	nice -n 7 "$POLLUX" submit -q -- sh -c "$show")
"$POLLUX" submit -q -- sh -c "$show"
(umask 0077 && "$POLLUX" schedule)
status 'the two jobs end' 0 "$POLLUX" wait --timeout 600 1 2
said() { "$POLLUX" log "$1" | grep '^[0-9a-z-]*$' | xargs; }
is 'a job has the umask, nice value and soft limits of its submission' \
	"0027 $((here + 7)) 300 5000 $hard" "$(said 1)"
is 'the other job has its own umask, nice value and limits' \
	"$(umask) $here $(ulimit -n) $(ulimit -t) $hard" "$(said 2)"
is 'the store has the limits of a submission' 1 \
	"$(store "SELECT limits LIKE 'umask=0027 nice=% nofile=300 %'
	FROM commands WHERE job_id = 1")"

# --- a hard limit that is lower where the pass runs ---
(ulimit -S -n 300 && "$POLLUX" submit -q -- sh -c 'ulimit -n') >id
(ulimit -n 200 && "$POLLUX" schedule)
status 'a job under a lower hard limit ends' 0 "$POLLUX" wait --timeout 600 3
is "a lower hard limit of the pass bounds the job's limit" 200 "$(said 3)"

# --- a job of an older store ---
wait_for 20 no_supervisor	# the last pass of a job has that job's limits
"$POLLUX" submit -q -- sh -c 'ulimit -n' >id
given_command all limits=null
(ulimit -S -n 250 && "$POLLUX" schedule)
status 'a job of an older store ends' 0 "$POLLUX" wait --timeout 600 4
is 'a job of an older store has the limits of the pass' 250 "$(said 4)"
finish
