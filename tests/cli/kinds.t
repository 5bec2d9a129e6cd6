#!/bin/sh
# kinds.t - GPUs of two kinds: a job's devices are of one kind, --kind and --not-kind, who gets the
# faster kind, and where a job goes that ran out of memory.
# shellcheck disable=SC2016,SC2154,SC2317 # Perl; $out is of run; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
mkdir root
cleanup() { end_jobs >/dev/null; }

gpu() { # gpu LETTER NAME MIB
	printf 'gpu GPU-%s NVIDIA %s\n' "$(uuid "$1")" "$2"
	printf 'memory %s %s\nrates 0\ntemperature 35\npersistence 1\n' "$3" "$3"
}
uuid() { echo "$1$1$1$1$1$1$1$1-0000-0000-0000-000000000001"; }
{ gpu a Small 12288; gpu b Small 12288; gpu c Large 24576; gpu d Large 24576; } >answers
small='NVIDIA Small, 12 GiB' large='NVIDIA Large, 24 GiB'
is 'devices lists GPUs of two kinds' "$large
$small" "$("$POLLUX" devices --json | json 'print "$_->{kind}\n" for @{$d->{devices}}' | sort -u)"

kinds_of() { # kinds_of JOB: of the run that it has
	store "SELECT d.kind, count(*) FROM run_devices d JOIN runs r ON r.id = d.run_id
		WHERE r.job_id = $1 AND r.state <> 'ended' GROUP BY d.kind"
}
reason() { store "SELECT reason FROM jobs WHERE id = $1"; }

# --- one kind for each job ---
wide=$("$POLLUX" submit -q --replicas 3 -- sleep 1000)
two=$("$POLLUX" submit -q --replicas 2 -- sleep 1000)
another=$("$POLLUX" submit -q --replicas 2 -- sleep 1000)
"$POLLUX" schedule
is 'a job for three devices does not start on two kinds of two' '' "$(kinds_of "$wide")"
is 'a job for two devices has two of one kind' 1 "$(kinds_of "$two" | grep -c '|2$')"
is 'another job for two devices has two of the other kind' 1 \
	"$(kinds_of "$another" | grep -c '|2$')"
like 'the reason of the first job names its three devices' '3 devices' "$(reason "$wide")"
for policy in fifo las; do
	POLLUX_POLICY=$policy "$POLLUX" schedule
	is "policy $policy gives no job devices of two kinds" 0 \
		"$(store "SELECT count(*) FROM (SELECT run_id FROM run_devices
		GROUP BY run_id HAVING count(DISTINCT kind) > 1)")"
done
end_jobs >/dev/null
wait_for 20 no_supervisor

# --- --kind and --not-kind ---
run "$POLLUX" submit --kind 'A*' --not-kind 'A*' -- true
is 'submit refuses one pattern for --kind and --not-kind' \
	"64:pollux: --kind and --not-kind both say 'A*': no device is left\
; see 'pollux submit --help'" "$rc:$err"
picky=$("$POLLUX" submit -q --kind '*Large*' --replicas 1 -- sleep 1000)
shy=$("$POLLUX" submit -q --not-kind '*Large*|*Huge*' --replicas 1 -- sleep 1000)
never=$("$POLLUX" submit -q --kind '*Huge*' -- true)
"$POLLUX" schedule
is '--kind gives a job the kind that it names' "$large|1" "$(kinds_of "$picky")"
is '--not-kind with two patterns leaves the other kind' "$small|1" "$(kinds_of "$shy")"
is 'a job whose kind is not here says that no device is of it' \
	'no device that can be used is of a kind that --kind allows' "$(reason "$never")"
