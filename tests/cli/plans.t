#!/bin/sh
# plans.t - --plan: what is declared, what the command is told, which plan is chosen, what happens
# when a plan runs out of memory, and which plans go on with whose checkpoints.
# shellcheck disable=SC2016,SC2317 # Perl and sh for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
POLLUX_SLOTS=2
export POLLUX_SLOTS
cleanup() { end_jobs >/dev/null; }

state_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
is_so_after_pass() { # a pass that finds another one at work leaves at once
	"$POLLUX" schedule
	no_supervisor && state_is "$1" "$2"
}
ends() { wait_for 20 is_so_after_pass "$1" "$2"; } # ends JOB STATE: passes are made until then
submit() { "$POLLUX" submit -q "$@"; }
reasons() { store "SELECT text FROM events WHERE job_id = $1 AND kind = 'assigned' ORDER BY id"; }
plans_of() { store "SELECT group_concat(plan, ' ') FROM (SELECT coalesce(plan, '-') AS plan
	FROM runs WHERE job_id = $1 ORDER BY id)"; }

# --- what is declared ---
refused() { # refused NAME PATTERN OPTION...
	refused_name=$1 refused_like=$2
	shift 2
	run "$POLLUX" submit "$@" -- true
	is "$refused_name" 64 "$rc"
	like "$refused_name: the message says why" "$refused_like" "$err"
}
refused 'a plan without a name is refused' "the name of a plan is 1 to 32 of a-z" --plan =--gc
refused 'a name of a plan with capitals is refused' "not 'GC'" --plan GC=--gc
refused 'a plan without arguments is refused' "a plan is NAME=ARGS" --plan gc
refused 'two plans of the same name are refused' \
	"two plans have the name 'gc'" --plan gc= --plan gc=--gc
refused 'an attribute of another name is refused' 'an attribute is width=N, cores=N or group=NAME' \
	--plan gc:color=red=--gc
refused 'a plan on a shared device is refused' 'give one of --plan and --share' --plan gc= --share
run "$POLLUX" submit --dry-run --plan 'gc={color} {batchsize}' -- true
is 'other braces in arguments of a plan stay' 'POLLUX_PLAN=gc true {color} {batchsize}' "$out"
like 'a misspelt template in a plan is told' "'{batchsize}' in --plan" "$err"
run "$POLLUX" submit -- true '{plan}'
like '{plan} without plans is told' 'argument 1 of the command stays as it is: it needs --plan' \
	"$err"
# shellcheck disable=SC2046 # seventeen options
run "$POLLUX" submit $(seq -f '--plan=p%.0f=' 17) -- true
like 'more than sixteen plans are refused' 'more than 16 plans' "$err"

# --- what the command is told ---
told='echo "$POLLUX_PLAN:$*" >>told'
one=$(submit -b 8 --plan 'gc=--gc  {local_batch}' -- sh -c "$told" sh '{plan}' last)
two=$(submit --plan 'gc=--gc yes' -- sh -c "$told" sh 'x{plan}')
three=$(submit --plan 'gc=--gc yes' -- sh -c "$told" sh last)
four=$(submit --plan 'dp=' -- sh -c "$told" sh '{plan}' none)
five=$(submit -- sh -c "$told" sh none)
for job in "$one" "$two" "$three" "$four" "$five"; do ends "$job" 'done'; done
is 'arguments of a plan replace {plan} word by word' 'gc:--gc 8 last' "$(grep last$ told)"
is 'arguments of a plan replace {plan} inside an argument' 'gc:x--gc yes' "$(grep x-- told)"
is 'arguments of a plan come last where the command has no {plan}' \
	'gc:last --gc yes' "$(grep '^gc:last' told)"
is 'a plan without arguments adds none' 'dp:none' "$(grep '^dp' told)"
is 'a job without plans is told no plan' ':none' "$(grep '^:' told)"
is 'a job without plans has no plan in the store' '-' "$(plans_of "$five")"
is 'JSON has plans, and the plan of the job' 'gc - gc--gc yes -' "$("$POLLUX" status --json \
	"$three" "$five" | json 'my ($a, $b) = @{$d->{jobs}};
	print join " ", $a->{plan}, $b->{plan} // "-",
		"$a->{plans}[0]{name}$a->{plans}[0]{args}", @{$b->{plans}} ? "some" : "-"')"

