#!/bin/sh
# chaos.t - everything at once, at random: passes, supervisors, programs and all of them
# killed, jobs requeued, held, released, stopped (SIGSTOP), supervisors told to end, while
# real trainers and witnesses share two devices in short slices.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"
. "$ROOT/tests/fault/campaign.sh"

act() { # act ACTION NUMBER
	case $1 in
	0|1|2) "$FAULT/killat" -u $(($2 % 6000)) "$POLLUX" schedule ;;
	3|4) break_run "$(one_of "$2" "$running")" supervisor ;;
	5) break_run "$(one_of "$2" "$running")" leader ;;
	6) break_run "$(one_of "$2" "$running")" supervisor leader ;;
	7) break_run "$(one_of "$2" "$running")" leader supervisor ;;
	8) "$POLLUX" requeue "$(one_of "$2" "SELECT id FROM jobs WHERE state = 'running'")" ;;
	9) "$POLLUX" hold \
		"$(one_of "$2" "SELECT id FROM jobs WHERE state IN ('queued', 'running')")" ;;
	10) "$POLLUX" release "$(one_of "$2" "SELECT id FROM jobs WHERE state = 'held'")" ;;
	11) kill_process -TERM \
		"$(one_of "$2" "SELECT $supervisor_pid FROM runs WHERE state = 'running'")" ;;
	12) break_run "$(one_of "$2" "$running")" stop ;;
	13) kill_process -STOP \
		"$(one_of "$2" "SELECT $supervisor_pid FROM runs WHERE state = 'running'")" ;;
	esac >/dev/null 2>&1
}
witnesses=6 samples=120000
for _ in $(seq $witnesses); do
	submit --retries 1000 --grace 2 -- "$work" -n 300 -b 3 -s 10 -p 20 >number
done
trainers=0
if [ -d "$FASHION_MNIST" ]; then
	trainers=2
	for seed in 1 2; do
		submit --retries 1000 --grace 5 -b 50 -- "$work" "$TRAIN" --data "$FASHION_MNIST" \
			--subset 6000 --hidden 16 --update-delay 1 --seed $seed \
			--samples $samples --checkpoint '{checkpoint}' \
			--checkpoint-every 0.2 --log-every 0 >number
	done
fi
random_numbers $((FAULT_ROUNDS * 2)) 1000000 >numbers
done_actions=0
while read -r choice && read -r number; do
	[ "$(active)" != 0 ] || break
	act $((choice % 14)) "$number"
	done_actions=$((done_actions + 1))
	[ $((done_actions % 3)) != 0 ] || pass
	[ $((done_actions % 10)) != 0 ] || relent
	sleep "0.0$((number % 10))"
done <numbers
all_over() {
	relent
	all_ended
}
ok 'every job ends' wait_for 120 all_over
ok 'no process is left' wait_for 10 nothing_alive
echo "# $done_actions actions; $(query "SELECT (SELECT count(*) FROM runs), sum(outcome = 'lost'),
	sum(outcome = 'failed'), sum(outcome = 'stopped'), sum(outcome = 'completed') FROM runs" |
	awk -F'|' '{ print $1 " runs: " $2 " lost, " $3 " failed, " $4 " stopped, " \
		$5 " completed" }')"
is 'all jobs are done' '' "$(query "SELECT id, state, reason FROM jobs WHERE state <> 'done'")"
is 'the witnesses have exactly their samples' '' \
	"$(query "SELECT id, samples FROM jobs WHERE id <= $witnesses AND samples <> 300")"
for job in $(seq $((witnesses + 1)) $((witnesses + trainers))); do
	log=$POLLUX_DIR/logs/$job.log
	# It says so again if it was stopped, or lost its supervisor, as it was leaving.
	is "trainer $job has exactly its samples" "$samples $((samples / 50))" \
		"$(sed -n 's/^done samples \([0-9]*\) .* steps \([0-9]*\)$/\1 \2/p' "$log" |
			sort -u)"
	# Each run goes on at the last checkpoint in the log, or at a later one that the run before
	# had no time to print.
	is "each run of trainer $job begins at a checkpoint" '' "$(awk '
		/^checkpoint samples/ { saved = $3 }
		/^step/ { reached = $4 }
		/^resumed samples/ && ($3 < saved || $3 > reached) {
			print "resumed " $3 ", saved " saved + 0 ", at " reached
		}
		/^[0-9]+ training samples/ { begun++ }
		END { print begun > "/dev/stderr" }' "$log" 2>begun)"
	lost=$(query "SELECT printf('%d samples', lost_samples) FROM jobs WHERE id = $job")
	echo "# trainer $job began $(cat begun) times, lost $lost"
done
sound 'all is well after the chaos'
finish
