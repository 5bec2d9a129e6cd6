#!/bin/sh
# slurm.t - runs as jobs of a real Slurm, which the test brings up on this machine.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/slurm.sh"
slurm_or_skip
WITNESS=$TMP/witness
TRAINER=$ROOT/tests/cli/slurm-trainer.sh
POLLUX_SLICE=1s
export WITNESS POLLUX_SLICE
unset POLLUX_SLOTS POLLUX_POLICY SLURM_JOB_ID
mkdir -p "$WITNESS"
cleanup() { slurm_down; }
on_nodes() { echo "(SELECT count(DISTINCT node) FROM run_devices WHERE run_id = runs.id) = $1"; }
saved() { # saved JOB
	awk -v job="$1" '$1 == "save" && $2 == job && $4 == 0 { n = $5 } END { print n }' \
		"$WITNESS/ledger"
}
train() { "$POLLUX" submit -q --preempt "$@"; }

must 'a Slurm of four nodes comes up' slurm_up 4 4
mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
printf 'engine = slurm\nslurm_lease = %ds\n' $((2 * TIME_SCALE)) >"$POLLUX_DIR/config"

# --- devices -----------------------------------------------------------------

run "$POLLUX" devices --json
is 'GPUs of nodes are devices' '16 tiny n1 slurm:n1:0' "$(echo "$out" | json '
	my @d = @{$d->{devices}};
	print scalar(grep { $_->{usable} } @d), " $d[0]{kind} $d[0]{node} $d[0]{id}"')"

# --- one node: start, stop with exact samples, resume, end ---------------------

id=$(train -n one -- "$TRAINER" '{checkpoint}')
"$POLLUX" schedule >first.out
must 'a run begins on a node' until_store "SELECT 1 FROM runs WHERE job_id = $id
	AND state = 'running' AND last_samples > 80"
is 'the job of Slurm has the name and the comment of its run' \
	"pollux-$(store "SELECT substr(value, 1, 8) FROM settings WHERE name = 'store_id'")-$id|1" \
	"$(squeue -h -o '%j|%D')"
"$POLLUX" schedule >again.out
is 'a second pass starts nothing' 1 "$(squeue -h -o %i | wc -l)"
"$POLLUX" hold -f "$id" >/dev/null 2>&1
must 'a run that is held ends' until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'held'"
is 'the store has exactly what the held run saved' "$(saved "$id")" \
	"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"
is 'a held run loses nothing' 0.0 "$(store "SELECT lost_samples FROM jobs WHERE id = $id")"
"$POLLUX" release "$id" >/dev/null
must 'a released run goes on where it was' \
	until_store "SELECT 1 FROM runs WHERE job_id = $id AND number = 2
	AND first_samples >= $(saved "$id") AND last_samples > first_samples + 80"
"$POLLUX" cancel -f "$id" >/dev/null 2>&1
must 'a cancelled run ends' until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'cancelled'"

# A shell dies of the signal, and the wrapper of the node tells the program, which takes longer than
# what is left without a stop may take to end.
id=$(train -n shell -e SAVE_S=6 -- sh -c '"$0" "$1" | cat; true' "$TRAINER" '{checkpoint}')
"$POLLUX" schedule >shell.out
must 'a program of a shell begins' until_store "SELECT 1 FROM runs WHERE job_id = $id
	AND state = 'running' AND last_samples > 80"
"$POLLUX" hold -f "$id" >/dev/null 2>&1
must 'the program of a shell is held' \
	until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'held'"
is 'the program of a shell has saved once' 1 "$(grep -c "^save $id " "$WITNESS/ledger")"
is 'the program of a shell has saved all that it had done' \
	0.0 "$(store "SELECT lost_samples FROM jobs WHERE id = $id")"
"$POLLUX" cancel -f "$id" >/dev/null 2>&1

id=$(train -n short -- "$TRAINER" '{checkpoint}' 10)
bad=$("$POLLUX" submit -q -- sh -c 'exit 3')
must 'a program that ends is done' until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'done'
	AND samples = 80"
must 'a program that fails has failed' until_store "SELECT 1 FROM jobs WHERE id = $bad
	AND state = 'failed' AND exit_code = 3"

accounted() { scontrol -o show job | grep "Comment=[0-9a-f]*:$bad:" | grep -q 'ExitCode=3:0'; }
must 'the accounts of Slurm have the exit status of the program' within 10 accounted

# --- directories of runs that nobody has -----------------------------------------

# as passes leave them that are killed before a run's file `launch` is there, or late in a removal
mkdir -p "$POLLUX_DIR/run/800" "$POLLUX_DIR/run/900"
touch "$POLLUX_DIR/run/800/rows"
touch -d '-2 days' "$POLLUX_DIR/run/800"
"$POLLUX" schedule >first.out
is 'an old directory of a run is removed, a new one is not' \
	900 "$(cd "$POLLUX_DIR/run" && ls -d [89]00)"
rm -r "$POLLUX_DIR/run/900"

# --- several nodes; resize -----------------------------------------------------

id=$(train -n wide -r 8 -- "$TRAINER" '{checkpoint}')
must 'a run of eight devices is on two nodes' \
	until_store "SELECT 1 FROM runs WHERE job_id = $id AND state = 'running'
	AND $(on_nodes 2) AND replicas = 8 AND last_samples > 80"
