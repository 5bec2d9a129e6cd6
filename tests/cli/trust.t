#!/bin/sh
# trust.t - whose reports are believed: those of processes of the job, by session, descent and
# control group, and of positions that can be. What is refused is counted and shown.
# shellcheck disable=SC2016,SC2317 # programs for other shells; functions called by name
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY

cleanup() { touch "$TMP/go"; end_jobs; }
cat >send.pl <<'END' # SOCKET: sends what it reads, a line each; "|" for the newlines
use Socket;
socket my $s, AF_UNIX, SOCK_DGRAM, 0 or die;
my $to = pack_sockaddr_un $ARGV[0];
while (<STDIN>) {
	chomp; tr/|/\n/;
	send $s, $_, 0, $to or die "send: $!";
	select undef, undef, undef, 0.1;
}
select undef, undef, undef, 1;
END
# The supervisors find no time to look at a sender right after they have read what it sent.
late() {
	if [ -r "${FAULT-}/preload_recvmsg.so" ]; then
		ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0 \
			LD_PRELOAD=$FAULT/preload_recvmsg.so "$@"
	else
		"$@"
	fi
}
value() { store "SELECT $1 FROM runs WHERE job_id = $job"; }
value_is() { [ "$(value "$2")" = "$1" ]; }

# The job reports what stands in "said"; then a daemon of its does, without parent and session.
job=$("$POLLUX" submit -q -- sh -c 'perl send.pl "$POLLUX_REPORT_SOCKET" <said
	setsid -f perl send.pl "$POLLUX_REPORT_SOCKET" <said-later
	"$POLLUX" report STEP_NS=7000000 STATUS=told
	while [ ! -e go ]; do sleep 0.05; done')
{
	for i in 1 2 3 4 5 6; do echo "SAMPLES=${i}00|STEP=$i|"; done
	echo 'SAMPLES=900000000000000|STEP=7|'
	echo 'SAMPLES=10|STEP=8|'
	echo 'SAMPLES=700|STEP=9|'
} >said
echo 'SAMPLES=800|LOSS=0.25|' >said-later
late "$POLLUX" schedule
socket=$POLLUX_DIR/run/1.sock
ok 'a daemon of the job is believed' wait_for 20 value_is 800 "printf('%d', last_samples)"
ok "'pollux report' waits until it was read, and is believed" wait_for 20 \
	value_is 1 "(SELECT status_text = 'told' FROM jobs WHERE id = $job)"
is 'a jump and a fall are refused' '2|SAMPLES fell from 600 to 10' \
	"$(value 'refused_reports, refusal')"

# Somebody else, with the environment of the job.
POLLUX_REPORT_SOCKET=$socket
export POLLUX_REPORT_SOCKET
status 'a report from elsewhere is sent' 0 \
	"$POLLUX" report SAMPLES=850 GRAD_SQR=1 GRAD_VAR=1e139 LOSS=9
echo 'SAMPLES=860|GRAD_VAR=1e139|GRAD_SQR=1|' | perl send.pl "$socket"
unset POLLUX_REPORT_SOCKET
ok 'both reports from elsewhere are refused' wait_for 20 value_is 4 refused_reports
is 'refused reports leave nothing' \
	'800||0' "$(value "printf('%d', last_samples), (SELECT loss FROM jobs
	WHERE id = $job AND loss > 1), (SELECT sum(n) FROM gradient_statistics)")"
like 'status says how many reports were refused' \
	"^  refused +4 reports; the last one: sent by a process that is not the job's$" \
	"$("$POLLUX" status 1)"
is 'JSON says how many reports were refused' \
	"4 sent by a process that is not the job's" "$("$POLLUX" status --json 1 |
	json 'my $r = $d->{jobs}[0]{run}; print "$r->{refused_reports} $r->{refusal}"')"
touch go
"$POLLUX" wait --timeout 200 1

