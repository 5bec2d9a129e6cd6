#!/bin/sh
# forget.t - pollux forget: what is known of a workload is taken back, by job and by sort.
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY

# Two jobs of a workload, each with a window of gradients, an observation and a run out of memory.
for i in 1 2; do
	"$POLLUX" submit -q --workload w -b 16 -- true >/dev/null
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 200 $i
done
known() {
	for table in gradient_statistics observations models; do given_none $table; done
	told_gradients all batch_size=16 first_samples=0 last_samples=160 n=10 entries=10 \
		sum_grad_sqr=10 sum_grad_var=1000
	measured all 0.1 device_kind=x local_batch_size=16
	fitted w x
	given_run all out_of_memory=1 forgotten=0
}
left() { # gradients, observations and models; runs that still say something of memory, of times
	store "SELECT (SELECT count(*) FROM gradient_statistics)
		|| (SELECT count(*) FROM observations) || (SELECT count(*) FROM models)
		|| ' ' || sum((forgotten & 2) = 0)
		|| sum((forgotten & 1) = 0) FROM runs"
}

known
status 'forget --dry-run succeeds' 0 "$POLLUX" forget w --dry-run
is 'forget --dry-run says what would be forgotten' \
	"would forget 2 windows of gradient statistics, 2 observations of \
step times and 1 model, 2 runs out of memory of workload 'w'" "$out"
is 'forget --dry-run forgets nothing' '221 22' "$(left)"
status 'forget --gradients succeeds for a job' 0 "$POLLUX" forget --job 1 --gradients
is 'forget --gradients says what it forgot' 'forgot 1 window of gradient statistics of job 1' "$out"
is "forget --gradients forgets the job's gradients alone" '121 22' "$(left)"
status 'forget -t succeeds for a job' 0 "$POLLUX" forget --job 1 -t
is 'forget -t says that step times and the model are forgotten' \
	'forgot 1 observation of step times and 1 model of job 1' "$out"
is 'forget -t keeps the step times of the other job' '110 21' "$(left)"
status 'forget --memory succeeds for a job' 0 "$POLLUX" forget --memory --job 1
is 'forget --memory says that it forgot one run' 'forgot 1 run out of memory of job 1' "$out"
is 'forget --memory keeps the run of the other job' '110 11' "$(left)"
status 'forget --memory succeeds a second time' 0 "$POLLUX" forget --memory --job 1
is 'forget --memory finds nothing the second time' 'forgot 0 runs out of memory of job 1' "$out"
known
store "$(given_row workloads '' workload=w never_suspend=1)"
suspends() { store "SELECT 1 - never_suspend FROM workloads WHERE workload = 'w'"; }
"$POLLUX" forget w --memory --gradients >/dev/null
is 'forgetting a part keeps it in mind that jobs are not to be suspended' 0 "$(suspends)"
known
status 'forget succeeds for a workload' 0 "$POLLUX" forget w
is 'forget leaves nothing that is known of the workload' '000 00' "$(left)"
is 'forget lets jobs of the workload be suspended again' 1 "$(suspends)"
is 'forget keeps the jobs of the workload' '2 done' \
	"$(store "SELECT count(*) || ' ' || min(state) FROM jobs")"

status 'forget refuses a workload without jobs' 66 "$POLLUX" forget nobody
is 'forget names the workload without jobs' "pollux: no job has the workload 'nobody'" "$err"
status 'forget refuses a job that does not exist' 66 "$POLLUX" forget --job 99
status 'forget refuses to go without a workload or a job' 64 "$POLLUX" forget
status 'forget refuses a workload with a job' 64 "$POLLUX" forget w --job 1
status 'forget refuses two workloads' 64 "$POLLUX" forget w v
finish
