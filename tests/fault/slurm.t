#!/bin/sh
# slurm.t - Slurm's daemons, passes and supervisors are killed; a node is cut off. No job may run
# twice at a time, be lost, or be relaunched needlessly. With ALL_CASES, as `make soak` has it, also
# the faults that take long: a node that is given up, cut off, or stands still, a reboot, a
# directory that is full, or read-only.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/cli/slurm.sh"
slurm_or_skip
WITNESS=$TMP/witness
TRAINER=$ROOT/tests/cli/slurm-trainer.sh
export WITNESS
unset POLLUX_SLOTS POLLUX_POLICY SLURM_JOB_ID
mkdir -p "$WITNESS"
cleanup() {
	# shellcheck disable=SC2086  # numbers
	kill ${left-} 2>/dev/null
	chattr -R -f -i "$TMP/fixed" 2>/dev/null
	slurm_down
	umount "$TMP/shared" 2>/dev/null
}
# Programs end with a lease that is not renewed: a short one is for what waits for that.
lease() { # lease SECONDS
	printf 'slurm_dir = %s\nengine = slurm\nslurm_lease = %ds\n' "$TMP/shared" "$1" \
		>"$POLLUX_DIR/config"
}
short_lease_s=$((TIME_SCALE * 2 / 3))
[ $short_lease_s -ge 5 ] || short_lease_s=5
holds() { [ "$(store "SELECT count(*) FROM ($1)")" -gt 0 ]; }
saved() { # saved JOB
	awk -v job="$1" '$1 == "save" && $2 == job && $4 == 0 { n = $5 } END { print n }' \
		"$WITNESS/ledger"
}
starts() { awk -v job="$1" '$1 == "start" && $2 == job && $4 == 0' "$WITNESS/ledger" | wc -l; }
started_once() { # started_once JOB NAME: else what became of it is shown
	[ "$(starts "$1")" = 1 ] || store "SELECT '# ' || kind || ': ' || text FROM events
		WHERE job_id = $1 ORDER BY id"
	is "$2" 1 "$(starts "$1")"
}
train() { "$POLLUX" submit -q --preempt "$@" -- "$TRAINER" '{checkpoint}'; }
works() { until_store "SELECT 1 FROM runs WHERE job_id = $id AND state = 'running'
	AND last_samples > coalesce(first_samples, 0) + 80"; }
held_sbatch() { # bin/sbatch submits jobs that Slurm holds
	printf '#!/bin/sh\nexec %s --hold "$@"\n' "$(command -v sbatch)" >bin/sbatch
	chmod +x bin/sbatch
}
slurm_has_none() { [ -z "$(squeue -h -t R -o %i)" ]; }
stops() { # stops WHAT: what was saved is what the store has
	"$POLLUX" hold -f "$id" >/dev/null 2>&1
	must "$1" until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'held'"
	is "$1, with all that it saved" "$(saved "$id")" \
		"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"
}
# What a wrapper, which keeps the program, is told by its command line.
run_dir() { echo "$TMP"/shared/pollux-*/run/"$1"; }
wrappers() { pgrep -f "^[^ ]*pollux supervise $(run_dir "$1") /"; }
supervisor() { pgrep -f "^[^ ]*pollux supervise $(run_dir "$1")\$"; }
finish_all() {
	is 'no two programs of a job ran at a time' '' "$(cat "$WITNESS/OVERLAP" 2>/dev/null)"
	is 'each run that ended is counted once' '' "$(store "SELECT job_id FROM events
		WHERE kind = 'ended' GROUP BY run_id HAVING count(*) > 1")"
	finish
}
SLURMD_TIMEOUT=120
must 'a Slurm of two nodes comes up' slurm_up 2 4
mkdir -p "$POLLUX_DIR" "$TMP/shared" && chmod 700 "$POLLUX_DIR"
can_fill=$(mount -t tmpfs -o size=8m none "$TMP/shared" 2>/dev/null && echo yes)
lease 120

# --- the controller is killed just after sbatch -------------------------------------

mkdir bin
cat >bin/sbatch <<END
#!/bin/sh
$(command -v sbatch) "\$@"
rc=\$?
[ ! -e "$TMP/after-sbatch" ] || . "$TMP/after-sbatch"
exit \$rc
END
chmod +x bin/sbatch
usual=$PATH PATH=$TMP/bin:$PATH
id=$(SAVE_S=2 train -n controller)
echo "kill -9 $(slurm_pid slurmctld)" >after-sbatch
"$POLLUX" schedule >pass.out 2>&1
rm after-sbatch
run timeout $((6 * TIME_SCALE)) "$POLLUX" schedule
is 'a pass without a controller fails for now' 75 "$rc"
is 'the pass says once that the controller does not answer' \
	1 "$(printf '%s\n' "$err" | grep -c "Slurm's controller does not answer")"
run timeout $((6 * TIME_SCALE)) "$POLLUX" status
is 'status needs no controller' 0 "$rc"
slurm_ctld
must 'the controller killed after sbatch is back' within 5 slurm_answers
must 'the run submitted before the kill goes on' works
started_once "$id" 'the run submitted before the kill was started once'
# The nodes did not answer the new controller at first, and the job was pending.
is 'the job of that kill had one run' 1 "$(store "SELECT count(*) FROM runs WHERE job_id = $id")"
like 'the log of the run is where the nodes see it' '^exec .*slurm-trainer' "$("$POLLUX" log "$id")"

# --- the controller is away while a run stops -----------------------------------------

"$POLLUX" hold -f "$id" >/dev/null 2>&1
slurm_kill KILL slurmctld
is 'the controller is killed before the program has saved' '' "$(saved "$id")"
is_saved() { [ -n "$(saved "$id")" ]; }
must 'a run is stopped without a controller' within 10 is_saved
must 'the end of a run without a controller is taken in' \
	until_store "SELECT 1 FROM jobs WHERE id = $id
	AND state = 'held'"
is 'the run without a controller lost nothing that it saved' "$(saved "$id")" \
	"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"
slurm_ctld
must 'the controller killed while a run stopped is back' within 5 slurm_answers

# --- a pass is killed between sbatch and its next write ---------------------------------

id=$(train -n killed)
echo 'kill -9 $PPID' >after-sbatch
"$POLLUX" schedule >pass.out 2>&1
rm after-sbatch
is 'a pass was killed after sbatch' '' "$(store "SELECT handle FROM runs WHERE job_id = $id
	AND CAST(handle AS TEXT) LIKE '% job=%'")"
must 'the next pass finds the job of the killed pass' works
started_once "$id" 'the next pass started no other job'
PATH=$usual

# --- slurmd is killed, and is back ---------------------------------------------------------

run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
slurm_kill KILL slurmd.n1
sleep 2
"$POLLUX" schedule >pass.out 2>&1
slurm_d n1
must 'slurmd is back after 2 s' within 10 slurm_pid slurmd.n1
must 'the run goes on without slurmd' \
	until_store "SELECT 1 FROM runs WHERE id = $run_id AND state = 'running'
	AND last_samples > $(store "SELECT last_samples + 80 FROM runs WHERE id = $run_id")"
started_once "$id" 'the run without slurmd was not started again'
# A controller that was killed gave a number twice, which drains a node when its slurmd is back.
slurm_resume
stops 'the run without slurmd stops as usual'

# --- Slurm gives out a GPU whose program lives ------------------------------------------------

# What an earlier run left on the GPUs, by its environment, one process for each node.
left=
for node in n1 n2; do
	env POLLUX_RUN=1 POLLUX_NODES=1 SLURM_JOB_ID=99999 SLURM_CLUSTER_NAME=test$$ \
		SLURMD_NODENAME=$node SLURM_JOB_GPUS=0,1,2,3 sleep 1000 >/dev/null 2>&1 &
	left="$left $!"
done
"$POLLUX" release "$id" >/dev/null
tells() {
	"$POLLUX" schedule >pass.out 2>&1
	grep -aq 'still has a GPU' "$POLLUX_DIR/logs/$id.log"
}
must 'a run waits for what is left on its GPU' within 20 tells
started_once "$id" 'the program does not begin while its GPU is in use'
# shellcheck disable=SC2086  # numbers
kill $left
left=
must 'the program begins when its GPU is free' works

# --- the supervisor is killed ------------------------------------------------------------------

# With this lease it is the wrapper that ends the program, when the supervisor is gone.
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
kill -9 "$(supervisor "$run_id")"
told() { [ -s "$(run_dir "$run_id")/end.0" ]; }
must 'the wrapper tells of the end of its program' within 20 told
ended=$(stat -c %.3Y "$(run_dir "$run_id")/end.0")
sleep 2
must 'a run whose supervisor was killed ends as lost' until_store "SELECT 1 FROM runs
	WHERE id = $run_id AND outcome = 'lost'"
is 'a run that is lost ended when its program did' 1 \
	"$(store "SELECT abs(end_time_s - $ended) < 1 FROM runs WHERE id = $run_id")"
must 'the job of the lost run runs again' works
is 'the job of the lost run resumes from its checkpoint' "$(saved "$id")" "$(awk -v job="$id" \
	'$1 == "start" && $2 == job { n = $5 } END { print n }' "$WITNESS/ledger")"
stops 'the job of the lost run stops as usual'

[ "${ALL_CASES-}" ] || finish_all

# --- the controller is killed 8 s after sbatch, slurmd is away for a minute --------------------

lease 120
slurm_resume
id=$(train -n late)
"$POLLUX" schedule >pass.out 2>&1
# Slurm saves its state within 8 s. One that has the job as waiting would kill it.
is_under_way() { [ -n "$(squeue -h -t R -o %i)" ]; }
must 'a job is under way' within 10 is_under_way
sleep 8
slurm_kill KILL slurmctld
"$POLLUX" schedule >pass.out 2>&1
slurm_ctld
must 'the controller killed after 8 s is back' within 5 slurm_answers
must 'a run goes on whose controller was killed 8 s after sbatch' works
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
node=$(store "SELECT node FROM run_devices WHERE run_id = $run_id")
slurm_kill KILL "slurmd.$node"
for _ in 1 2 3 4; do
	sleep 15
	"$POLLUX" schedule >pass.out 2>&1
done
slurm_d "$node"
must 'a run goes on after a minute without slurmd' until_store "SELECT 1 FROM runs
	WHERE id = $run_id AND state = 'running'
	AND last_samples > $(store "SELECT last_samples + 80 FROM runs WHERE id = $run_id")"
started_once "$id" 'the run with a minute without slurmd was started once'
stops 'the run with a minute without slurmd stops as usual'

# --- the machine of the passes is rebooted -----------------------------------------------------

# Before the reboot its clock is a long way ahead, and its boot has another name.
echo 00000000-0000-4000-8000-000000000000 >boot_id
earlier() {
	unshare --time --monotonic 1000000 --mount sh -c 'mount --bind "$0" \
		/proc/sys/kernel/random/boot_id && exec "$@"' "$TMP/boot_id" "$@"
}
if ! earlier true 2>/dev/null; then
	echo '# skipped: a reboot: no time namespace can be made here'
else
	slurm_resume
	id=$(earlier "$POLLUX" submit -q --preempt -n rebooted -r 8 -- "$TRAINER" '{checkpoint}')
	works_earlier() {
		earlier "$POLLUX" schedule >pass.out 2>&1
		holds "SELECT 1 FROM runs WHERE job_id = $id AND state = 'running'
			AND last_samples > 80 AND launch_boot_s > 1000000"
	}
	must 'a run is at work before the reboot' within 20 works_earlier
	at=$(store "SELECT last_samples FROM runs WHERE job_id = $id")
	must 'the run goes on after the reboot' \
		until_store "SELECT 1 FROM runs WHERE job_id = $id AND number = 1
		AND state = 'running' AND last_samples > $at + 80"
	started_once "$id" 'the run of before the reboot was started once'
	POLLUX_POLICY=las POLLUX_SLICE=1
	export POLLUX_POLICY POLLUX_SLICE
	other=$(train -n other -r 8)
	must 'the run makes room for another when its slice is over' until_store "SELECT 1 FROM runs
		WHERE job_id = $other AND state = 'running' AND last_samples > 80"
	unset POLLUX_POLICY POLLUX_SLICE
	"$POLLUX" cancel -f "$other" >/dev/null 2>&1
	stops 'the run of before the reboot stops as usual'
	is 'the times of that run are plausible' 1 "$(store "SELECT run_time_s BETWEEN 1 AND 1000
		AND attained_service_device_s BETWEEN 1 AND 1000 FROM jobs WHERE id = $id")"
	"$POLLUX" release "$id" >/dev/null
	must 'the job runs again after the reboot, from what it saved' \
		until_store "SELECT 1 FROM runs WHERE job_id = $id
		AND state = 'running' AND first_samples >= $(saved "$id")
		AND last_samples > first_samples + 80"
	stops 'the run of after the reboot stops as usual'
	is 'the times of both runs are plausible' 1 "$(store "SELECT run_time_s BETWEEN 1 AND 1000
		AND attained_service_device_s BETWEEN 1 AND 1000 FROM jobs WHERE id = $id")"
fi

# --- a node is taken out of use under a run -------------------------------------------------

slurm_resume
id=$(train -n drained)
must 'a run is on the node that will be drained' works
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
node=$(store "SELECT node FROM run_devices WHERE run_id = $run_id")
scontrol update "nodename=$node" state=drain reason=test
other=$(train -n other)
must 'a new run goes to another node' until_store "SELECT 1 FROM runs JOIN run_devices d
	ON d.run_id = runs.id WHERE job_id = $other AND state = 'running' AND node <> '$node'"
started_once "$id" 'the run on the drained node stays'
"$POLLUX" cancel -f "$other" >/dev/null 2>&1
scontrol update "nodename=$node" state=resume
stops 'the run on the drained node stops as usual'

# --- slurmd is gone for so long that Slurm gives the job up -----------------------------------

lease $short_lease_s
id=$(train -n forgotten)
must 'a run is on the node that will go down' works
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
node=$(store "SELECT node FROM run_devices WHERE run_id = $run_id")
slurm_kill KILL "slurmd.$node"
sleep 1
scontrol update "nodename=$node" state=down reason=test
must 'Slurm gives up the job of the node that is down' within 10 slurm_has_none
must 'the job of that node goes to another node' until_store "SELECT 1 FROM runs JOIN run_devices d
	ON d.run_id = runs.id WHERE job_id = $id AND number = 2 AND state = 'running'
	AND node <> '$node' AND last_samples > first_samples + 80"
is 'the job resumes from all that the first run had saved' 1 "$(store "SELECT
	b.first_samples >= a.last_samples FROM runs a JOIN runs b ON b.job_id = a.job_id
	WHERE a.id = $run_id AND b.number = 2")"
slurm_d "$node"
scontrol update "nodename=$node" state=resume
"$POLLUX" cancel -f "$id" >/dev/null 2>&1
must 'the job on the other node ends when cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'cancelled'"

# --- a node is cut off ----------------------------------------------------------------------------

# The supervisor is stopped, so its lease is not renewed: for the wrappers that is a node without
# the shared file system, and for the passes one that shows no life.
slurm_resume
must 'both nodes are idle before a node is cut off' within 10 slurm_idle
id=$(train -n fenced -r 8)
must 'a run is on two nodes that will be cut off' works
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
stopped=$(supervisor "$run_id")
kill -STOP "$stopped"
fenced() {
	[ -z "$(wrappers "$run_id")" ] &&
		[ "$(cat "$(run_dir "$run_id")"/end.* 2>/dev/null | grep -c fenced)" = 2 ]
}
must 'both nodes that are cut off end their programs' within 10 fenced
ended=$(stat -c %Y "$(run_dir "$run_id")"/end.* | sort -n | tail -n 1)
# The pass cancels the job of Slurm. Slurm continues the processes of a job that it cancels, so the
# stopped supervisor may still write the end of the run.
must 'the run that was cut off is lost' \
	until_store "SELECT 1 FROM runs WHERE id = $run_id AND state = 'ended'
	AND (outcome = 'lost' OR stop_reason = 'orphan')"
is 'the run that was cut off ended when its programs did' 1 \
	"$(store "SELECT abs(end_time_s - $ended) < 1.5 FROM runs WHERE id = $run_id")"
kill -CONT "$stopped" 2>/dev/null
must 'the job that was cut off runs again' works
is 'the job that was cut off was started twice in all' 2 "$(starts "$id")"
"$POLLUX" cancel -f "$id" >/dev/null 2>&1
must 'the job that was cut off ends when cancelled' \
	until_store "SELECT 1 FROM jobs WHERE id = $id AND state = 'cancelled'"

# --- one node of two is cut off -------------------------------------------------------------------

# Another file system hides the directory from the second node; the first one sees all as before.
slurm_resume
must 'both nodes are idle before the second is restarted' within 10 slurm_idle
slurm_own_mounts n2
slurm_kill TERM slurmd.n2
slurm_is_gone() { [ -z "$(slurm_pid "$1")" ]; }
must 'slurmd of the second node ends' within 10 slurm_is_gone slurmd.n2
slurm_d n2
must 'the second node is back with mounts of its own' within 10 slurm_idle
id=$(train -n alone -r 8)
must 'a run is on both nodes before one is cut off' works
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
slurm_in n2 mount -t tmpfs none "$TMP/shared"
one_is_left() { [ "$(wrappers "$run_id" | wc -l)" = 1 ]; }
must 'the node that is cut off ends its program' within 10 one_is_left
must 'the supervisor ends the run of one node cut off' \
	until_store "SELECT 1 FROM runs WHERE id = $run_id
	AND outcome = 'stopped' AND stop_reason = 'orphan'"
is 'the run of one node cut off lost nothing that it saved' "$(saved "$id")" \
	"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"
second_stopped() { until_store "SELECT 1 FROM runs WHERE job_id = $id AND number = 2
	AND stop_reason = 'orphan'"; }
must 'a run that cannot begin on the node cut off is ended' second_stopped
slurm_in n2 umount "$TMP/shared"
must 'the job runs again when the node has the directory' until_store "SELECT 1 FROM runs
	WHERE job_id = $id AND number = 3 AND state = 'running'
	AND last_samples > first_samples + 80"
is 'both nodes begin when the directory is back' '1 0 1 1 2 0 3 0 3 1' "$(awk -v id="$id" \
	'$1 == "start" && $2 == id { print $3, $4 }' "$WITNESS/ledger" | sort | xargs)"
stops 'the job of one node cut off stops as usual'

# --- one node of two stands still -----------------------------------------------------------------

# Its network and all of its processes stop, but for the machine's clock.
slurm_resume
must 'both nodes are idle before one stands still' within 10 slurm_idle
id=$(train -n still -r 8)
must 'a run is on both nodes before one stands still' works
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")
still=$(slurm_on n2 '.*' | xargs)
# shellcheck disable=SC2086  # numbers
kill -STOP $still
must 'the supervisor ends the run of a node that stands still' \
	until_store "SELECT 1 FROM runs WHERE id = $run_id
	AND stop_reason = 'orphan'"
# shellcheck disable=SC2086
kill -CONT $still
must 'the job runs again when the node goes on' until_store "SELECT 1 FROM runs
	WHERE job_id = $id AND number = 2 AND state = 'running'
	AND last_samples > first_samples + 80"
is 'both nodes begin when the node goes on' '1 0 1 1 2 0 2 1' "$(awk -v id="$id" \
	'$1 == "start" && $2 == id { print $3, $4 }' "$WITNESS/ledger" | sort | xargs)"
stops 'the job of the node that stood still stops as usual'

# --- others take the GPUs that a run waits for ---------------------------------------------------

# Slurm holds the job until somebody else has the GPUs of its node.
slurm_resume
must 'both nodes are idle before others take GPUs' within 10 slurm_idle
held_sbatch
id=$(train -n crowded -r 2)
assigned_s=$(date +%s)
PATH=$TMP/bin:$PATH "$POLLUX" schedule >pass.out 2>&1
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'assigned'")
node=$(store "SELECT DISTINCT node FROM run_devices WHERE run_id = $run_id")
waiting=$(squeue -h -t PD -o %i)
theirs=$(sbatch --parsable --output=/dev/null --nodelist="$node" --gres=gpu:tiny:3 \
	--wrap 'sleep 1000')
they_run() { squeue -h -t R -o %i | grep -qx "$theirs"; }
must 'a job of others has three of four GPUs' within 10 they_run
scontrol release "$waiting"
if [ $(($(date +%s) - assigned_s)) -lt 50 ]; then
	"$POLLUX" schedule >pass.out 2>&1
	is 'a run for two GPUs waits on the crowded node' assigned \
		"$(store "SELECT state FROM runs WHERE id = $run_id")"
fi
sleep 61
must 'the job leaves the crowded node after a minute' \
	until_store "SELECT 1 FROM runs JOIN run_devices d
	ON d.run_id = runs.id WHERE job_id = $id AND number = 2 AND state = 'running'
	AND node <> '$node' AND last_samples > 80"
started_once "$id" 'the job of the crowded node was started once'
they_run
is 'the job of others runs on' 0 $?
scancel "$theirs"
stops 'the job of the crowded node stops as usual'

# --- a node is silent under a run that waits in Slurm's queue ------------------------------------

# Slurm holds the job, so that the run has not begun when its node falls silent.
slurm_resume
must 'both nodes are idle before one falls silent' within 10 slurm_idle
held_sbatch
id=$(train -n awaited)
PATH=$TMP/bin:$PATH "$POLLUX" schedule >pass.out 2>&1
run_id=$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'assigned'")
node=$(store "SELECT node FROM run_devices WHERE run_id = $run_id")
is 'a run waits in the queue of Slurm' 1 "$(squeue -h -t PD -o %i | grep -c .)"
timeout 10 scontrol shutdown slurmctld
slurm_is_down() { [ -z "$(slurm_pid slurmctld)" ]; }
must 'the controller of the run in the queue ends' within 5 slurm_is_down
slurm_kill KILL "slurmd.$node"
slurm_ctld
other_idles() { [ "$(timeout 2 sinfo -h -N -t idle -o %N | grep -vc "^$node\$")" = 1 ]; }
must 'the controller is back without the silent node' within 10 other_idles
"$POLLUX" schedule >pass.out 2>&1
is 'the run waits for the silent node' assigned \
	"$(store "SELECT state FROM runs WHERE id = $run_id")"
sleep 61
must 'the job leaves the silent node after a minute' \
	until_store "SELECT 1 FROM runs JOIN run_devices d
	ON d.run_id = runs.id WHERE job_id = $id AND number = 2 AND state = 'running'
	AND node <> '$node' AND last_samples > 80"
started_once "$id" 'the job of the silent node was started once'
slurm_d "$node"
stops 'the job of the silent node stops as usual'

# --- the shared directory is read-only ----------------------------------------------------------

mkdir fixed safe
: >probe
if ! chattr +i probe 2>/dev/null || ! chattr -i probe; then
	echo '# skipped: a directory that is read-only: chattr +i does not work here'
else
	printf 'slurm_dir = %s\nengine = slurm\nslurm_lease = %ds\n' "$TMP/fixed" $short_lease_s \
		>"$POLLUX_DIR/config"
	id=$("$POLLUX" submit -q --preempt --checkpoint-dir "$TMP/safe" -- "$TRAINER" "$TMP/safe")
	must 'a run saves beside the directory that becomes read-only' works
	chattr -R -f +i fixed
	must 'the run is ended when the directory is read-only' within 20 is_saved
	"$POLLUX" schedule >pass.out 2>&1
	is 'nobody knows that end while the directory is read-only' \
		running "$(store "SELECT state FROM runs WHERE job_id = $id")"
	chattr -R -f -i fixed
	must 'that end is known when the directory can be written' \
		until_store "SELECT 1 FROM runs WHERE job_id = $id
		AND number = 1 AND outcome = 'stopped' AND stop_reason = 'orphan'"
	must 'the job runs again from what it saved elsewhere' until_store "SELECT 1 FROM runs
		WHERE job_id = $id AND number = 2 AND state = 'running'
		AND first_samples >= $(saved "$id") AND last_samples > first_samples + 80"
	is 'the job of the read-only directory was started twice in all' 2 "$(starts "$id")"
	stops 'the job of the read-only directory stops as usual'
	lease $short_lease_s
fi

# --- the shared directory is full ---------------------------------------------------------------

if [ ! "$can_fill" ]; then
	echo '# skipped: a directory that is full: no tmpfs can be mounted here'
else
	mkdir saves
	id=$("$POLLUX" submit -q --preempt --checkpoint-dir "$TMP/saves" -- "$TRAINER" "$TMP/saves")
	must 'a run saves beside the directory that becomes full' works
	head -c 9M /dev/zero >"$TMP/shared/full" 2>/dev/null
	"$POLLUX" hold -f "$id" >/dev/null 2>hold.err
	must 'a run that is held saves when the directory is full' within 20 is_saved
	"$POLLUX" schedule >pass.out 2>&1
	is 'the end of the held run is not known while the directory is full' \
		running "$(store "SELECT state FROM jobs WHERE id = $id")"
	rm "$TMP/shared/full"
	must 'the end of the held run is known when the directory has room' \
		until_store "SELECT 1 FROM jobs WHERE id = $id
		AND state = 'held'"
	is 'the run of the full directory lost nothing that it saved' "$(saved "$id")" \
		"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $id")"
fi
finish_all
