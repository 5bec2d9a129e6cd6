#!/bin/sh
# explain.t - pollux explain: what a model says, against an exhaustive search; what is missing
# without one; pictures; and real jobs.
# shellcheck disable=SC2016,SC2317  # Perl, other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:8 pu:1'
export HWLOC_SYNTHETIC

submit() { "$POLLUX" submit -q "$@"; }
cleanup() { end_jobs; }
part() { printf '%s\n' "$out" | sed -n "/^$1/,/^\$/p"; } # part HEADING: that section of $out
longer_than() { perl -CS -ne 'BEGIN { $w = shift } chomp; print "$_\n" if length > $w' "$1"; }

# --- who and what ---
status 'no job is a usage error' 64 "$POLLUX" explain
is 'and says so' "pollux: which job? give its number; see 'pollux explain --help'" "$err"
status 'two jobs are' 64 "$POLLUX" explain 1 2
for wrong in 0 -1 '' 99999999999999999999; do
	status "job '$wrong' is" 64 "$POLLUX" explain "$wrong"
done
status '--color of something else is' 64 "$POLLUX" explain 1 --color maybe
status 'an option behind the job without its value' 64 "$POLLUX" explain 1 --plot
like 'is what is wrong' "^pollux: option '--plot FILE' needs a value" "$err"
status 'no store yet' 66 "$POLLUX" explain 1
id=$(submit -n 'plain `x` it'\''s' -- true)
status 'no such job' 66 "$POLLUX" explain 99
is 'is named' 'pollux: no such job: 99' "$err"
is 'and nothing else is printed' '' "$out"

# --- without a model ---
missing() { part model | sed -n '/missing/,/until/p' | tr -s '\n ' '  '; }
status 'a job without a batch size is explained' 0 "$POLLUX" explain "$id"
like 'it has none' ' missing no batch size: it was submitted without --batch ' "$(missing)"
like 'no pass has looked at it' '^  reason +no pass has looked at it yet$' "$(part decision)"
like 'its end cannot be known' '^  end +not known: submitted without --samples, ' "$(part end)"
like 'nor its restart' '^  costs +unknown: ' "$(part restart)"
run "$POLLUX" explain "$id" --json
is 'in JSON: why, and nothing made up' 'no batch size undef 0 undef undef undef' \
	"$(printf '%s' "$out" | json 'print join " ", substr($d->{missing}, 0, 13),
		map { $_ // "undef" } $d->{model}, scalar @{$d->{devices}}, $d->{restart_s},
			$d->{noise}{noise_scale}, $d->{now}')"

id=$(submit --workload w -b 128 --batch-range 128:4096 --max-local-batch 512 --accumulate -r 1:6 \
	--samples 1e6 -n 'it'\''s `x`' -- true)
run "$POLLUX" explain "$id"
like 'a job that never ran, and none like it' \
	" missing no step times: no job of its workload 'w' has reported steps .*\\(CPU, 1 \
core\\)" "$(missing)"
store "UPDATE jobs SET runs = 1 WHERE id = $id"
run "$POLLUX" explain "$id"
like 'one that ran and said nothing is told how' \
	' missing no step times yet: .*pollux report STEP=N ' \
	"$(missing)"
store "INSERT INTO runs (job_id, number, state, replicas, accumulation_steps, learning_rate_scale,
	boot_id, assigned_time_s, assigned_boot_s, launch_time_s, first_step_s, reports)
	VALUES ($id, 9, 'ended', 1, 1, 1, 'x', 1, 1, 1, 2, 12)"
run "$POLLUX" explain "$id"
like 'one that did say something is told of that' \
	' missing no step times yet: 12 reports came, but no steps could be measured\. ' \
	"$(missing)"
like 'a restart that was never timed says what stands for it' \
	'^restart costs 2\.00s, the time to the first report, as none was stopped yet; ' \
	"$(part restart | tr -s '\n ' '  ')"
store "DELETE FROM runs"
status 'there is nothing to draw' 1 "$POLLUX" explain "$id" --plot a.svg
like 'which is said in a line' "^pollux: nothing to draw of job $id: no step times yet" "$err"
run env HWLOC_SYNTHETIC='package:1 core:2 pu:1' "$POLLUX" explain "$id" --json
is 'two devices are two' 2 "$(printf '%s' "$out" | json 'print $d->{usable_devices}')"

# --- a model with round numbers ---
cat >fill.sql <<END
INSERT INTO runs (job_id, number, state, replicas, accumulation_steps, batch_size, local_batch_size,
	learning_rate_scale, boot_id, assigned_time_s, assigned_boot_s,
	launch_time_s, launch_boot_s,
	end_time_s, duration_s, outcome, first_step_s, stop_duration_s) VALUES
 ($id, 1, 'ended', 1, 1, 128, 128, 1, 'x', 1, 1, 1, 1, 60, 59, 'stopped', 3, 1.5),
 ($id, 2, 'ended', 2, 1, 256, 128, 1, 'x', 70, 70, 70, 70, 130, 60, 'stopped', 4, 1),
 ($id, 3, 'ended', 4, 1, 512, 128, 1, 'x', 140, 140, 140, 140, 200, 60, 'failed', 4, NULL);
INSERT INTO observations SELECT id, 'CPU, 1 core', 1, replicas, 128, 1, NULL, 5000, 30, 100, 1,
	0.032 + 0.004 * (replicas > 1) + 0.002 * (replicas > 2) * (replicas - 2) + 0.004,
	0.0002, 0.035,
	NULL, 60 FROM runs WHERE job_id = $id;
INSERT INTO models (workload, device_kind, alpha_grad, beta_grad, alpha_sync_local, beta_sync_local,
	alpha_sync_node, beta_sync_node, gamma, basis, stop, objective, rmse_grad, rmse_step,
	n_observations, n_steps, max_replicas, max_local_batch_size, observations_key, fit_time_s)
	VALUES
	('w', 'CPU, 1 core', 0.004, 0.00025, 0.004, 0.002, 0.0044, 0.0022, 1, 'dddpttd',
	'converged', 0.01, 0.02, 0.03, 3, 15000, 4, 512, 'key', 1e9);
UPDATE jobs SET runs = 3, samples = 200000, noise_scale = 1920,
	reason = '2nd in line; needs 1 device',
	next_start_time_s = strftime('%s', 'now') + 86400 WHERE id = $id;
INSERT INTO decisions VALUES (7, 140, 'goodput', 8);
INSERT INTO decision_jobs VALUES (7, $id, 4, '4 devices: 3.1x of one');
INSERT OR REPLACE INTO settings VALUES ('POLLUX_POLICY', 'goodput'), ('POLLUX_SLICE', '100s');
END
store <fill.sql
export COLUMNS=80
status 'a job that waits is explained by the model of its workload' 0 "$POLLUX" explain "$id"
is 'within 80 columns' '' "$(printf '%s\n' "$out" | longer_than 80)"
unlike 'without a colour in a pipe' "$(printf '\033')" "$out"
like 'its name' "^job $id: it's .x.\$" "$out"
like 'its state' '^  state +queued$' "$out"
decision=$(part decision | tr -s '\n ' '  ')
like 'the decision: why it waits' ' reason 2nd in line; needs 1 device ' "$decision"
like 'and what it was given last' \
	' last change .*, by policy goodput, with 8 devices to give out: 4 devices: 3\.1x of one ' \
	"$decision"
like 'one device at M0' '^  1 +128 +128 .* 36\.0ms +3\.56k +100% +3\.56k +1\.00$' "$(part devices)"
like 'more than it asked for' '^  7 .* - +not asked for$' "$(part devices)"
unlike 'none is marked as its own' 'now' "$(part devices)"
like 'what the next device brings' \
	'^  next device the 2nd would add 71 %: goodput 3\.56k to 6\.10k$' "$(part devices)"
like 'batch sizes are for the fewest' '^batch sizes on 1 device$' "$out"
like 'M0' '^ +128 +128 +1 +36\.0ms +3\.56k +100% +3\.56k +best$' "$(part batch)"
like '2 M0 in two passes: (1920 + 128) / (1920 + 256) of 2 x 36 ms' \
	'^ +256 +128 +2 +72\.0ms +3\.56k +94% +3\.35k$' "$(part batch)"
like 'the largest' '^ +4096 +512 +8 +1\.06s ' "$(part batch)"
like 'parameters' '^alpha_grad +4\.00ms +a pass +data$' "$(part model)"
like 'small ones' '^beta_grad +250us ' "$(part model)"
like 'resting on the penalty' '^beta_sync_local +2\.00ms .* penalty$' "$(part model)"
like 'tied' '^alpha_sync_node +4\.40ms .* tied$' "$(part model)"
like 'what they rest on' '^  rests on +15\.0k steps in 3 configurations, on CPU, 1 core$' \
	"$(part model)"
like 'the error' '^  error +updates 3\.0 %, passes ' "$(part model)"
like 'and how the fit ended' '^  fitted .*; converged$' "$(part model)"
like 'a measured step is the model'\''s' '^ +2 +256 +128 +1 +5\.00k +40\.0ms +40\.0ms +\+0\.0%' \
	"$(part measured)"
like 'the noise scale' '^  scale +1\.92k samples, declared$' "$(part noise)"
like 'a restart: 1.5 s + 4 s and 1 s + 4 s, of 100 s' \
	'^  costs +5\.25s, as measured; 5 % of a slice of 1m40s$' \
	"$(part restart)"
like 'when it starts at the latest, and ends by that' \
	' end by .*, or sooner: to start by .*, then 3m45s on 1 device if it keeps them ' \
	"$(part end | tr -s '\n ' '  ')"
like 'the best of the sizes is one in three binary digits' ' best$' "$(part batch)"
like 'what is left' '^  remaining +800k of 1\.00M samples$' "$(part end)"
like 'and takes 800,000 / 3,555.6 s' '^  takes +3m45s of running on 1 device$' "$(part end)"

# What was measured counts, not what the model makes of it: 44 ms (50 / 44)^0.97.
store "UPDATE observations SET step_time_s = 0.050 WHERE replicas = 4"
run "$POLLUX" explain "$id"
like 'a measured step is not the model'\''s: 44 ms against 50' \
	'^ +4 +512 +128 +1 +5\.00k +50\.0ms +44\.0ms +-12\.0%' \
	"$(part measured)"
store "UPDATE jobs SET max_batch_size = 512, min_replicas = 4 WHERE id = $id"
run "$POLLUX" explain "$id"
like 'what was measured is what it gets' '^ +512 +128 +1 +49\.[78]ms ' "$(part batch)"
store "UPDATE jobs SET max_batch_size = 4096, min_replicas = 1 WHERE id = $id;
	UPDATE observations SET step_time_s = 0.044 WHERE replicas = 4"
run "$POLLUX" explain "$id"
unset COLUMNS

# Every size there is, for each number of devices.
run "$POLLUX" explain "$id" --json
search='
my ($ok, $n) = (1, 0);
for my $c (@{$d->{devices}}) {
	my ($r, $best) = ($c->{replicas}, 0);
	for my $s (1 .. 32) {
		for my $m (1 .. 512) {
			my $M = $r * $m * $s;
			next if $M < 128 || $M > 4096 || ($r == 1 && $M > 128 && $s == 1);
			my $sync = $r > 1 ? 0.004 + 0.002 * ($r - 2) : 0;
			my $step = $s * (0.004 + 0.00025 * $m) + $sync;
			my $goodput = $M / $step * (1920 + 128) / (1920 + $M);
			$best = $goodput if $goodput > $best;
		}
	}
	$n++;
	next if $c->{goodput} > 0.99 * $best && $c->{goodput} < (1 + 1e-9) * $best &&
		abs($c->{goodput} - $c->{throughput} * $c->{efficiency}) < 1e-6 * $best &&
		abs($c->{throughput} * $c->{step_time_s} - $c->{batch_size}) < 1e-6;
	$ok = 0;
	print "$r devices: $c->{goodput}, searched $best\n";
}
print "$n searched\n";
exit !$ok'
searched() { POLLUX_MIN_EFFICIENCY=0.01 "$POLLUX" explain "$id" --json | json "$search"; }
ok 'the best sizes are within 1 % of the best of all there are' searched
is 'for eight' '8 searched' "$(searched)"
is 'the speedup is over the fewest, the obstacles are told' '1 not asked for' \
	"$(printf '%s' "$out" | json 'my $x = $d->{devices};
		print $x->[0]{speedup}, " ", $x->[7]{obstacle} if
			abs($x->[3]{speedup} * $x->[0]{goodput} - $x->[3]{goodput}) < 1e-6 &&
			!$x->[0]{obstacle}')"
is 'parameters and observations are numbers' '0.00025 data 0.04' \
	"$(printf '%s' "$out" | json 'my $m = $d->{model};
		my ($o) = grep { $_->{replicas} == 2 } @{$m->{observations}};
		my $beta = $m->{parameters}{beta_grad};
		print "$beta->{value} $beta->{basis} $o->{step_time_s}"')"
is 'the last decision' 'goodput 4 100' \
	"$(printf '%s' "$out" | json 'my $x = $d->{decision}; print "$x->{last_change_policy} " .
		"$x->{last_change_replicas} $x->{slice_s}"')"

# --- an unknown noise scale, a larger best one ---
store "UPDATE jobs SET noise_scale = NULL WHERE id = $id"
run env COLUMNS=80 "$POLLUX" explain "$id"
like 'without a noise scale the efficiency at M0 is known' '^ +128 +128 +1 .* 100% ' "$(part batch)"
like 'others are not, and goodput rests on what is assumed' \
	'^ +256 +128 +2 +72\.0ms +3\.56k +- +1\.78k$' "$(part batch)"
like 'which is said' '^  efficiency +not known, nor the noise scale: ' "$(part batch)"
is 'nor are they in JSON' '1 null' "$("$POLLUX" explain "$id" --json |
	json 'print join " ", map { $_ // "null" } map { $_->{efficiency} }
		@{$d->{batch_sizes}}[0, 1]')"
# The best batch size is sqrt(1920 * 2 * 0.03 / 0.00025) = 679, about 4 M0 = 2 * 340; 340 is
# 101010100 in binary.
store "UPDATE jobs SET noise_scale = 1920, batch_size = 170 WHERE id = $id;
	UPDATE models SET alpha_grad = 0.03;
	UPDATE observations SET step_time_s = step_time_s + 0.026"
is 'a row may have more than the best' more "$("$POLLUX" explain "$id" --json |
	json 'my $best = $d->{devices}[0]{goodput}; print "more" if grep { $_->{goodput} > $best &&
		$_->{goodput} < 1.01 * $best } @{$d->{batch_sizes}}')"
run env COLUMNS=80 "$POLLUX" explain "$id"
like 'and then the foot of the table says why' '^  best +that is, of those whose local batch ' \
	"$(part batch)"
is 'within 80 columns' '' "$(printf '%s\n' "$out" | longer_than 80)"
store "UPDATE jobs SET batch_size = 128 WHERE id = $id; UPDATE models SET alpha_grad = 0.004;
	UPDATE observations SET step_time_s = step_time_s - 0.026"

# --- limits ---
store "UPDATE models SET max_replicas = 1"
run "$POLLUX" explain "$id"
like 'beyond four times what was measured nothing is told' '^  5 +- +- .* - +not tried$' \
	"$(part devices)"
store "UPDATE jobs SET max_replicas = 1 WHERE id = $id"
run "$POLLUX" explain "$id"
like 'no device more than it asked for' '^  next device +none: it asked for at most 1$' \
	"$(part devices)"
store "UPDATE jobs SET max_replicas = 6 WHERE id = $id; UPDATE models SET max_replicas = 4"
run env HWLOC_SYNTHETIC='package:1 core:1 pu:1' "$POLLUX" explain "$id"
like 'no device more than there is' '^  next device +none: there are no more than 1$' \
	"$(part devices)"
store "UPDATE models SET max_local_batch_size = 186"
run "$POLLUX" explain "$id"
like 'local batches no larger than twice what was measured: rather more passes than 1023' \
	'^ +1024 +256 +4 ' "$(part batch)"
store "UPDATE models SET max_local_batch_size = 512"
wide=$(submit --workload w -b 128 -r 3 -- true)
run "$POLLUX" explain "$wide"
like 'a batch that does not divide is rounded' '^  3 +129 +43 +1 ' "$(part devices)"
like 'and is not to be changed' \
	'^batch sizes on 3 devices \(not to be changed: no --batch-range\)$' "$out"
many=$(submit --workload w -b 128 -r 17 -- true)
large=$(submit --workload w -b 4096 -r 1 -- true)
HWLOC_SYNTHETIC='package:1 core:64 pu:1' run "$POLLUX" schedule --dry-run --policy goodput
like 'a job that its model has no sizes for starts as submitted: a batch that does not divide' \
	"^start job $wide on " "$out"
like 'more than four times the devices that were measured' "^start job $many on " "$out"
like 'more than twice the local batch that was measured' "^start job $large on " "$out"
"$POLLUX" cancel "$many" "$large"
needy=$(submit --workload w -b 128 -r 20 -- true)
run "$POLLUX" explain "$needy"
like 'a job that needs more than there is' '^  next device it can be given none of these' \
	"$(part devices)"
status 'cannot be drawn' 1 "$POLLUX" explain "$needy" --plot a.svg
run env HWLOC_SYNTHETIC='package:1 core:300 pu:1' POLLUX_SLOTS=300 "$POLLUX" explain "$id"
is 'of 300 devices not every number is shown' 1 \
	"$(part devices | grep -Ec '^(256|300) ' | grep -c 2)"
ok 'but some' test "$(part devices | wc -l)" -lt 40

# --- at work ---
run_as() { # run_as BATCH LOCAL PASSES
	store "UPDATE jobs SET state = 'running', reason = '4 devices: 2.8x of one' WHERE id = $id;
		DELETE FROM runs WHERE id = 90; DELETE FROM run_devices;
		INSERT INTO runs (id, job_id, number, state, replicas, accumulation_steps,
		batch_size, local_batch_size, learning_rate_scale, boot_id, assigned_time_s,
		assigned_boot_s, launch_time_s, launch_boot_s, duration_s, first_samples,
		last_samples, step_time_s, first_step_s) VALUES (90, $id, 4, 'running', 4, $3, $1,
		$2, 1.5, '$(cat /proc/sys/kernel/random/boot_id)', 200, 1, 200, 1, 30, 200000,
		470000, 0.1, 3);
		INSERT INTO run_devices (run_id, position, device, kind, binding, cores, in_use)
			VALUES (90, 0, 'cpu:0', 'CPU, 1 core', '0', 1, 1),
			(90, 1, 'cpu:1', 'CPU, 1 core', '1', 1, 1),
			(90, 2, 'cpu:2', 'CPU, 1 core', '2', 1, 1), (90, 3, 'cpu:3', 'CPU, 1 core',
			'3', 1, 1)"
}
run_as 2048 256 2
run "$POLLUX" explain "$id"
like 'where it runs' '^  state +running on cpu:0,cpu:1,cpu:2,cpu:3$' "$out"
like 'with which sizes' \
	'^  has +4 devices, batch 2048 = 4 \* 256 \* 2 \(replicas, local batch, passes\), '\
'learning rate \* 1\.5$' "$out"
like 'its devices are marked' '^  4 .* now$' "$(part devices)"
like 'its batch too, at 2 passes of 68 ms and 8 ms' \
	'^ +2048 +256 +2 +144ms +14\.2k +52% +7\.34k +now$' "$(part batch)"
like 'the best one' ' best$' "$(part batch)"
like 'it is told how far it is from that' \
	'^  now +goodput 7\.34k: [0-9]+ % below the best for 4 devices, batch [0-9]+$' \
	"$(part devices)"
like 'the next is the fifth' 'the 5th would add ' "$(part devices)"
like 'efficiency 2048 / 3968' '^  efficiency +52 % at batch 2048, against 128$' "$(part noise)"
like 'the gain 16 x 0.516, and what it has' \
	'^  lr +\* 8\.26 at batch 2048, by adascale; \* 1\.5 when' "$(part noise)"
like 'the end: 800,000 samples at 2048 in 0.1 s, not at the 270,000 in 27 s so far' \
	'^  end +about .*, in 39s, if it keeps its devices$' "$(part end)"
like 'the rate' '^  remaining +800k of 1\.00M samples, at 20\.5k samples/s$' "$(part end)"
run "$POLLUX" explain "$id" --color always
like 'colour where asked for' "$(printf '\033')\\[32m" "$out"
run "$POLLUX" explain "$id" --json
is 'what it has, in JSON' '2048 1.5 39.0625' \
	"$(printf '%s' "$out" |
		json 'print "$d->{now}{batch_size} $d->{now}{learning_rate_scale} ", $d->{eta_s}')"