is 'the JSON of status has the patterns' '*Large* - - *Large*|*Huge*' \
	"$("$POLLUX" status --json | json '
	my %j = map { $_->{id} => $_ } @{$d->{jobs}};
	print join " ", map { $_ // "-" } @{$j{'"$picky"'}}{qw(kind not_kind)},
		@{$j{'"$shy"'}}{qw(kind not_kind)};')"
end_jobs >/dev/null
wait_for 20 no_supervisor

# --- under policies that know no kinds ---
for POLLUX_POLICY in fifo las pollux; do
	export POLLUX_POLICY
	busy=$("$POLLUX" submit -q --kind '*Large*' --replicas 2 -- sleep 1000)
	"$POLLUX" schedule
	is "$POLLUX_POLICY: a job that wants the large kind has it" "$large|2" "$(kinds_of "$busy")"
	behind=$("$POLLUX" submit -q --kind '*Large*' --replicas 1 -- sleep 1000)
	any=$("$POLLUX" submit -q --replicas 1 -- sleep 1000)
	wide=$("$POLLUX" submit -q --replicas 3 -- sleep 1000)
	last=$("$POLLUX" submit -q --not-kind '*Large*' --replicas 1 -- sleep 1000)
	"$POLLUX" schedule
	is "$POLLUX_POLICY: a job waits for the busy kind" '' "$(kinds_of "$behind")"
	is "$POLLUX_POLICY: a job behind it has the free kind" "$small|1" "$(kinds_of "$any")"
	is "$POLLUX_POLICY: a job that fits on no kind waits" '' "$(kinds_of "$wide")"
	is "$POLLUX_POLICY: a job behind one that fits nowhere starts" "$small|1" \
		"$(kinds_of "$last")"
	"$POLLUX" schedule
	is "$POLLUX_POLICY: another pass moves no job" "$large|2 $small|1 $small|1" \
		"$(for id in "$busy" "$any" "$last"; do kinds_of "$id"; done | xargs)"
	end_jobs >/dev/null
	wait_for 20 no_supervisor
done
unset POLLUX_POLICY

# --- out of memory ---
cat >greedy.sh <<'END'
case $CUDA_VISIBLE_DEVICES in
[01]*) echo "RuntimeError: CUDA out of memory. Tried to allocate 14.00 GiB" >&2; exit 1 ;;
esac
echo "fits on $CUDA_VISIBLE_DEVICES"
END
"$POLLUX" submit -q --kind '*Large*' --replicas 1 -- sleep 1000 >/dev/null
keeper=$("$POLLUX" submit -q --kind '*Large*' --replicas 1 -- sleep 1000)
"$POLLUX" schedule
greedy=$("$POLLUX" submit -q --replicas 1 -- sh greedy.sh)
ran_out() { "$POLLUX" schedule && [ "$(store "SELECT count(*) FROM runs WHERE job_id = $greedy
	AND out_of_memory = 1 AND state = 'ended'")" = 1 ]; }
wait_for 30 ran_out
says_too_little() { "$POLLUX" schedule; reason "$greedy" | grep -q 'too little memory'; }
ok 'the reason says that the small kind has too little memory' wait_for 20 says_too_little
is 'a job that ran out of memory waits for the large kind' queued \
	"$(store "SELECT state FROM jobs WHERE id = $greedy")"
"$POLLUX" cancel "$keeper" >/dev/null
ended() { "$POLLUX" schedule && [ -z "$(store "SELECT 1 FROM jobs WHERE id = $1
	AND state IN ('queued', 'running')")" ]; }
wait_for 60 ended "$greedy"
is 'the job ends on the large kind' "$small|1|$large|0" \
	"$(store "SELECT d.kind, r.out_of_memory FROM runs r JOIN run_devices d ON d.run_id = r.id
		WHERE r.job_id = $greedy ORDER BY r.id" | paste -sd '|')"
like 'an event says that the job goes to a kind with more memory' \
	"memory.*; goes to a kind of device with more memory than $small" \
	"$(store "SELECT text FROM events WHERE job_id = $greedy AND kind = 'ended'")"
is 'a run out of memory is no failure where a larger kind is' 'done|0' \
	"$(store "SELECT state, failures FROM jobs WHERE id = $greedy")"
hopeless=$("$POLLUX" submit -q --kind '*Small*' --replicas 1 -- sh greedy.sh)
wait_for 60 ended "$hopeless"
is 'a run out of memory is a failure where no larger kind is allowed' 'failed|1' \
	"$(store "SELECT state, failures FROM jobs WHERE id = $hopeless")"

{ gpu a Small 12288; gpu b Small 12288; gpu c Large 24576; } >answers
hopeless=$("$POLLUX" submit -q --replicas 2 -- sh greedy.sh)
wait_for 60 ended "$hopeless"
is 'a run out of memory is a failure where too few large devices are' 'failed|1' \
	"$(store "SELECT state, failures FROM jobs WHERE id = $hopeless")"
{ gpu a Small 12288; gpu b Small 12288; gpu c Large 24576; gpu d Large 24576; } >answers

