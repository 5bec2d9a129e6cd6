#!/bin/sh
# slurm_srun.t - programs that call srun themselves, on two nodes of a real Slurm.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/slurm.sh"
slurm_or_skip
unset POLLUX_SLOTS POLLUX_POLICY SLURM_JOB_ID SLURM_OVERLAP
cleanup() { slurm_down; }
done_is() { until_store "SELECT 1 FROM jobs WHERE id = $1 AND state = 'done'"; }
launch_of() { store "SELECT launch FROM jobs WHERE id = $1"; }
log() { "$POLLUX" log "$1" | grep -v '^\[pollux\]\|^#'; }

must 'a Slurm of two nodes comes up' slurm_up 2 2
mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
printf 'engine = slurm\nslurm_lease = %ds\nsubmit_pass = no\n' $((5 * TIME_SCALE)) \
	>"$POLLUX_DIR/config"

# --- told at submission --------------------------------------------------------

run "$POLLUX" submit -q -r 4 -- sh -c 'echo begins on $SLURMD_NODENAME
	srun -l sh -c "echo step on \$SLURMD_NODENAME"'
first=$out
like 'submit says that a command with srun starts on the first node' \
	'^pollux: its command calls srun: on several nodes it is started on the first alone.*--la' \
	"$err"
is 'the store has the rule of the launch' first "$(launch_of "$first")"
"$POLLUX" schedule
must 'the job with srun is done' done_is "$first"
is 'the job was started once, and its srun once on each node' \
	'0: step on n1 1: step on n2 begins on n1' \
	"$(log "$first" | grep ' on n' | sort | xargs)"
run "$POLLUX" status "$first"
like 'status ID shows the rule of the launch' '^  launch +first$' "$out"
is 'JSON has the rule of the launch' first "$("$POLLUX" status "$first" --json |
	json 'print $d->{jobs}[0]{launch}')"

cat >site.sh <<'END'
#!/bin/bash
#SBATCH --nodes=2
srun hostname
END
run "$POLLUX" submit -q -r 4 --hold -- bash site.sh
is 'a script that calls srun is started on the first node' first "$(launch_of "$out")"
run "$POLLUX" submit -q -r 4 --hold --launch each -- bash site.sh
is '--launch each starts the script on each node, without a word' ' each' "$err $(launch_of "$out")"
"$POLLUX" edit "$out" --launch first >/dev/null
is 'the rule of the launch can be edited' first "$(launch_of "$out")"
run "$POLLUX" submit -q -r 4 --hold -- echo site.sh srun
is 'another command is started on each node' ' each' "$err $(launch_of "$out")"
run "$POLLUX" submit -q -r 4 --launch last -- true
is 'an unknown --launch is a usage error' 64 "$rc"

# --- on each node --------------------------------------------------------------

each=$("$POLLUX" submit -q -r 4 --launch each -- sh -c 'echo begins on $SLURMD_NODENAME
	srun -l sh -c "echo step on \$SLURMD_NODENAME"')
"$POLLUX" schedule
must 'a step does not wait for the step that its job runs in' done_is "$each"
is 'each of two programs starts its step once on each node' \
	'0: step on n1 0: step on n1 1: step on n2 1: step on n2 begins on n1 begins on n2' \
	"$(log "$each" | grep ' on n' | sort | xargs)"
own=$("$POLLUX" submit -q -r 4 -e SLURM_OVERLAP=mine -- sh -c 'echo "overlap $SLURM_OVERLAP"')
"$POLLUX" schedule
must "a job with the user's own variable is done" done_is "$own"
is "the job kept the user's own variable" \
	'overlap mine overlap mine' "$(log "$own" | grep ^overlap | xargs)"

# --- variables on the first node -------------------------------------------------

variables=$("$POLLUX" submit -q -r 2 --slurm-args '--cpus-per-task=2' --launch first -- \
	sh -c 'env; echo nodes={nodes}')
wide=$("$POLLUX" submit -q -r 4 --launch first -- sh -c 'env; echo nodes={nodes}')
"$POLLUX" schedule
must 'a run on one node is done' done_is "$variables"
"$POLLUX" schedule
must 'a run on two nodes is done' done_is "$wide"
is 'the rule changes no variable on one node' 'POLLUX_NODE=0 nodes=1' \
	"$(log "$variables" | grep -E '^(POLLUX_NODE=|NODE_RANK|PET_RDZV|SLURM_OVERLAP|nodes=)' |
	sort | xargs)"
others='NNODES|PET_NNODES|PET_NPROC_PER_NODE|PET_RDZV_BACKEND|SLURM_OVERLAP|nodes'
ranks='POLLUX_NODE|NODE_RANK|PET_NODE_RANK|GROUP_RANK|RANK|WORLD_SIZE|LOCAL_RANK'
is 'a program on the first of two nodes has no rank' \
	'NNODES=2 PET_NNODES=2 PET_NPROC_PER_NODE=2 PET_RDZV_BACKEND=c10d nodes=2' \
	"$(log "$wide" | grep -E "^($ranks|$others)=" |
	sort | xargs)"

# --- a stop, and what is left ----------------------------------------------------

stopped=$("$POLLUX" submit -q -r 4 --grace 20 -- sh -c 'srun sh -c "
	trap \"echo saves on \\\$SLURMD_NODENAME; exit 0\" TERM
	echo steps on \$SLURMD_NODENAME; while :; do sleep 0.1; done"')
"$POLLUX" schedule
steps() { [ "$(log "$stopped" | grep -c '^steps on n')" = 2 ]; }
must 'the steps of the job have begun' within 20 steps
"$POLLUX" cancel -f "$stopped" >/dev/null 2>&1
must 'a job that is cancelled ends' until_store "SELECT 1 FROM jobs WHERE id = $stopped
	AND state = 'cancelled'"
is 'the steps of the cancelled job got the signal on both nodes' 'saves on n1 saves on n2' \
	"$(log "$stopped" | grep ^saves | sort | xargs)"

# --- an srun that waits ----------------------------------------------------------

# The words are srun's own; srun says them after a minute.
busy=$("$POLLUX" submit -q -r 4 --launch first -- sh -c 'echo begins; [ -e '"$TMP"'/go ] || echo \
	"srun: Job 12 step creation temporarily disabled, retrying (Requested nodes are busy)" >&2
	until [ -e '"$TMP"'/go ]; do sleep 0.2; done; echo goes on
	until [ -e '"$TMP"'/end ]; do sleep 0.2; done')
"$POLLUX" schedule
told() { "$POLLUX" status | grep -q 'its srun starts nothing: Slurm says that the nodes'; }
must 'a job whose srun waits runs' until_store "SELECT 1 FROM runs WHERE job_id = $busy
	AND state = 'running'"
must 'status tells that an srun waits for nodes' within 20 told
like 'status ID says that an srun waits for nodes' \
	'reason its srun starts nothing: .* of its job have them; ' \
	"$("$POLLUX" status "$busy" | tr -s '\n ' ' ')"
like 'JSON says that an srun waits for nodes' \
	'^its srun starts nothing' "$("$POLLUX" status "$busy" --json |
	json 'print $d->{jobs}[0]{stuck}')"
: >go
told_no_more() { log "$busy" | grep -q '^goes on' && ! told; }
must 'status says so no more once the program prints something' within 20 told_no_more
: >end
must 'the job whose srun waited is done' done_is "$busy"
finish
