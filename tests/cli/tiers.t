#!/bin/sh
# tiers.t - devices that are joined better are worth a wait, for a while: four GPUs in two pairs,
# of the stand-in for NVML (tests/gpu/standin.h). The jobs are real, the GPUs are not.
# shellcheck disable=SC2016,SC2317  # Perl; functions run by wait_for and the trap
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY POLLUX_LOCALITY_WAIT
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root COLUMNS=80
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT COLUMNS
mkdir root
cleanup() { end_jobs; }

gpu() { # gpu NUMBER [PEER]: GPU-NUMBER, with an NVLink to another
	printf 'gpu GPU-%s NVIDIA RTX A6000\nmemory 49140 48000\nrates 0\n' "$1"
	printf 'temperature 35\npersistence 1\n'
	[ $# = 1 ] || printf 'nvlink %s\n' "$2"
}
pairs() { { gpu 0 1; gpu 1 0; gpu 2 3; gpu 3 2; } >answers; }
reason() { store "SELECT reason FROM jobs WHERE id = $1"; }
devices() { # of the job's last run
	store "SELECT group_concat(device, ' ') FROM run_devices WHERE run_id = (SELECT max(id)
		FROM runs WHERE job_id = $1)"
}
has_devices() { [ "$(devices "$1")" = "$2" ]; }
is_running() { [ "$(store "SELECT state FROM runs WHERE job_id = $1 ORDER BY id DESC LIMIT 1")" = \
	running ]; }
submit() { "$POLLUX" submit -q --workload w -b 64 "$@"; }
# single SECONDS: a job on one GPU that keeps it, of so many samples; one takes 640 a second.
single() { submit -r 1 --no-preempt --suspend never --samples $(($1 * 640)) -- sleep 1000; }
pair() { submit -r 2 --samples 2e6 "$@" -- sh -c 'trap "exit 75" TERM; sleep 1000 & wait'; }
leave() { # leave JOB...: they end
	for id in "$@"; do
		"$POLLUX" cancel "$id" >/dev/null && "$POLLUX" wait --timeout 200 "$id" >/dev/null
	done
	true
}
# Singles on gpu:0 and gpu:2, which end in so many seconds: one half of each pair is free.
break_pairs() {
	a=$(single "$1")
	b=$(single 1)
	pass
	wait_for 20 is_running "$b"
	c=$(single "$2")
	pass
	wait_for 20 is_running "$c"
	leave "$b"
}

# --- what is known of w: a step of 64 samples on one GPU, on a pair, and across pairs ---
pairs
past=$(submit --hold -- true)
measure_tiers() { # measure_tiers WHO: of runs on one GPU, on a pair, and across pairs
	on_tier() { measured "$1" "$5" replicas="$2" local_batch_size="$3" tier="$4" \
		step_time_sd_s=1e-9 device_kind='NVIDIA RTX A6000, 48 GiB' n_steps=5000; }
	on_tier "$1" 1 64 null 0.1
	on_tier "$1" 2 32 fast 0.06
	on_tier "$1" 2 32 machine 0.09
}
past_run "$past"
measure_tiers "$past"
"$POLLUX" cancel "$past" >/dev/null

# --- while a wait is cheaper, no job runs across pairs ---
break_pairs 240 7200
is 'jobs take half of each pair' 'gpu:GPU-0 gpu:GPU-2' "$(devices "$a") $(devices "$c")"
one=$(pair) two=$(pair) three=$(pair) four=$(pair)
pass
is 'none of four jobs starts across the pairs' 0 \
	"$(store "SELECT count(*) FROM runs WHERE job_id IN ($one, $two, $three, $four)")"
like 'the reason says what the first job waits for, and why' \
	"^waits up to 1[0-9] min for gpu:0\\+gpu:1 \
\\(NVLink\\): gpu:1\\+gpu:3 would be 3[0-9] % slower$" "$(reason "$one")"
run "$POLLUX" status --json
like 'JSON has the time until which the job waits' '"waiting_for_tier_until": 1[0-9]{9}' "$out"
until_s=$(store "SELECT waiting_for_tier_until FROM jobs WHERE id = $one")
pass
is 'another pass does not change that time' \
	"$until_s" "$(store "SELECT waiting_for_tier_until FROM jobs
	WHERE id = $one")"
leave "$a"
pass
ok 'the job starts on the pair once that is free' \
	wait_for 20 has_devices "$one" 'gpu:GPU-0 gpu:GPU-1'
is 'the tier is stored with the run' fast "$(store "SELECT tier FROM runs WHERE job_id = $one")"
is 'the wait is stored' '2 fast' "$(store "SELECT replicas || ' ' || tier FROM locality_waits")"
is 'a job that has started waits no more' \
	'' "$(store "SELECT waiting_for_tier_until FROM jobs WHERE id = $one")"
run "$POLLUX" status "$one" --json
like 'JSON tells the tier' '"tier": "fast"' "$out"
leave "$two" "$three" "$four" "$one" "$c"

# --- with a job that ends in an hour on the pair, across at once ---
break_pairs 3600 7200
one=$(pair --preempt)
pass
ok 'a job starts across the pairs where the wait would be long' \
	wait_for 20 has_devices "$one" 'gpu:GPU-1 gpu:GPU-3'
is 'the tier across the pairs is stored with the run' \
	machine "$(store "SELECT tier FROM runs WHERE job_id = $one")"

# --- a job on a bad tier moves when that pays ---
wait_for 20 is_running "$one"
POLLUX_SLICE=20s pass
is 'a job stays across the pairs while no pair is free' \
	1 "$(store "SELECT count(*) FROM runs WHERE job_id = $one")"
