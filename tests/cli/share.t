#!/bin/sh
# share.t - jobs beside each other on one device: tried, measured, and kept together only where that
# pays.
# shellcheck disable=SC2016,SC2317  # texts for other programs; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY

cleanup() { end_jobs; }
holds() { [ "$(store "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
passes_until() { "$POLLUX" schedule && holds "$1"; }
job_is() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
passes_until_job() { "$POLLUX" schedule && job_is "$1" "$2"; }
submit() { "$POLLUX" submit -q --suspend always "$@"; }
reason_is() { "$POLLUX" schedule &&
	store "SELECT reason FROM jobs WHERE id = $1" | grep -Eq "$2"; }
in_use() { store "SELECT coalesce(group_concat(job_id, ' '), '') FROM (SELECT job_id
	FROM run_devices JOIN runs ON runs.id = run_id WHERE in_use = 1 ORDER BY job_id)"; }

# Steps that take 30 ms alone and, beside another program of the same directory that is not stopped,
# as many times longer as it is told. What two programs really do to each other depends on what else
# the machine does: benchmarks/share.sh measures that.
cat >work <<'END'
my ($dir, $slower, $until) = @ARGV;
$| = 1;
mkdir $dir;
open my $mine, ">", "$dir/$$";
sub works {
	my ($pid) = shift =~ /(\d+)$/;
	open my $stat, "<", "/proc/$pid/stat" or return 0;
	return <$stat> !~ /\) [TtZX] /;
}
for my $i (1 .. 100000) {
	my $working = grep { works($_) } glob "$dir/*";
	select undef, undef, undef, 0.03 * ($working > 1 ? $slower : 1);
	print "step $i\n";
	exit 0 if -e $until;
}
END
loader() { submit "$@" --workload load -- perl work loads 1 "$TMP/loaded"; }
burner() { submit "$@" --workload burn -- perl work burns 3 "$TMP/burnt"; }

# --- two that hardly disturb each other ---

loader --share >/dev/null
loader --share >/dev/null
"$POLLUX" schedule >/dev/null
ok 'the first job has the device' wait_for 20 holds "job_id = 1 AND state = 'running'"
ok 'the second job is tried beside the first, once that was measured' wait_for 30 passes_until \
	"job_id = 2 AND state = 'running'"
is 'each of the two jobs has a seat' '1|1 2|2' \
	"$(store 'SELECT job_id, seat FROM run_devices JOIN runs ON id = run_id' | xargs)"
like 'the event says beside which job, and why' \
	'^cpu:0: beside job 1 on cpu:0, to measure whether that pays$' \
	"$(store "SELECT text FROM events WHERE job_id = 2 AND kind = 'assigned'")"
ok 'the reason says that running together pays' \
	wait_for 60 reason_is 2 'beside job 1 on cpu:0: together they do [0-9.]+ times'
is 'the two jobs stay together' '1 2' "$(in_use)"
run "$POLLUX" explain 2
like 'explain shows what two jobs do to each other' "^  pair +beside 'load': its steps take" "$out"
like 'explain says that they stay together' \
	'they stay together' "$(printf '%s' "$out" | tr -s ' \n' ' ')"
"$POLLUX" explain --json 2 >explain.json
is 'JSON of explain has the pair' 'load together 1' "$(json 'my $p = $d->{beside_others}[0];
	print "$p->{beside} $p->{verdict} ", $p->{sum} > 1.05 ? 1 : 0' <explain.json)"
run "$POLLUX" status
like 'status counts one device for two jobs' '^1 device in use; 2 running' "$out"
is "times beside another job are not the workload's alone" 1 \
	"$(store 'SELECT count(DISTINCT run_id) FROM observations')"

# --- a job that wants the device for itself ---

burner >/dev/null
"$POLLUX" schedule >/dev/null
is 'a job without --share is beside nobody' '1 2' "$(in_use)"
given_devices 2 in_use=0
run given_devices 2 seat=0 in_use=1
like 'the store refuses a job without --share beside another' 'has another user' "$err"
given_devices 2 in_use=1
"$POLLUX" cancel 3 >/dev/null

# --- a supervisor that is killed ---

kill -9 "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = 2 AND state = 'running'")"
ok 'the next pass ends the run of a killed supervisor' wait_for 30 passes_until \
	"job_id = 2 AND state = 'ended'"
ok 'the other job on the device goes on' holds "job_id = 1 AND state = 'running'"
touch loaded
ok 'the second job ends' wait_for 60 passes_until_job 2 'done'
ok 'the first job ends' wait_for 60 passes_until_job 1 'done'
is 'no device is in use when both have ended' '' "$(in_use)"
is 'the two jobs took less time than by turns' 1 "$(store "SELECT max(end_boot_s) -
	min(launch_boot_s) < sum(duration_s) FROM runs WHERE number = 1 AND job_id IN (1, 2)")"

# --- two that slow each other down ---

burner --share >/dev/null
burner --share >/dev/null
ok 'two jobs that slow each other down are tried together' wait_for 60 passes_until \
	"job_id = 5 AND state = 'running'"
ok 'the newcomer of two such jobs leaves' wait_for 60 passes_until \
	"job_id = 5 AND suspension = 'suspended'"
