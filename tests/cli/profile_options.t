#!/bin/sh
# profile_options.t - what pollux profile takes, refuses, checks before it measures, and says to
# people.
# shellcheck disable=SC2016,SC2317  # Perl, other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:2 pu:1' POLLUX_SLOTS=2
export HWLOC_SYNTHETIC POLLUX_SLOTS

cleanup() { end_jobs; }

# A program of a known speed, whatever the machine does.
cat >fake <<'END'
#!/bin/sh
exec "$REPORTER" $((1000000 + 10000 * $1)) "$1"
END
chmod +x fake

# --- options that do not go with what is asked for ---
refused() { # refused WHAT MESSAGE OPTION...
	what=$1 message=$2
	shift 2
	status "$what is a usage error" 64 "$POLLUX" profile "$@"
	is "$what: the message names the option" \
		"pollux: $message; see 'pollux profile --help'" "$err"
}
refused 'a budget for devices' 'profile --devices takes no --budget' --devices --budget 5s
refused 'a picture of devices' 'profile --devices takes no --plot' --plot x.svg --devices
refused 'a batch of devices' 'profile --devices takes no --batch' --devices --quick -b 5
refused 'a quick command' "option '--quick' needs --devices" --quick -- true
refused 'a device without --devices' "option '--device' needs --devices" --device cpu:0
refused 'a profile that is there, and a batch' 'the number of a profile takes no --batch' 14 -b 32
refused 'a budget before the number of a profile' \
	'the number of a profile takes no --budget' -t 5 14
status 'options that go with the number of a profile are accepted' \
	66 "$POLLUX" profile --json 14 --plot x.svg --color never

refused 'a picture of what has no model' \
	"option '--plot' needs --batch: without it no model comes of a profile" \
	--plot x.svg -- ./fake 1

# --- a picture that cannot be is refused before anything is measured ---
mkdir nothing fakes taken.svg
cat >fakes/gnuplot <<'END'
#!/bin/sh
grep -q pngcairo && { echo 'line 0: unknown or ambiguous terminal type' >&2; exit 1; }
echo drawn
END
chmod +x fakes/gnuplot
with_gnuplot() { PATH=$TMP/fakes:$PATH "$POLLUX" profile -b 16 --plot "$@" -- ./fake 16; }
without() { PATH=$TMP/nothing "$POLLUX" profile -b 16 --plot x.svg -- "$TMP/fake" 16; }
status 'a picture without gnuplot fails with status 69' 69 without
is 'the missing gnuplot is told' \
	'pollux: no gnuplot to draw with: install the package gnuplot-nox' "$err"
status 'a gnuplot that cannot draw the format fails with status 69' 69 with_gnuplot x.png
like 'the words of the gnuplot that cannot draw are told' 'unknown or ambiguous terminal' "$err"
status 'a picture in no directory cannot be created' 73 with_gnuplot nowhere/x.svg
is 'the path of the picture is named' \
	"pollux: cannot write 'nowhere/x.svg': No such file or directory" "$err"
status 'a picture in place of a directory cannot be created' 73 with_gnuplot taken.svg
is 'refused pictures made no job' 0 "$(store 'SELECT count(*) FROM jobs' 2>/dev/null || echo 0)"
"$POLLUX" submit -q --hold -- true >held
status 'the number of a job that is no profile is refused with status 66' \
	66 "$POLLUX" profile "$(cat held)"

# --- options of submit ---
status 'profile takes the options of submit' \
	0 "$POLLUX" profile --budget $((6 * TIME_SCALE)) --points 1 \
	--json -b 16 \
	--samples 1e6 --weight 2 --hold --after "$(cat held)" --time-limit 1 --retries 2 \
	--preempt --quiet --checkpoint-dir out --resume-args --resume -- ./fake '{batch}'
is 'a profile with options of submit measures' \
	measured "$(printf '%s' "$out" | json 'print $d->{points}[0]{outcome}')"
id=$(printf '%s' "$out" | json 'print $d->{id}')
is 'a profile does not use options for jobs' 'done|0|1.0|' \
	"$(store "SELECT state, retries, weight, time_limit_s FROM jobs WHERE id = $id")"
