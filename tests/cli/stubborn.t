#!/bin/sh
# stubborn.t - a program that says that it takes configurations, and then takes none: after a time
# limit it is relaunched with the configuration that it did not take.
# shellcheck disable=SC2317  # functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_POLICY
POLLUX_SLOTS=1 POLLUX_SLICE=2
export POLLUX_SLOTS POLLUX_SLICE

query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
passes_until() { "$POLLUX" schedule && [ "$(query "SELECT $1")" = 1 ]; } # passes_until CONDITION
cleanup() {
	"$POLLUX" cancel 1 2>/dev/null
	"$POLLUX" wait --timeout 200 1 2>/dev/null
}

# Steps of 50 ms, and gradients so noisy that any larger batch is worth more. The program heeds its
# stop signal, so that a relaunch loses nothing that a pass would have to weigh.
cat >stubborn <<'END'
trap 'exit 0' TERM
n=0
while :; do
	n=$((n + 1))
	"$POLLUX" report STEP=$n SAMPLES=$((n * 16)) STEP_NS=50000000 SYNC_NS=0 \
		GRAD_SQR=1 GRAD_VAR=100000 CONFIG=0
	sleep 0.05
done
END
export POLLUX
"$POLLUX" submit -q --batch 16 --batch-range 16:4096 --samples 1e9 --preempt -- \
	sh stubborn >/dev/null
ok 'the pass wants another batch of the program' \
	wait_for 60 passes_until 'wanted_version = 1 FROM runs'
is 'the wish is dated after the launch' \
	1 "$(query 'SELECT wanted_boot_s > launch_boot_s FROM runs')"
"$POLLUX" schedule
is 'the next pass waits for the program' '1|running' "$(query 'SELECT number, state FROM runs')"
given_run all wanted_boot_s-=61
ok 'the program that does not change is relaunched in the end' \
	wait_for 30 passes_until 'count(*) FROM runs WHERE number = 2'
is 'the next run has what the first did not take' 1 \
	"$(query 'SELECT b.batch_size > 16 AND a.config_version = 0
	FROM runs a, runs b WHERE a.number = 1 AND b.number = 2')"
finish
