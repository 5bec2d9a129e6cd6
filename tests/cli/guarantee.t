#!/bin/sh
# guarantee.t - --guarantee: what is refused, who is admitted, what a job keeps while others take
# turns, and what the plans that were measured make of it.
# shellcheck disable=SC2016,SC2317 # Perl and sh for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY POLLUX_GUARANTEED_DEVICES CUDA_VISIBLE_DEVICES
POLLUX_SLOTS=2 POLLUX_SLICE=1s
export POLLUX_SLOTS POLLUX_SLICE
cleanup() { end_jobs >/dev/null; }

submit() { "$POLLUX" submit -q "$@"; }
field() { "$POLLUX" status --json "$1" | json 'my $j = $d->{jobs}[0]; print $j->{'"$2"'} // "-"'; }
refused() { # refused NAME STATUS PATTERN OPTION...
	refused_name=$1 refused_rc=$2 refused_like=$3
	shift 3
	run "$POLLUX" submit "$@" -- true
	is "$refused_name" "$refused_rc" "$rc"
	like "$refused_name, and says why" "$refused_like" "$err"
}

# --- what is refused ---
for wrong in 0 two 2: 1025 2x; do
	refused "submit refuses a guarantee of '$wrong'" 64 \
		"--guarantee' is a number of devices from 1 to 1024.*: 2 or 2:dp, not '$wrong'" \
		-r 1:4 --guarantee "$wrong"
done
refused 'submit refuses a guarantee beyond --replicas' 64 \
	"2 devices are more than the job may have, 1; '--replicas 1:2' allows them" \
	--guarantee 2
refused 'submit refuses a guarantee below --replicas' 64 \
	"1 device is less than the job needs: --replicas says 2 at least" \
	-r 2:4 --guarantee 1
refused 'submit refuses a guarantee in a plan that is not declared' 64 \
	"no --plan has the name 'gc'" \
	--plan dp= --guarantee 1:gc
refused 'submit refuses a guarantee in a plan without --plan' 64 "no --plan has the name 'dp'" \
	--guarantee 1:dp
refused 'submit refuses a guarantee on a shared device' 64 'give one of --guarantee and --share' \
	--share --guarantee 1
POLLUX_POLICY=las refused 'submit refuses a guarantee under policy las' 78 \
	"the policy is 'las'; only 'goodput' keeps guarantees" --guarantee 1
POLLUX_GUARANTEED_DEVICES=1 refused 'submit refuses a guarantee beyond the limit' 78 \
	'2 devices are more than guaranteed_devices = 1 allows' -r 1:2 --guarantee 2
for wrong in some -1 1025 2.5; do
	POLLUX_GUARANTEED_DEVICES=$wrong run "$POLLUX" schedule
	is "schedule refuses guaranteed_devices = $wrong" 78 "$rc"
	like "schedule names the bad value $wrong of guaranteed_devices" \
		"'$wrong' is not a whole number from 0 to 1024, or all" "$err"
done
is 'no refused job is in the store' '' "$("$POLLUX" status --json | json 'print @{$d->{jobs}}')"