# A run that worked for a while before its memory ran out: its sizes are not known to be too large.
end_jobs >/dev/null
wait_for 20 no_supervisor
"$POLLUX" submit -q --kind '*Large*' --no-preempt --replicas 2 -- sleep 1000 >/dev/null
"$POLLUX" schedule
greedy=$("$POLLUX" submit -q -b 64 --workload leaks --replicas 1 -- sh greedy.sh)
wait_for 30 ran_out
measured "$greedy" 0.02 device_kind="$small" local_batch_size=64 n_steps=500 n_windows=3
wait_for 20 says_too_little
is 'a job that ran out of memory late does not start there again' queued \
	"$(store "SELECT state FROM jobs WHERE id = $greedy")"
like 'a job that ran out of memory late waits for the large kind' 'too little memory' \
	"$(reason "$greedy")"

end_jobs >/dev/null
wait_for 20 no_supervisor

# --- who gets the faster kind ---
add_run() { # add_run NUMBER JOB KIND DEVICE
	past_run "$2" id="$1" batch_size=64 local_batch_size=64 launch_time_s=0 end_time_s=60 \
		duration_s=60 outcome=completed exit_code=0
	had_device "$1" "gpu:$4" "$3"
}
add_time() { # add_time RUN SECONDS [KEY=VALUE...]
	run=$1 seconds=$2
	shift 2
	measured "run:$run" "$seconds" step_time_sd_s=1e-9 n_steps=5000 "$@"
}
on_both() { # on_both RUN WORKLOAD SMALL LARGE: seconds of a step on each kind
	past=$("$POLLUX" submit -q --hold --workload "$2" -b 64 --replicas 1 -- true)
	add_run "$1" "$past" "$small" "GPU-$(uuid a)"
	add_run "$(($1 + 1))" "$past" "$large" "GPU-$(uuid c)"
	add_time "$1" "$3"
	add_time "$(($1 + 1))" "$4"
}
on_both 901 little 0.02 0.015
on_both 911 much 0.02 0.002
{ gpu a Small 12288; gpu c Large 24576; } >answers
little=$("$POLLUX" submit -q --hold --workload little -b 64 -t 300 --replicas 1 -- sleep 1000)
much=$("$POLLUX" submit -q --hold --workload much -b 64 -t 300 --replicas 1 -- sleep 1000)
"$POLLUX" release "$little" "$much" >/dev/null
"$POLLUX" schedule
is 'the job that gains ten times has the faster kind' "$large|1" "$(kinds_of "$much")"
is 'the job that gains less has the other kind' "$small|1" "$(kinds_of "$little")"
like 'the reason names the kind of the devices' "1 device of $large" "$(reason "$much")"
# Workloads that were measured on one of the kinds each.
for each in "931 slowly $small" "932 quickly $large"; do
	workload=${each#* } workload=${workload%% *}
	past=$("$POLLUX" submit -q --hold --workload "$workload" -b 64 --replicas 1 -- true)
	add_run "${each%% *}" "$past" "${each#* * }" "GPU-$(uuid a)"
	add_time "${each%% *}" 0.02
	"$POLLUX" submit -q --workload "$workload" -b 64 --samples 6400 --replicas 1 -- true \
		>/dev/null
done
"$POLLUX" schedule
for each in slowly quickly; do
	id=$(store "SELECT id FROM jobs WHERE workload = '$each' AND state = 'queued'")
	run "$POLLUX" status "$id"
	like "status tells when a waiting job of workload $each ends" '^  ends +likely [0-9]' "$out"
	unlike "the end for workload $each is no guess by other jobs' lengths" \
		'a guess, by how long' "$out"
	"$POLLUX" cancel "$id"
done
run "$POLLUX" explain "$much"
like 'explain compares the kinds' "$large, 1 usable: [0-9.]+k/s, 10.0x of $small" "$out"
is 'explain --json compares the kinds' "$large 10.0" "$("$POLLUX" explain --json "$much" | json '
	my %g = map { $_->{device_kind} => $_->{goodput} } @{$d->{kinds}};
	printf "%s %.1f", "'"$large"'", $g{"'"$large"'"} / $g{"'"$small"'"};')"
# A workload that ran on one kind only: the products take four times as long there.
for kind in "$small|0.004" "$large|0.001"; do
	measured_device "${kind%|*}" "${kind#*|}"
done
given_none observations if run_id=902
given_none models if workload=little if device_kind="$large"
run "$POLLUX" explain "$little"
like 'explain tells the expected goodput of a kind without measurements' \
	"$large, 1 usable: [0-9.]+k/s expected, 4.0x of $small" "$out"
is 'explain --json marks the kind whose goodput is expected' "1 0" \
	"$("$POLLUX" explain --json "$little" | json '
	my %e = map { $_->{device_kind} => $_->{expected} } @{$d->{kinds}};
	printf "%d %d", @e{"'"$large"'", "'"$small"'"};')"
end_jobs >/dev/null
wait_for 20 no_supervisor

# A second device makes the steps longer on the small kind; on the large kind the workload ran on
# one device only. It is expected to synchronise slowly there too.
{ gpu a Small 12288; gpu b Small 12288; gpu c Large 24576; gpu d Large 24576; } >answers
on_both 921 talks 0.02 0.01
add_run 923 "$past" "$small" "GPU-$(uuid a)"
add_half() { add_time "$1" "$3" replicas="$2" local_batch_size=32; } # add_half RUN REPLICAS SECONDS
add_half 922 1 0.0051
add_half 923 2 0.08
talks=$("$POLLUX" submit -q --kind '*Large*' --workload talks -b 64 -r 1:2 -- sleep 1000)
"$POLLUX" schedule
is 'slow synchronisation is expected on the other kind' "$large|1" "$(kinds_of "$talks")"
given_none observations if run_id=923
given_none models if workload=talks
end_jobs >/dev/null
wait_for 20 no_supervisor
talks=$("$POLLUX" submit -q --kind '*Large*' --workload talks -b 64 -r 1:2 -- sleep 1000)
"$POLLUX" schedule
is 'two devices are tried where no synchronisation is known' "$large|2" "$(kinds_of "$talks")"
end_jobs >/dev/null
wait_for 20 no_supervisor

# What explain says of a kind is of the devices that the job would get there.
on_both 941 joined 0.02 0.02
add_run 943 "$past" "$small" "GPU-$(uuid a)"
add_run 944 "$past" "$small" "GPU-$(uuid a)"
add_half 943 2 0.02
add_half 944 2 0.06
given_times 943 tier=fast
given_times 944 tier=machine
joined=$("$POLLUX" submit -q --begin +1h --workload joined -b 64 -r 2 -- true)
"$POLLUX" schedule
on_small() { # the tier and the seconds of a step of 64 samples on two small devices
	"$POLLUX" explain --json "$joined" | json 'my ($k) = grep { $_->{device_kind} eq
		"'"$small"'" } @{$d->{kinds}};
		printf "%s %.2f", $k->{tier} // "-", 64 / $k->{goodput}'
}
is 'explain counts devices across the machine where none are joined' 'machine 0.06' "$(on_small)"
{ gpu a Small 12288; echo nvlink 1; gpu b Small 12288; gpu c Large 24576; gpu d Large 24576; } \
	>answers
