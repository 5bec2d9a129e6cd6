#!/bin/sh
# slurm.sh [ROUNDS] - runs on a real Slurm of 16 nodes on this machine, beside Slurm's own commands.
#
# Medians of ROUNDS (default 5), in seconds, on 1, 4 and 16 nodes of 4 GPUs:
#
#	launch	from the command to the first line of the program on the last node
#	stop	from the command to the stop signal in the program on the last node
#	resize	from the command to the first line of the next run, which has twice as many nodes
#
# Then a pass over 1,000 runs that wait in Slurm's queue, one over 1,000 that are at work, by their
# files, and the devices of 10,000 nodes of 8 GPUs
# of which no slurmd exists: nodes of state CLOUD that are powered down. With ROUNDS 0 only these.
# Must be started by root: Slurm is.
# shellcheck disable=SC2317  # functions run by wait_for
set -eu
ROOT=$(cd "$(dirname "$0")/.." && pwd)
POLLUX=${POLLUX:-$ROOT/build/pollux}
rounds=${1-5}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/pollux-slurm.XXXXXX")
export POLLUX_DIR="$TMP/store" NO_COLOR=1 LC_ALL=C MARKS="$TMP/marks"
unset POLLUX_POLICY POLLUX_SLOTS POLLUX_SLICE SLURM_JOB_ID
skip_all() { echo "slurm.sh: $*" >&2; exit 0; }
wait_for() { # wait_for SECONDS COMMAND...
	limit=$(($(date +%s) + 5 * $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $limit ] || { echo "slurm.sh: not in time: $*" >&2; return 1; }
		sleep 0.05
	done
}
# shellcheck source=tests/cli/slurm.sh
. "$ROOT/tests/cli/slurm.sh"
trap 'slurm_down; rm -rf "$TMP"' EXIT
trap 'exit 1' HUP INT TERM
slurm_or_skip

now() { date +%s.%N; }
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }
marked() { [ "$(find "$MARKS" -name "$1.*" -size +0 | wc -l)" -ge "$2" ]; }
# since START WHAT NODES: seconds to the last of these marks
since() { wait_for 30 marked "$2" "$3" >&2 && cat "$MARKS/$2".* | sort -n | tail -n 1 |
	awk -v from="$1" '{ print $1 - from }'; }
store() { sqlite3 -cmd '.timeout 20000' "$POLLUX_DIR/pollux.db" "$1"; }
pass() { "$POLLUX" schedule >/dev/null 2>&1; }
gone() { pass; [ "$(store "SELECT count(*) FROM runs WHERE state <> 'ended'")" = 0 ] &&
	[ -z "$(squeue -h -o %i)" ]; }
empty() { [ -z "$(squeue -h -o %i)" ]; }

cat >"$TMP/program" <<'END'
#!/bin/bash
# Marks its beginning and the stop signal of this node.
node=${SLURM_NODEID:-0}
trap 'date +%s.%N >"$MARKS/stop.$node"; kill $!; exit 75' TERM
date +%s.%N >"$MARKS/start.$node"
while :; do sleep 1000 & wait; done
END
chmod +x "$TMP/program"
chmod 755 "$TMP"
again() { rm -rf "$MARKS"; mkdir -p "$MARKS"; }

# --- beside sbatch and srun --------------------------------------------------------

[ "$rounds" = 0 ] || slurm_up 16 4
mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
printf 'engine = slurm\nsubmit_pass = no\nslice = 1s\n' >"$POLLUX_DIR/config"
[ "$rounds" = 0 ] || echo "nodes  launch  (sbatch, srun)  (srun)  stop  (scancel)  resize"
for nodes in 1 4 16; do
	[ "$rounds" != 0 ] || continue
	for what in launch sbatch srun stop scancel resize; do : >"$TMP/$what"; done
	for round in $(seq "$rounds"); do
		again
		from=$(now)
		sbatch -Q -N "$nodes" --ntasks-per-node=1 --gres=gpu:4 -o /dev/null \
			--wrap "exec srun --unbuffered '$TMP/program'" >/dev/null
		since "$from" start "$nodes" >>"$TMP/sbatch"
		from=$(now)
		scancel --signal=TERM "$(squeue -h -o %i)"
		since "$from" stop "$nodes" >>"$TMP/scancel"
		wait_for 10 empty
		again
		from=$(now)
		srun -Q -N "$nodes" --ntasks-per-node=1 --gres=gpu:4 "$TMP/program" \
			>/dev/null 2>&1 &
		srun=$!
		since "$from" start "$nodes" >>"$TMP/srun"
		scancel "$(squeue -h -o %i)"
		wait_for 10 empty
		wait "$srun" || :
		again
		from=$(now)
		id=$("$POLLUX" submit -q --preempt -r $((4 * nodes)) -- "$TMP/program")
		pass
		since "$from" start "$nodes" >>"$TMP/launch"
		from=$(now)
		"$POLLUX" hold -f "$id" >/dev/null 2>&1
		since "$from" stop "$nodes" >>"$TMP/stop"
		"$POLLUX" cancel -f "$id" >/dev/null 2>&1
		wait_for 30 gone
		[ "$nodes" -gt 1 ] || continue
		again
		id=$("$POLLUX" submit -q --preempt -r $((2 * nodes)) -- "$TMP/program")
		pass
		wait_for 30 marked start $((nodes / 2))
		rm -f "$MARKS"/start.*
		from=$(now)
		"$POLLUX" edit -r $((4 * nodes)) "$id" >/dev/null 2>&1
		all() { pass; marked start "$nodes"; }
		wait_for 30 all
		since "$from" start "$nodes" >>"$TMP/resize"
		"$POLLUX" cancel -f "$id" >/dev/null 2>&1
		wait_for 30 gone
	done
	resize=-
	[ ! -s "$TMP/resize" ] || resize=$(median <"$TMP/resize")
	printf '%5d  %6s  %14s  %6s  %4s  %9s  %6s\n' "$nodes" "$(median <"$TMP/launch")" \
		"$(median <"$TMP/sbatch")" "$(median <"$TMP/srun")" "$(median <"$TMP/stop")" \
		"$(median <"$TMP/scancel")" "$resize"
