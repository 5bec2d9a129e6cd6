#!/bin/sh
# slurm_others.t - a real Slurm that is not pollux's alone: partitions, a reservation, jobs that
# were not submitted by pollux, and options for sbatch.
# shellcheck disable=SC2016,SC2317  # texts for other programs; functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/slurm.sh"
slurm_or_skip
unset POLLUX_SLOTS POLLUX_POLICY SLURM_JOB_ID
cleanup() { slurm_down; }
submit() { "$POLLUX" submit -q "$@"; }
config() { # config SLURM_ARGS
	printf 'engine = slurm\nslurm_lease = %ds\nsubmit_pass = no\nslurm_args = %s\n' \
		$((5 * TIME_SCALE)) "$1" >"$POLLUX_DIR/config"
}
# Of each node: its devices, those that are idle, and those that others have; "down" where it is.
nodes() {
	"$POLLUX" devices --json | json 'print join " ", "nodes:", map {
		"$_->{node} $_->{devices} $_->{idle} $_->{others}" . ($_->{down} ? " down" : "")
		} @{$d->{nodes}}'
}
foreign() { sbatch --parsable --output=/dev/null "$@" --wrap 'sleep 1000'; }
runs() { squeue -h -t RUNNING -o %i | grep -qx "$1"; }
node_of() { store "SELECT DISTINCT node FROM run_devices JOIN runs ON runs.id = run_id
	WHERE job_id = $1"; }

must 'a Slurm of three nodes comes up' slurm_up 3 4
mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
scontrol create PartitionName=small Nodes=n3 State=UP

# --- partitions ----------------------------------------------------------------

config ''
is 'devices has the nodes of the default partition' \
	'nodes: n1 4 4 0 n2 4 4 0 n3 4 4 0' "$(nodes)"
config '--partition=small --time=60'
is 'devices has the nodes of the configured partition' 'nodes: n3 4 4 0' "$(nodes)"
like 'doctor counts the node of the partition' \
	'; 1 node with 4 GPUs; ' "$("$POLLUX" doctor --json | json '
	print map { $_->{name} eq "engine" ? $_->{state} : () } @{$d->{sections}}')"
config '-p nowhere'
is 'devices has no nodes of an unknown partition' 'nodes:' "$(nodes)"
config '--partition=small'
job=$(submit -r 2 -- sh -c 'sleep 1000')
must 'a job runs in the partition' until_store "SELECT 1 FROM runs WHERE job_id = $job
	AND state = 'running'"
is 'the job runs on the node of the partition' n3 "$(node_of "$job")"
config '-p main'
"$POLLUX" schedule >pass.out 2>&1
is 'the job goes on when another partition is configured' running \
	"$(store "SELECT state FROM runs WHERE job_id = $job")"
scontrol update nodename=n3 state=drain reason=test
is_draining() { [ "$(nodes)" = 'nodes: n1 4 4 0 n2 4 4 0 n3 4 0 0 down' ]; }
must 'a drained node has nothing for others' within 10 is_draining
"$POLLUX" schedule >pass.out 2>&1
is 'the job goes on when its node is drained' \
	running "$(store "SELECT state FROM runs WHERE job_id = $job")"
"$POLLUX" cancel -f "$job" >/dev/null 2>&1
must 'the job on the drained node ends when cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $job AND state = 'cancelled'"
scontrol update nodename=n3 state=resume
config ''

# --- a node that does not see the directory ---------------------------------------

if slurm_own_mounts n3; then
	slurm_kill TERM slurmd.n3
	gone() { [ -z "$(slurm_pid slurmd.n3)" ]; }
	must 'slurmd of a node ends' within 10 gone
	slurm_in n3 mount -t tmpfs none "$POLLUX_DIR"
	slurm_d n3
	must 'slurmd is back, with other files' within 10 slurm_idle
	config '--partition=small'
	like 'doctor says that a node sees other files' \
		"^a node sees other files in '$POLLUX_DIR' than this machine: set \
slurm_dir to a directory that all see\$" \
		"$("$POLLUX" doctor --json | json 'print map {
		$_->{section} eq "engine" ? $_->{text} : () } @{$d->{findings}}')"
	slurm_in n3 umount "$POLLUX_DIR"
	config ''
fi

# --- jobs of others ------------------------------------------------------------

other=$(foreign --nodelist=n1 --gres=gpu:tiny:3)
must "a job that is not pollux's runs" within 10 runs "$other"
has_three() { [ "$(nodes)" = 'nodes: n1 4 1 3 n2 4 4 0 n3 4 4 0' ]; }
must 'devices counts three GPUs as used by others' within 10 has_three
job=$(submit -r 4 -- sh -c 'sleep 1000')
must 'a job of four devices runs beside the job of others' until_store "SELECT 1 FROM runs
	WHERE job_id = $job AND state = 'running'"
