#!/bin/sh
# profile_sizes.t - what pollux profile makes of sizes that do not work, and what a job is given
# then.
# shellcheck disable=SC2016,SC2317  # Perl; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:2 pu:1' POLLUX_SLOTS=2
export HWLOC_SYNTHETIC POLLUX_SLOTS

cleanup() { end_jobs; }

# fake BATCH MOST WORDS STATUS: 1 ms + 10 us a sample; above MOST samples it says WORDS after five
# steps and ends with STATUS.
cat >fake <<'END'
#!/bin/sh
[ "$1" -le "$2" ] || {
	"$REPORTER" --steps 5 $((1000000 + 10000 * $1)) "$1"
	echo "$3"
	exit "$4"
}
exec "$REPORTER" $((1000000 + 10000 * $1)) "$1"
END
chmod +x fake
# starts_at POLICY OPTION...: submits a job; prints the batch size and factor of its first run
starts_at() {
	policy=$1
	shift
	id=$("$POLLUX" submit -q --samples 1e9 "$@")
	POLLUX_POLICY=$policy "$POLLUX" schedule
	store "SELECT batch_size, round(learning_rate_scale, 3) FROM runs WHERE job_id = $id"
	"$POLLUX" cancel "$id"
	"$POLLUX" wait --timeout 200 "$id" 2>/dev/null
}

# --- its own batch runs out of memory ---
set -- -b 512 --batch-range 64:1024 --workload tight -- ./fake '{batch}' 300 MemoryError 1
status 'a batch that does not fit is profiled within its range' \
	0 "$POLLUX" profile --budget $((12 * TIME_SCALE)) \
	--points 5 --json "$@"
printf '%s' "$out" >tight.json
fits=$(json 'print $d->{memory}{fits}' <tight.json)
ok 'smaller batches are tried until one fits' test "$fits" -ge 64
is 'no larger batch than fits is recommended' "1 $fits" \
	"$(json 'print "@{$d->{recommended}}{qw(replicas batch_size)}"' <tight.json)"
for policy in goodput fifo; do
	is "$policy starts no job with more than fits" \
		"$fits|$(perl -e "printf '%.3f', $fits / 512" | sed 's/0*$//')" \
		"$(starts_at $policy "$@")"
done
set -- -b 512 --workload tight -- ./fake '{batch}' 300 MemoryError 1
is 'a job without a range is started as it was submitted' '512|1.0' "$(starts_at fifo "$@")"

# --- a progress bar, measured meanwhile on the other slot: see below ---
cat >bar <<'END'
$| = 1;
$SIG{TERM} = sub { exit 75 };
for (my ($i, $begin) = (0, time); ; $i++) {
	my $s = time - $begin;
	printf "\r%3d%%|###  | %d/5000 [00:%02d<10:00, 50.00it/s]", $i / 50, $i, $s;
	select undef, undef, undef, 0.01 + $ARGV[0] / 10000;
}
END
"$POLLUX" profile --budget $((30 * TIME_SCALE)) --points 2 -b 16 --batch-range 16:64 --json -- \
	perl bar '{batch}' >bar.json 2>bar.err &
bar=$!
bar_runs() { [ -n "$(store "SELECT id FROM jobs WHERE name = 'perl' AND state = 'running'")" ]; }
wait_for 10 bar_runs

# --- it does not heed the stop signal ---
sed "2i trap '' TERM" fake >deaf
chmod +x deaf
status 'a command that does not heed SIGTERM is profiled' \
	0 "$POLLUX" profile --budget $((2 * TIME_SCALE)) \
	--points 1 --grace 0.5 -b 16 --json -- ./deaf 16 300 x 1
printf '%s' "$out" >deaf.json
is 'the restart costs include the time until SIGKILL' 1 "$(json 'my ($p) = @{$d->{points}};
	print 0 + ($p->{stop_duration_s} > 0.5 && abs($d->{restart_s} - $p->{stop_duration_s}
		- $p->{first_step_s}) < 0.01)' <deaf.json)"
like 'the profile warns that the command was killed' \
	'^it was still there 0.5 s \(--grace\) after SIGTERM, and was killed' \
	"$(json 'print "$_\n" for @{$d->{warnings}}' <deaf.json)"
like 'the restart costs are shown as measured' '^  costs .* as measured' \
	"$("$POLLUX" profile "$(json 'print $d->{id}' <deaf.json)")"

# --- somebody kills its supervisor ---
# The first run tells no step before it is killed, so that it cannot end as measured.
cat >waits <<'END'
#!/bin/sh
trap 'exit 75' TERM
until [ -e go ]; do sleep 0.05; done
exec ./fake "$@"
END
chmod +x waits
before=$(store 'SELECT max(id) FROM jobs')	# its own is the next
"$POLLUX" profile --budget $((30 * TIME_SCALE)) --points 1 -b 16 --json \
	-- ./waits 16 300 x 1 >lost.json 2>lost.err &