# --- the end of a job whose length nobody declared ---
store "UPDATE jobs SET total_samples = NULL WHERE id = $id"
like 'is not known' '^  end +not known: submitted without' "$("$POLLUX" explain "$id")"
workload=$(store "SELECT workload FROM jobs WHERE id = $id")
for samples in 900000 1100000; do
	other=$("$POLLUX" submit --workload "$workload" -- true)
	store "UPDATE jobs SET state = 'done', samples = $samples WHERE id = $other"
done
like 'but expected by the jobs of its workload that are done' \
	'^  end +about .*, in 39s, if it keeps its devices and is as long as the 2 jobs of its '\
'workload that are done$' "$("$POLLUX" explain "$id")"
like 'status marks it' ' ~39s ' "$("$POLLUX" status)"
like 'and says it of the job' \
	'to its end about 39s, if it is as long as 2 done of its workload' \
	"$("$POLLUX" status "$id")"
for command in explain status; do
	is "$command --json has it beside the end that is known" '- 39.0625 2' \
		"$("$POLLUX" "$command" "$id" --json | json '$d = $d->{jobs}[0] if $d->{jobs};
		print join " ", map { $_ // "-" } @$d{qw(eta_s expected_s expected_from_jobs)}')"
done
store "UPDATE jobs SET samples = 1000001 WHERE id = $id"
like 'one that has more already says nothing' '^  end +not known: submitted without' \
	"$("$POLLUX" explain "$id")"
store "UPDATE jobs SET total_samples = 1000000, samples = 200000 WHERE id = $id;
	UPDATE jobs SET workload = 'other' WHERE state = 'done'"

# --- pictures ---
for wrong in a a.jpg .svg a.svg/x x/.png ''; do
	status "--plot '$wrong' is a usage error" 64 "$POLLUX" explain "$id" --plot "$wrong"
done
mkdir empty fake
status 'without gnuplot: 69' 69 env PATH="$TMP/empty" "$POLLUX" explain "$id" --plot a.svg
is 'one line says what to install' \
	'pollux: no gnuplot to draw with: install the package gnuplot-nox' "$err"
like 'and the tables are there all the same' '^batch sizes ' "$out"
cat >fake/gnuplot <<END
#!/bin/sh
/bin/cat >"$TMP/script"
eval "\$GNUPLOT"
END
chmod +x fake/gnuplot
# drawn COMMAND FILE
drawn() { GNUPLOT=$1 PATH=$TMP/fake:$PATH "$POLLUX" explain "$id" --plot "$2"; }
umask 027
status 'a picture' 0 drawn 'echo picture' a.svg
is 'is what gnuplot draws' picture "$(cat a.svg)"
is 'with the usual permissions' 640 "$(stat -c %a a.svg)"
umask 022
like 'its script has the curve of devices' '^1 3555\.5555[0-9]* 3555\.5555' "$(cat script)"
like 'the point where it is' '^4 7340\.[0-9]+ 2048$' "$(cat script)"
like 'what was measured' '^4 11636\.363[0-9]* 512 11636\.363[0-9]*$' "$(cat script)"
like 'on two devices not on the curve of batch sizes' '^2 6400 256 NaN$' "$(cat script)"
like 'a name that cannot do harm' "title 'job $id, it''s \\?x\\?, on CPU, 1 core'" "$(cat script)"
like 'a line each' '^set terminal svg ' "$(cat script)"
like 'efficiency is drawn' "title 'efficiency'" "$(cat script)"
unlike 'nothing failed' 'does not work' "$(cat script)"
store "CREATE TABLE failed AS SELECT * FROM runs WHERE replicas = 4 AND local_batch_size > 0 AND
		workload = (SELECT workload FROM jobs WHERE id = $id) ORDER BY id DESC LIMIT 1;
	UPDATE failed SET id = 100000, number = 100000, local_batch_size = 8192,
		accumulation_steps = 1, state = 'ended', outcome = 'failed', out_of_memory = 1;
	INSERT INTO runs SELECT * FROM failed;
	INSERT INTO run_devices (run_id, device, kind, binding, cores, position)
		SELECT 100000, device, kind, binding, cores, position FROM run_devices
		WHERE run_id = (SELECT max(run_id) FROM run_devices);"
status 'where a size ran out of memory' 0 drawn 'echo picture' a.svg
like 'it is marked' '^32768 0$' "$(cat script)"
like 'as not working' "title 'does not work'" "$(cat script)"
store 'DELETE FROM run_devices WHERE run_id = 100000; DELETE FROM runs WHERE id = 100000;
	DROP TABLE failed'
store "CREATE TABLE kept AS SELECT * FROM gradient_statistics; DELETE FROM gradient_statistics"
declared=$(store "SELECT quote(noise_scale) FROM jobs WHERE id = $id")
store "UPDATE jobs SET noise_scale = NULL WHERE id = $id"
status 'a noise scale that is not known' 0 drawn 'echo picture' a.svg
is 'draws no efficiency, and no goodput' '' \
	"$(grep -E "(title|label) '(efficiency|goodput)" script)"
like 'but throughput, on both sides' 2 "$(grep -c "^plot .* title 'throughput'" script)"
like 'where it is, too: 2048 in 144 ms' '^4 142[0-9][0-9]\.?[0-9]* 2048$' "$(cat script)"
like 'which the title says' "title 'job $id, .*; noise scale unknown: no goodput or efficiency'" \
	"$(cat script)"
if command -v gnuplot >/dev/null; then
	status 'it can be drawn' 0 "$POLLUX" explain "$id" --plot real.svg
	is 'without a word' '' "$err"
fi
store "INSERT INTO gradient_statistics SELECT * FROM kept; DROP TABLE kept;
	UPDATE jobs SET noise_scale = $declared WHERE id = $id"
status 'a gnuplot that fails: 69' 69 drawn \
	'echo gnuplot\> set; echo "line 3: bad thing" >&2; exit 1' a.svg
is 'says why' 'pollux: gnuplot failed: line 3: bad thing' "$err"
status 'one that is killed' 69 drawn 'kill -9 $$' a.svg
status 'one that draws nothing' 69 drawn : a.svg
is 'and the old picture stays' picture "$(cat a.svg)"
status 'one that does not read its script does no harm' 0 env GNUPLOT='echo other' \
	PATH="$TMP/fake:$PATH" "$POLLUX" explain "$id" --plot a.svg
is 'nothing is left beside it' a.svg "$(echo a.svg*)"
status 'a directory that is not there: 73' 73 drawn 'echo picture' no/such/a.png
is 'in one line' "pollux: cannot write 'no/such/a.png': No such file or directory" "$err"
mkdir dir.svg
status 'a directory in its place' 73 drawn 'echo picture' dir.svg
is 'leaves nothing behind' 'dir.svg' "$(echo dir.svg*)"
if command -v gnuplot >/dev/null; then
	status 'gnuplot draws an SVG' 0 "$POLLUX" explain "$id" --plot real.svg
	is 'with nothing to complain of' '' "$err"
	like 'a whole one' '^</svg>$' "$(cat real.svg)"
	for text in 'devices' 'batch size, samples' 'samples/s' 'efficiency, %' 'goodput' \
		'throughput' 'measured throughput' 'now' "batch sizes on 4 devices"; do
		like "it says $text" "(>|CDATA\\[)$text(<|\\])" "$(cat real.svg)"
	done
	status 'and a PNG' 0 "$POLLUX" explain "$id" --plot real.png
	is 'of its size' 1100x500 "$(perl -e 'binmode STDIN; read STDIN, $_, 24;
		my ($s, $w, $h) = unpack "a8 x8 NN", $_;
		print "${w}x$h" if $s eq "\x89PNG\r\n\x1a\n"' <real.png)"
	for cores in 1 40; do
		status "of $cores devices" 0 env HWLOC_SYNTHETIC="package:1 core:$cores pu:1" \
			"$POLLUX" explain "$id" --plot real.svg
		is 'without a complaint' '' "$err"
	done
	store "DELETE FROM runs WHERE id = 90; DELETE FROM run_devices;
		UPDATE jobs SET state = 'queued' WHERE id = $id"
	status 'one that does not run' 0 "$POLLUX" explain "$id" --plot real.svg
	is 'without one, either' '' "$err"
	status 'one batch size' 0 "$POLLUX" explain "$wide" --plot real.svg
	is 'is enough' '' "$err"
else
	echo "ok $((n += 1)) - gnuplot draws # SKIP no gnuplot: apt-get install gnuplot-nox"
fi
store "DELETE FROM runs WHERE id = 90; DELETE FROM run_devices;
	UPDATE jobs SET state = 'queued' WHERE id = $id"

# --- another policy ---
store "UPDATE settings SET value = 'las' WHERE name = 'POLLUX_POLICY'; DELETE FROM models;
	UPDATE observations SET step_time_s = 0.050 WHERE replicas = 4"
run "$POLLUX" explain "$id"
like 'a policy that does not look at goodput says so' '^  policy +las does not look at goodput' \
	"$(part decision)"
like 'then a model is fitted for this' '^  fitted +just now, for this; no pass has; converged$' \
	"$(part model)"
like 'from what was measured' '^  rests on +15\.0k steps in 3 configurations' "$(part model)"
is 'and not kept' 0 "$(store 'SELECT count(*) FROM models')"
store "UPDATE jobs SET state = 'done', end_time_s = 1e9, reason = 'completed' WHERE id = $id"
run "$POLLUX" explain "$id"
like 'an ended job has ended' '^  end +done at ' "$(part end)"
unlike 'with nothing remaining' remaining "$out"
like 'and its tables are of now' '^  ended +what it would be given now' "$(part devices)"
ended=$(submit -n ended -- true)
"$POLLUX" cancel "$ended"
unlike 'one without a model is told nothing of what is to come' 'until then' \
	"$("$POLLUX" explain "$ended")"

# --- real jobs ---
store "UPDATE jobs SET state = 'cancelled' WHERE state = 'queued'"
unset HWLOC_SYNTHETIC
changed()
{
	"$POLLUX" explain "$1" --json | json 'printf "%.6f %s",
		$d->{decision}{last_change_time_s}, $d->{decision}{last_change_reason}'
}
first=$(submit -n first -- sleep 60)
"$POLLUX" schedule --slots 2 --policy goodput
before=$(changed "$first")
like 'what was changed last, and why' '^[0-9.]+ cpu:[01]: 1 device' "$before"
second=$(submit -n second -- sleep 60)
"$POLLUX" schedule --slots 2
like 'a pass that starts another' '^[0-9.]+ cpu:[01]: 1 device' "$(changed "$second")"
is 'is no change of the one that runs on' "$before" "$(changed "$first")"
"$POLLUX" cancel "$first" "$second"
"$POLLUX" wait --timeout 200 "$first" "$second" 2>/dev/null
if [ ! -x "$TRAIN" ] || ! ls "$FASHION_MNIST"/train-images-idx3-ubyte* >/dev/null 2>&1; then
	echo "ok $((n += 1)) - real jobs # SKIP no trainer, or no Fashion-MNIST in $FASHION_MNIST"
	finish
fi
POLLUX_SLOTS=2 POLLUX_SLICE=3 POLLUX_POLICY=goodput
export POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
id=$(submit -n real -b 128 --batch-range 128:2048 --accumulate -r 1:2 --samples 50000000 -- \
	"$TRAIN" --data "$FASHION_MNIST" --samples 50000000 --hidden 64 --checkpoint '{checkpoint}')
has() { "$POLLUX" explain "$id" --json | json "$1"; } # has CONDITION: of $d
pass_until() { "$POLLUX" schedule && has "exit !($1)"; }
ok 'it is given a second device to try' wait_for 30 pass_until \
	'$d->{now} && $d->{now}{replicas} == 2'
ok 'its model then rests on both' wait_for 30 pass_until '$d->{model}{measured_replicas} == 2 &&
	!$d->{model}{fitted_by_a_pass} == 0 && $d->{now}'
ok 'its noise scale is measured in its own updates' \
	wait_for 30 pass_until '$d->{noise}{basis} eq "own" && $d->{noise}{n_updates} > 100'
# Where other programs use the second core too, the last pass may have found one device to be best:
# then the run on two devices ends, and a run on one begins, while this test looks. The figures that
# are compared are of one run.
given() { has 'print $d->{now} ? $d->{now}{replicas} : ""'; }
told() {
	held=$(given) && run "$POLLUX" explain "$id" && part end | grep -q '^  end  *about ' &&
		[ -n "$held" ] && [ "$held" = "$(given)" ]
}
wait_for 30 told
result $? 'its end can be told'
like 'what it has is marked' "^  $held .* now\$" "$(part devices)"
like 'where from' "^  scale +[0-9.]+[kM]? \([0-9.]+[kM]? to [0-9.]+[kM]?\) samples, measured in \
this job in [0-9.k]+ updates\$" "$(part noise)"
like 'a restart was timed' '^  costs +[0-9.]+m?s, as measured; ' "$(part restart)"
same_formula() { has 'my $p = $d->{model}{parameters};
	my %p = map { $_ => $p->{$_}{value} } keys %$p;
	my @o = @{$d->{model}{observations}};
	for my $o (@o) {
		my $grad = $p{alpha_grad} + $p{beta_grad} * $o->{local_batch_size};
		my $r = $o->{replicas};
		my $sync = $r < 2 ? 0 : $p{alpha_sync_local} + $p{beta_sync_local} * ($r - 2);
		my $step = ($o->{accumulation_steps} - 1) * $grad +
			($grad ** $p{gamma} + $sync ** $p{gamma}) ** (1 / $p{gamma});
		die "$step, not $o->{model_step_time_s}" if
			abs($step / $o->{model_step_time_s} - 1) > 1e-9;
	}
	exit !@o'; }
ok 'the times of the model are those of its formula' same_formula
has_reason()
{
	"$POLLUX" status | grep -Eq " real +(running|starting) .* (accuracy .*|[12] devices?.*)\$"
}
ok 'its reason in the table' wait_for 10 has_reason
finish
