#!/bin/sh
# last_checkpoint.t - a program that saves and ends at once has lost nothing: the report of its last
# checkpoint is heard while the supervisor waits for the store, is stopped, or finds more reports
# than it reads at a time.
# shellcheck disable=SC2016,SC2317 # programs of perl; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

POLLUX_POLICY=fifo
of_run() { query "SELECT $1 FROM runs WHERE job_id = $2 ORDER BY id DESC LIMIT 1"; }
start() { # start ARGUMENT...: sets $job, $supervisor and $leader
	job=$(submit --retries 0 --grace 20 -- "$@")
	pass
	ok 'a job runs' wait_for 10 query_is 1 \
		"SELECT count(*) FROM runs WHERE job_id = $job AND last_samples > 0"
	supervisor=$(of_run "$supervisor_pid" "$job") leader=$(of_run "$leader_pid" "$job")
}
run_ended() { [ "$(of_run state "$job")" = ended ]; }
saved() { awk -v job="$job" '$1 == "save" && $2 == job { at = $4 } END { print at }' \
	"$WITNESS/ledger"; }
nothing_lost() { # nothing_lost NAME
	ok "$1: the run ends" wait_for 20 run_ended
	is "$1: its checkpoint is known, nothing is lost" "$(saved) 0" \
		"$(of_run "printf('%d %d', checkpoint_samples, lost_samples)" "$job")"
}

start "$work" -n 1000000000 -s 0
hold_store
kill -TERM "$supervisor"
sleep 3
let_store_go ROLLBACK
nothing_lost 'stopped while the store is locked'
"$POLLUX" cancel "$job"

start "$work" -n 1000000000 -s 0
kill -STOP "$supervisor"
kill -TERM "$leader"
sleep 3
kill -CONT "$supervisor"
nothing_lost 'stopped while its supervisor is'

start sh -c '"$POLLUX" report STEP=1 SAMPLES=1
	touch ready
	while [ ! -e stopped ]; do sleep 0.05; done
	for _ in 1 2 3 4 5 6 7 8 9 10 11; do
		timeout 0.1 "$POLLUX" report STEP=3 SAMPLES=3
	done
	echo "save $POLLUX_JOB_ID $POLLUX_RUN 3" >>"$WITNESS/ledger"
	"$POLLUX" report CHECKPOINT=x SAMPLES=3
	exit 3'
ok 'a script reports' wait_for 10 test -e ready
kill -STOP "$supervisor"
touch stopped
sleep 4
kill -CONT "$supervisor"
nothing_lost 'a script'

# The supervisor of a run that is asked to stop is killed before the program has saved.
start "$work" -n 1000000000 -s 5 -p 10 -h "$TMP/paused"
ok 'a checkpoint of the next job is heard' wait_for 10 query_is 1 "SELECT count(*) FROM runs WHERE
	job_id = $job AND checkpoint_samples > 0"
touch paused
"$POLLUX" requeue --force "$job"
ok 'the next job is asked to stop' wait_for 10 query_is 1 \
	"SELECT state = 'stopping' FROM runs WHERE job_id = $job"
kill_now "$supervisor"
rm paused
at_end() { grep -q "^stop $job 1 " "$WITNESS/ledger"; }
ok 'the next job saves without a supervisor' wait_for 10 at_end
pass
ok 'a pass ends the run' wait_for 20 query_is 1 \
	"SELECT state = 'ended' FROM runs WHERE job_id = $job AND number = 1"
is 'the run lost nothing that was known' 0 \
	"$(query "SELECT printf('%d', lost_samples) FROM runs WHERE job_id = $job AND number = 1")"
"$POLLUX" cancel --force "$job"
ok 'the runs of the next job end' \
	wait_for 20 query_is 0 "SELECT count(*) FROM runs WHERE job_id = $job AND
	state <> 'ended'"

# --- more reports than are read at a time ---

cat >flood <<'END'
use Socket;
my $address = sockaddr_un($ENV{POLLUX_REPORT_SOCKET});
my @sockets = map { socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; $s } 1 .. 16;
sub report { my ($s, $text) = @_; send($s, $text, 0, $address) or die "$!" }
report($sockets[0], "STEP=1\nSAMPLES=1\n");
select undef, undef, undef, 0.05 until -e "flooded";
for my $n (2 .. 2000) { report($sockets[$n % 16], "STEP=$n\nSAMPLES=$n\n") }
open my $ledger, ">>", "$ENV{WITNESS}/ledger" or die;
print $ledger "save $ENV{POLLUX_JOB_ID} $ENV{POLLUX_RUN} 2000\n"; close $ledger;
report($sockets[0], "CHECKPOINT=x\nSAMPLES=2000\n");
open my $done, ">", "sent"; exit 3
END
wide() { unshare -n sh -c 'echo 4096 >/proc/sys/net/unix/max_dgram_qlen && exec "$@"' - "$@"; }
if wide true 2>/dev/null; then
	job=$(submit --retries 0 -- perl flood)
	wide "$POLLUX" schedule
	ok 'a program waits to flood' wait_for 10 query_is 1 \
		"SELECT count(*) FROM runs WHERE job_id = $job AND last_samples > 0"
	supervisor=$(of_run "$supervisor_pid" "$job")
	kill -STOP "$supervisor"
	touch flooded
	ok '2,000 reports wait to be read' wait_for 10 test -e sent
	kill -CONT "$supervisor"
	nothing_lost 'a long queue'
	is 'all reports of the queue are heard' 2001 "$(of_run reports "$job")"
else
	echo '# skipped: no network namespace can be made here, where queues are longer'
fi
finish