is 'the job of four devices runs on another node' n2 "$(node_of "$job")"
scontrol update nodename=n3 state=drain reason=test
is 'a drained node has no idle device' 'nodes: n1 4 1 3 n2 4 0 0 n3 4 0 0 down' "$(nodes)"
waiting=$(submit -r 4 -- true)
"$POLLUX" schedule >pass.out 2>&1
is 'another job of four waits' queued "$(store "SELECT state FROM jobs WHERE id = $waiting")"
"$POLLUX" cancel "$waiting" >/dev/null
"$POLLUX" cancel -f "$job" >/dev/null 2>&1
must 'the job of four devices ends when cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $job AND state = 'cancelled'"
scontrol update nodename=n3 state=resume
runs "$other"
is "the job that is not pollux's goes on" 0 $?
scancel "$other"

# --- a reservation -----------------------------------------------------------------

scontrol create reservation ReservationName=mine Users=root StartTime=now Duration=60 Nodes=n2 \
	>/dev/null
is_reserved() { scontrol -o show node n2 | grep -q 'State=[A-Z+]*RESERVED'; }
must 'a node is reserved' within 20 is_reserved
like 'a reserved node is down for others' '^n2 4 0 0 down ' "$(nodes | grep -o 'n2 .*')"
config '--reservation=mine'
is 'devices has the node of the configured reservation' 'nodes: n2 4 4 0' "$(nodes)"
job=$(submit -r 2 -- sh -c 'sleep 1000')
must 'a job runs in the reservation' until_store "SELECT 1 FROM runs WHERE job_id = $job
	AND state = 'running'"
is 'the job runs on the reserved node' n2 "$(node_of "$job")"
"$POLLUX" cancel -f "$job" >/dev/null 2>&1
must 'the job in the reservation ends when cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $job AND state = 'cancelled'"
scontrol create reservation ReservationName=ours Users=root StartTime=now Duration=60 Nodes=n3 \
	>/dev/null
config '--reservation=ours,mine'
is 'devices has the nodes of two reservations' 'nodes: n2 4 4 0 n3 4 4 0' "$(nodes)"
job=$(submit -r 2 -- sh -c 'sleep 1000')
must 'a job runs in one of two reservations' until_store "SELECT 1 FROM runs WHERE job_id = $job
	AND state = 'running'"
config '--reservation=other,mine'
run "$POLLUX" devices
like 'devices names a reservation that Slurm does not know' \
	'^n1 .. n3 .* 4  slurm_args has a reservation that Slurm does not know +tiny$' "$out"
run "$POLLUX" schedule
is 'no pass fails for an unknown reservation' '0 ' "$rc $err"
is 'the job goes on with an unknown reservation' \
	running "$(store "SELECT state FROM runs WHERE job_id = $job")"
"$POLLUX" cancel -f "$job" >/dev/null 2>&1
must 'the job of two reservations ends when cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $job AND state = 'cancelled'"

# --- options for sbatch --------------------------------------------------------------

config ''
run "$POLLUX" submit -q --slurm-args '--qos=x --comment=PROJECT' -- true
like "options that are pollux's own are refused" \
	"^64 .*option '--slurm-args' has --comment, which pollux itself gives sbatch" "$rc $err"
config '-J name'
run "$POLLUX" schedule
like "options that are pollux's own are refused in the configuration" \
	"slurm_args.*none of those that pollux itself gives" "$err"
config ''

# --- a number that Slurm gives twice ---------------------------------------------------

# The controller is killed, and its state is that of a moment before: it has lost pollux's job.
down() { [ -z "$(slurm_pid slurmctld)" ]; }
scontrol shutdown slurmctld
must 'the controller is stopped' within 10 down
cp -a "$SLURM/state" "$SLURM/state.before"
slurm_ctld
must 'the controller that was stopped is back' within 10 slurm_answers
job=$(submit --slurm-args --hold -- true)
must 'a run waits in the queue' until_store "SELECT 1 FROM runs WHERE job_id = $job
	AND state = 'assigned' AND CAST(handle AS TEXT) LIKE '% job=%'"
number=$(squeue -h -o %i)
slurm_kill KILL slurmctld
must 'the controller is killed' within 10 down
rm -rf "$SLURM/state" && mv "$SLURM/state.before" "$SLURM/state"
slurm_ctld
must 'the controller that was killed is back, without the job' within 10 slurm_answers
is "a job that is not pollux's gets the same number" "$number" "$(foreign --hold)"
"$POLLUX" cancel -f "$job" >/dev/null 2>&1
must "pollux's job is cancelled" until_store "SELECT 1 FROM jobs WHERE id = $job
	AND state = 'cancelled'"
is "the job that is not pollux's is still there" "$number" "$(squeue -h -o %i)"
finish
