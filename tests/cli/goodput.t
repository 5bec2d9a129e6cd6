#!/bin/sh
# goodput.t - the default policy with real training jobs: models are learnt and shared, batch sizes
# and replicas follow them, and nobody waits for ever.
# shellcheck disable=SC2016,SC2154,SC2317 # templates; variables and functions used by name
. "$(dirname "$0")/tap.sh"
unset POLLUX_POLICY POLLUX_REPORT_SOCKET
POLLUX_SLOTS=2 POLLUX_SLICE=3
export POLLUX_SLOTS POLLUX_SLICE

data=$FASHION_MNIST
[ -x "$TRAIN" ] || skip_all "$TRAIN is not built: make examples"
[ -e "$data/train-images-idx3-ubyte.gz" ] || [ -e "$data/train-images-idx3-ubyte" ] ||
	skip_all "no Fashion-MNIST in $data: apt-get install dataset-fashion-mnist"

query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
comes() { # comes NAME SECONDS CONDITION
	if wait_for "$2" holds "$3"; then result 0 "$1"
	else result 1 "$1" "never: $3
$("$POLLUX" status 2>&1)
$(query 'SELECT id, job_id, replicas, batch_size, accumulation_steps FROM runs')"; fi
}
submit() { # submit NAME BATCH SAMPLES OPTION...: a trainer of workload "net"; its number in $id
	name=$1 batch=$2 samples=$3
	shift 3
	id=$("$POLLUX" submit -q --name "$name" --workload net -b "$batch" --samples "$samples" \
		"$@" -- "$TRAIN" --data "$data" --hidden 64,32 --update-delay 5 \
		--initial-batch "$batch" --lr 0.005 \
		--samples "$samples" --checkpoint '{checkpoint}')
}
cleanup() {
	end_passes
	for job in $(query "SELECT id FROM jobs WHERE state IN ('queued', 'running')" \
		2>/dev/null); do
		"$POLLUX" cancel "$job" >/dev/null 2>&1
	done
	wait_for 20 holds "count(*) = 0 FROM runs WHERE state <> 'ended'" || :
}

# --- alone on the machine: learn, and grow ------------------------------------------------

# The delay makes an update of 8 samples mostly overhead on any machine, however busy.
submit first 8 100000000 --batch-range 8:2048 --accumulate -r 1:2
first=$id
watch_passes 0.5 -v
comes 'a first run has one device and its own batch' 10 \
	"count(*) FROM runs WHERE job_id = $first
	AND replicas = 1 AND batch_size = 8 AND number = 1"
comes 'step times become a model' 20 "count(*) = 1 FROM models WHERE workload = 'net'"
comes 'the job is tried on a second device' 20 \
	"count(*) > 0 FROM runs WHERE job_id = $first AND replicas = 2"
comes 'two devices are measured for the model' 30 \
	"count(*) = 1 FROM models WHERE max_replicas = 2 AND n_observations >= 2"
comes 'the batch grows with the noise scale' 60 \
	"count(*) > 0 FROM runs WHERE job_id = $first AND batch_size > 8"
is 'no batch is beyond the range that was asked for' 0 \
	"$(query 'SELECT count(*) FROM runs WHERE batch_size > 2048 OR batch_size < 8')"
is 'a batch is replicas x local batch x passes' 0 "$(query 'SELECT count(*) FROM runs
	WHERE batch_size <> replicas * local_batch_size * accumulation_steps')"
is 'the learning rate grows with the batch, at most by its ratio' 0 \
	"$(query 'SELECT count(*) FROM runs WHERE batch_size > 8 AND
		(learning_rate_scale < 1 OR learning_rate_scale > batch_size / 8.0)')"
like 'the pass says why it changes a job, with numbers' \
	'(change|start) job .*(device|devices)(:|;) ' "$(cat passes.out)"
comes 'the trainer changes its batch while it runs' 120 \
	'count(*) > 0 FROM runs WHERE config_version > 0'
