#!/bin/sh
# plan_cores.t - plans that want more cores than their devices have: which processors runs are bound
# to, who is kept off them, and what changes when others come and go.
# shellcheck disable=SC2016,SC2317 # Perl and sh for later; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
[ "$(nproc)" -ge 2 ] || skip_all 'two processors are needed'
POLLUX_SLOTS=2
export POLLUX_SLOTS
# Two slots of one core each, even on a larger machine.
two=$(perl -e 'open my $f, "<", "/proc/self/status";
	my ($l) = join("", <$f>) =~ /Cpus_allowed_list:\s+(\S+)/;
	print join ",", (map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $l)[0, 1]')
taskset -p -c "$two" $$ >/dev/null
slots=$("$POLLUX" devices --json | json 'print scalar grep { $_->{cores} == 1 && !/shared by/ }
	@{$d->{devices}}')
[ "$slots" -ge 2 ] || skip_all 'the two processors are of one core'
cleanup() { end_jobs >/dev/null; }
submit() { "$POLLUX" submit -q "$@"; }
binding() { store "SELECT binding FROM run_devices JOIN runs ON runs.id = run_id
	WHERE job_id = $1 ORDER BY run_id DESC LIMIT 1"; }
leader_of() {
	store "SELECT $leader_pid FROM runs WHERE job_id = $1 ORDER BY id DESC LIMIT 1"
}
allowed() { # allowed JOB: the processors of the job's command
	leader=$(leader_of "$1")
	perl -ne 'print $1 if /Cpus_allowed_list:\s+(\S+)/' "/proc/$leader/status"
}
is_bound() { [ "$(allowed "$1")" = "$2" ]; }
child_is_bound() { # the child of the command
	perl -e 'my ($leader, $want) = @ARGV; for (glob "/proc/$leader/task/*/children") {
		open my $f, "<", $_ or next; for (split " ", <$f> // "") {
			open my $g, "<", "/proc/$_/status" or next;
			exit 0 if join("", <$g>) =~ /Cpus_allowed_list:\s+\Q$want\E$/m } } exit 1' \
		"$(leader_of "$1")" "$2"
}
log_has() { "$POLLUX" log "$1" 2>/dev/null | grep -q "$2"; }
ended() { [ -n "$(store "SELECT 1 FROM runs WHERE job_id = $1 AND state = 'ended'")" ]; }
told='echo "$OMP_NUM_THREADS"
while :; do i=$((i + 1)); echo "step $i loss 1"; sleep 0.1; done & wait'
steps_with() { # steps_with JOB CORES: the number of cores with which its steps are timed
	[ "$(store "SELECT measured_cores FROM runs WHERE job_id = $1")" = "$2" ]
}
runs() {
	[ "$(store "SELECT state FROM runs WHERE job_id = $1 ORDER BY id DESC LIMIT 1")" = running ]
}

wide=$(submit --plan dp= --no-preempt -- sh -c "$told")
"$POLLUX" schedule
wait_for 20 runs "$wide"
ok 'without cores= a job has those of its slot' wait_for 20 is_bound "$wide" "$(binding "$wide")"
"$POLLUX" cancel "$wide"
wait_for 20 no_supervisor

wide=$(submit --plan off:cores=2= --no-preempt -- sh -c "$told")
"$POLLUX" schedule
wait_for 20 runs "$wide"
both=$(perl -e 'my ($a, $b) = sort { $a <=> $b } split /,/, $ARGV[0];
	print $b == $a + 1 ? "$a-$b" : "$a,$b"' "$two")
ok 'a job gets the cores of the idle slot' wait_for 20 is_bound "$wide" "$both"
ok 'a job gets as many threads as cores' wait_for 20 log_has "$wide" '^2$'
is 'the store has the cores of the run' \
	"$both" "$(store "SELECT cores FROM runs WHERE job_id = $wide")"
is 'JSON has the cores of the run' \
	"$both" "$("$POLLUX" status --json "$wide" | json 'print $d->{jobs}[0]{run}{cores}')"
ok 'steps of the job are timed with two cores' wait_for 20 steps_with "$wide" 2
"$POLLUX" schedule
is 'another pass does not change the cores of a job' "$both" "$(allowed "$wide")"

other=$(submit --no-preempt -- sh -c "$told")
"$POLLUX" schedule
wait_for 20 runs "$other"
ok 'a job that comes to the other slot takes its core back' \
	wait_for 20 is_bound "$wide" "$(binding "$wide")"
ok 'processes that the job had started are bound as well' \
	wait_for 20 child_is_bound "$wide" "$(binding "$wide")"
ok 'steps are timed with one core after one was taken back' wait_for 20 steps_with "$wide" 1
ok 'the new job has the core for itself' wait_for 20 is_bound "$other" "$(binding "$other")"
"$POLLUX" cancel "$other"
wait_for 20 ended "$other"
"$POLLUX" schedule
ok 'the core comes back when the other job has gone' wait_for 20 is_bound "$wide" "$both"

# A GPU may be near all processors. A run there begins with those of its supervisor.
[ -n "${GPU_STANDIN-}" ] || finish
end_jobs >/dev/null
unset POLLUX_SLOTS
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
mkdir root
for g in a b; do
	printf 'gpu GPU-%s NVIDIA Small\nmemory 12288 12288\nrates 0\ntemperature 35\n' "$g"
done >answers
one=${two%,*}
taskset -p -c "$one" $$ >/dev/null
usual=$(submit --no-preempt -- sh -c "$told")
"$POLLUX" schedule
wait_for 20 runs "$usual"
ok 'a job on a GPU has the processors of its supervisor' wait_for 20 is_bound "$usual" "$one"
other=$(submit --plan off:cores=1= --no-preempt -- sh -c "$told")
"$POLLUX" schedule
wait_for 20 runs "$other"
is 'a job on a GPU is kept off the core of another job' 1 \
	"$(store "SELECT cores <> '' FROM runs WHERE job_id = $usual")"
n_told() { grep -c 'bound to processors of its devices' "$POLLUX_DIR/supervisor.log"; }
before=$(n_told)
is_told() { [ "$(n_told)" -gt "$before" ]; }
"$POLLUX" cancel "$other"
wait_for 20 ended "$other"
"$POLLUX" schedule
ok 'a job on a GPU is bound anew when the other job has gone' wait_for 20 is_told
is 'a job on a GPU then has no more processors than before' "$one" "$(allowed "$usual")"
finish