like 'the event says why the newcomer leaves' \
	'leaves job 4 on cpu:0: together they would do 0\.[0-9]+ times' \
	"$(store "SELECT text FROM events WHERE job_id = 5 AND kind = 'suspend'")"
for _ in 1 2 3; do "$POLLUX" schedule; done
is 'the newcomer does not come back' 4 "$(in_use)"
run "$POLLUX" explain 5
like 'explain has the numbers of two such jobs' '1\.05 is needed: they take turns' \
	"$(printf '%s' "$out" | tr -s ' \n' ' ')"
touch burnt
ok 'the newcomer comes back when the other has ended' wait_for 60 passes_until_job 5 'done'
is 'the newcomer came back in the same run' \
	1 "$(store 'SELECT count(*) FROM runs WHERE job_id = 5')"
ok 'the job that stayed is done' job_is 4 'done'

# --- out of memory beside another ---

cat >hungry <<'END'
[ -e alone ] || { touch alone; echo 'CUDA out of memory'; exit 1; }
END
rm loaded
loader --share >/dev/null
submit --share --workload hungry -- sh hungry >/dev/null
ok 'a job that runs out of memory beside another leaves' wait_for 60 passes_until \
	"job_id = 7 AND outcome = 'stopped'"
is 'a job that left for lack of memory has not failed' \
	'0 queued' "$(store 'SELECT failures, state FROM jobs WHERE id = 7' |
	tr '|' ' ')"
is 'the sizes of that job do not count as too large' \
	0 "$(store 'SELECT sum(out_of_memory) FROM runs')"
for _ in 1 2 3; do "$POLLUX" schedule; done
is 'that job is not put beside the other one again' 6 "$(in_use)"
touch loaded
ok 'that job succeeds alone' wait_for 60 passes_until_job 7 'done'

# Both run out of memory in the same moment, and one of them ends first.
cat >both <<'END'
$| = 1;
for my $i (1 .. 100000) {
	select undef, undef, undef, 0.03;
	print "step $i\n";
	exit 0 if -e "loaded" && -e "had.$ENV{POLLUX_JOB_ID}";
	next unless -e "full" && mkdir "had.$ENV{POLLUX_JOB_ID}";
	print "CUDA out of memory\n";
	exit 1;
}
END
rm loaded
for _ in 1 2; do submit --share --workload both -- perl both >/dev/null; done
"$POLLUX" schedule
ok 'the first of two jobs runs' wait_for 20 holds "job_id = 8 AND state = 'running'"
ok 'the second of two jobs runs beside it' \
	wait_for 60 passes_until "job_id = 9 AND state = 'running'"
touch full
ok 'both jobs have run out of memory' wait_for 60 [ -e had.8 -a -e had.9 ]
touch loaded
ended() { [ "$(store "SELECT count(*) FROM jobs WHERE id IN (8, 9)
	AND state IN ('done', 'failed')")" = 2 ]; }
ok 'both jobs come to an end' wait_for 90 eval '"$POLLUX" schedule && ended'
is 'neither of the two jobs has failed' 'done 0 done 0' \
	"$(store 'SELECT state, failures FROM jobs WHERE id IN (8, 9)' | tr '|' ' ' | xargs)"

# --- a job that has only run beside another ---

rm -f loaded
loader --share >/dev/null
submit --share -b 8 --workload second -- perl work loads 1 "$TMP/loaded" >/dev/null
ok 'a job runs beside another' wait_for 90 passes_until "job_id = 11 AND state = 'running'"
ok 'the job beside another is measured' wait_for 60 holds "job_id = 11 AND step_time_s > 0"
like 'explain says the step times of a job beside another' \
	'^no step times of a device of its own: it runs beside another, in steps of [0-9.]+ms$' \
	"$("$POLLUX" explain --json 11 | json 'print $d->{missing}')"
touch loaded
ok 'the job that ran beside another is done' wait_for 60 passes_until_job 11 'done'
ok 'the other job is done' wait_for 60 passes_until_job 10 'done'

# --- options and settings ---

status 'a job of several devices cannot share' 64 "$POLLUX" submit --share --replicas 2 -- true
like 'the message says that --share is for jobs of one device' \
	'[-]-share is for jobs of one device' "$err"
status '--share and --no-share together are refused' 64 "$POLLUX" submit --share --no-share -- true
POLLUX_SHARE=auto
export POLLUX_SHARE
is 'a setting makes jobs of one device share' '1 0 0' "$(
	for options in '' --no-share '--replicas 2'; do
		# shellcheck disable=SC2086 # options
		id=$("$POLLUX" submit -q --hold $options -- true 2>/dev/null)
		store "SELECT share FROM jobs WHERE id = $id"
	done | xargs)"
for option in '--plan dp=' '--guarantee 1'; do
	# shellcheck disable=SC2086  # two words
	run "$POLLUX" again -q --hold $option 12 -- true '{plan}'
	like "again does not add $option to --share" 'give one of --[a-z]* and --share' "$err"
done
is 'again keeps --share, or takes --no-share' '1 0' "$(
	for options in '' --no-share; do
		# shellcheck disable=SC2086 # options
		id=$("$POLLUX" again -q --hold $options 12)
		store "SELECT share FROM jobs WHERE id = $id"
	done | xargs)"
finish
