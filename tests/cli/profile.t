#!/bin/sh
# profile.t - pollux profile COMMAND: points, memory, what is kept, what a later job starts with;
# and that nothing is left of it however it ends.
# shellcheck disable=SC2016,SC2317  # Perl, other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:2 pu:1' POLLUX_SLOTS=2
export HWLOC_SYNTHETIC POLLUX_SLOTS

cleanup() {
	end_jobs
	[ -z "${profile-}" ] || kill -9 "$profile" 2>/dev/null
}

# A program of a known speed: step_ns = 1 ms + 10 us a sample, whatever the machine does; with more
# than $2 samples it is out of memory.
cat >fake <<'END'
#!/bin/sh
if [ "$1" -gt "$2" ]; then
	echo "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB"
	exit 1
fi
[ -z "$3" ] || echo "$1" >"$3/was-here"
exec "$REPORTER" $((1000000 + 10000 * $1)) "$1"
END
chmod +x fake
cp fake other
leftovers() { # processes of this store's runs
	for p in /proc/[0-9]*; do
		{ tr '\0' '\n' <"$p/environ"; } 2>/dev/null |
			grep -q "^POLLUX_REPORT_SOCKET=$POLLUX_DIR/" && echo "$p"
	done
}
scratch() { # directories for checkpoints of profiles
	for dir in $(store "SELECT id FROM jobs WHERE profile = 1"); do
		[ ! -e "$POLLUX_DIR/checkpoints/$dir" ] || echo "$dir"
	done
}
clean() { # nothing is left of any profile
	[ -z "$(leftovers)" ] && [ -z "$(scratch)" ] &&
		[ -z "$(find "$POLLUX_DIR/run" -name 'profile-*' -o -name '*.sock')" ] &&
		[ "$(store 'SELECT count(*) FROM reserved_devices')" = 0 ] &&
		[ "$(store "SELECT count(*) FROM runs WHERE state <> 'ended'")" = 0 ]
}
state() { store "SELECT state FROM jobs WHERE id = $1"; }
has_state() { [ "$(state "$1")" = "$2" ]; }
points()
{
	store "SELECT count(*) FROM observations o JOIN runs r ON r.id = o.run_id
		WHERE r.job_id = $1"
}
has_points() { [ "$(points "$1")" -ge "$2" ]; }

# --- wrong ---
status 'nothing to measure is a usage error' 64 "$POLLUX" profile
status 'a budget of nothing is a usage error' 64 "$POLLUX" profile --budget 0 -- true
status 'a range without its batch is a usage error' 64 "$POLLUX" profile --batch-range 1:2 -- true
like "a range without its batch is told with profile's help" "see 'pollux profile --help'" "$err"
status 'a picture of an unknown format is a usage error' 64 "$POLLUX" profile --plot x.gif -- true
status 'two jobs are a usage error' 64 "$POLLUX" profile 1 2
for bad in 0 -1 nan 1e16 1e400 2000000G x; do
	status "--parameters $bad is a usage error" 64 "$POLLUX" profile --parameters "$bad" -- true
	is "--parameters $bad is told by one line" \
		"pollux: option '--parameters N[K|M|G]' wants a number from 1 to 1000000G, \
such as 124M, not '$bad'; see 'pollux profile --help'" "$err"
done
for bad in '(' '[0-9' x '(a)\2' ''; do
	status "--step-regex '$bad' is a usage error" \
		64 "$POLLUX" profile --step-regex "$bad" -- true
done
like 'a bad --step-regex is named' "^pollux: option '--step-regex" "$err"
status 'a command that is not there is refused with status 66' 66 "$POLLUX" profile -- ./nowhere
status 'the number of a profile needs a store' 66 "$POLLUX" profile 1
id=$("$POLLUX" submit --hold -- true)
status 'an unknown number is refused with status 66' 66 "$POLLUX" profile 99
status 'a job that is no profile is refused with status 66' 66 "$POLLUX" profile "$id"
is 'a job that is no profile is told from one' \
	"pollux: job $id is no profile: see 'pollux explain $id'" "$err"
"$POLLUX" cancel "$id"

# --- a program of known speed and memory ---
status 'a profile of known speed succeeds' \
	0 "$POLLUX" profile --budget $((40 * TIME_SCALE)) --points 10 -b 16 \
	--batch-range 16:4096 \
	--workload known --parameters 1.5M --json -- ./fake '{local_batch}' 300 '{checkpoint}'
