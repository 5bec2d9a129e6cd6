#!/bin/sh
# slurm_nodes.t - the decision over nodes, and what people see of them, with a real Slurm.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/slurm.sh"
slurm_or_skip
unset POLLUX_SLOTS POLLUX_POLICY SLURM_JOB_ID
cleanup() { slurm_down; }
submit() { "$POLLUX" submit -q "$@"; }
reason() { store "SELECT reason FROM jobs WHERE id = $1"; }

must 'a Slurm of three nodes comes up' slurm_up 3 4
mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
printf 'engine = slurm\nslurm_lease = %ds\nsubmit_pass = no\n' $((5 * TIME_SCALE)) \
	>"$POLLUX_DIR/config"

# --- doctor ------------------------------------------------------------------

run "$POLLUX" doctor --json
like 'doctor says that Slurm answers and a node sees our files' \
	'^slurm-wlm [0-9.]+; 3 nodes with 12 GPUs; a node sees the files of ' \
	"$(echo "$out" | json 'print map { $_->{name} eq "engine" ? $_->{state} : () }
		@{$d->{sections}}')"
is 'doctor leaves no file for the node' '' "$(find "$POLLUX_DIR" -name 'doctor.*')"

# --- the machine of the passes -------------------------------------------------

five=$(submit -r 5 -- true)
"$POLLUX" schedule
is 'a pass says on which machine it is' "$(uname -n)" "$(cat "$POLLUX_DIR/pass.host")"
echo elsewhere >"$POLLUX_DIR/pass.host"
run "$POLLUX" schedule
like 'a pass on another machine than the last one is refused' \
	"^75 .*passes of this store run on the machine 'elsewhere', the last one [0-9]+ s ago: run \
none on this one, '$(uname -n)'\$" "$rc $err"
run "$POLLUX" submit -q --hold -- true
like 'submit warns on another machine' \
	"warning: the store belongs to the machine 'elsewhere'" "$err"
"$POLLUX" cancel "$out" >/dev/null 2>&1
touch -d '-20 minutes' "$POLLUX_DIR/schedule.lock"
like 'a machine without passes for long is replaced' \
	"passes run on the machine '$(uname -n)' now, not on 'elsewhere' any more" \
	"$("$POLLUX" schedule -v)"

# --- numbers of devices --------------------------------------------------------

# what both nodes write at once must be few bytes: one write each
cat >eight.sh <<'END'
env | grep -E '^(CUDA_V|MASTER|N?NODE|PET_|RANK|WORLD)' | sort
echo "$@"
i=0
while [ "$POLLUX_NODE" = 0 ]; do
	i=$((i + 1))
	"$POLLUX" report STEP=$i SAMPLES=$((64 * i)) STEP_NS=50000000 || exit
	sleep 0.05
done
exec sleep 1000
END
eight=$(submit -r 5:8 --batch 64 -- sh eight.sh \
	'{nodes},{node},{gpus_per_node},{master}:{port},{{node}}')
"$POLLUX" schedule
like 'five devices fall evenly on no nodes of four' "^asks for 5 devices, which fall evenly on \
no nodes of 4: 'pollux edit $five -r 4' or '-r 8' would do\$" "$(reason "$five")"
must 'a job of five to eight devices gets eight' \
	until_store "SELECT 1 FROM runs WHERE job_id = $eight
	AND state = 'running' AND replicas = 8"
is 'the eight devices are four on each of two nodes' \
	'n1 4 n2 4' "$(store "SELECT node, count(*) FROM run_devices
	GROUP BY node ORDER BY node" | tr '|\n' '  ' | sed 's/ $//')"

is 'the store keeps the nodes for later questions' '4*3' \
	"$(store "SELECT substr(value, 1, instr(value, char(9)) - 1) FROM settings
		WHERE name = 'devices'")"

# --- the command on each node ----------------------------------------------------

told() { [ "$("$POLLUX" log "$eight" | grep -c '^2,')" = 2 ]; }
must 'both nodes have begun' within 10 told
log=$("$POLLUX" log "$eight")
is 'templates are those of the first and of the second node' \
	"2,0,4,127.0.1.1:PORT,{node} 2,1,4,127.0.1.1:PORT,{node}" \
	"$(echo "$log" | grep '^2,' | sort | sed 's/:[0-9]*,/:PORT,/' | xargs)"
variables() { echo "$log" | grep -E "^($1)" | sort -u | xargs; }
is 'variables of addresses and ranks are those of both nodes' \
	'MASTER_ADDR=127.0.1.1 NNODES=2 NODE_RANK=0 NODE_RANK=1' \
	"$(variables 'MASTER_ADDR|NNODES|NODE_RANK')"
is 'variables for torchrun are those of both nodes' \
	'PET_NNODES=2 PET_NODE_RANK=0 PET_NODE_RANK=1 PET_NPROC_PER_NODE=4' \
	"$(variables 'PET_N')"
is 'ranks are left to a launcher' '' "$(echo "$log" | grep -E '^(RANK|WORLD_SIZE)=')"
is "each node's program has the devices of its node" \
	2 "$(echo "$log" | grep -c '^CUDA_VISIBLE_DEVICES=0,1,2,3$')"

must 'steps are measured on two nodes' until_store "SELECT 1 FROM observations WHERE nodes = 2
	AND device_kind = 'tiny' AND replicas = 8 AND n_windows > 0"

