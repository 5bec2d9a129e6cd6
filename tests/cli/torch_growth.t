#!/bin/sh
# torch_growth.t - a program that counts updates keeps its batch, unless it is passed their number;
# an edit takes an adapted job back to its own batch. PyTorch is a stand-in (tests/torch).
# shellcheck disable=SC2016,SC2317  # texts for awk; functions run by wait_for
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
POLLUX_SLOTS=1 POLLUX_SLICE=4 PYTHONPATH=$ROOT/tests/torch
export POLLUX_SLOTS POLLUX_SLICE PYTHONPATH
unset POLLUX_TORCH

cleanup() { end_jobs; }
asked() { store "SELECT $1 FROM jobs WHERE id = $id"; }
passes_until() { "$POLLUX" schedule && [ "$(asked "$1")" = "$2" ]; }
logged() { awk "$1" samples.log; }
batches() { store "SELECT group_concat(DISTINCT batch_size) FROM runs WHERE job_id = $id"; }
iters() { # iters OPTION... -- ARGUMENT...: the program that counts
	options=''
	while [ "$1" != -- ]; do options="$options $1"; shift; done
	shift
	# shellcheck disable=SC2086  # options without blanks
	"$POLLUX" submit -q -b 32 --batch-range 32:1024 $options -- \
		python3 "$ROOT/tests/torch/iters.py" --batch_size '{batch}' \
		--out_dir '{checkpoint}' "$@"
}

# --- it counts updates ---
id=$(iters --workload counts -- --max_iters 2500 2>warnings)
is 'submit does not warn where the helper finds out what ends it' '' "$(cat warnings)"
"$POLLUX" schedule
noise_is_known() {
	"$POLLUX" schedule && [ "$(store "SELECT count(*) > 0 FROM gradient_statistics
		WHERE run_id IN (SELECT id FROM runs WHERE job_id = $id)")" = 1 ]
}
ok 'the noise scale of the program comes to be known' wait_for 60 noise_is_known
is 'the program was seen to count updates' steps "$(asked ends_by)"
is 'the optimizer of the program is known' 'sgd SGD' "$(asked optimizer)"
like 'status says why the job is not adapted, and the mend' \
	'adapted  *no: counts 2,500 updates: larger batches would make it longer; pass \{steps\}' \
	"$("$POLLUX" status "$id" | tr -s ' \n' ' ')"
like 'explain says why the job is not adapted' 'adapted  *no: counts 2,500 updates' \
	"$("$POLLUX" explain "$id" | tr -s ' \n' ' ')"
ok 'the job that counts updates is done' wait_for 90 passes_until state 'done'
is 'the job had its own batch throughout' 32 "$(batches)"
is 'the job made all its updates' 2500 "$(logged 'END { print $1 }')"

# --- it is passed their number ---
rm samples.log
id=$(iters --workload counts --steps 4000 --lr-rule linear -- --max_iters '{steps}')
ok 'a job that takes {steps} is done' wait_for 120 passes_until state 'done'
like 'the batch of the job with {steps} has grown' '[0-9],[0-9]' "$(batches)"
samples=$(logged '{ n += $2 } END { print n }')
# The last update of each run may be rounded up; a loader restarts at each relaunch.
is 'the job with {steps} saw as many samples as at its own batch' 1 "$(echo "$samples" |
	awk '{ print ($1 >= 128000 - 4096 && $1 <= 128000 + 4096 ? 1 : $1) }')"
less() { [ "$(logged 'END { print $1 }')" -lt 4000 ]; }
ok 'the job with {steps} made fewer updates' less

# --- what a submission says ---
id=$(iters --hold --steps 4000 --no-torch -- 2>warnings)
like 'submit warns of --steps without {steps}' \
	'warning: its batch does not grow within --batch-range: counts 4,000 updates' \
	"$(cat warnings)"
id=$(iters --hold --no-torch -- 2>warnings)
like 'submit warns where nothing tells what ends the training' \
	'warning: its batch does not grow .*: nothing tells yet what ends its training' \
	"$(cat warnings)"
id=$(iters --hold --no-torch --samples 1e6 -- 2>warnings)
unlike 'submit does not warn where the total of samples is known' 'does not grow' "$(cat warnings)"
id=$(iters --hold --steps 500 --preset nanogpt --)
like 'the preset of nanoGPT passes {steps}' \
	'max_iters=\{steps\}.*--lr_decay_iters=\{steps\}' \
	"$("$POLLUX" status --json "$id" | tr -d '\n')"
id=$(iters --hold --preset nanogpt --)
unlike 'the preset of nanoGPT passes no {steps} without --steps' \
	'\{steps\}' "$("$POLLUX" status --json "$id" | tr -d '\n')"
end_jobs

# --- replicas that make their own updates ---
POLLUX_SLOTS=2
for end in '' steps; do
	id=$("$POLLUX" submit -q --hold --no-torch --replicas 1:2 -- sleep 60)
	given_job "$id" ends_by="$end"
	"$POLLUX" release "$id" >/dev/null
	"$POLLUX" schedule
	echo "$end $(store "SELECT replicas FROM runs WHERE job_id = $id")" >>replicas
	[ -z "$end" ] || "$POLLUX" status "$id" | tr -s ' \n' ' ' >adapted
	end_jobs
done
is 'a job that counts updates gets no needless replicas' ' 2
steps 1' "$(cat replicas)"
like 'status says why it gets no more replicas' \
	'adapted  *no: counts updates, which each replica makes: more devices' \
	"$(cat adapted)"
POLLUX_SLOTS=1

# --- epochs that end with a smaller batch ---
id=$("$POLLUX" submit -q -b 48 -- python3 "$ROOT/tests/torch/train.py" --batch '{batch}' \
	--out '{checkpoint}' --epochs 5 --size 500)
ok 'a job of short epochs is done' wait_for 60 passes_until state 'done'
is 'epochs that end with a smaller batch are epochs' epochs "$(asked ends_by)"

# --- taken back ---
rm -f samples.log
id=$("$POLLUX" submit -q -b 32 --batch-range 32:1024 --lr-rule linear -- \
	python3 "$ROOT/tests/torch/train.py" --batch '{batch}' --out '{checkpoint}' --epochs 100)
now_batch() { store "SELECT batch_size FROM runs WHERE job_id = $id AND state = 'running'
	AND first_step_s > 0"; }
has_grown() { "$POLLUX" schedule && [ "$(now_batch)" -gt 32 ] 2>/dev/null; }
ok 'the batch of a job that ends by epochs grows' wait_for 90 has_grown
is 'the job was seen to end by epochs' epochs "$(asked ends_by)"
like 'status says what was changed, and what that rests on' \
	'adapted  *batch 32 -> [0-9]+, learning rate x [0-9.]+ \(linear, SGD\); noise scale' \
	"$("$POLLUX" status "$id" | tr -s ' \n' ' ')"
"$POLLUX" edit --batch-range 32 "$id" >/dev/null
is_back() { "$POLLUX" schedule && [ "$(now_batch)" = 32 ]; }
ok 'edit --batch-range takes a job back to its own batch' wait_for 60 is_back
is 'edit --batch-range takes the learning rate back' \
	1.0 "$(store "SELECT learning_rate_scale FROM runs
	WHERE job_id = $id ORDER BY number DESC LIMIT 1")"
"$POLLUX" cancel "$id" >/dev/null
is 'history counts the jobs that were adapted' 2 "$("$POLLUX" history --json |
	json 'print $d->{total}{adapted}')"
finish