moved() { POLLUX_SLICE=20s pass && has_devices "$one" 'gpu:GPU-0 gpu:GPU-1'; }
"$POLLUX" cancel "$a" >/dev/null && "$POLLUX" wait --timeout 200 "$a" >/dev/null
ok 'the job moves to a pair that is free' wait_for 30 moved
like 'the event says why the job moves' 'moves to gpu:0\+gpu:1 \(NVLink\): 5[0-9] % faster there' \
	"$("$POLLUX" status "$one" | tr -s "\n " "  ")"
leave "$one" "$c"

# --- a job on several GPUs is not suspended: kernels that wait for it would keep them busy ---
break_pairs 3600 7200
one=$(pair --preempt --suspend always --gpu-memory 1G)
pass
wait_for 20 is_running "$one"
is 'a job runs across the pairs' 'gpu:GPU-1 gpu:GPU-3' "$(devices "$one")"
two=$(submit -r 2 --preempt --suspend always --gpu-memory 1G --samples 1e6 -- sleep 1000)
"$POLLUX" first "$two"
leaves() { POLLUX_SLICE=2s pass && [ "$(store "SELECT number, stop_reason FROM runs
	WHERE job_id = $one ORDER BY id LIMIT 1")" = '1|preempt' ]; }
ok 'a job on several GPUs is stopped, not suspended' wait_for 30 leaves
leave "$a" "$two" "$one" "$c"

# --- jobs with plans: what is known of w is known under the plan as well ---
known=$(submit -r 1 --plan dp= -- true)
pass
"$POLLUX" wait --timeout 200 "$known" >/dev/null
measure_tiers "$known"
break_pairs 240 7200
# It comes while a pass is at work that has not fitted the plan's model.
one=$(pair --plan dp= --hold)
late=0
writes() { # a pass in the background, $late, has read the store and waits to write into it
	! find "/proc/$late/fd" -lname '*/pollux.db-queue' 2>/dev/null | grep -q . || return 0
	# it ends at once if another one is at work
	if is_over "$late"; then "$POLLUX" schedule 3>&- & late=$!; fi
	false
}
hold_store
wait_for 20 writes
ok 'a pass has read the store before the job comes' [ "$late" != 0 ]
let_store_go "$(job_sql "$one" state=queued) COMMIT"
wait "$late"
like 'a job with a plan waits for a pair' '^waits up to 1[0-9] min for gpu:0\+gpu:1 .NVLink.: ' \
	"$(reason "$one")"
leave "$a"
pass
ok 'a job with a plan starts on the pair' wait_for 20 has_devices "$one" 'gpu:GPU-0 gpu:GPU-1'
leave "$one" "$c"

# --- what a person asks for ---
break_pairs 3600 7200
one=$(pair --tier fast)
pass
is 'a job with --tier fast waits all the same' \
	'waits for 2 devices joined by NVLink: --tier fast' "$(reason "$one")"
like 'status shows the tier that is asked for' '^ *tier +fast' "$("$POLLUX" status "$one")"
two=$(submit -r 3 --tier fast -- true)
pass
is 'three devices with --tier fast are never there' \
	'no 3 devices here are joined as --tier fast demands' \
	"$(reason "$two")"
leave "$one" "$two" "$a" "$c"
break_pairs 240 7200
one=$(pair)
waits_until() { store "SELECT waiting_for_tier_until FROM jobs WHERE id = $one"; }
pass
like 'a job waits for a pair' '^1[0-9]{9}' "$(waits_until)"
"$POLLUX" hold "$one" >/dev/null
is 'a held job does not wait for a pair' '' "$(waits_until)"
"$POLLUX" release "$one" >/dev/null
pass
like 'a released job waits for a pair again' '^1[0-9]{9}' "$(waits_until)"
"$POLLUX" edit "$one" --begin +1h >/dev/null
pass
is 'a job with a later begin does not wait for a pair' '' "$(waits_until)"
POLLUX_LOCALITY_WAIT=0 "$POLLUX" edit "$one" --begin now >/dev/null
POLLUX_LOCALITY_WAIT=0 pass
ok 'a job starts across the pairs without locality_wait' \
	wait_for 20 has_devices "$one" 'gpu:GPU-1 gpu:GPU-3'
status 'an unknown tier is a usage error' 64 "$POLLUX" submit --tier near -- true
like 'the message names the tiers' "any, fast, switch or numa" "$err"
leave "$one" "$a" "$c"

# --- what explain says ---
run "$POLLUX" explain "$one"
like 'explain has the factor of a worse tier, as measured' \
	'^kappa_machine +[0-9.]+ .* data' "$out"
# Two devices can be a pair, three and four must cross: a step waits for that synchronisation.
run "$POLLUX" explain "$one" --json
is 'each number of devices has the best tier that it can have' '2 fast, 3 machine, 4 machine' \
	"$(printf '%s' "$out" | json '
	my $m = $d->{model};
	my %p = map { $_ => $m->{parameters}{$_}{value} } keys %{$m->{parameters}};
	print join ", ", map { my $r = $_;
		my $grad = $p{alpha_grad} + $p{beta_grad} * $r->{local_batch_size};
		my $sync = $p{alpha_sync_local} + $p{beta_sync_local} * ($r->{replicas} - 2);
		my %off = map {
			my $s = $sync * $m->{tiers}{$_}{factor};
			my $step = ($grad ** $p{gamma} + $s ** $p{gamma}) ** (1 / $p{gamma});
			$_ => abs($r->{step_time_s} / $step - 1)
		} keys %{$m->{tiers}};
		my ($near) = sort { $off{$a} <=> $off{$b} } keys %off;
		"$r->{replicas} $near" } @{$d->{devices}}[1 .. 3]')"
finish