# Under goodput: the number is in its range, and even.
run "$POLLUX" explain "$eight"
like 'explain marks the number of devices, with its nodes' '^ +8 .* now, 2 nodes$' "$out"
like 'explain marks numbers that are even on no nodes' '^ +7 .* uneven$' "$out"
is 'JSON of explain has the nodes' '2' "$("$POLLUX" explain --json "$eight" | json '
	my ($c) = grep { $_->{replicas} == 8 } @{$d->{devices}}; print $c->{nodes}')"

# --- what people see -----------------------------------------------------------

run "$POLLUX" status "$eight"
like 'status names the nodes of the run' '^  state +running on 8 of n1 and n2$' "$out"
like 'status says what Slurm says of the run' '^  manager +job [0-9]+ of Slurm: RUNNING$' "$out"
is 'JSON has the nodes, and what Slurm says' "n1 n2 job $(squeue -h -o %i) of Slurm: RUNNING" \
	"$("$POLLUX" status "$eight" --json | json '
	my $j = $d->{jobs}[0]; print "@{$j->{run}{nodes}} $j->{details}{manager}"')"
run "$POLLUX" devices
like 'devices shows a node of the job' "^n1 +1 +4 +0 +4 +0 +0 +job $eight +tiny\$" "$out"
like 'devices shows a free node' '^n3 +1 +4 +4 +0 +0 +0 +- +tiny$' "$out"
is 'JSON of devices has the nodes' 'n1/4/0/4 n2/4/0/4 n3/4/4/0' "$("$POLLUX" devices --json | json '
	print join " ", map { "$_->{node}/$_->{devices}/$_->{idle}/$_->{own}" } @{$d->{nodes}}')"
four=$(submit -r 4 --slurm-args --hold -- true)
"$POLLUX" schedule
waits() { "$POLLUX" status "$four" | grep -q 'manager.*of Slurm: PENDING, JobHeldUser'; }
must 'status says why a run waits for Slurm' within 10 waits
"$POLLUX" cancel -f "$four" >/dev/null 2>&1

# --- a controller that does not answer -------------------------------------------

# It saves its state: a controller that is killed gives the numbers of its last jobs again.
slurm_kill TERM slurmctld
silent() { [ -z "$(slurm_pid slurmctld)" ]; }
must 'the controller is stopped' within 10 silent
"$POLLUX" schedule </dev/null >/dev/null 2>first.err
like 'a pass says that the controller is down' "^pollux: Slurm's controller does not answer" \
	"$(cat first.err)"
run "$POLLUX" schedule </dev/null
is 'the next pass does not say again that the controller is down' '75 ' "$rc $err"
like 'status says that the controller does not answer' \
	"^No run starts or stops since .*: Slurm's controller does not answer" \
	"$("$POLLUX" status)"
slurm_ctld
must 'the controller is back' within 10 slurm_answers
answers() { "$POLLUX" schedule -v </dev/null 2>/dev/null | grep 'answers again, after'; }
must 'a pass says that the controller answers again' within 20 answers
must 'the run went on while the controller was down' \
	until_store "SELECT 1 FROM runs WHERE job_id = $eight
	AND number = 1 AND state = 'running'"
is 'the run is one job of Slurm' 1 "$(squeue -h -t RUNNING -o %i | wc -l)"

# --- the cost of a restart ---------------------------------------------------------

"$POLLUX" cancel -f "$eight" >/dev/null 2>&1
must 'the job of two nodes ends' \
	until_store "SELECT 1 FROM jobs WHERE id = $eight AND state = 'cancelled'"
queued=$(submit -r 4 --slurm-args "--begin=now+4" -- sh -c '"$POLLUX" report STEP=1 SAMPLES=8
	sleep 1; "$POLLUX" report STEP=2 SAMPLES=16; exit 0')
must 'a run that waited in the queue of Slurm is done' \
	until_store "SELECT 1 FROM jobs WHERE id = $queued
	AND state = 'done'"
is 'the wait in the queue is no part of the start' \
	1 "$(store "SELECT launch_time_s - assigned_time_s > 3
	AND first_step_s < launch_time_s - assigned_time_s FROM runs WHERE job_id = $queued")"

# --- a profile -----------------------------------------------------------------

run "$POLLUX" profile --points 1 --budget $((3 * TIME_SCALE)) -b 8 -r 1:12 --json -- \
	"$REPORTER" --every 0.05 20000000 8
is 'a profile measures a size by jobs of Slurm' '0 1 8 0.02' "$rc $(echo "$out" | json '
	my $p = $d->{points}[0];
	printf "%d %d %g", scalar(@{$d->{points}}), $p->{batch_size}, $p->{step_time_s}')"
"$POLLUX" profile --budget $((60 * TIME_SCALE)) -b 8 -- "$REPORTER" --every 0.05 20000000 8 \
	>/dev/null 2>&1 &
profile=$!
measures() { [ -n "$(squeue -h -t RUNNING -o %i)" ]; }
must 'another profile has a job of Slurm' within 20 measures
kill -9 $profile
wait $profile 2>/dev/null
must 'a pass ends the job of a profile that was killed' until_store "SELECT 1 FROM jobs
	WHERE profile = 1 AND state = 'cancelled'"
is 'a pass ends the run of a profile that was killed' \
	0 "$(store "SELECT count(*) FROM runs WHERE state <> 'ended'")"
finish