profile=$!
supervisor()
{
	supervisor=$(store "SELECT $supervisor_pid FROM runs
		WHERE job_id > $before AND state = 'running'") &&
		[ -n "$supervisor" ] && kill -9 "$supervisor"
}
ok 'the supervisor of a profile is killed' wait_for 20 supervisor
: >go
rc=0
wait "$profile" || rc=$?
is 'a profile goes on after it lost a supervisor' '0 lost measured' \
	"$rc $(json 'print join " ", map { $_->{outcome} } @{$d->{points}}' <lost.json)"
like 'a profile warns of a point that lost its supervisor' '^1 point lost the supervisor' \
	"$(json 'print "$_\n" for @{$d->{warnings}}' <lost.json)"

# --- a size that kills it whenever it is tried ---
# The first time just before the time for a launch is over, which is not what the run ends of.
cat >kills <<'END'
#!/bin/sh
if [ "$1" != 16 ]; then
	[ -e late ] || { : >late; sleep 4.5; }
	kill -9 "$PPID"
fi
exec ./fake "$1" 300 x 1
END
chmod +x kills
status 'a profile with a size that kills its supervisor succeeds' 0 "$POLLUX" profile \
	--budget $((30 * TIME_SCALE)) --points 2 -b 16 \
	--batch-range 16:32 --json -- ./kills '{batch}'
printf '%s' "$out" >kills.json
is 'a size that kills its supervisor is tried three times' '3 lost' \
	"$(json 'my @lost = grep { $_->{outcome} eq "lost" && $_->{batch_size} == 32 &&
	$_->{replicas} == 1 } @{$d->{points}}; print scalar(@lost), " lost"' <kills.json)"
like 'a profile warns of the size that kills its supervisor' 'except a size that lost it 3 times$' \
	"$(json 'print "$_\n" for @{$d->{warnings}}' <kills.json)"

# --- a progress bar ---
rc=0
wait "$bar" || rc=$?
is 'a program with a progress bar is profiled' 0 "$rc"
is 'a progress bar has its steps measured' 'measured measured' \
	"$(json 'print join " ", map { $_->{outcome} } @{$d->{points}}' <bar.json)"
ok 'the second point of a progress bar takes less time' test \
	1 -eq "$(json 'my ($a, $b) = map { $_->{duration_s} } @{$d->{points}};
	print 0 + ($a > 5 && $b < $a)' <bar.json)"
is 'the first step of a progress bar is counted from its start' 1 \
	"$(json 'print 0 + !grep { $_->{first_step_s} > 5 } @{$d->{points}}' <bar.json)"
status 'a progress bar without time to count fails' \
	1 "$POLLUX" profile --budget 2 -b 16 -- perl bar 16
like 'the message says how long bars take to count' \
	'a progress bar counts after 5 s, or at once if its total is --steps' "$err"

# --- larger ones fail for another reason, or end by themselves ---
for status in 3 0; do
	set -- -b 128 --batch-range 128:1024 --noise-scale 10000 --workload "fails$status" -- \
		./fake '{batch}' 256 'batch too large' $status
	status "sizes that end with status $status are profiled" 0 "$POLLUX" profile \
		--budget $((12 * TIME_SCALE)) --points 3 --json "$@"
	printf '%s' "$out" >fails.json
	is "sizes that end with status $status are not tried further" '128 256 512' \
		"$(json 'my %n = map { ($_->{batch_size}, 1) } @{$d->{points}};
		print join " ", grep { /^(128|256|512)$/ || $_ > 256 } sort { $a <=> $b } keys %n' \
		<fails.json)"
	is "sizes that end with status $status are not recommended" \
		256 "$(json 'print $d->{recommended}{batch_size}' <fails.json)"
	for policy in goodput fifo; do
		is "sizes that end with status $status go to no job by $policy" 128 \
			"$(starts_at $policy "$@" | cut -d '|' -f 1)"
	done
	if [ $status = 3 ]; then
		like 'a profile warns of a size that failed, with its words' \
			'^at batch 512 on 1 device the command failed with exit status 3: '\
'batch too large; neither' \
			"$(json 'print "$_\n" for @{$d->{warnings}}' <fails.json)"
		is 'the point of a size that failed has its words' \
			'failed: batch too large' "$(json \
			'print map { "$_->{outcome}: $_->{diagnosis}" }
				grep { $_->{batch_size} == 512 } @{$d->{points}}' <fails.json)"
	else
		like 'a profile warns of a size that ended by itself' \
			'^at batch 512 on 1 device the command ended by itself' \
			"$(json 'print "$_\n" for @{$d->{warnings}}' <fails.json)"
		is 'the point of a size that ended by itself says so' 'ended' "$(json \
			'print map { $_->{outcome} } grep { $_->{batch_size} == 512 }
				@{$d->{points}}' <fails.json)"
		like 'the table tells a size that ended by itself' '^ +1 +512 .* ended by itself$' \
			"$("$POLLUX" profile "$(json 'print $d->{id}' <fails.json)")"
	fi
done
sed 's/-le "\$2"/-le 100000/' fake >mended
chmod +x mended
status 'a later profile tries sizes that failed again' \
	0 "$POLLUX" profile --budget $((12 * TIME_SCALE)) --points 2 \
	--json -b 128 \
	--batch-range 128:1024 --noise-scale 10000 --workload fails3 -- ./mended '{batch}' 256 x 3
ok 'a size that works now is recommended' test "$(printf '%s' "$out" |
	json 'print $d->{recommended}{batch_size}')" -ge 512
finish
