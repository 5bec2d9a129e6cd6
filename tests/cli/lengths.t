#!/bin/sh
# lengths.t - what is known of the lengths of jobs, and which of them goes first by that.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:1 pu:1'
export HWLOC_SYNTHETIC

cleanup() { end_jobs; }
submit() { "$POLLUX" submit -q --preempt "$@"; }
runs() { [ "$(store "SELECT state FROM runs WHERE job_id = $1")" = running ]; }
would() { "$POLLUX" schedule --dry-run | sed 's/:.*//; s/ (.*//; s/ on cpu//' | paste -sd' '; }
# What a run of a job would have measured: steps, and the seconds of each, at a batch size.
told() { # told JOB BATCH STEPS SECONDS
	measured "$1" "$4" local_batch_size="$2" n_steps="$3" step_time_sd_s=0.0002
	given_job "$1" steps="$3"
}

# --- at the end of its work ---
# 100 samples take 0.1 s. It has run for two hours when another comes, with 3000 s to go.
long=$(submit --workload m -b 100 --samples 1000000 -- sleep 1000)
"$POLLUX" schedule
ok 'a long job runs' wait_for 20 runs "$long"
told "$long" 100 10000 0.1
given_run all launch_boot_s-=7200 launch_time_s-=7200
short=$(submit --workload m -b 100 --samples 3000000 -- true)
reached() { given_job "$long" samples="$1"; }
reached 900000
is 'a job with 100 s left keeps its device' '' "$(would)"
reached 1000000
is 'a job with nothing left keeps its device' '' "$(would)"
reached 1040000
is 'a job a little beyond its declared length keeps its device' '' "$(would)"
reached 1100000
is 'a job far beyond its declared length gives way' "suspend job $long start job $short" "$(would)"
"$POLLUX" cancel "$long" "$short"
"$POLLUX" wait --timeout 200 "$long"

# --- without a batch size ---
# Steps take 0.1 s on one device. The first job has two hours left, if its log tells the number of
# steps.
long=$(submit --workload s -- sleep 1000)
"$POLLUX" schedule
ok 'a job runs that declared no length' wait_for 20 runs "$long"
told "$long" 0 100000 0.1
given_run "$long" launch_boot_s-=7200 launch_time_s-=7200
short=$(submit --workload s --steps 30000 -- true)
is 'a job of unknown length gives way to one with 3000 s to go' \
	"suspend job $long start job $short" "$(would)"
given_job "$long" printed_total_steps=120000
is 'a job whose log tells 2000 s to go keeps its device' '' "$(would)"
given_job "$long" printed_total_steps=172000
is 'a job of which nothing is known has its first slice at once' \
	"suspend job $long start job $short" \
	"$(given_job "$short" total_steps=null; would)"
third=$(submit --workload other --steps 30000 -- true)
is 'of two new jobs the earlier starts, though the other is known' \
	"suspend job $long start job $short" "$(would)"
"$POLLUX" cancel "$third"
given_job "$short" total_steps=90000
"$POLLUX" schedule
unlike 'the reason of a waiting job of known length says nothing of it' 'unknown' \
	"$(store "SELECT reason FROM jobs WHERE id = $short")"
"$POLLUX" cancel "$long" "$short"
"$POLLUX" wait --timeout 200 "$long"
finish