# --- and what --dry-run prints ---
is '--dry-run prints a line for each plan, its words in place' "POLLUX_PLAN=dp env --lr 0.1 last
POLLUX_PLAN=gc env --gc a{batch} --lr 0.1 last" "$("$POLLUX" submit --dry-run --lr 0.1 -b 8 \
	--plan dp= --plan 'gc=--gc  a{batch}' -- env '{plan}' --lr '{lr}' last)"
is '--dry-run prints arguments of plans behind the others' "A=1 POLLUX_PLAN=dp true
A=1 POLLUX_PLAN=gc true --gc 0.5" "$("$POLLUX" submit --dry-run -e A=1 --lr 0.5 --plan dp= \
	--plan 'gc=--gc {lr}' -- true)"
is '--dry-run prints a line for each plan of each run of a sweep' \
	4 "$("$POLLUX" submit --dry-run --param x=1,2 --plan dp= --plan gc=-g \
	-- true '{x}' | grep -c '^POLLUX_PLAN=')"

# --- out of memory ---
hungry='case $POLLUX_PLAN in dp|zero) echo "RuntimeError: CUDA out of memory." >&2; exit 1;; esac'
many=$(submit -b 64 --plan dp= --plan zero=--zero --plan gc=--gc -- sh -c "$hungry" sh)
ok 'a job whose plans run out of memory ends in one that does not' ends "$many" 'done'
is 'the plans were tried in turn' 'dp zero gc' "$(plans_of "$many")"
is 'a plan that runs out of memory is no failure' \
	'0|3' "$(store "SELECT failures, runs FROM jobs WHERE id = $many")"
like 'a reason names the plan and why not the others' \
	'plan gc \(dp ran out of memory with 64 samples on a device; zero ran out of memory' \
	"$(reasons "$many" | tail -n 1)"
like 'an event says which plan ran out of memory' \
	'out of memory; goes on under another plan than dp' \
	"$(store "SELECT text FROM events WHERE job_id = $many AND kind = 'ended'")"
like 'status shows the plan of each run' '64 zero' "$("$POLLUX" status "$many")"
like 'status shows the plans that were declared' \
	'plans +dp=; zero=--zero; gc=--gc' "$("$POLLUX" status "$many")"
next=$(submit -b 64 --plan dp= --plan zero=--zero --plan gc=--gc -- sh -c "$hungry" sh)
ok 'another job of the workload is done' ends "$next" 'done'
is 'another job of the workload begins with the plan that may fit' gc "$(plans_of "$next")"
other=$(submit -b 64 --plan dp=--less --plan gc=--gc -- sh -c "$hungry" sh)
ok 'a job with other arguments of a plan is done' ends "$other" 'done'
is 'a plan with other arguments is tried as another plan' 'dp gc' "$(plans_of "$other")"
all=$(submit --plan dp= --plan zero=--zero -- sh -c "$hungry" sh)
ok 'a job none of whose plans fits fails' ends "$all" failed
is 'a job fails only after each plan was tried' 'dp zero' "$(plans_of "$all")"
POLLUX_POLICY=fifo
export POLLUX_POLICY
fifo=$(submit --plan dp= --plan gc=--gc -- sh -c "$hungry" sh)
ok 'other policies try plans in turn as well' ends "$fifo" 'done'
is 'fifo tries one plan after the other' 'dp gc' "$(plans_of "$fifo")"
unset POLLUX_POLICY

# --- groups ---
saves='if [ -e ran.$POLLUX_JOB_ID ]; then echo "CUDA out of memory." >&2; exit 1; fi
	touch "ran.$POLLUX_JOB_ID"; [ "$POLLUX_PLAN" = gc ] || exit 3'
apart=$(submit --retries 1 --plan dp= --plan gc:group=b=--gc -- sh -c "$saves" sh)
"$POLLUX" schedule
wait_for 20 no_supervisor
is 'a job has a plan after its first run' dp "$(store "SELECT plan FROM jobs WHERE id = $apart")"
given_run all end_boot_s-=1000	# its pause is over
ok 'a job that began under a plan fails rather than change groups' ends "$apart" failed
is 'a plan of another group is not tried' 'dp dp' "$(plans_of "$apart")"

