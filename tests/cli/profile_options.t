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
	status "$what: refused" 64 "$POLLUX" profile "$@"
	is 'which names the option' "pollux: $message; see 'pollux profile --help'" "$err"
}
refused 'devices within a budget' 'profile --devices takes no --budget' --devices --budget 5s
refused 'a picture of devices' 'profile --devices takes no --plot' --plot x.svg --devices
refused 'devices in batches' 'profile --devices takes no --batch' --devices --quick -b 5
refused 'a quick command' "option '--quick' needs --devices" --quick -- true
refused 'a device without --devices' "option '--device' needs --devices" --device cpu:0
refused 'a profile that is there, and a batch' 'the number of a profile takes no --batch' 14 -b 32
refused 'before its number, too' 'the number of a profile takes no --budget' -t 5 14
status 'what goes with it is no error' 66 "$POLLUX" profile --json 14 --plot x.svg --color never

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
status 'no gnuplot' 69 without
is 'is told' 'pollux: no gnuplot to draw with: install the package gnuplot-nox' "$err"
status 'one that cannot draw such a one' 69 with_gnuplot x.png
like 'is told, too' 'unknown or ambiguous terminal' "$err"
status 'no directory to write to' 73 with_gnuplot nowhere/x.svg
is 'is named' "pollux: cannot write 'nowhere/x.svg': No such file or directory" "$err"
status 'nor is one a file' 73 with_gnuplot taken.svg
is 'no job was made of all that' 0 "$(store 'SELECT count(*) FROM jobs' 2>/dev/null || echo 0)"
"$POLLUX" submit -q --hold -- true >held
status 'the number of a job that is no profile' 66 "$POLLUX" profile "$(cat held)"

# --- options of submit ---
status 'what submit takes, as it is' 0 "$POLLUX" profile --budget $((6 * TIME_SCALE)) --points 1 \
	--json -b 16 \
	--samples 1e6 --weight 2 --hold --after "$(cat held)" --time-limit 1 --retries 2 \
	--preempt --quiet --checkpoint-dir out --resume-args --resume -- ./fake '{batch}'
is 'measures all the same' measured "$(printf '%s' "$out" | json 'print $d->{points}[0]{outcome}')"
id=$(printf '%s' "$out" | json 'print $d->{id}')
is 'and is not used' 'done|0|1.0|' \
	"$(store "SELECT state, retries, weight, time_limit_s FROM jobs WHERE id = $id")"
is 'no dependency either' 0 "$(store "SELECT count(*) FROM dependencies WHERE job_id = $id")"
status 'what submit refuses' 64 "$POLLUX" profile --preempt --no-preempt -- true

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
status 'a bar of as many steps as were said' 0 "$POLLUX" profile --budget $((8 * TIME_SCALE)) \
	--points 1 --json -b 16 --steps 5000 -- ./bar
is 'is timed at once' 'measured 1' "$(printf '%s' "$out" |
	json 'my $p = $d->{points}[0]; print "$p->{outcome} ", 0 + ($p->{first_step_s} < 5)')"

# --- lines of people's terminals ---
is 'its help is within 80 columns' '' "$("$POLLUX" profile --help | awk 'length > 80')"
if command -v script >/dev/null; then
	COLUMNS=60 script -qec "'$POLLUX' profile -- '$POLLUX' --version" /dev/null </dev/null |
		tr -d '\r' >terminal
	like 'notes on a terminal are broken to its lines' \
		'^pollux: note: without --batch it is measured' "$(cat terminal)"
	is 'none is longer' '' "$(awk 'length > 60 && !/\033/' terminal)"
	like 'they go on below' '^        [^ ]' "$(cat terminal)"
fi

# --- again ---
again()
{
	"$POLLUX" profile --budget $((6 * TIME_SCALE)) --json -b 16 --workload same "$@" \
		-- ./fake 16
}
status 'a profile' 0 again
run "$POLLUX" profile "$(printf '%s' "$out" | json 'print $d->{id}')"
like 'it tells what jobs start from it' \
	'^  jobs +of the same workload start from this: those submitted with the same command, '\
'each argument of it,' "$out"
status 'the same again, with nothing left to learn' 0 again
is 'measures its own sizes' '1 own sizes measured' "$(printf '%s' "$out" |
	json 'my @p = @{$d->{points}}; print scalar(@p), " $p[0]{why} $p[0]{outcome}"')"
cp fake mute
sed -i 's/^exec .*/exec sleep 100/' mute
status 'when it tells no steps any more' 1 "$POLLUX" profile --budget 3 -b 16 --workload same \
	-- ./mute 16
like 'it says so' 'no step time in ' "$err"
id=$(store 'SELECT max(id) FROM jobs')
store "UPDATE runs SET outcome = 'failed', stop_reason = '',
	diagnosis = '$(printf '%039d\303\251' 0)' WHERE job_id = $id" ||
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
	is 'so does one of two devices' "needs 2 devices; profile $id has cpu:0, cpu:1" \
		"$(reason "$wide")"
	is 'one for which there are too few does not' 'needs 3 devices; none can be used here' \
		"$(reason "$never")"
done
is 'the first is told when it ends' '1 0 0' "$(store -separator ' ' "SELECT
	(SELECT coalesce(next_start_time_s - p.submit_time_s BETWEEN 595 AND 605, 0) FROM jobs
	WHERE id = $job), (SELECT next_start_time_s IS NOT NULL FROM jobs WHERE id = $wide),
	(SELECT next_start_time_s IS NOT NULL FROM jobs WHERE id = $never) FROM jobs p
	WHERE id = $id")"
run "$POLLUX" status
like 'and status says so' \
	"^ *$job +true .* by [0-9:]+.*: needs 1 device; profile $id has cpu:0, cpu:1" "$out"
store "UPDATE jobs SET next_start_time_s = submit_time_s - 1000 WHERE id = $id"
POLLUX_POLICY=las "$POLLUX" schedule
run "$POLLUX" status
like 'nor is it, once the budget is over' \
	"^ *$job +true .* needs 1 device; profile $id has cpu:0, cpu:1" "$out"
unlike 'and no pass is said to be missing' 'No pass has run' "$out"
run "$POLLUX" status "$id"
unlike 'the profile itself has no start to wait for' 'next start' "$out"
is 'nor is it done after so many steps, which are of one run' 'null null' \
	"$("$POLLUX" status --json "$id" |
	json 'print join " ", map { defined $d->{jobs}[0]{$_} ? "told" : "null" }
		qw(done_ratio eta_s)')"
run "$POLLUX" explain "$id"
like 'but with its budget' '^  end +with its budget, at the latest$' "$out"
unlike 'and no steps remain of it' '^  remaining ' "$out"
is 'devices tells who has them' "job $id" \
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
ok 'that it stops, and for how long, is said' wait_for 10 grep -Eq \
	'^pollux: stopping \(up to (55|54|53)s\); once more leaves that to pollux$' slow.err
kill -INT "$profile"
rc=0
wait "$profile" || rc=$?
is 'a second interrupt ends it at once' 130 "$rc"
like 'saying what still runs' \
	"^pollux: the command still runs: its supervisor stops it, in 55s at the latest, and ends \
job $id\$" \
	"$(cat slow.err)"
like 'after what was measured' 'own sizes' "$(cat slow.out)"
kill -9 "-$(store "SELECT $leader_pid FROM runs WHERE job_id = $id ORDER BY id DESC LIMIT 1")"
finish
