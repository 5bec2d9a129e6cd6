#!/bin/sh
# torch_real.t - an unmodified program on the real PyTorch adapts: with {batch} alone its batch
# grows, its loss stays, and each relaunch continues where the last run saved; memory that it did
# not get is told. POLLUX_FRAMEWORKS names a virtual environment that has torch.
# shellcheck disable=SC2016,SC2317  # texts for awk; functions run by wait_for
. "$(dirname "$0")/tap.sh"
python=${POLLUX_FRAMEWORKS-}/bin/python
if [ -z "${POLLUX_FRAMEWORKS-}" ] || ! "$python" -c 'import torch' 2>/dev/null; then
	skip_all 'POLLUX_FRAMEWORKS names no virtual environment that has torch'
fi
POLLUX_SLOTS=1 POLLUX_SLICE=10 OMP_NUM_THREADS=1
export POLLUX_SLOTS POLLUX_SLICE OMP_NUM_THREADS
unset POLLUX_TORCH PYTHONPATH
program=$ROOT/tests/frameworks/programs/adapts.py
epochs=${EPOCHS:-150} # long beside a relaunch, which imports torch anew
total=$((epochs * 8192))

cleanup() { end_jobs; }
# A window of gradients each 20 updates: the budget of 1 % would take minutes to grow a batch.
submit() { "$POLLUX" submit -b 32 --env POLLUX_TORCH_EVERY=20 "$@"; }
asked() { store "SELECT $1 FROM jobs WHERE id = $id"; }
passes_until() { "$POLLUX" schedule && [ "$(asked "$1")" = "$2" ]; }
last_loss() { sed -n 's/.* loss //p' "$1" | tail -n 1; }

mkdir fixed
"$python" "$program" --batch 32 --out fixed --epochs "$epochs" >fixed.log

# On a busy machine the program may end before the noise is known well enough for a larger batch.
# What was learnt serves the next job then.
grown() {
	[ "$(store "SELECT max(batch_size) FROM runs WHERE job_id = $id
		AND last_samples > 0")" -gt 32 ]
}
for _ in 1 2 3; do
	rm -f samples.log
	id=$(submit --batch-range 32:1024 --retries 9 -- "$python" "$program" --batch '{batch}' \
		--out '{checkpoint}' --epochs "$epochs")
	"$POLLUX" schedule
	wait_for 120 passes_until state 'done'
	grown && break
done
is 'the helper is on by itself' auto "$(asked torch)"
is 'an unmodified program ends' 'done' "$(asked state)"
like 'the program has no line for pollux' '^0$' "$(grep -ci pollux_ "$program")"
sizes=$(store "SELECT group_concat(batch_size || ' ' || outcome, ', ') FROM runs
	WHERE job_id = $id ORDER BY number")
echo "# $sizes"
ok 'the batch of the program grew' grown
is 'the job has its total of samples' "$total" "$(asked 'CAST(samples AS INTEGER)')"
is 'the total of the program was found' \
	"$total" "$(asked 'CAST(reported_total_samples AS INTEGER)')"
twice=$(($(awk '{ n += $2 } END { print n }' samples.log) - total))
lost=$(asked 'CAST(lost_samples AS INTEGER)')
# What came after the last report of a run, a tenth of a second before its end, is not known.
knows() { [ "$lost" -le "$twice" ] && [ $((twice - lost)) -le $((twice / 5 + 4000)) ]; }
ok "of the $twice samples done twice pollux knows $lost" knows
# A run that is stopped between a save and its next update has not told of the save.
is 'each run began where the one before had saved' 0 "$(store "SELECT count(*) FROM runs r
	JOIN runs before ON before.job_id = r.job_id AND before.number = r.number - 1
	WHERE r.job_id = $id AND r.first_samples IS NOT NULL
	AND before.checkpoint_samples IS NOT NULL
	AND r.first_samples NOT IN (before.checkpoint_samples,
		before.checkpoint_samples + 8192)")"
like 'the learning rate that the program saw was its own' \
	'^0.02$' "$(awk '{ print $3 }' samples.log | sort -u)"
fixed=$(last_loss fixed.log)
"$POLLUX" log "$id" >adapted.log
adapted=$(last_loss adapted.log)
ok "the last loss is $adapted, where batches of 32 come to $fixed" \
	awk "BEGIN { exit !($adapted <= 1.1 * $fixed) }"

# --- memory that is not there ---
id=$("$POLLUX" submit -b 256 -- "$python" "$program" --batch '{batch}' --out '{checkpoint}' \
	--fits 200)
"$POLLUX" schedule
ok 'a batch that does not fit fails' wait_for 60 passes_until state 'failed'
is 'the batch that does not fit is known by the allocation' \
	'256|1|out of memory: 4194304.0 GiB asked for' \
	"$(store "SELECT batch_size, out_of_memory, diagnosis FROM runs WHERE job_id = $id")"
finish
