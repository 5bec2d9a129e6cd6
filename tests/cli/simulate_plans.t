#!/bin/sh
# simulate_plans.t - pollux simulate --plans, on two nodes of two GPUs, by hand.
. "$(dirname "$0")/tap.sh"
unset COLUMNS

mkdir -p placements/small placements/wide
cat >placements/small/placements.csv <<'END'
exec_plan,placement,iter_time
ga,1,4
zero-dp,1,5
zero-dp,2,2
ga,2,3
gc,2,0
END
cat >placements/wide/placements.csv <<'END'
exec_plan,placement,iter_time
222,22,1.5
121,22,3
END
cat >jobs.csv <<'END'
name,submission_time,duration,application,num_gpus,num_cpus,bandwidth,exec_plan,steps,is_sla
first,0,1,small,1,8,0,zero-dp,99,0
END
plans() { "$POLLUX" simulate --plans --profiles placements -n 2 -g 2 "$@"; }
figure() { plans -w jobs.csv --json "$@" | json "print \$d->{$figure}"; }

# From 60 s: 260 s of start, then 100 iterations of 2 s on 2 GPUs.
for policy in rubick goodput; do
	figure=makespan_s
	is "$policy takes the fastest plan" 520 "$(figure -p "$policy")"
	is "$policy: --restart-delay sets the cost of a start" \
		270 "$(figure -p "$policy" --restart-delay 10)"
done
figure=gpu_hours
is 'GPUs are counted to the end' 0.255 "$(figure | sed 's/^\(.....\).*/\1/')"

# The wide job needs both nodes, and its guarantee lets it take them at once.
cat >>jobs.csv <<'END'
wide-1,600,1,wide,4,32,0,121,99,1
late,610,1,small,2,16,0,ga,9,0
END
for policy in rubick goodput; do
	status "$policy: every round is legal" 0 plans -w jobs.csv -p "$policy"
	like "$policy: the title says that the times of the files are known" \
		"^$policy on 2 nodes of 2 GPUs; models: full," "$out"
	like "$policy: three jobs end" '^jobs +3 ' "$out"
done
# submitted at 600, 260 s + 150 s to 1010; the next round is at 1020: 260 s + 10 * 2 s
figure=makespan_s
is 'a late job waits for the guaranteed one' 1300 "$(figure -p rubick)"

# --- what can be checked from outside ---
status 'plans have CSV of jobs and decisions, of both policies' 0 plans -w jobs.csv \
	-p goodput,rubick --jobs-csv out.csv --timeline-csv timeline.csv --cdf-csv cdf.csv
is 'each job has a row under each policy' '3 goodput 3 rubick' \
	"$(awk -F, 'NR > 1 { n[$10]++ }
		END { print n["goodput"], "goodput", n["rubick"], "rubick" }' out.csv)"
is 'the wide job has both nodes, on GPUs that no other job has' 'wide-1 0:0-1 1:0-1' \
	"$(grep wide-1 timeline.csv | sed -n '1s/.*,//p')"
is 'a job on a part of a node has GPUs by number' 'first 0:0-1' \
	"$(sed -n '2s/.*,//p' timeline.csv)"
status 'plans are drawn' 0 plans -w jobs.csv --draws 3 --seed 1 --json
is 'JSON of plans has the draws' 3 "$(printf '%s\n' "$out" | json "print \$d->{draws}")"

# The initial plan does not matter without a guarantee.
sed -i '3d' jobs.csv
figure=avg_jct_s
before=$(figure -p rubick)
sed -i 's/zero-dp/ga/' jobs.csv
is 'the plan that the owner named does not matter' "$before" "$(figure -p rubick)"

# --- errors ---
status 'another policy is a usage error' 64 plans -w jobs.csv -p las
like 'the message names the policies that know plans' \
	'goes with the policies goodput and rubick' "$err"
status 'rubick needs plans' 64 "$POLLUX" simulate --profiles placements -w jobs.csv -p rubick
status 'an option without effect is refused' 64 plans -w jobs.csv --events
echo 'x,700,1,small,2,16,0,tp,9,1' >>jobs.csv
status 'a guarantee without measurement is an error' 65 plans -w jobs.csv
like 'the message names the line of the guarantee' \
	"jobs.csv:4: a guarantee for 2 GPUs with plan 'tp'" "$err"
sed -i '4s/small/large/' jobs.csv
status 'an application without rows is an error' 65 plans -w jobs.csv
sed -i '2s/ga,1,4/ga,0,4/' placements/small/placements.csv
status 'a wrong placement is an error' 65 plans -w jobs.csv
like 'the message names the line of the placement' "placements.csv:2: placement '0'" "$err"

finish