printf '%s' "$out" >first.json
is 'a profile begins with its own sizes, doubles, then halves' \
	'16 own sizes,32 growth,64 growth,128 growth,256 growth,512 growth,'\
'362 bisection,304 bisection,279 bisection' \
	"$(json 'print join ",", map { "$_->{local_batch_size} $_->{why}" } @{$d->{points}}[0..8]' \
		<first.json)"
is 'the number of parameters is kept' 1500000.0 \
	"$(store "SELECT parameters FROM workloads WHERE workload = 'known'")"
is 'out of memory is the outcome of sizes that do not fit' '512 362 304' \
	"$(json 'print join " ", map { $_->{local_batch_size} }
		grep { $_->{outcome} eq "out of memory" } @{$d->{points}}' <first.json)"
is 'all other sizes were measured, within the limits' 7 \
	"$(json 'print scalar grep { $_->{outcome} eq "measured" && $_->{batch_size} >= 16 &&
		$_->{batch_size} < 304 && $_->{n_steps} >= 5 } @{$d->{points}}' <first.json)"
is 'a profile finds the largest size that fits' '304 279' \
	"$(json 'print "$d->{memory}{too_large} $d->{memory}{fits}"' <first.json)"
is 'a profile finds the speed' '1.00 10.0' "$(json 'my $p = $d->{model}{parameters};
	printf "%.2f %.1f", 1e3 * $p->{alpha_grad}{value}, 1e6 * $p->{beta_grad}{value}' \
	<first.json)"
is 'memory and launches of each point were measured' 1 \
	"$(json 'print !grep { $_->{outcome} eq "measured" && !($_->{peak_memory_bytes} > 1e5 &&
	$_->{first_step_s} > 0 && $_->{stop_duration_s} > 0) } @{$d->{points}}' <first.json)"
first=$(json 'print $d->{id}' <first.json)
is 'the job of a profile is done' \
	'done|1' "$(store "SELECT state, profile FROM jobs WHERE id = $first")"
ok 'a finished profile leaves nothing' clean
like 'each run of a profile was stopped as measured' 'measured' \
	"$(store "SELECT stop_reason FROM runs WHERE job_id = $first")"
status 'the result of a profile can be seen again' 0 "$POLLUX" profile "$first" --json
same_points()
{
	json 'print map { "$_->{run} $_->{local_batch_size} " . ($_->{step_time_s} // "-") . "\n" }
		@{$d->{points}}'
}
is 'the result seen again has the same points' \
	"$(same_points <first.json)" "$(printf '%s' "$out" | same_points)"
status 'the result is shown as a table' 0 env COLUMNS=80 "$POLLUX" profile "$first"
like 'the table has the points' '^ +1 +16 .*own sizes' "$out"
like 'the table tells points without memory' 'out of memory$' "$out"
like 'the table tells which local batch does not fit' \
	'^  memory +a local batch of 304 does not fit, one of 279 does$' "$out"
is 'the table is within 80 columns' '' "$(printf '%s\n' "$out" | awk 'length > 80')"
run "$POLLUX" status --all
like 'status tells how many points a profile measured' \
	"^ *$first +fake +done .*10 points|^ *$first +fake +done .*7 points" "$out"
status 'a profile cannot be requeued' 1 "$POLLUX" requeue "$first"

# --- what a later job starts with ---
distinct() { # distinct FILE...: how many sizes were measured, in all
	cat "$@" | perl -MJSON::PP -0777 -ne 'my %n; for my $d (JSON::PP->new->incr_parse($_)) {
		$n{join " ", @$_{qw(replicas local_batch_size accumulation_steps)}}++
			for grep { $_->{outcome} eq "measured" } @{$d->{points}} }
			print scalar keys %n'
}
id=$("$POLLUX" submit --workload known -b 16 --batch-range 16:4096 --noise-scale 1e6 \
	--samples 1e9 -- ./fake '{local_batch}' 300 '{checkpoint}')
run "$POLLUX" explain "$id" --json
is 'a job submitted later has a model of all that was measured' "$(distinct first.json) 1" \
	"$(printf '%s' "$out" |
		json 'print "$d->{model}{n_observations} $d->{model}{fitted_by_a_pass}"')"
