#!/bin/sh
# plan_width.t - plans whose replicas have several devices: what is declared, what the command is
# told, which numbers of devices such a job gets, and what is learnt by replicas.
# shellcheck disable=SC2016,SC2317 # Perl and sh for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
cleanup() { end_jobs >/dev/null; }
submit() { "$POLLUX" submit -q "$@"; }
is_done_after_pass() { # a pass that finds another one at work leaves at once
	"$POLLUX" schedule
	no_supervisor && [ "$(store "SELECT state FROM jobs WHERE id = $1")" = 'done' ]
}
ends() { wait_for 20 is_done_after_pass "$1"; } # ends JOB: passes are made until it is done
sizes_of() { # sizes_of JOB: plan, devices, devices of a replica, local batch and passes of its runs
	store "SELECT group_concat(plan || ' ' || replicas || '/' || coalesce(width, 1) || ' ' ||
		coalesce(local_batch_size, '-') || ' ' || accumulation_steps, ', ')
		FROM (SELECT * FROM runs WHERE job_id = $1 ORDER BY id)"
}

# --- what is declared ---
refused() { # refused NAME PATTERN OPTION...
	refused_name=$1 refused_like=$2
	shift 2
	run "$POLLUX" submit "$@" -- true
	is "$refused_name" 64 "$rc"
	like "$refused_name: the message says why" "$refused_like" "$err"
}
refused 'a replica of no devices is refused' "plan 'tp': width is a number from 1 to 64, not '0'" \
	-r 4 --plan tp:width=0=
refused 'a replica of half a device is refused' \
	"width is a number from 1 to 64, not '2.5'" -r 4 --plan tp:width=2.5=
refused 'a replica of too many devices is refused' \
	"width is a number from 1 to 64, not '65'" -r 4 --plan tp:width=65=
refused 'cores that are no number are refused' \
	"plan 'off': cores is a number from 1 to 1024, not 'all'" \
	--plan off:cores=all=
refused 'an attribute of another name is refused' \
	"an attribute is width=N, cores=N or group=NAME, not 'x=1" \
	--plan tp:width=2,x=1=
refused 'a plan without arguments is refused' "plan 'tp' lacks the '='" -r 2 --plan tp:group=a
refused 'a plan wider than all replicas is refused' \
	"a replica of plan 'tp' has 2 devices, and --replicas 1:1 allows no multiple of 2" \
	--plan tp:width=2=
refused 'replicas that are no multiple of the width are refused' \
	'allows no multiple of 2' -r 3 --plan dp= --plan tp:width=2=
refused 'a guarantee that is no multiple of the width is refused' \
	"'--guarantee': 3 devices are no multiple of 2, the devices of a replica of plan 'tp'" \
	-r 1:4 --plan dp= --plan tp:width=2= --guarantee 3:tp

# --- what the command is told ---
POLLUX_SLOTS=4
export POLLUX_SLOTS
told='echo "$POLLUX_PLAN $POLLUX_DEVICES $POLLUX_REPLICAS $POLLUX_LOCAL_BATCH:$*" >>told'
one=$(submit -r 4 -b 64 --plan 'tp:width=2,group=g=--tp {replicas}' -- sh -c "$told" sh \
	'{gpus}' '{replicas}' '{batch}' '{local_batch}' '{plan}' one)
two=$(submit -r 4 -b 64 -- sh -c "$told" sh '{gpus}' '{replicas}' two)
ends "$one"
ends "$two"
is 'a command is told its devices, replicas and batch of a replica' \
	'tp 4 2 32:4 2 64 32 --tp 2 one' "$(grep one$ told)"
is 'without plans each device is a replica' ' 4 4 16:4 4 two' "$(grep two$ told)"
is 'runs have the width' 'tp 4/2 32 1' "$(sizes_of "$one")"
like 'status has the sizes by replicas' '64=2\*32\*1 tp' "$("$POLLUX" status "$one")"
is 'JSON has the width of the plan' 2 "$("$POLLUX" status --json "$one" |
	json 'print $d->{jobs}[0]{plans}[0]{width}')"