done
: "${round-}"
[ "$rounds" = 0 ] || slurm_down || :

# --- a pass over 1,000 runs ----------------------------------------------------------

wall() { # wall COMMAND...: the median of three
	for _ in 1 2 3; do
		from=$(now)
		"$@" >/dev/null 2>&1 || :
		awk -v from="$from" -v to="$(now)" 'BEGIN { print to - from }'
	done | median
}
bare_controller() { # bare_controller LINES...: a controller alone, with these nodes
	rm -rf "$SLURM"
	mkdir -p "$SLURM/pid" "$SLURM/state" "$SLURM/spool" "$SLURM/log" "$SLURM/munge"
	slurm_conf 1 1 "$(free_ports 2)" | sed '/^NodeName/,+1d' >"$SLURM_CONF"
	printf '%s\n' "$@" MaxJobCount=20000 MaxNodeCount=10001 SuspendProgram=/bin/true \
		ResumeProgram=/bin/true SuspendTime=-1 PrivateData=cloud >>"$SLURM_CONF"
	echo "Name=gpu Type=tiny Count=1" >"$SLURM/gres.conf"
	(umask 077 && head -c 128 /dev/urandom >"$SLURM/munge/key")
	munged --force --key-file="$SLURM/munge/key" --socket="$SLURM/munge/socket" \
		--pid-file="$SLURM/pid/munged" --log-file="$SLURM/munge/log" \
		--seed-file="$SLURM/munge/seed" --num-threads=2
	slurm_ctld
	wait_for 10 slurm_answers
	rm -rf "$POLLUX_DIR"
	mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
	printf '%s\n' 'engine = slurm' 'submit_pass = no' 'policy = fifo' 'slurm_args = --hold' \
		'slurm_lease = 1h' >"$POLLUX_DIR/config"
}
cloud() { echo "NodeName=c[1-$1] CPUs=64 RealMemory=64000 Gres=gpu:tiny:$2 State=CLOUD"; }
bare_controller "$(cloud 125 8)"
"$POLLUX" submit -q --param 'i=1..1000' -- true >/dev/null 2>&1 ||
	for _ in $(seq 1000); do "$POLLUX" submit -q -- true; done >/dev/null
handed() { pass; [ "$(squeue -h -o %i | wc -l)" -ge 1000 ]; }
from=$(now)
wait_for 120 handed
awk -v from="$from" -v to="$(now)" 'BEGIN {
	printf "1,000 runs handed to Slurm, by passes: %.0f s\n", to - from }'
echo "a pass over 1,000 runs that wait in Slurm: $(wall pass) s;" \
	"squeue alone: $(wall squeue -h -r --me) s"
# To a pass a run is at work that has a claim and a lease.
for dir in "$POLLUX_DIR"/run/*/; do
	printf 'job=1\nhost=c1\npid=1\n' >"$dir/claim"
	touch "$dir/lease" "$dir/node.0"
done
echo "a pass over 1,000 runs that are at work, by their files: $(wall pass) s;" \
	"$(store "SELECT count(*) FROM runs WHERE state = 'assigned'") of them were left alone"
slurm_down || :

# --- 10,000 nodes --------------------------------------------------------------------

bare_controller "$(cloud 10000 8)"
echo "10,000 nodes of 8: 'pollux devices' $(wall "$POLLUX" devices) s;" \
	"'scontrol show nodes' alone $(wall scontrol -d -o show nodes) s"
"$POLLUX" devices | head -n 4
for _ in $(seq 10); do "$POLLUX" submit -q -r 64 -- true >/dev/null; done
echo "a pass that decides on them: $(wall pass) s (ten jobs of 64; the first launches them)"
store "SELECT count(*) || ' runs assigned, on ' || count(DISTINCT node) || ' nodes'
	FROM runs JOIN run_devices ON run_id = id WHERE state = 'assigned' GROUP BY 1 = 1" || :