went_on() { # went_on REPLICAS NODES NUMBER
	must "the run goes on with $1 devices, on $2 nodes" until_store "SELECT 1 FROM runs
		WHERE job_id = $id AND number = $3 AND state = 'running' AND $(on_nodes "$2")
		AND replicas = $1 AND last_samples > first_samples + 80"
	is "run $3 goes on from where the one before it had saved" \
		1 "$(store "SELECT a.last_samples <= b.first_samples
		FROM runs a JOIN runs b ON b.job_id = a.job_id AND b.number = a.number + 1
		WHERE a.job_id = $id AND b.number = $3")"
}
"$POLLUX" edit -r 16 "$id" >/dev/null
went_on 16 4 2
# a run that others leave alone keeps more devices than it asks for
"$POLLUX" hold -f "$id" >/dev/null 2>&1
must 'the wide run is held' until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'held'"
"$POLLUX" edit -r 4 "$id" >/dev/null
"$POLLUX" release "$id" >/dev/null
went_on 4 1 3
"$POLLUX" hold -f "$id" >/dev/null 2>&1
must 'the run of one node is held' \
	until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'held'"
is 'the store has what the run of one node saved' "$(saved "$id")" \
	"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"
is 'each node of each run began once' '1 0 1 1 2 0 2 1 2 2 2 3 3 0' "$(awk -v id="$id" \
	'$1 == "start" && $2 == id { print $3, $4 }' "$WITNESS/ledger" | sort | xargs)"

# --- a rendezvous ----------------------------------------------------------------

cat >meet.py <<'END'
import os, socket, sys, time
rank, port = int(sys.argv[1]), int(os.environ["MASTER_PORT"])
if rank == 0:
    server = socket.create_server((os.environ["MASTER_ADDR"], port))
    other, _ = server.accept()
    print("met", other.recv(10).decode())
else:
    while True:
        try:
            socket.create_connection((os.environ["MASTER_ADDR"], port)).sendall(b"node 1")
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
END
id=$(train -n meet -r 8 -- python3 "$TMP/meet.py" '{node}')
must 'programs of two nodes meet' until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'done'"
like 'the programs meet at the address of the first node' '^met node 1$' "$("$POLLUX" log "$id")"

# --- Slurm itself tells a run to stop ------------------------------------------------

id=$(train -n told -r 8 -- "$TRAINER" '{checkpoint}')
must 'a run that Slurm will stop is on two nodes' \
	until_store "SELECT 1 FROM runs WHERE job_id = $id AND state = 'running'
	AND last_samples > 80"
scancel --signal=TERM --batch "$(squeue -h -o %i)"
must 'a run that Slurm signals saves and ends' until_store "SELECT 1 FROM runs WHERE job_id = $id
	AND number = 1 AND outcome = 'stopped' AND stop_reason = 'shutdown'"
must 'a run that Slurm stopped goes on from there' \
	until_store "SELECT 1 FROM runs WHERE job_id = $id AND number = 2
	AND last_samples > first_samples AND first_samples >= $(saved "$id")"
"$POLLUX" cancel -f "$id" >/dev/null 2>&1
must 'a run that Slurm stopped can be cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'cancelled'"

# --- a time limit; a second job of one run -----------------------------------------

id=$(train -n limited -t "$((2 * TIME_SCALE / 2))" -- "$TRAINER" '{checkpoint}')
must 'a run with a time limit begins' until_store "SELECT 1 FROM runs WHERE job_id = $id
	AND state = 'running'"
like 'Slurm has a time limit for the run' '^[0-9]+:00$' "$(squeue -h -o %l)"
run_id=$(store "SELECT id FROM runs WHERE job_id = $id")
job=$(squeue -h -o %i)
sbatch --parsable -o "$TMP/second" \
	--wrap "exec '$POLLUX' supervise '$POLLUX_DIR/run/$run_id'" >second.id
second_is_over() { ! squeue -h -o %i | grep -qx "$(cat second.id)"; }
must 'a second job of the run leaves at once' within 10 second_is_over
like 'the second job of the run says why it leaves' \
	'another job of Slurm has this run' "$(cat "$TMP/second")"
is 'the first job of the run goes on' "$job" "$(squeue -h -t RUNNING -o %i)"
must 'the limit ends the run' until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'timeout'"
is 'the store has what the run saved at its time limit' "$(saved "$id")" \
	"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"

run "$POLLUX" run true
like "'pollux run' says that runs are jobs of Slurm" 'runs are jobs of Slurm' "$err"

# --- what is wrong -------------------------------------------------------------

id=$(train -n refused --slurm-args '--partition=nowhere' -- "$TRAINER" '{checkpoint}')
run "$POLLUX" schedule
like 'what sbatch refuses is said' 'sbatch of Slurm failed: .*[Ii]nvalid partition' "$err"
is 'a run that sbatch refuses waits' assigned "$(store "SELECT state FROM runs WHERE job_id = $id")"
"$POLLUX" cancel "$id" >/dev/null
must 'a run that sbatch refuses can be cancelled' until_store "SELECT 1 FROM jobs WHERE id = $id
	AND state = 'cancelled'"

is 'no two programs of a job ran at a time' '' "$(cat "$WITNESS/OVERLAP" 2>/dev/null)"
is 'Slurm has no job any more' '' "$(squeue -h -o %i)"
finish
