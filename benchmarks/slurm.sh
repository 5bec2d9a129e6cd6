#!/bin/sh
# slurm.sh - what a run as a job of Slurm costs, beside bare sbatch and srun.
#
#	benchmarks/slurm.sh [NODES...]		default 1 2 4; each three times; prints medians
#
# It brings a Slurm up on this machine (tests/cli/slurm.sh), as root. The nodes are daemons of one
# machine: the figures say what the software costs, not what a network does.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
: "${POLLUX:=$root/build/pollux}"
. "$root/tests/cli/tap.sh"	# whose ROOT is right for tests alone
. "$root/tests/cli/slurm.sh"
slurm_or_skip
cleanup() { slurm_down; }
WITNESS=$TMP/witness
export WITNESS
mkdir -p "$WITNESS" "$POLLUX_DIR"
chmod 700 "$POLLUX_DIR"
echo 'engine = slurm' >"$POLLUX_DIR/config"
[ $# -gt 0 ] || set -- 1 2 4
most=$(printf '%s\n' "$@" | sort -n | tail -n 1)
slurm_up "$most" 4

now() { date +%s.%N; }
since() { echo "$(now) - $1" | bc; }
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }
started() { [ -s "$WITNESS/started" ]; }
ended() {
	"$POLLUX" schedule >/dev/null
	[ "$(store "SELECT count(*) FROM runs WHERE state <> 'ended'")" = 0 ]
}
idle() { [ -z "$(squeue -h -o %i)" ]; }

row='%-6s  %-26s  %-26s  %s\n'
# shellcheck disable=SC2059  # the format
printf "$row" NODES 'LAUNCH: sbatch + srun, s' 'LAUNCH: submit + pass, s' 'STOP, s'
for n; do
	rm -f bare ours stops
	for _ in 1 2 3; do
		rm -f "$WITNESS/started"
		t=$(now)
		sbatch --parsable -N "$n" --gres=gpu:4 -o /dev/null \
			--wrap "srun sh -c 'echo x >>$WITNESS/started'" >/dev/null
		wait_for 20 started
		since "$t" >>bare
		wait_for 20 idle
		rm -f "$WITNESS/started"
		t=$(now)
		id=$("$POLLUX" submit -q --preempt -r $((4 * n)) -- sh -c \
			"trap 'exit 75' TERM; echo x >>$WITNESS/started
			while :; do sleep 0.02; done")
		"$POLLUX" schedule >/dev/null
		wait_for 20 started
		since "$t" >>ours
		t=$(now)
		"$POLLUX" cancel -f "$id" >/dev/null 2>&1
		wait_for 20 ended
		since "$t" >>stops
		wait_for 20 idle
	done
	# shellcheck disable=SC2059
	printf "$row" "$n" "$(median <bare)" "$(median <ours)" "$(median <stops)"
done
