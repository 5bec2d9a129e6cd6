#!/bin/sh
# siblings.t - how long jobs took tells how long others of their workload, or of their script, take.
# shellcheck disable=SC2016,SC2154,SC2317 # Perl in quotes; variables and functions used by name
. "$(dirname "$0")/tap.sh"
unset POLLUX_POLICY
POLLUX_SLOTS=1 POLLUX_SLICE=0.2
export POLLUX_SLOTS POLLUX_SLICE

cleanup() {
	end_passes
	end_jobs
}

for script in short long; do
	# shellcheck disable=SC2016 # the argument is that of the script
	echo '#!/bin/sh
sleep "$1"' >$script.sh
	chmod +x $script.sh
done
done_before=$("$POLLUX" submit -q --no-preempt ./short.sh 0.5
"$POLLUX" submit -q --no-preempt ./long.sh 4
"$POLLUX" submit -q --no-preempt --workload slow --name x ./short.sh 4
"$POLLUX" submit -q --no-preempt --workload middle sleep 1.5)
watch_passes 0.2
# shellcheck disable=SC2086 # one job a word
ok 'four jobs are done' "$POLLUX" wait --timeout 100 $done_before

holder=$("$POLLUX" submit -q --no-preempt --workload holder sleep 1000)
ok 'a job holds the only slot' wait_for 30 holds \
	"count(*) = 1 FROM runs WHERE job_id = $holder AND state = 'running'"
long=$("$POLLUX" submit -q --no-preempt ./long.sh 0.6)
slow=$("$POLLUX" submit -q --no-preempt --workload slow ./short.sh 0.5)
middle=$("$POLLUX" submit -q --no-preempt --workload middle sleep 1)
"$POLLUX" cancel "$holder"
ok 'all end' "$POLLUX" wait --timeout 100 "$long" "$slow" "$middle"
before() { store "SELECT a.start_time_s < b.start_time_s FROM jobs a, jobs b
	WHERE a.id = $1 AND b.id = $2"; }
is 'a job whose script took longer with other arguments starts later' 1 \
	"$(before "$middle" "$long")"
is 'a workload tells more than a script: where that took longer a job starts later' 1 \
	"$(before "$middle" "$slow")"
# Samples of which no goodput is known are no device-seconds.
counts=$(for _ in 1 2 3; do
	"$POLLUX" submit -q --no-preempt --workload counts \
		sh -c '"$0" report SAMPLES=50000' "$POLLUX"
done)
# shellcheck disable=SC2086 # one job a word
ok 'jobs that count samples without a batch size are done' "$POLLUX" wait --timeout 100 $counts
holder=$("$POLLUX" submit -q --no-preempt -t 1m --workload holder sleep 1000)
ok 'a job holds the slot again' wait_for 30 holds \
	"count(*) = 1 FROM runs WHERE job_id = $holder AND state = 'running'"
next=$("$POLLUX" submit -q --no-preempt --workload counts true)
run "$POLLUX" status --json "$next"
is 'another of them is told an end soon after its start' soon "$(printf '%s\n' "$out" | json '
	my ($job) = $d->{jobs} ? @{$d->{jobs}} : $d;
	my $seconds = $job->{likely_end_time_s} - $job->{likely_start_time_s};
	print $seconds < 300 ? "soon" : $seconds;')"
"$POLLUX" cancel "$holder" "$next"
named() { store "SELECT name FROM jobs WHERE id = $("$POLLUX" submit -q --hold "$@")"; }
is 'a number among the arguments of a shell is no name of a script' 'sh r.sh' \
	"$(named sh -c : 0.1) $(named sh -x r.sh 0.1)"
finish