# Where nothing is refused, nothing is said.
job=$("$POLLUX" submit -q -- sh -c '"$POLLUX" report SAMPLES=5 STEP=1 METRIC.score=7')
late "$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$job"
is 'a report of a process that ends at once is heard' 5 "$(value "printf('%d', last_samples)")"
is 'all that it reported was taken' 7 "$(store "SELECT printf('%d', last) FROM job_metrics
	WHERE job_id = $job")"

# Somebody writes into the store for longer than a supervisor waits: the last report is kept. The
# devices are free before the end can be read of, for the pass that reads of it. A run that reports
# less than an earlier one saved changes nothing of that.
job=$("$POLLUX" submit -q --retries 0 -- sh -c 'if [ ! -e saved ]; then
		"$POLLUX" report SAMPLES=1000 CHECKPOINT=x && touch saved
		exec sleep 1000
	fi
	touch begun
	while [ ! -e go-on ]; do sleep 0.05; done
	"$POLLUX" report SAMPLES=500 STEP=1 && "$POLLUX" report SAMPLES=600 STEP=3
	exit 1')
"$POLLUX" schedule
wait_for 20 [ -e saved ]
"$POLLUX" hold --force "$job"
wait_for 20 no_supervisor
"$POLLUX" release "$job"
"$POLLUX" schedule
wait_for 20 [ -e begun ]
hold_store
touch go-on
ok 'the end of a run waits for the store' \
	wait_for 20 grep -qs 'cannot record the end yet' "$POLLUX_DIR/supervisor.log"
is 'the locks of its devices are free while it waits' '' \
	"$(find /proc/[0-9]*/fd -lname "$(cd "$POLLUX_DIR" && pwd -P)/run/device-*" 2>/dev/null)"
let_store_go ROLLBACK
"$POLLUX" wait --timeout 200 "$job"
is 'the last report counts, and what was saved stays saved' '3 1000' \
	"$(store "SELECT printf('%d %d', steps, checkpoint_samples) FROM jobs WHERE id = $job")"
unlike 'status does not speak of refusals where there were none' \
	'^  refused' "$("$POLLUX" status "$job")"

# --- gradient statistics ---

# A workload that three jobs have measured, at a noise scale of 100, and a fourth at 1e139.
measured() { # measured JOB NOISE_SCALE: 400 updates at batches of 16
	for window in 0 1 2 3; do
		told_gradients "$1" window="$window" batch_size=16 \
			first_samples="$((window * 1600))" \
			last_samples="$((window * 1600 + 1600))" sum_grad_sqr=100 \
			sum_grad_var=@"100 * $2" m2_grad_sqr=1 m2_grad_var=@"$2 * $2"
	done
}
submit() { "$POLLUX" submit -q --workload w -b 16 --batch-range 16:4096 --lr 0.1 "$@"; }
scale_of() { "$POLLUX" explain "$1" | sed -n 's/^  scale *//p'; }
for i in 1 2 3 4; do
	job=$(submit -- true)
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 200 "$job"
	eval "job_$i=$job"
done
# shellcheck disable=SC2154 # set by eval
measured "$job_4" 1e139
new=$(submit -- true '{batch}' '{lr}')
like 'the statistics of one absurd job alone are not believed' \
	"^unknown: .*; left out as implausible: the statistics of job $job_4$" "$(scale_of "$new" |
	tr '\n' ' ' | sed 's/ $//')"
# shellcheck disable=SC2154
for job in "$job_1" "$job_2" "$job_3"; do measured "$job" 100; done
like 'the statistics of an absurd job beside others are not believed' \
	'^100 .*samples, measured in other jobs' "$(scale_of "$new")"
is 'JSON counts the job that is doubted' '100 1' "$("$POLLUX" explain "$new" --json |
	json 'printf "%.0f %d", @{$d->{noise}}{"noise_scale", "n_doubted_jobs"}')"
given_gradients "$(store "SELECT group_concat(id, ' ') FROM runs WHERE job_id = $job_4")" \
	sum_grad_var=10000000 m2_grad_var=1e10 n=10000
like 'plausible statistics with more updates do not decide alone' '^100 ' "$(scale_of "$new")"
finish