is 'a job submitted later gets no local batch that did not fit' 279 \
	"$(printf '%s' "$out" | json 'my ($c) = grep { $_->{replicas} == 1 } @{$d->{devices}};
		print $c->{local_batch_size}')"
is 'a profile is no sample of how long jobs are' '' \
	"$(printf '%s' "$out" | json 'print $d->{decision}{last_change_policy} // ""')"
"$POLLUX" cancel "$id"

# --- a second one adds ---
status 'a second profile succeeds' \
	0 "$POLLUX" profile --budget $((20 * TIME_SCALE)) --points 2 -b 16 \
	--batch-range 16:4096 --workload known --json -- ./fake '{local_batch}' 300 '{checkpoint}'
printf '%s' "$out" >second.json
is 'a second profile tries what tells most, and nothing too large' '2 2' \
	"$(json 'print scalar(@{$d->{points}}), " ", scalar grep { $_->{why} eq "tells most" &&
		$_->{local_batch_size} < 304 } @{$d->{points}}' <second.json)"
is 'the model rests on both profiles' "$(distinct first.json second.json)" \
	"$(json 'print $d->{model}{n_observations}' <second.json)"
ok 'the model of both profiles has more steps' \
	test "$(json 'print $d->{model}{n_steps}' <second.json)" -gt \
	"$(json 'print $d->{model}{n_steps}' <first.json)"

# --- one size only ---
status 'a command that takes no sizes is profiled' \
	0 "$POLLUX" profile --budget $((10 * TIME_SCALE)) -b 16 \
	--json -- ./other 16 300
is 'a command that takes no sizes is measured at its own' '16' \
	"$(printf '%s' "$out" | json 'my %n = map { ($_->{local_batch_size} => 1) } @{$d->{points}};
	print join " ", keys %n')"
like 'the note says why only its own size is measured' 'measured at its own size only' "$err"

status 'a profile on slots of its own succeeds' \
	0 "$POLLUX" profile --slots 1 --budget $((10 * TIME_SCALE)) \
	--points 1 -b 16 --json -- ./other 16 300
is 'a profile shows what was measured on its own slots' 'CPU, 2 cores 1' \
	"$(printf '%s' "$out" | json 'print "$d->{device_kind} $d->{model}{n_observations}"')"

# --- failures ---
status 'a profile of a command that fails has failed' \
	1 "$POLLUX" profile --budget 5 -b 8 -- sh -c 'echo dead; exit 3'
like 'the message has the exit status and last words of the command' \
	'^pollux: the command failed with exit status 3: dead; see .pollux log ' "$err"
is 'the job of that profile has failed' \
	failed "$(store 'SELECT state FROM jobs ORDER BY id DESC LIMIT 1')"
status 'a profile of a command without steps has failed' \
	1 "$POLLUX" profile --budget 2 -b 8 -- sleep 100
like 'the message says that the command has to report steps' \
	'no step time in .* report its steps' "$err"
status 'a profile of a command that never fits has failed' \
	1 "$POLLUX" profile --budget $((5 * TIME_SCALE)) -b 8 -- ./other 8 4
like 'the message says that its own sizes are out of memory' \
	'^pollux: even at its own sizes it is out of memory; see .pollux log ' "$err"
status 'a profile of a command that ends too soon has failed' 1 "$POLLUX" profile \
	--budget $((5 * TIME_SCALE)) -b 8 -- sh -c '"$POLLUX" report STEP=3; echo finished'
like 'the message says that the command ended by itself' \
	'^pollux: the command ended by itself, .*, at step 3: give it more to do' "$err"
status 'a profile of a command that prints no step has failed' 1 "$POLLUX" profile \
	--budget $((5 * TIME_SCALE)) -b 8 -- sh -c 'echo working; sleep 1'
like 'the message says that no step was recognised, and where to look' \
	"^pollux: the command ended by itself, .*: it printed or reported no step that pollux \
recognises .*; 'pollux steps' .*, pollux-program\(7\) .*; see 'pollux log [0-9]+'" "$err"
unlike 'it does not ask that command for more to do' 'more to do' "$err"
sed 's/RuntimeError.*/bad shape"/' fake >brittle
chmod +x brittle
for time in first second; do
	status "a profile with sizes that fail succeeds, $time time" 0 "$POLLUX" profile \
		--budget $((5 * TIME_SCALE)) --points 4 -b 16 \
		--batch-range 16:4096 --json -- ./brittle '{local_batch}' 40