# --- the best of those that were measured ---
as_one() { submit -b 64 --workload w "$@"; }
fast=$(as_one --plan quick=-q -- true) slow=$(as_one --plan slow= -- true)
ends "$fast" 'done'
ends "$slow" 'done'
measured "$fast" 0.010
measured "$slow" 0.0125
both=$(as_one --plan slow= --plan new=-n --plan quick=-q -- true)
ends "$both" 'done'
is 'the faster plan is chosen' quick "$(plans_of "$both")"
like 'the reason says by how much the plan is faster' \
	'plan quick \(slow would be 20 % slower; new was not measured\)' \
	"$(reasons "$both")"
is 'models are kept by plan' 2 "$(store 'SELECT count(*) FROM models')"
like 'explain compares the plans' 'best on 1 +quick, batch 64 = 1 \* 64 \* 1 \(slow would be 20 %' \
	"$("$POLLUX" explain "$both")"
is 'JSON of explain compares the plans' \
	'slow new quick 12.5 ms, quick' "$("$POLLUX" explain --json "$both" | json '
	printf "%s %s %s %g ms, %s", (map { $_->{name} } @{$d->{plans}}),
		1e3 * $d->{plans}[0]{tried}[0]{step_time_s}, $d->{best_plans}[0]')"
like 'forget takes back what was measured under all plans' '2 observations' \
	"$("$POLLUX" forget --times w)"
again=$("$POLLUX" again -q "$both")
ends "$again" 'done'
is "'again' takes over the plans" 3 "$("$POLLUX" status --json "$again" |
	json 'print scalar @{$d->{jobs}[0]{plans}}')"

# --- real training: a profile, and a memory limit that one plan exceeds ---
if [ -x "$TRAIN" ] && [ -e "$FASHION_MNIST/train-images-idx3-ubyte.gz" ]; then
	train="$TRAIN --data $FASHION_MNIST --subset 20000 --samples 16384"
	train="$train --hidden 512,512,512,512,512,512,512"
	OPENBLAS_NUM_THREADS=1	# else it takes addresses for each core that it may use
	export OPENBLAS_NUM_THREADS
	peak() { # peak OPTION...: KiB of addresses that a run takes
		# shellcheck disable=SC2086
		$train --batch 16384 "$@" >/dev/null &
		perl -e 'my ($peak, $f) = 0;
			while (open($f, "<", "/proc/$ARGV[0]/status")) {
				my ($kib) = join("", <$f>) =~ /VmPeak:\s+(\d+)/ or last;
				$peak = $kib; select(undef, undef, undef, 0.002) }
			print $peak' "$!"
		wait "$!"
	}
	# shellcheck disable=SC2086
	out=$("$POLLUX" profile --budget 60 -b 256 --plan no=--no-such-option \
		--plan few=--recompute --plan all= -- \
		$train --samples 100000000 --hidden 32,32 '{plan}' 2>/dev/null)
	like 'a profile measures each plan' '^few +1 +256 +1 +[0-9.]+ +- +0\.' "$out"
	unlike 'a profile of plans recommends no more devices than asked for' 'best on 2' "$out"
	like 'a profile compares the plans' \
		'best on 1 +(few|all), batch 256 = .* \(no failed; (all|few)' \
		"$out"
	is 'a plan that does not work leaves the others' 'all few no' \
		"$(store "SELECT group_concat(DISTINCT runs.plan) FROM runs
			JOIN jobs ON jobs.id = job_id WHERE profile = 1" | tr , '\n' | sort |
			tr '\n' ' ' | sed 's/ $//')"
fi
# Sanitizers reserve addresses without end.
if [ -z "${ASAN_OPTIONS:-}" ] && [ -n "${train-}" ]; then
	plain=$(peak) less=$(peak --recompute)
	ok 'recomputation needs fewer addresses' [ "$less" -lt "$plain" ]
	# Little more than recomputation and a checkpoint take: plain training is to fail when it
	# allocates activations. Where OpenBLAS itself finds no memory, it tries for ever.
	limit=$((less + 49152))
	# shellcheck disable=SC2086
	capped=$(submit -b 16384 --plan dp= --plan gc=--recompute -- \
		sh -c "ulimit -v $limit; exec timeout 100 \"\$@\"" sh \
		$train --batch '{batch}' '{plan}')
	ok 'a job ends under a memory limit that plain training exceeds' ends "$capped" 'done'
	is 'a job under a limit ends in the plan that fits' 'dp gc' "$(plans_of "$capped")"
	is 'a job under a limit does all its samples' 16384 \
		"$(store "SELECT CAST(samples AS INTEGER) FROM jobs WHERE id = $capped")"
fi
finish
