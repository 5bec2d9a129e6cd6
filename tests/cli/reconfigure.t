#!/bin/sh
# reconfigure.t - a running program changes its batch size, passes and learning rate without a
# relaunch: the example trainer, under its supervisor, told by the store what a pass would tell it.
# shellcheck disable=SC2317  # functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS

data=$FASHION_MNIST
[ -x "$TRAIN" ] || skip_all "$TRAIN is not built: make examples"
[ -e "$data/train-images-idx3-ubyte.gz" ] || [ -e "$data/train-images-idx3-ubyte" ] ||
	skip_all "no Fashion-MNIST in $data: apt-get install dataset-fashion-mnist"

query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
cleanup() {
	"$POLLUX" cancel 1 2>/dev/null && "$POLLUX" wait --timeout 300 1 2>/dev/null
	sleep 0.3
}
is_so() { [ "$(query "SELECT $1")" = 1 ]; } # is_so CONDITION
logged() { grep -q "$1" "$POLLUX_DIR/logs/1.log"; }
want() { # want BATCH LOCAL_BATCH PASSES SCALE: as store_run_set_wanted() does it
	given_run all if state=running wanted_version+=1 wanted_batch_size="$1" \
		wanted_local_batch_size="$2" wanted_accumulation_steps="$3" \
		wanted_learning_rate_scale="$4"
}

is 'the trainer is submitted' \
	1 "$("$POLLUX" submit -q --batch 128 --replicas 2 --accumulate --preempt -- \
	"$TRAIN" --data "$data" --subset 6000 --hidden 64 --samples 1000000000 \
	--eval-every 1000000000)"
"$POLLUX" schedule
file=$POLLUX_DIR/run/1.config
ok 'the trainer says that it takes configurations' wait_for 30 is_so 'takes_configs FROM runs'
ok 'steps of the trainer are measured' wait_for 30 is_so 'count(*) FROM observations'
is 'steps are counted for the sizes of the launch' '2|64|1' \
	"$(query 'SELECT replicas, local_batch_size, accumulation_steps FROM observations')"
is 'no other configuration is offered after the launch' \
	no "$([ -e "$file" ] && echo yes || echo no)"
like 'the trainer was launched with those sizes' 'batch 128 = 2 replicas x 64 x 1 passes' \
	"$(cat "$POLLUX_DIR/logs/1.log")"

mkfifo "$file.new" # a trap: who opens it waits
start=$(date +%s%N)
want 256 64 2 1.41421356
ok 'the trainer changes within a look of its supervisor' wait_for 10 logged \
	'^batch 128 -> 256 (2 x 64 x 2), lr x 1.41$'
echo "# after $((($(date +%s%N) - start) / 1000000)) ms"
is 'the trainer is told the configuration by a file' 'VERSION=1
BATCH=256
LOCAL_BATCH=64
ACCUM=2
LR_SCALE=1.41421356
LR_GAIN=1.41421356' "$(cat "$file")"
is 'nobody else may read the file of the configuration' 600 "$(stat -c %a "$file")"
ok 'the run has the new configuration once the trainer took it' \
	wait_for 10 is_so 'config_version = 1 FROM runs'
is 'the run has all sizes of the new configuration' '1|256|64|2|1.41421356' \
	"$(query 'SELECT config_version, batch_size, local_batch_size,
	accumulation_steps, learning_rate_scale FROM runs')"
ok 'steps of the new configuration are measured apart' \
	wait_for 30 is_so 'count(*) = 2 FROM observations'
is 'the new configuration has a row of its own' '64|1
64|2' "$(query 'SELECT local_batch_size, accumulation_steps FROM observations ORDER BY 2')"
# The quickest steps, as other work on the machine makes steps longer.
ok 'a step with two passes takes longer' wait_for 30 is_so \
	"(SELECT step_time_min_s FROM observations WHERE accumulation_steps = 2) >
	1.2 * (SELECT step_time_min_s FROM observations WHERE accumulation_steps = 1)"
ok 'windows of gradients are of one batch size' is_so "group_concat(DISTINCT batch_size) = '128,256'
	FROM gradient_statistics"
ok 'windows of gradients know their spread' is_so \
	'min(m2_grad_sqr > 0 AND n > 1) FROM gradient_statistics WHERE n > 1'
is 'the trainer was launched once' 1 "$(query 'SELECT runs FROM jobs')"
like 'status shows the new batch size' '"batch_size": 256' "$("$POLLUX" status --json 1)"
like 'status shows that accumulation was declared' \
	'"accumulates": true' "$("$POLLUX" status --json 1)"

start=$(date +%s%N)
want 128 64 1 1
POLLUX_REPORT_SOCKET=$(query "SELECT substr(CAST(handle AS TEXT), instr(handle, ' socket=') + 8)
	FROM runs") "$POLLUX" report WAKE=1
ok 'WAKE makes the supervisor hand on a configuration at once' wait_for 10 logged \
	'^batch 256 -> 128 (2 x 64 x 1), lr x 1$'
echo "# after $((($(date +%s%N) - start) / 1000000)) ms"
steps_of_first() { # steps in the row of the first configuration
	query 'SELECT n_steps FROM observations WHERE accumulation_steps = 1'
}
before=$(steps_of_first)
more() { [ "$(steps_of_first)" -gt "$before" ]; }
ok 'the row of the first configuration goes on where it was left' wait_for 30 more
is 'a known configuration makes no third row' 2 "$(query 'SELECT count(*) FROM observations')"
want 100 64 2 1
ok 'a configuration that does not add up is told' wait_for 20 \
	grep -q 'wanted to change to is none' "$POLLUX_DIR/supervisor.log"
is 'a configuration that does not add up is not offered' VERSION=2 "$(head -n 1 "$file")"

"$POLLUX" hold 1
ok 'the trainer is stopped' wait_for 30 is_so "count(*) = 1 FROM runs WHERE state = 'ended'"
stopped=$(sed -n 's/^stopped samples \([0-9]*\).*/\1/p' "$POLLUX_DIR/logs/1.log")
is 'the stopped trainer saved all that it did' "$stopped|$stopped|0" "$(query \
	'SELECT CAST(samples AS INTEGER), CAST(checkpoint_samples AS INTEGER),
		CAST(lost_samples AS INTEGER) FROM jobs')"
ok 'the trainer did whole updates of either size, none in part' [ $((stopped % 128)) = 0 ]
left() { find "$POLLUX_DIR/run" -name '1.*' | grep .; }
ok 'the stopped trainer leaves no file of its run' wait_for 5 eval '! left'

touch "$file" "$file.new" # as a supervisor that was killed at the end leaves them
"$POLLUX" submit -q true >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 300 2
ok 'the next pass removes files that a killed supervisor left' wait_for 5 eval '! left'
finish