like 'the trainer tells the new batch in its log' '^batch [0-9]+ -> [0-9]+' \
	"$("$POLLUX" log "$first")"
ok 'an event tells the new batch, with the numbers' \
	holds "count(*) > 0 FROM events WHERE kind = 'change' AND job_id = $first
	AND text LIKE 'from batch % to batch % = % * %; goodput % to %/s, noise scale %'"
unlike 'a new batch on the same devices costs no relaunch' 'relaunched' "$(cat passes.out)"

# --- a second job of the workload starts with what the first has taught --------------------

submit second 64 150000 --batch-range 64:2048 --accumulate -r 1:2
second=$id
comes 'the second job starts' 20 \
	"count(*) > 0 FROM runs WHERE job_id = $second AND state <> 'assigned'"
unlike 'the second job has a model at its start' 'goodput not known' \
	"$(query "SELECT reason FROM decision_jobs WHERE job_id = $second")"
comes 'the second job is shorter, and ends before the first' 120 \
	"count(*) = 1 FROM jobs WHERE id = $second AND state = 'done'
	AND (SELECT state FROM jobs WHERE id = $first) <> 'done'"

# --- more jobs than devices: short ones first, and nobody starves ---------------------------

for job in 3 4 5 6; do
	submit "j$job" 64 60000 -r 1
done
comes 'the four short jobs end' 120 \
	"count(*) = 0 FROM jobs WHERE state <> 'done' AND name LIKE 'j%'"
is 'jobs without a range of batches keep their batch' 0 \
	"$(query "SELECT count(*) FROM runs JOIN jobs ON jobs.id = job_id WHERE name LIKE 'j%'
		AND runs.batch_size <> 64")"
is 'each job has exactly its samples' 0 \
	"$(query "SELECT count(*) FROM jobs WHERE state = 'done' AND samples <> total_samples")"
"$POLLUX" cancel "$first"
comes 'no run is left in the store' 30 "count(*) = 0 FROM runs WHERE state <> 'ended'"
end_passes
is 'no pass complained of anything' '' "$(cat passes.err)"

# --- what waits, and since when --------------------------------------------------------------

waits_since() { query "SELECT last_end_time_s > $1 FROM jobs WHERE id = $2"; }
begin=$(date +%s)
"$POLLUX" submit -q --hold --name held -b 64 -- true >/dev/null
held=$(query 'SELECT max(id) FROM jobs')
is 'a held job is not counted as waiting' '' \
	"$(query "SELECT last_end_time_s FROM jobs WHERE id = $held")"
"$POLLUX" release "$held" 2>/dev/null
is 'a released job waits from its release on' 1 "$(waits_since "$begin" "$held")"
"$POLLUX" cancel "$held" 2>/dev/null

# A job that cannot be stopped is not started on few devices in order to be measured.
id=$("$POLLUX" submit -q --no-preempt -b 64 -r 1:2 -- sleep 100)
"$POLLUX" schedule
is 'a job that cannot be moved starts on all devices there are' 2 \
	"$(query "SELECT replicas FROM runs WHERE job_id = $id")"
"$POLLUX" cancel "$id" 2>/dev/null
comes "the cancelled job's run ends" 20 "count(*) = 0 FROM runs WHERE state <> 'ended'"

# --- other policies leave the sizes alone ---------------------------------------------------

wait_for 20 no_supervisor # its last act is a pass, by the policy that was
submit plain 64 100000000 --batch-range 64:2048 --accumulate -r 1:2
plain=$id
watch_passes 0.5 -v --policy las
comes 'the job has both devices under las' 20 \
	"count(*) > 0 FROM runs WHERE job_id = $plain AND replicas = 2"
sleep 4
is 'the job keeps its own batch under las' '64' \
	"$(query "SELECT DISTINCT batch_size FROM runs WHERE job_id = $plain")"
end_passes

finish