is 'explain counts joined devices where two are joined' 'fast 0.02' "$(on_small)"
"$POLLUX" cancel "$joined" >/dev/null

# --- slots of two sizes ---
unset POLLUX_NVML NVML_STANDIN
POLLUX_SLOTS=1x1,1x2
export POLLUX_SLOTS
if [ "$(nproc)" -ge 2 ]; then
	run "$POLLUX" submit -q --replicas 2 -- sleep 1000
	both=$out
	is 'submit warns of a job that needs more devices than any kind has' \
		"pollux: warning: job $both needs 2 devices of one kind, but no kind here has more \
than 1: it waits until there are more" "$err"
	threads=$("$POLLUX" submit -q --kind '*2 cores*' -- sh -c 'echo "threads $OMP_NUM_THREADS"')
	"$POLLUX" schedule
	wait_for 60 ended "$threads"
	is 'a job has a slot of two cores' 'threads 2' \
		"$("$POLLUX" log "$threads" | grep '^threads')"
	is 'a job for two slots does not start on one slot of each size' '' "$(kinds_of "$both")"
	is 'a job for two slots is told that no kind has two' \
		'needs 2 devices of one kind; no kind here has more than 1' \
		"$(store "SELECT reason FROM jobs WHERE id = $both")"
	"$POLLUX" cancel "$both" >/dev/null
	status 'profile fails for a kind that is not here' 69 \
		"$POLLUX" profile --kind '*Huge*' -- true
	like 'profile says which kind it lacks, and which kinds are here' \
		"needs 1 device of a kind that --kind '\*Huge\*' allows, but 0 can be used here; \
kinds here: '.*, 1 core', '.*, 2 cores'" "$err"
	status 'profile fails where no kind has as many devices' 69 "$POLLUX" profile -r 2 -- true
	like 'profile says how many devices of which kind there are' \
		"needs 2 devices of one kind, on one node, and there is 1 of '.*, 1 core': \
--kind chooses" "$err"
	"$POLLUX" profile --kind '*2 cores*' -- true >/dev/null 2>&1
	is 'profile --kind measures on the large slot alone' 1 \
		"$(store "SELECT count(DISTINCT d.kind) FROM jobs j
		JOIN runs r ON r.job_id = j.id JOIN run_devices d ON d.run_id = r.id
		WHERE j.profile = 1 AND d.kind LIKE '%2 cores'")"
	# A program whose steps take less time on the large slot.
	cat >steps.sh <<'END'