is 'a profile has no dependency' 0 "$(store "SELECT count(*) FROM dependencies WHERE job_id = $id")"
status 'profile refuses what submit refuses' 64 "$POLLUX" profile --preempt --no-preempt -- true

# Writes ten updates a second as progress bars do. The bar counts from its first line, as its total
# is the declared number of steps.
cat >bar <<'END'
#!/bin/sh
i=0
while [ $i -lt 5000 ]; do
	i=$((i + 1))
	printf '\r  1%%|1         | %d/5000 [00:%02d<10:00, 10.00it/s]' $i $((i / 10)) >&2
	sleep 0.1
done
END
chmod +x bar
status 'a progress bar with its total in --steps is profiled' \
	0 "$POLLUX" profile --budget $((8 * TIME_SCALE)) \
	--points 1 --json -b 16 --steps 5000 -- ./bar
is 'a progress bar with its total in --steps is timed at once' 'measured 1' "$(printf '%s' "$out" |
	json 'my $p = $d->{points}[0]; print "$p->{outcome} ", 0 + ($p->{first_step_s} < 5)')"

# --- lines of people's terminals ---
is 'the help of profile is within 80 columns' '' "$("$POLLUX" profile --help | awk 'length > 80')"
if command -v script >/dev/null; then
	COLUMNS=60 script -qec "'$POLLUX' profile -- '$POLLUX' --version" /dev/null </dev/null |
		tr -d '\r' >terminal
	like 'notes on a terminal are broken to its lines' \
		'^pollux: note: without --batch it is measured' "$(cat terminal)"
	is "no note is longer than the terminal's lines" \
		'' "$(awk 'length > 60 && !/\033/' terminal)"
	like 'notes on a terminal go on below, indented' '^        [^ ]' "$(cat terminal)"
fi

# --- again ---
again()
{
	"$POLLUX" profile --budget $((6 * TIME_SCALE)) --json -b 16 --workload same "$@" \
		-- ./fake 16
}
status 'a profile for the next tests succeeds' 0 again
run "$POLLUX" profile "$(printf '%s' "$out" | json 'print $d->{id}')"
like 'a profile tells what jobs start from it' \
	'^  jobs +of the same workload start from this: those submitted with the same command, '\
'each argument of it,' "$out"
status 'the same profile again, with nothing left to learn, succeeds' 0 again
is 'the same profile again measures its own sizes' '1 own sizes measured' "$(printf '%s' "$out" |
	json 'my @p = @{$d->{points}}; print scalar(@p), " $p[0]{why} $p[0]{outcome}"')"
cp fake mute
sed -i 's/^exec .*/exec sleep 100/' mute
status 'a profile of a command that became silent fails' \
	1 "$POLLUX" profile --budget 3 -b 16 --workload same \
	-- ./mute 16
like 'a profile of a command that became silent says so' 'no step time in ' "$err"
id=$(store 'SELECT max(id) FROM jobs')
given_run "$id" outcome=failed stop_reason= diagnosis="@'$(printf '%039d\303\251' 0)'" ||
	exit 1
run "$POLLUX" profile "$id"
like 'what a command failed with is cut between characters' ' failed: 0{39}$' "$out"

# --- while it measures ---
# Its five steps are too few to measure, so that it lasts until it is cancelled.
cat >lasting <<'END'
#!/bin/sh
trap 'exit 75' TERM
for i in 1 2 3 4 5; do
	"$POLLUX" report STEP=$i SAMPLES=$((i * $1)) STEP_NS=1000000 SYNC_NS=0
done
sleep 600 &
wait
END
chmod +x lasting
"$POLLUX" profile --budget 600 -b 16 -r 2 --steps 5000 -- ./lasting '{local_batch}' \
	>/dev/null 2>&1 &