# --- how many devices ---
POLLUX_SLOTS=3
for policy in goodput las fifo; do
	POLLUX_POLICY=$policy
	export POLLUX_POLICY
	batch=$(submit -r 1:3 -b 64 --plan tp:width=2=--$policy -- true)
	none=$(submit -r 1:3 --plan tp:width=2=--$policy -- true)
	ends "$batch"
	ends "$none"
	is "$policy divides the devices of a plan to be tried" 'tp 2/2 64 1' "$(sizes_of "$batch")"
	is "$policy divides the devices for a job with its own batch" \
		'tp 2/2 - 1' "$(sizes_of "$none")"
done
unset POLLUX_POLICY

# --- what was measured ---
POLLUX_SLOTS=4
as_one() { submit -b 64 --workload w "$@"; }
narrow=$(as_one --plan dp= -- true) wide=$(as_one -r 2 --plan tp:width=2=--tp -- true)
ends "$narrow"
ends "$wide"
measured "$narrow" 0.030 replicas=1 local_batch_size=64 accumulation_steps=1
measured "$narrow" 0.016 replicas=2 local_batch_size=32 accumulation_steps=1
measured "$wide" 0.010 replicas=2 local_batch_size=64 accumulation_steps=1
pair() { as_one -r "$1" --plan dp= --plan tp:width=2=--tp -- true; }
both=$(pair 1:2)
ends "$both"
is 'a job gets the plan that is best on two devices' 'tp 2/2 64 1' "$(sizes_of "$both")"
like 'the reason compares the plans on two devices' 'plan tp \(dp would be [0-9]+ % slower' \
	"$(store "SELECT text FROM events WHERE job_id = $both AND kind = 'assigned'")"
is 'the model of a wide plan counts replicas' \
	'1 1' "$(store "SELECT group_concat(max_replicas || ' ' ||
	n_observations) FROM models WHERE workload LIKE '%tp#%'")"
like 'explain has the batch of a replica' 'best on 2 +tp, batch 64 = 1 \* 64 \* 1 \(dp would be' \
	"$("$POLLUX" explain "$both")"
like 'explain says that one device is no replica of the wide plan' \
	'best on 1 +dp, batch 64 = 1 \* 64 \* 1 \(tp has 2 devices for a replica\)' \
	"$("$POLLUX" explain "$both")"
tiers() { store "SELECT group_concat(DISTINCT coalesce(tier, 'none')) FROM runs JOIN jobs
	ON jobs.id = job_id WHERE $1"; }
"$POLLUX" profile -r 2 -b 64 --workload t --points 1 --budget 9 --plan tp:width=2=--tp -- \
	sh -c 'while :; do i=$((i + 1)); echo "step $i loss 1"; sleep 0.02; done' >profiled 2>&1
like 'a profile has the batch of a replica' '2 tp +64 +64 +1 ' "$(cat profiled)"
is 'a profile knows how the devices of a replica are joined' "$(tiers "jobs.id = $wide")" \
	"$(tiers 'profile = 1')"
POLLUX_SLOTS=3
three=$(pair 3:4)
ends "$three"
is 'three devices are not halved' 'dp 3/1 21 1' "$(sizes_of "$three")"
like 'the reason says how many devices a replica has' 'plan dp \(tp has 2 devices for a replica\)' \
	"$(store "SELECT text FROM events WHERE job_id = $three AND kind = 'assigned'")"

# --- sizes that ran out of memory, by replicas ---
POLLUX_SLOTS=4
hungry='if [ $POLLUX_LOCAL_BATCH -gt 16 ]; then echo "CUDA out of memory." >&2; exit 1; fi'
large=$(submit -r 2:4 -b 64 --batch-range 16:64 --accumulate --retries 3 --plan tp:width=2= \
	-- sh -c "$hungry" sh)
ok 'a job whose replica has too little memory ends' ends "$large"
like 'a job out of memory goes on with a smaller local batch' \
	'^tp [24]/2 (64|32) 1, tp [24]/2 (16|8) [124]' \
	"$(sizes_of "$large")"
finish