i=0
while :; do
	i=$((i + 1))
	"$POLLUX" report STEP="$i" STEP_NS="$((20000000 / OMP_NUM_THREADS))" SAMPLES="$((i * 64))"
	sleep 0.01
done
END
	run "$POLLUX" profile --all-kinds --json -b 64 -- true
	is 'profile refuses --all-kinds with --json' 64 "$rc"
	POLLUX_SLOTS=2x1,1x2
	run "$POLLUX" profile --all-kinds -t 20s --points 1 -b 64 -r 1 --workload each \
		-- sh steps.sh
	is 'profile --all-kinds succeeds' 0 "$rc"
	is 'profile --all-kinds prints its notes once' 1 \
		"$(echo "$err" | grep -c 'no {checkpoint}')"
	like 'profile --all-kinds has the kinds in a table' \
		'kinds \(best sizes.*2 cores.*2\.0x of .*1 core' "$(echo "$out" | tr '\n' ' ')"
	is 'profile --all-kinds makes one profile on each kind' '1 core 2 cores' \
		"$(store "SELECT DISTINCT d.kind FROM jobs j
		JOIN runs r ON r.job_id = j.id JOIN run_devices d ON d.run_id = r.id
		WHERE j.profile = 1 AND j.workload = 'each' ORDER BY 1" | sed 's/.*, //' |
		paste -sd ' ')"
	run "$POLLUX" profile --all-kinds -t 20s --points 1 -b 64 -r 1 --workload large -- \
		sh -c '[ "$OMP_NUM_THREADS" = 2 ] && exec sh steps.sh; exit 3'
	is 'profile --all-kinds succeeds where one kind fails' 0 "$rc"
	like 'profile --all-kinds names the kind that failed' 'not measured on .*1 core: ' "$err"
	run "$POLLUX" profile --all-kinds -t 20s --points 1 -b 64 -r 1 -- sh -c 'exit 3'
	is 'profile --all-kinds fails where all kinds fail' 1 "$rc"
	POLLUX_SLOTS=1x1,1x2
	# The script below needs two threads' memory.
	cat >greedy_slot.sh <<'END'
[ "$OMP_NUM_THREADS" = 2 ] && exit
echo "torch.OutOfMemoryError: out of memory" >&2
exit 1
END
	large_only=$("$POLLUX" submit -q --kind '*2 cores*' --replicas 1 -- sleep 1000)
	"$POLLUX" schedule
	greedy=$("$POLLUX" submit -q --replicas 1 -- sh greedy_slot.sh)
	wait_for 30 ran_out
	"$POLLUX" cancel "$large_only" >/dev/null
	wait_for 60 ended "$greedy"
	is 'a job that ran out of memory on the small slot ends on the large one' 'done|0' \
		"$(store "SELECT state, failures FROM jobs WHERE id = $greedy")"
	like 'an event says that the job goes to a larger slot' \
		'goes to a larger slot than .*1 core$' \
		"$(store "SELECT text FROM events WHERE job_id = $greedy AND kind = 'ended'
			AND text LIKE '%than%'")"
fi
finish