done
ok 'profiles that failed leave nothing' clean

# --- interrupted ---
start() { # start WORKLOAD BUDGET OPTION...: in the background, $profile, its job in $id
	w=$1 b=$2
	shift 2
	before=$(store 'SELECT coalesce(max(id), 0) FROM jobs')
	"$POLLUX" profile --budget "$b" -b 16 --batch-range 16:4096 --workload "$w" "$@" -- \
		./fake '{local_batch}' 100000 '{checkpoint}' >out 2>err &
	profile=$!
	wait_for 20 is_there && id=$(store 'SELECT max(id) FROM jobs')
}
is_there() { [ "$(store 'SELECT max(id) FROM jobs')" -gt "$before" ]; }
ended() { # ended: wait for it; its status in $rc
	rc=0
	wait "$profile" || rc=$?
	profile=
}
for signal in INT TERM; do
	want=130
	[ $signal = INT ] || want=143
	start "by-$signal" 600
	ok "the profile for SIG$signal gets under way" wait_for 30 has_points "$id" 2
	kill -$signal "$profile"
	ended
	is "SIG$signal ends a profile with its status" $want "$rc"
	like "the points until SIG$signal are printed" 'own sizes' "$(cat out)"
	is "SIG$signal cancels the job of the profile" cancelled "$(state "$id")"
	like "the reason after SIG$signal is that it was interrupted" \
		'^interrupted; [0-9]+ points measured' \
		"$(store "SELECT reason FROM jobs WHERE id = $id")"
	ok "a profile after SIG$signal leaves nothing" clean
	ok "the points measured before SIG$signal are kept" has_points "$id" 2
done