# --- where devices went away ---
suspended=$(POLLUX_SLOTS=4 submit -r 1:4 --guarantee 1 -- sleep 1000)
POLLUX_SLOTS=4 "$POLLUX" schedule
devices_of() { store "SELECT count(*) FROM run_devices d JOIN runs r ON r.id = d.run_id
	WHERE r.job_id = $1 AND r.state <> 'ended' AND in_use"; }
has() { [ "$(devices_of "$1")" = "$2" ] && [ "$(field "$1" state)" = running ]; }
ok 'a job with a guarantee has four devices' wait_for 20 has "$suspended" 4
gives() { "$POLLUX" schedule && [ "$(devices_of "$suspended")" = 0 ]; }
ok 'the job is suspended where two devices are left' wait_for 20 gives
others=$(submit --guarantee 1 -- sleep 1000)
"$POLLUX" schedule
is "the suspended job's guarantee needs as many devices as it had" \
	'its guarantee needs 4 devices, but 2 can be guaranteed here' "$(field "$suspended" reason)"
is 'another job with a guarantee does not wait for the suspended one' 1 "$(devices_of "$others")"
"$POLLUX" cancel "$others"
"$POLLUX" wait "$others" >/dev/null 2>&1
back() { POLLUX_SLOTS=4 "$POLLUX" schedule && has "$suspended" 4; }
ok 'the job comes back to four devices' wait_for 20 back
end_jobs >/dev/null
wait_for 20 no_supervisor

# --- what a job keeps ---
for k in 1 2 3; do submit --preempt --workload w$k -- sleep 1000 >/dev/null; done
sure=$(submit --preempt --guarantee 1 -- sleep 1000)
is 'the JSON of status has the guarantee' 1 "$(field "$sure" guarantee)"
like 'status has the guarantee' 'guarantee +1$' "$("$POLLUX" status "$sure")"
runs() { [ "$(field "$1" state)" = running ]; }
starts() { # starts JOB: passes are made until then
	for _ in 1 2 3 4 5 6 7 8; do
		"$POLLUX" schedule
		runs "$1" && return
		sleep 1
	done
	return 1
}
ok 'the newest job starts when the others have settled' starts "$sure"
like 'explain says that the guarantee needs a device' 'its guarantee needs 1 device' \
	"$("$POLLUX" explain "$sure")"
like 'the reason says that the guarantee needs a device' '^its guarantee needs 1 device; ' \
	"$(field "$sure" reason)"
for _ in 1 2 3 4 5 6; do
	sleep 0.6
	"$POLLUX" schedule
done
is 'the guaranteed job has one run while others take turns' 1 "$(field "$sure" runs)"
is 'the three other jobs take turns' 3 \
	"$(store "SELECT count(DISTINCT job_id) FROM runs WHERE job_id > $others
	AND job_id <> $sure")"

# --- who is admitted ---
wide=$(submit -r 1:2 --preempt --guarantee 2 -- sleep 1000)
late=$(submit --preempt --guarantee 1 -- sleep 1000)
"$POLLUX" schedule
is 'a job whose guarantee has no room waits' \
	'its guarantee needs 2 devices; 1 of 2 that can be guaranteed are promised' \
	"$(field "$wide" reason)"
is 'later guarantees wait for the earlier one' \
	'its guarantee needs 1 device; earlier jobs wait for theirs' "$(field "$late" reason)"
"$POLLUX" cancel -q "$wide" 2>/dev/null || "$POLLUX" cancel "$wide" >/dev/null
POLLUX_GUARANTEED_DEVICES=1 "$POLLUX" schedule
is 'guaranteed_devices leaves the other devices to others' \
	'its guarantee needs 1 device; 1 of 1 that can be guaranteed are promised' \
	"$(field "$late" reason)"
ok 'a second guarantee starts where all devices may be guaranteed' starts "$late"
POLLUX_POLICY=las "$POLLUX" schedule
like 'the reason says that policy las keeps no guarantee' 'policy las keeps no guarantee' \
	"$(field "$sure" reason)"
again=$("$POLLUX" again -q "$wide")
is 'again takes over the guarantee' 2 "$(field "$again" guarantee)"
end_jobs

# --- plans that were measured ---
as_one() { submit -b 64 --workload w "$@"; }
is_done_after_pass() { # a pass that finds another one at work leaves at once
	"$POLLUX" schedule
	no_supervisor && [ "$(field "$1" state)" = 'done' ]
}
ends() { wait_for 20 is_done_after_pass "$1"; }
plan_of() { store "SELECT group_concat(plan, ' ') FROM runs WHERE job_id = $1"; }
one=$(as_one --plan quick=-q -- true)
ends "$one"
measured "$one" 0.010
two=$(as_one -r 2 --plan slow= -- true)
ends "$two"
measured "$two" 0.0125
less=$(as_one -r 1:2 --plan slow= --plan quick=-q --guarantee 2 -- true)
ends "$less"
is 'a guaranteed job gets the better plan' quick \
	"$(store "SELECT plan FROM runs WHERE job_id = $less")"
like 'the better plan keeps the guarantee on fewer devices' \
	': its guarantee needs 1 device; plan quick' \
	"$(store "SELECT text FROM events WHERE job_id = $less AND kind = 'assigned'")"
new=$(as_one -r 1:2 --plan quick=-q --plan new=-n --guarantee 2:new -- true)
ends "$new"
is 'a plan without measurements gets all the promised devices' "2 new" \
	"$(store "SELECT replicas, plan FROM runs WHERE job_id = $new" | tr '|' ' ')"
finish
