#!/bin/sh
# plan_known.t - what is known of a plan by other plans and by measured peaks: ratios of step times,
# the memory of sizes that were not tried.
# shellcheck disable=SC2016,SC2317 # Perl and sh for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
POLLUX_SLOTS=4
export POLLUX_SLOTS
cleanup() { end_jobs >/dev/null; }
submit() { "$POLLUX" submit -q "$@"; }
is_done_after_pass() { # a pass that finds another one at work leaves at once
	"$POLLUX" schedule
	no_supervisor && [ "$(store "SELECT state FROM jobs WHERE id = $1")" = 'done' ]
}
ends() { wait_for 20 is_done_after_pass "$1"; } # ends JOB: passes are made until it is done
plans_of() { store "SELECT group_concat(plan || ' ' || replicas) FROM runs WHERE job_id = $1"; }

# --- ratios of step times ---
of_w() { submit -b 64 --workload w "$@" -- true; }
dp=$(of_w --plan dp=) gc=$(of_w --plan gc=-g)
ends "$dp"
ends "$gc"
# dp: 2 ms and 0.5 ms a sample, 10 ms of synchronisation
measured "$dp" 0.010 replicas=1 local_batch_size=16 accumulation_steps=1
measured "$dp" 0.034 replicas=1 local_batch_size=64 accumulation_steps=1
measured "$dp" 0.028 replicas=2 local_batch_size=32 accumulation_steps=1
measured "$dp" 0.044 replicas=2 local_batch_size=64 accumulation_steps=1
measured "$gc" 0.0425 replicas=1 local_batch_size=64 accumulation_steps=1
both=$(submit -b 64 -r 1:2 --workload w --plan dp= --plan gc=-g -- true)
ends "$both"
json_of() { "$POLLUX" explain --json "$1" | json "$2"; }
is 'a plan measured once is compared with one measured often' 'dp - 0 0, gc dp 1 1' \
	"$(json_of "$both" 'print join ", ", map { join " ", $_->{name}, $_->{reference} // "-",
		$_->{borrows_pass} ? 1 : 0, $_->{borrows_sync} ? 1 : 0 } @{$d->{plans}}')"
is 'the ratio is near that at the common size' '1.26 1.04 1.52' "$(json_of "$both" '
	my $p = $d->{plans}[1];
	printf "%.2f %.2f %.2f", map { $p->{$_} } qw(ratio ratio_low ratio_high)')"
like 'explain says the ratio of the plans' \
	'ratio +a step of gc takes 1\.26 \(1\.04 to 1\.52\) times as long as of dp' \
	"$("$POLLUX" explain "$both")"
like 'explain says which times are borrowed' \
	'from there come its times of a pass and synchronisation' \
	"$("$POLLUX" explain "$both" | tr -s ' \n' ' ')"
# by its own fit alone, two devices of gc would need no time to synchronise
ok 'on two devices gc is expected to synchronise as dp does' [ "$(json_of "$both" '
	my ($dp, $gc) = map { $_->{goodput_eps} } @{$d->{plans}};
	print $gc->[1] < 0.9 * $dp->[1] ? 1 : 0')" = 1 ]
is 'the plan that synchronises faster is chosen for two devices' 'dp 2' "$(plans_of "$both")"
is 'models of plans are stored as fitted' 0 "$(store "SELECT count(*) FROM models
	WHERE workload LIKE '%gc#%' AND alpha_sync_local > 1e-6")"
like 'a job that ran under the plan is explained by the same times' \
	'2 +64 +32 +1 +[0-9.]+ms' "$("$POLLUX" explain "$gc")"

# --- memory of sizes that were not tried ---
machine=$(awk '/MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
took() { # took JOB PART: of the machine's memory, at its peak
	given_run "$1" peak_memory_bytes="@CAST($machine * $2 AS INTEGER)"
}
of_v() { submit --workload v -r "$1" -b "$2" --plan dp= -- true; }
for size in 16:.2 32:.35 64:.65; do
	job=$(of_v 1 "${size%:*}")
	ends "$job"
	measured "$job" "0.${size%:*}" replicas=1 local_batch_size="${size%:*}" accumulation_steps=1
	took "$job" "${size#*:}"
done
near=$(submit -b 88 --workload v --plan dp= --plan other=-o -- true)
ends "$near"
is 'a size that is predicted to fit runs in the plan that was measured' 'dp 1' "$(plans_of "$near")"
large=$(submit -b 128 --workload v --plan dp= --plan other=-o -- true)
ends "$large"
is 'where no measured plan fits, one that was not measured is tried' 'other 1' \
	"$(plans_of "$large")"
gib=$(perl -e "printf '%.3g of %.3g GiB', 1.25 * $machine / 2 ** 30, $machine / 2 ** 30")
like 'the reason says how much memory is needed, of how much' "plan other \\(dp needs $gib\\)" \
	"$(store "SELECT text FROM events WHERE job_id = $large AND kind = 'assigned'")"
is 'explain has the memory that a sample takes' 0.0094 "$(json_of "$large" "printf '%.4f',
	\$d->{plans}[0]{memory_sample_bytes} / $machine")"
ended=$(store "SELECT id FROM runs WHERE job_id = $large")
measured "run:$ended" 2 replicas=1 local_batch_size=128 accumulation_steps=1
like 'explain compares the plans by their memory' "best on 1 +other, .*\\(dp needs $gib\\)" \
	"$("$POLLUX" explain "$large")"
finish