before=$(store 'SELECT coalesce(max(id), 0) FROM jobs')
"$POLLUX" profile --budget 600 -b 16 -- sleep 600 >out 2>err &
profile=$!
wait_for 20 is_there && id=$(store 'SELECT max(id) FROM jobs')
runs_now() { [ -n "$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'")" ]; }
ok 'a profile of a silent command gets under way' wait_for 20 runs_now
"$POLLUX" cancel "$id"
ended
is 'a profile cancelled before its first step ends as cancelled' '1 cancelled' "$rc $(state "$id")"
like 'the point of a cancelled profile was stopped' 'stopped$' "$(grep '^ *1 ' out)"
like 'a cancelled profile does not ask to report steps' \
	"^pollux: job $id was cancelled\$" "$(cat err)"

# --- killed ---
start killed 600
# Between two points a profile has no run, and so no supervisor that could end the profile.
is_at_a_point()
{
	has_points "$id" 2 || return 1
	kill -STOP "$profile"
	[ -n "$(store "SELECT id FROM runs WHERE job_id = $id AND state = 'running'
		AND coalesce(stop_reason, 'none') = 'none'")" ] && return
	kill -CONT "$profile"
	return 1
}
ok 'the profile that will be killed gets under way' wait_for 30 is_at_a_point
kill -9 "$profile"
ended
ok 'its supervisor ends a profile that was killed' wait_for 30 has_state "$id" cancelled
was_killed()
{
	store "SELECT reason FROM jobs WHERE id = $id" |
		grep -Eq '^the profile was killed; [2-9] points measured$'
}
ok 'the reason says that the profile was killed' wait_for 10 was_killed
ok 'a killed profile leaves nothing' wait_for 20 clean
ok 'the points of a killed profile are kept' has_points "$id" 2

start 'both-killed' 600
ok 'the profile to be killed with its supervisor gets under way' wait_for 30 is_at_a_point
supervisor=$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $id AND state = 'running'")
kill_now "$supervisor" "$profile"
ended
status 'a pass runs after profile and supervisor were killed' 0 "$POLLUX" schedule -v
ok 'a pass ends a profile that was killed with its supervisor' wait_for 40 has_state "$id" cancelled
wait_for 10 was_killed
like 'the reason after the pass says that the profile was killed' \
	'^the profile was killed; [2-9] points measured$' \
	"$(store "SELECT reason FROM jobs WHERE id = $id")"
ok 'a profile killed with its supervisor leaves nothing' wait_for 20 clean
ok 'the points of a profile killed with its supervisor are kept' has_points "$id" 2

# The pass comes before the supervisor has noticed.
start 'kept from looking' 600
ok 'the profile whose supervisor stands still gets under way' wait_for 30 runs_now
kill -STOP "$profile"
supervisor=$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $id AND state = 'running'")
kill -STOP "$supervisor"
kill -9 "$profile"
ended
status 'a pass asks for the end of a killed profile' 0 "$POLLUX" schedule
kill -CONT "$supervisor"
ok 'the supervisor ends the profile when it goes on' wait_for 40 has_state "$id" cancelled
wait_for 10 eval 'store "SELECT reason FROM jobs WHERE id = $id" | grep -q killed'
like 'the reason of the supervisor says that the profile was killed' \
	'^the profile was killed; [0-9] points? measured$' \
	"$(store "SELECT reason FROM jobs WHERE id = $id")"

start between 600
ok 'the profile that will lose its supervisor gets under way' wait_for 30 has_points "$id" 1
supervisor=$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $id AND state = 'running'")
[ -z "$supervisor" ] || kill -9 "$supervisor"
before=$(points "$id")
ok 'a supervisor that is killed is replaced, and the profile goes on' wait_for 40 \
	has_points "$id" $((before + 2))

# --- beside others ---
is_told()
{
	"$POLLUX" status | grep -Eq "^ *$id +fake +[a-z]+ .*a profile: tries batch [0-9]+ = 1 [*] "
}
ok 'status tells what a profile tries' wait_for 20 is_told
run "$POLLUX" status "$id" --json
is 'JSON says that a job is a profile' \
	1 "$(printf '%s' "$out" | json 'print $d->{jobs}[0]{profile}')"
status 'a profile cannot be held' 1 "$POLLUX" hold "$id"
wide=$("$POLLUX" submit -r 2 -- sleep 60)
narrow=$("$POLLUX" submit -- sleep 60)
status 'a pass beside a profile succeeds' 0 "$POLLUX" schedule
ok 'a pass gives the device beside a profile to a job' wait_for 20 \
	test -n "$(store "SELECT id FROM runs WHERE job_id = $narrow")"
is 'a pass leaves a profile its device' queued "$(state "$wide")"
is 'each device has one user beside a profile' \
	'2|2' "$(store "SELECT count(*), count(DISTINCT device) FROM
	(SELECT device FROM reserved_devices UNION ALL SELECT device FROM run_devices
	JOIN runs ON runs.id = run_id WHERE runs.job_id = $narrow)")"
status 'a profile that finds no device fails for now' 75 "$POLLUX" profile -b 8 -- ./other 8 100
like 'a profile that finds no device says who has them' \
	"^pollux: no device is free: cpu:0 has job [0-9]+, cpu:1 has job [0-9]+\$" "$err"
is 'a profile that finds no device leaves no job' "$narrow" "$(store 'SELECT max(id) FROM jobs')"
"$POLLUX" cancel "$wide" "$narrow" "$id"
ended
is 'a profile that is cancelled ends' 1 "$rc"
like 'a cancelled profile says that it was cancelled' \
	"^pollux: job $id was cancelled\$" "$(cat err)"
ok 'a cancelled profile leaves nothing' wait_for 20 clean
status 'a profile of more devices than there are is refused' \
	69 "$POLLUX" profile -r 3 -b 8 -- ./other 8 100

# --- a real trainer ---
if [ -x "$TRAIN" ] && { [ -e "$FASHION_MNIST/train-images-idx3-ubyte.gz" ] ||
	[ -e "$FASHION_MNIST/train-images-idx3-ubyte" ]; }; then
	unset HWLOC_SYNTHETIC POLLUX_SLOTS
	status 'a profile of a real trainer succeeds' \
		0 "$POLLUX" profile --budget 120 --points 4 -b 64 \
		--batch-range 64:512 --json --plot goodput.svg \
		-- "$TRAIN" --data "$FASHION_MNIST" --subset 6000 --samples 1000000000000 \
		--batch '{batch}'
	ok 'a profile of a real trainer has points of real steps' test "$(printf '%s' "$out" |
		json 'print scalar grep { $_->{step_time_s} > 0 } @{$d->{points}}')" -ge 3
	is 'a profile of a real trainer recommends a batch' 1 \
		"$(printf '%s' "$out" | json 'print $d->{recommended}{goodput} > 0 ? 1 : 0')"
	ok 'a profile of a real trainer draws a picture' grep -q '<svg' goodput.svg
	ok 'a profile of a real trainer leaves nothing' clean
fi
finish
