#!/bin/sh
# traces.t - published traces become workloads of pollux simulate, whose jobs last as long as those
# of the trace. The rows are made up, in the forms of the published files.
# shellcheck disable=SC2317  # functions run by status
. "$(dirname "$0")/tap.sh"
unset COLUMNS
if ! command -v python3 >/dev/null; then
	echo '1..0 # SKIP python3 is not installed'
	exit 0
fi
profiles=$ROOT/examples/simulate/profiles
convert() { # convert SCRIPT ARGUMENT...
	script=$1
	shift
	"$ROOT/tools/traces/$script" --profiles "$profiles" \
		--applications vision,language,ranking "$@"
}

cat >cluster_job_log <<'END'
[{"status": "Pass", "vc": "a", "jobid": "application_1", "user": "u",
  "submitted_time": "2017-10-03 08:20:00", "attempts": [
   {"start_time": "2017-10-03 08:22:10", "end_time": "2017-10-03 09:02:10",
    "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
 {"status": "Killed", "vc": "a", "jobid": "application_2", "user": "u",
  "submitted_time": "2017-10-03 08:30:00", "attempts": []},
 {"status": "Failed", "vc": "b", "jobid": "application_3", "user": "u",
  "submitted_time": "2017-10-03 09:30:00", "attempts": [
   {"start_time": "2017-10-03 10:00:00", "end_time": "2017-10-03 11:00:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]},
   {"start_time": "2017-10-03 12:00:00", "end_time": "2017-10-03 12:30:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0"]}, {"ip": "m2", "gpus": ["gpu3"]}]},
   {"start_time": "2017-10-03 13:00:00", "end_time": "None", "detail": []}]}]
END
convert philly.py cluster_job_log >philly.csv 2>said
is 'Philly: attempts add up, jobs without GPUs are left out' \
	'0 vision 1 2400|4200 language 2 5400' \
	"$(awk -F, 'NR > 1 { print $2, $3, $4, $6 }' philly.csv | paste -sd '|')"
is 'what was left out is told' '3 jobs in the trace, 2 had GPUs and ended, 2 written' "$(cat said)"
cat >cluster_log.csv <<'END'
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,ua,vc1,4,64,1,COMPLETED,2020-04-01 00:10:00,2020-04-01 00:10:05,2020-04-01 05:10:05,18000,5
2,ua,vc1,0,4,1,COMPLETED,2020-04-01 00:11:00,2020-04-01 00:11:05,2020-04-01 00:12:05,60,5
3,ub,vc1,1,8,1,FAILED,2020-04-01 01:10:00,2020-04-01 01:10:05,2020-04-01 01:20:05,600,5
END
convert helios.py cluster_log.csv >helios.csv 2>/dev/null
is 'Helios: durations and GPUs are those of the rows' '0 ranking 4 18000|3600 vision 1 600' \
	"$(awk -F, 'NR > 1 { print $2, $3, $4, $6 }' helios.csv | paste -sd '|')"
cat >pai_task_table.csv <<'END'
a1,tensorflow,1.0,Terminated,1000.0,8200.0,600.0,29.296875,50.0,T4
a2,worker,4.0,Terminated,2000.5,92000.5,600.0,29.296875,100.0,V100
a2,ps,1.0,Terminated,2000.0,92001.0,600.0,29.296875,,MISC
a3,xComputeWorker,1.0,Running,2000.0,,600.0,29.296875,100.0,P100
END
convert pai.py pai_task_table.csv >pai.csv 2>/dev/null
is 'PAI: tasks add up, parts of a GPU are one, running jobs are left out' \
	'0 language 1 7200|1000 ranking 4 90000' \
	"$(awk -F, 'NR > 1 { print $2, $3, $4, $6 }' pai.csv | paste -sd '|')"
status 'a file of another trace is refused' 1 convert philly.py cluster_log.csv
like 'the refusal names the file' '^philly.py: cluster_log.csv is no cluster_job_log: ' "$err"
refused() { # refused WHAT SCRIPT LINE: the file is log
	status "$1 is refused" 1 convert "$2" log
	is "$1 is refused in one line" "$2: $3" "$err"
}
: >log
refused 'an empty file' philly.py \
	'log is no cluster_job_log: Expecting value: line 1 column 1 (char 0)'
echo '{"jobid": "a"}' >log
refused 'JSON that is no list' philly.py 'log is no cluster_job_log: it is no list of jobs'
echo '[{"jobid": "a", "submitted_time": ""}]' >log
refused 'a job without fields' philly.py "log is no cluster_job_log: there is no 'attempts'"
echo '[{"attempts": ["a"]}]' >log
refused 'an attempt that is none' philly.py \
	"log is no cluster_job_log: 'str' object has no attribute 'get'"
sed '3s/,60,.*//; 3q' cluster_log.csv >log
refused 'a row that is cut off' helios.py \
	'log is no cluster_log.csv: line 3 has not as many cells as the heading'
sed '2s/,4,64/,inf,64/' cluster_log.csv >log
refused 'a number of GPUs without an end' helios.py \
	'log is no cluster_log.csv: cannot convert float infinity to integer'
sed 's/,18000,/,-5,/; s/,60,/,nan,/; s/,600,/,inf,/' cluster_log.csv >log
refused 'a trace of negative and endless durations' helios.py \
	'the trace has no job that had GPUs and ended'
echo a,b >log
refused 'a row of another file' pai.py 'log is no pai_task_table.csv: a row has 2 cells, not 10'
sed 's/,1000.0,/,nan,/; s/,2000[.0-9]*,/,inf,/' pai_task_table.csv >log
refused 'a time that is NaN' pai.py 'the trace has no job that had GPUs and ended'
status 'a trace that is not there is refused' 1 convert pai.py nosuch
is 'the refusal names what is not there' 'pai.py: cannot read nosuch: No such file or directory' \
	"$err"
status 'a profile that is not there is refused' 1 convert pai.py --applications nosuch \
	pai_task_table.csv
is 'the refusal names the profile' "pai.py: $profiles/nosuch is no profile of an application: \
No such file or directory" "$err"
status 'bounds that leave no job are refused' 1 convert pai.py --hours 0 pai_task_table.csv
is 'the refusal names the bounds' \
	'pai.py: --from, --hours and --max-gpus leave no job of the trace' "$err"
full() { convert pai.py pai_task_table.csv >/dev/full; }
status 'a full disk is told' 1 full
is 'a full disk is told in one line' 'pai.py: cannot write the workload: No space left on device' \
	"$err"
sed 's/2017-10-03 08:..:../&.250/g; s/"application_1"/1/' cluster_job_log >log
convert philly.py log >fractions.csv 2>/dev/null
is 'dates may have fractions, and a number may name a job' "$(cat philly.csv)" \
	"$(cat fractions.csv)"
sed '4s/,600,/,0.3,/' cluster_log.csv >log
convert helios.py log >short.csv 2>/dev/null
status 'a job of less than a second is one that simulate takes' 0 "$POLLUX" simulate \
	--profiles "$profiles" -w short.csv -n 4

for trace in philly helios pai; do
	"$POLLUX" simulate --profiles "$profiles" -w $trace.csv -n 4 -p fifo --restart-delay 0 \
		--jobs-csv $trace.out >/dev/null
	is "jobs of $trace last as long as in the trace, within a minute" '' \
		"$(paste -d, $trace.csv $trace.out | awk -F, 'NR > 1 {
			late = $10 - $9 - $6; if (late < -1 || late > 60) print $1, late }')"
done
sed 's/duration_s/seconds/' philly.csv >without.csv
"$POLLUX" simulate --profiles "$profiles" -w without.csv -n 4 -p fifo --jobs-csv out >/dev/null
like 'without the column a job lasts as long as its application' '^[12]$' \
	"$(paste -d, without.csv out | awk -F, 'NR > 1 && ($10 - $9 - $6) ^ 2 > 3600' | wc -l)"
sed '2s/,2400$/,/' philly.csv >empty.csv
status 'an empty duration is that of the application' 0 "$POLLUX" simulate \
	--profiles "$profiles" -w empty.csv -n 4
sed '2s/,2400$/,-3/' philly.csv >negative.csv
status 'a negative duration is refused' 65 "$POLLUX" simulate --profiles "$profiles" \
	-w negative.csv -n 4
like 'the refusal names file, line and column' "negative.csv:2: duration_s '-3' is not from" "$err"
finish
