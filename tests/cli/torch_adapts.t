#!/bin/sh
# torch_adapts.t - a program that knows nothing of pollux adapts: the helper for PyTorch tells what
# it does and scales its learning rate, {batch} gives it its batch. PyTorch is a stand-in
# (tests/torch); the helper, all but its measuring of gradients, is the one that is installed.
# shellcheck disable=SC2016,SC2317  # texts for awk and Perl; functions run by wait_for
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
POLLUX_SLOTS=1 POLLUX_SLICE=4 PYTHONPATH=$ROOT/tests/torch
export POLLUX_SLOTS POLLUX_SLICE PYTHONPATH
unset POLLUX_TORCH
total=160000	# samples in four epochs

cleanup() { end_jobs; }
submit() { "$POLLUX" submit -b 32 "$@"; }
asked() { store "SELECT $1 FROM jobs WHERE id = $id"; }
passes_until() { "$POLLUX" schedule && [ "$(asked "$1")" = "$2" ]; }
logged() { awk "$1" samples.log; }

# --- the batch grows, and nothing is done twice ---
id=$(submit --batch-range 32:4096 --lr-rule linear -- python3 "$ROOT/tests/torch/train.py" \
	--batch '{batch}' --out '{checkpoint}' --size 40000)
is 'the helper is on by itself' auto "$(asked torch)"
"$POLLUX" schedule
ok 'steps, totals and a noise scale come' wait_for 20 passes_until \
	"samples > 0 AND reported_total_samples = $total AND (SELECT count(*) FROM
	gradient_statistics WHERE run_id IN (SELECT id FROM runs WHERE job_id = $id)) > 0" 1
ok 'the job whose batch may grow is done' wait_for 120 passes_until state 'done'
batches=$(store "SELECT group_concat(batch_size) FROM runs WHERE job_id = $id ORDER BY number")
like 'the batch of the job has grown' '^32,.*[0-9]' "$batches"
is 'the job consumed its total of samples' "$total" "$(asked 'CAST(samples AS INTEGER)')"
is 'the program saw each sample once' "$total" "$(logged '{ n += $3 } END { print n }')"
is 'pollux knows that no sample was lost' '0.0|1' "$(asked 'lost_samples, resumes')"
is 'the learning rate that the program used followed the batch' '' \
	"$(store "SELECT printf('%.6g', 0.1 * batch_size / 32) FROM runs WHERE job_id = $id" >want
		logged '{ print $4 }' | sort -u | grep -vxF -f want)"
is 'the learning rate that the program saw did not change' 0.1 "$(logged '{ print $5 }' | sort -u)"
like 'the change rests on a noise scale with its interval' \
	'noise scale ([0-9]+ \([0-9]+ to [0-9]+\)|at least [0-9]+)' \
	"$(store "SELECT text FROM events WHERE job_id = $id AND kind = 'assigned'" | tail -n 1)"

# --- killed in the middle ---
rm samples.log
total=80000
id=$(submit --retries 1 -- python3 "$ROOT/tests/torch/train.py" --batch '{batch}' \
	--out '{checkpoint}')
"$POLLUX" schedule
ok 'the job that will be killed is in its second epoch' wait_for 20 passes_until 'samples > 24000' 1
like 'status tells how much is done' ' running 1 [^ ]+ [3-9][0-9]% 32 .* torch helper on' \
	"$("$POLLUX" status | tr -s ' \n' ' ')"
is 'JSON has how much is done, and when it ends' 1 "$("$POLLUX" status --json "$id" | json '
	my $j = $d->{jobs}[0];
	print abs($j->{done_ratio} - $j->{samples} / 80000) < 1e-9 && $j->{eta_s} > 0 &&
		$j->{eta_s} < 1000 ? 1 : $j->{eta_s}')"
kill -9 "$(store "SELECT $leader_pid FROM runs WHERE job_id = $id")"
ok 'the killed job runs again and is done' wait_for 60 passes_until state 'done'
is 'the killed job has its total of samples' "$total" "$(asked 'CAST(samples AS INTEGER)')"
twice=$(($(logged '{ n += $3 } END { print n }') - total))
lost=$(asked 'CAST(lost_samples AS INTEGER)')
# The helper reports every tenth of a second: what came after the last report is not known.
knows() { [ "$lost" -le "$twice" ] && [ $((twice - lost)) -le 1500 ]; }
ok "of the $twice samples done twice pollux knows $lost" knows
# On a busy machine the kill may come after the second one.
is 'the second run began at a checkpoint' 1 "$(store "SELECT first_samples >= 20000
	AND first_samples % 20000 = 0 FROM runs WHERE job_id = $id AND number = 2")"

# --- a batch that does not fit ---
rm samples.log
id=$(submit --batch-range 32:4096 --retries 9 --workload fits -- \
	python3 "$ROOT/tests/torch/train.py" --batch '{batch}' --out '{checkpoint}' --fits 100 \
	--epochs 1000)
"$POLLUX" schedule
failed="SELECT min(number) FROM runs WHERE job_id = $id AND batch_size > 100"
ok 'a job grows beyond what fits, fails, and trains on' \
	wait_for 240 passes_until "(SELECT count(*) FROM runs WHERE job_id = $id
		AND number > ($failed) AND batch_size BETWEEN 33 AND 100
		AND last_samples > first_samples)" 1
too_large="SELECT count(*) FROM runs WHERE job_id = $id AND batch_size > 100"
is 'the failed runs are known to be out of memory' "$(store "$too_large")" \
	"$(store "$too_large AND out_of_memory AND diagnosis = 'out of memory: 2.0 GiB asked for'")"
finish