profile=$!
is_running()
{
	[ -n "$(store "SELECT 1 FROM runs WHERE state = 'running'
		AND job_id = (SELECT max(id) FROM jobs)")" ]
}
wait_for 20 is_running
id=$(store 'SELECT max(id) FROM jobs')
job=$("$POLLUX" submit -q -- true)
wide=$("$POLLUX" submit -q -r 2 -- true)
never=$("$POLLUX" submit -q -r 3 -- true)
reason() { store "SELECT reason FROM jobs WHERE id = $1"; }
for policy in fifo pollux las; do
	POLLUX_POLICY=$policy "$POLLUX" schedule
	is "$policy: a job waits for the profile" "needs 1 device; profile $id has cpu:0, cpu:1" \
		"$(reason "$job")"
	is "$policy: a job of two devices waits for the profile" \
		"needs 2 devices; profile $id has cpu:0, cpu:1" \
		"$(reason "$wide")"
	is "$policy: a job with too few devices does not wait for it" \
		'needs 3 devices; none can be used here' \
		"$(reason "$never")"
done
is 'only the first job is told when the profile ends' '1 0 0' "$(store -separator ' ' "SELECT
	(SELECT coalesce(next_start_time_s - p.submit_time_s BETWEEN 595 AND 605, 0) FROM jobs
	WHERE id = $job), (SELECT next_start_time_s IS NOT NULL FROM jobs WHERE id = $wide),
	(SELECT next_start_time_s IS NOT NULL FROM jobs WHERE id = $never) FROM jobs p
	WHERE id = $id")"
run "$POLLUX" status
like 'status says by when the first job starts' \
	"^ *$job +true .* at the latest [0-9:]+: needs 1 device; profile $id has cpu:0, cpu:1" \
	"$out"
given_job "$id" next_start_time_s='@submit_time_s - 1000'
POLLUX_POLICY=las "$POLLUX" schedule
run "$POLLUX" status
like 'status still says what the job needs when the budget is over' \
	"^ *$job +true .* needs 1 device; profile $id has cpu:0, cpu:1" "$out"
unlike 'status does not miss a pass when the budget is over' 'No pass has run' "$out"
run "$POLLUX" status "$id"
unlike 'the profile itself has no start to wait for' 'next start' "$out"
is 'a profile of runs with --steps has no share and no end' 'null null' \
	"$("$POLLUX" status --json "$id" |
	json 'print join " ", map { defined $d->{jobs}[0]{$_} ? "told" : "null" }
		qw(done_ratio eta_s)')"
run "$POLLUX" explain "$id"
like 'explain says that a profile ends with its budget' \
	'^  end +with its budget, at the latest$' "$out"
unlike 'explain says nothing of remaining steps of a profile' '^  remaining ' "$out"
is 'devices tells which profile has them' "job $id" \
	"$("$POLLUX" devices | sed -n 's/^cpu:1 .* \(job [0-9]*\) .*/\1/p')"
"$POLLUX" cancel "$id" "$job" "$wide" "$never"
wait "$profile"

# --- interrupted, and slow to stop ---
sed "2i trap '' TERM" fake >stubborn
chmod +x stubborn
"$POLLUX" profile --budget 600 --grace 50 -b 16 -- ./stubborn 16 >slow.out 2>slow.err &
profile=$!
is_timed()
{
	[ -n "$(store "SELECT 1 FROM runs WHERE state = 'running' AND first_step_s > 0
		AND job_id = (SELECT max(id) FROM jobs)")" ]
}
wait_for 20 is_timed
id=$(store 'SELECT max(id) FROM jobs')
kill -INT "$profile"
ok 'the first interrupt says how long stopping may take' wait_for 10 grep -Eq \
	'^pollux: stopping \(up to (55|54|53)s\); once more leaves that to pollux$' slow.err
kill -INT "$profile"
rc=0
wait "$profile" || rc=$?
is 'a second interrupt ends a profile at once' 130 "$rc"
like 'the second interrupt says what still runs' \
	"^pollux: the command still runs: its supervisor stops it, in 55s at the latest, and ends \
job $id\$" \
	"$(cat slow.err)"
like 'the second interrupt prints what was measured' 'own sizes' "$(cat slow.out)"
kill -9 "-$(store "SELECT $leader_pid FROM runs WHERE job_id = $id ORDER BY id DESC LIMIT 1")"
finish
