#!/bin/sh
# from-store.t - pollux simulate --from-store: a history made by hand whose outcome can be worked
# out, and a real one against itself.
# shellcheck disable=SC2016,SC2317  # Perl, other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:2 pu:1'
export HWLOC_SYNTHETIC

submit() { "$POLLUX" submit -q "$@"; }
simulate() { "$POLLUX" simulate --from-store "$@"; }
cleanup() { end_jobs; }
# figures: of $out, a line for each result: policy, devices, jobs, mean, median, p99, makespan,
# restarts, seconds of devices
figures() {
	printf '%s' "$out" | json 'printf "%s\n", join " ",
		map { $_ // "-" } @$_{qw(policy devices jobs)}, map { 0 + sprintf "%.3f", $_ }
			@$_{qw(avg_jct_s median_jct_s p99_jct_s makespan_s restarts)},
			3600 * $_->{device_hours} for $d->{was}, $d->{check}, @{$d->{results}};'
}

# --- nothing to simulate ---
status 'simulate fails where there is no store' 66 simulate
is 'simulate says in one line that there is no store' 1 "$(printf '%s\n' "$err" | wc -l)"
one=$(submit -n one --workload a -b 100 --samples 120000 -- true)
status 'simulate fails where no job is done' 66 simulate
like 'simulate says that no job is done' \
	'^pollux: no job of the store in .* is done that could be simulated on 2 devices$' "$err"
given_none jobs
status 'simulate fails where the store has no jobs' 66 simulate
like 'simulate says that the store has no jobs' '^pollux: the store in .* has no jobs yet$' "$err"
for wrong in '--policy best' '--policy fifo --policy best' '--devices 0' '--devices x' \
	'--profiles p' '--nodes 2' \
	'--knowledge full' '--ends-csv x' '--generate d' '--restart-delay 3'; do
	# shellcheck disable=SC2086  # words
	status "$wrong with --from-store is a usage error" 64 simulate $wrong
done
status '--devices without --from-store is a usage error' 64 \
	"$POLLUX" simulate --devices 2 --profiles x -w y
status '--json of two policies of other simulations needs their files' 66 \
	"$POLLUX" simulate --profiles x -w y -p fifo -p las --json

# --- by hand ---
# 'a' has a model: 0.05 s + 0.5 ms a sample, and 0.01 s between two. So 100 samples take 0.1 s on
# one device and 0.085 s on two: 1000 and 1176.47 samples a second. Its first step takes 5 s, a
# restart 10 s. 'b' tells nothing.
one=$(submit -n one --workload a -b 100 -r 1:1 --samples 120000 --preempt -- true)
two=$(submit -n two --workload a -b 100 -r 1:1 --samples 60000 --preempt -- true)
three=$(submit -n three --workload b -- true)
four=$(submit -n four --workload a -b 100 -r 1:2 --samples 120000 -- true)
five=$(submit -n five --workload b --after "$four" -- true)
bad=$(submit -n bad --workload a -b 100 -- true)
never=$(submit -n never --workload b -- true)
given_job all state=done samples=@total_samples submit_time_s=1700000040 runs=1
given_job "$three" submit_time_s=1700000100 run_time_s=100 attained_service_device_s=200
given_job "$four $five" submit_time_s=1700000640
given_job "$five" run_time_s=50 attained_service_device_s=50
given_job "$one" attained_service_device_s=125 runs=3
for took in "$one 130" "$two 70" "$three 170" "$four 110" "$five 160" "$bad 160"; do
	given_job "${took% *}" start_time_s=@'submit_time_s + 1' \
		end_time_s=@"submit_time_s + ${took#* }"
done
given_job "$bad" state=failed
given_job "$never" state=queued runs=0
ran() { # ran JOB FIRST LAST [KEY=VALUE...]: the samples of a run of 60 s
	job=$1 first=$2 last=$3
	shift 3
	past_run "$job" batch_size=100 local_batch_size=100 launch_time_s=70 launch_boot_s=70 \
		end_time_s=130 duration_s=60 outcome=completed first_step_s=5 \
		first_samples="$first" last_samples="$last" "$@"
}
ran "$one" 0 60000 launch_time_s=1 launch_boot_s=1 end_time_s=60 duration_s=59 outcome=stopped \
	stop_duration_s=5
ran "$one" 60000 120000
ran "$two" 0 60000
ran "$four" 0 120000 replicas=2 local_batch_size=50
fitted a 'CPU, 1 core' alpha_grad=0.05 beta_grad=0.0005 alpha_sync_local=0.01 beta_sync_local=0 \
	alpha_sync_node=0.01 beta_sync_node=0 max_replicas=2 max_local_batch_size=100
given_setting POLLUX_POLICY fifo
given_setting POLLUX_SLICE 60s
# On two devices: jobs one and two start at once and end at 125 and 65; three has both devices from
# 125 to 225; four, alone on both, takes 5 + 120000 / 1176.47 = 107; five follows.
status 'simulate succeeds with a history made by hand' 0 simulate -p fifo --json
is "simulate has the history's figures, and those of fifo worked out" \
'- - 5 128 130 169.6 760 2 375
fifo 2 5 123.8 125 164.68 757 0 654
fifo 2 5 123.8 125 164.68 757 0 654' "$(figures)"
is 'simulate counts the jobs that it takes and leaves out' '5 3 2 0 1 1 0' \
	"$(printf '%s' "$out" | json 'print join " ",
	@{$d->{jobs}}{qw(simulated modelled timed not_ended)},
	@{$d->{jobs}{left_out}}{qw(ended_badly length_unknown too_large)};')"
is "simulate tells the median error of the jobs' times" 0.0294 \
	"$(printf '%s' "$out" | json 'printf "%.4f", $d->{check}{median_error};')"
if command -v gnuplot >/dev/null; then
	status 'simulate --plot draws a picture' 0 simulate -p fifo -p las --plot jobs.svg
	is 'gnuplot does not complain of the picture' '' "$err"
	like 'the picture has what it was' '(>|CDATA\[)as it was(<|\])' "$(cat jobs.svg)"
	like 'the picture has what would have been' '(>|CDATA\[)las(<|\])' "$(cat jobs.svg)"
fi
# Without the first three nothing is in the way of four and five.
status 'simulate takes the jobs since a time' 0 \
	simulate -p fifo --since $(($(date +%s) - 1700000400))s --json
is 'jobs submitted before are left out' '2 135
2 132
2 132' "$(figures | cut -d' ' -f3,4)"
# Four devices: three need not wait.
status 'simulate succeeds with four devices' 0 simulate -p fifo --devices 4 --json
is 'a third job does not wait on four devices' \
'- - 5 128 130 169.6 760 2 375
fifo 2 5 123.8 125 164.68 757 0 654
fifo 4 5 110.8 107 155.72 757 0 654' "$(figures)"
# On one device, which is too few for job three. fifo: one runs to 125, two from there to 190; four,
# alone, to 125. las in slices of a minute: one runs to 60, two from 60 to 125 (at 120 both have had
# 60 s), one again, for 10 + 65 s, to 200.
status 'simulate succeeds with one device' 0 simulate -p fifo,las --devices 1 --json
is 'one device leaves out a job for two, and las shares it at a restart' \
'- - 4 117.5 120 159.1 760 2 175
fifo 2 4 113.5 116 156.04 757 0 454
fifo 1 4 153.75 150 189.55 775 0 365
las 1 4 156.25 150 199.25 775 1 375' "$(figures)"
is 'simulate counts the job that is too large' 1 \
	"$(printf '%s' "$out" | json 'print $d->{jobs}{left_out}{too_large};')"
# A pass a second instead of one a minute changes nothing for who comes at whole minutes.
run simulate -p fifo --interval 1 --json
like 'simulate takes the interval between passes' '^fifo 2 5 123.8 ' "$(figures)"
# Submitted 20 s later, they start at once, as submissions make passes; else they wait 40 s for the
# next pass.
given_job all submit_time_s+=20 end_time_s+=20
POLLUX_SUBMIT_PASS=yes
run simulate -p fifo -p pollux --json
is 'a simulated pass comes with each submission' '123.8' "$(figures | sed -n 2p | cut -d' ' -f4)"
ok 'a simulated job of no age gets devices at once by policy pollux' \
	[ "$(figures | sed -n 4p | cut -d' ' -f4 | cut -d. -f1)" -lt 150 ]
POLLUX_SUBMIT_PASS=no
run simulate -p fifo --json
is 'simulated passes come on the minute where submissions make none' '163.8' \
	"$(figures | sed -n 2p | cut -d' ' -f4)"
given_job all submit_time_s-=20 end_time_s-=20
# Job four ran for 123 s: 5 s to its first step, 102 s for 1200 steps of 0.085 s, and 16 s for
# something else.
given_job "$four" steps=1200 run_time_s=123
measured "$four" 0.085 device_kind='CPU, 1 core'
run simulate -p fifo --json
is 'simulate keeps the time of a job that was no step' 130.2 \
	"$(figures | sed -n 2p | cut -d' ' -f4)"
given_none observations

status 'simulate succeeds with a table for people' 0 simulate
like 'the table says how many jobs have a measured model' \
	'^By the measured model of their workload there: 3 of 5 jobs\.$' "$out"
like 'the table says which jobs are left out' \
	'^Left out, as they failed, were cancelled, timed out or are held: 1\.$' "$out"
like 'the table has a row of what it was' \
	'^what it was +- +5 +2m08s +2m10s +2m49s +12m40s +2 +0\.104$' "$out"
is 'the table has the present policy, fifo, las and pollux by default' 'fifo las pollux' \
	"$(printf '%s\n' "$out" | sed -nE 's/^([a-z]+) +2 +5 .*/\1/p' | paste -sd' ')"
like 'the table says how far to trust it' \
	'^How far to trust it: fifo on 2 devices, as now, simulated, comes to a mean of$' "$out"
like 'the table compares the simulated mean with that of the history' \
	'^2m03s where it was 2m08s, 3% less; half of the jobs are within 3%$' "$out"
is 'the table keeps to 80 columns' '' "$(printf '%s\n' "$out" | grep -E '.{81}')"
# The last pass was made by a version whose passes took all policies.
given_setting POLLUX_POLICY srtf
status 'simulate takes a present policy that passes do not take any more' 0 simulate
is 'the table has the former policy and the usual ones' 'srtf fifo las pollux' \
	"$(printf '%s\n' "$out" | sed -nE 's/^([a-z]+) +2 +5 .*/\1/p' | paste -sd' ')"
given_setting POLLUX_POLICY fifo
status 'simulate accepts --policy all' 0 simulate -p all --json
is '--policy all simulates eight policies, each once' 8 "$(printf '%s' "$out" | json '
	my %seen = map { $_->{policy} => 1 } @{$d->{results}}; print scalar keys %seen;')"
is 'every simulated policy ends every job' '5' "$(printf '%s' "$out" | json '
	my %n = map { $_->{jobs} => 1 } grep { $_->{makespan_s} > 0 } @{$d->{results}};
	print join " ", keys %n;')"
before=$(store "SELECT count(*), total(samples), max(state) FROM jobs; SELECT * FROM models")
simulate -p all >/dev/null
is 'simulate writes nothing into the store' "$before" \
	"$(store "SELECT count(*), total(samples), max(state) FROM jobs; SELECT * FROM models")"

# --- lengths without a model ---
# Jobs of 100 s and 50 s, submitted at once, on one device: the shorter job runs first if both
# declared their steps.
given_none jobs
for steps in 1000 500; do submit --workload b --steps "$steps" -- true; done >ids
given_job all state=done runs=1 submit_time_s=1700000040 start_time_s=1700000041 \
	end_time_s=1700000300 run_time_s='@total_steps / 10' \
	attained_service_device_s='@total_steps / 10'
mean() { simulate -p srtf --devices 1 --json | json 'print $d->{results}[0]{avg_jct_s};'; }
is 'srtf runs the job with fewer declared steps first' 100 "$(mean)"
given_job all total_steps=null
is 'srtf runs jobs in their order where no length was declared' 125 "$(mean)"

# --- a history that was ---
# Three jobs of eight seconds that wait instead of computing, on two devices.
POLLUX_DIR=$TMP/real POLLUX_POLICY=fifo POLLUX_SLOTS=2
export POLLUX_DIR POLLUX_POLICY POLLUX_SLOTS
unset HWLOC_SYNTHETIC
cat >job <<'END'
#!/bin/sh
i=0
while [ $i -lt 40 ]; do
	sleep 0.2
	i=$((i + 1))
	"$POLLUX" report STEP=$i SAMPLES=$((10 * i))
done
END
chmod +x job
status 'devices lists the slots of this machine' 0 "$POLLUX" devices
slots=$(printf '%s\n' "$out" | grep -c '^cpu:')
if [ "$slots" -ge 2 ]; then
	for job in 1 2 3; do
		submit --name "real-$job" --workload real -b 10 -r 1:1 --samples 400 -- ./job
	done >ids
	"$POLLUX" schedule --watch 0.5 >/dev/null 2>&1 &
	watcher=$!
	# shellcheck disable=SC2046  # numbers
	status 'three real jobs end' 0 "$POLLUX" wait --timeout $((120 * TIME_SCALE)) $(cat ids)
	end $watcher
	status 'simulate succeeds with the history of three real jobs' 0 \
		simulate --interval 1 -p fifo --json
	is 'the real jobs have a model from their observations' '3 3 0' \
		"$(printf '%s' "$out" |
			json 'print join " ", @{$d->{jobs}}{qw(simulated modelled timed)};')"
	# The real times, less the seconds by which passes and launches are late on a busy machine:
	# no model has those seconds.
	was=$(store 'SELECT (sum(run_time_s) + (SELECT min(run_time_s) FROM jobs WHERE id < 3)) / 3
		FROM jobs')
	like 'the simulated mean of the real jobs is right within 30 %' '^(0\.[789]|1\.[012])' \
		"$(printf '%s' "$out" | json 'print $d->{check}{avg_jct_s} / '"$was;")"
	is 'the mean of the history is that of the real jobs' 1 \
		"$(printf '%s' "$out" | json 'print $d->{was}{avg_jct_s} > 0.99 * '"$was;")"
	for devices in 1 2 3; do
		simulate --interval 1 -p fifo --devices "$devices" --json |
			json 'print "$d->{results}[0]{avg_jct_s}\n";'
	done >means
	ok 'the jobs take longer on one device and no longer on three' sort -c -g -r means
	is 'the means on one, two and three devices differ' 3 "$(sort -u means | wc -l)"
else
	echo "ok $((n += 1)) - a real history is simulated # SKIP fewer than two cores"
fi
finish
