#!/bin/sh
# results.t - the metrics of real jobs, reported or printed, side by side.
# shellcheck disable=SC2016,SC2317  # texts for other programs; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY
cleanup() { end_jobs; }
metric() {
	store "SELECT last, lowest, highest FROM job_metrics WHERE job_id = $1 AND name = '$2'"
}

cat >reports <<'END'
for loss in 0.9 "$1" 0.5; do
	"$POLLUX" report SAMPLES=$((n += 100)) LOSS=$loss METRIC.acc=0.$n
done
END
cat >prints <<'END'
for i in 5 3 9 x; do
	echo "epoch $i: val_bleu=$i.25 (best)"
	sleep 0.3
done
printf 'speed 1e3 it/s\rspeed 2e3 it/s\r'
END
"$POLLUX" submit -q -b 10 -- sh reports 0.3 >/dev/null
"$POLLUX" submit -q -b 10 --name second -- sh reports 0.4 >/dev/null
"$POLLUX" submit -q --metric 'bleu=val_bleu=([0-9.]+)' --metric 'speed=speed ([0-9.e]+) it' -- \
	sh prints >/dev/null
"$POLLUX" submit -q -- true >/dev/null
status 'results succeeds before a job ran' 0 "$POLLUX" results
like 'results says that no job has a metric yet' '^No job has a metric yet\.' "$out"
like 'results says what gives a job a metric' \
	"'pollux submit --metric'" "$(echo "$out" | tr '\n' ' ')"
is 'results without metrics is within 80 columns' '' "$(echo "$out" | grep -E '.{81}')"
run "$POLLUX" results --plot none.svg
is '--plot without metrics fails with one line, and no table' \
	"1::pollux: nothing to draw: no job has a metric \
yet; see 'man pollux-results'" "$rc:$out:$err"
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 1 2 3 4 >waited 2>&1
wait_for 20 no_supervisor
is 'the loss is a metric with its last, lowest and highest value' '0.5|0.3|0.9' "$(metric 1 loss)"
is 'the lowest loss has its number of samples' 200 \
	"$(store "SELECT lowest_samples FROM job_metrics WHERE job_id = 1 AND name = 'loss'" |
		sed 's/\.0$//')"
is 'a reported metric has its last, lowest and highest value' \
	'0.3|0.1|0.3' "$(metric 1 acc | sed 's/00*|/|/g; s/00*$//')"
is 'a printed metric skips what is no number' '9.25|3.25|9.25' "$(metric 3 bleu)"
is 'a metric printed by a progress bar is read' '2000.0|1000.0|2000.0' "$(metric 3 speed)"
"$POLLUX" results >table
is 'the table has a row for each job that has a metric' \
	'1 2 3' "$(sed 1d table | awk '{ print $1 }' | xargs)"
"$POLLUX" results --metric loss >table
is '--metric loss puts the lowest loss first' '1 2 3' \
	"$(sed 1d table | awk '{ print $1 }' | xargs)"
like 'the table has the last and the lowest loss' '^ *1 .* 0\.5  *0\.3$' "$(cat table)"
is '--metric acc:min puts the lowest value first' '2 1 3' \
	"$("$POLLUX" results --metric acc:min 2 1 3 | sed 1d | awk '{ print $1 }' | xargs)"
is 'CSV has the row of the job' \
	'2,second,done' "$("$POLLUX" results 2 --csv | sed 1d | cut -d , -f 1-3)"
header=id,name,state,samples,run_time_s,acc,acc.lowest,acc.highest,loss,loss.lowest,loss.highest
is 'CSV has its header' "$header" "$("$POLLUX" results 2 --csv | sed 1q)"
is 'JSON has the lowest value and its samples' '0.4 200' "$("$POLLUX" results 2 --json |
	json 'my ($m) = grep { $_->{name} eq "loss" } @{$d->{jobs}[0]{metrics}};
		print "$m->{lowest} $m->{lowest_samples}"')"
is 'the table of results is within 80 columns' \
	'' "$(COLUMNS=80 "$POLLUX" results | awk 'length > 80')"
unlike 'status does not say the loss twice' 'metrics.*loss' "$("$POLLUX" status 1)"
status 'a metric that no job has is a usage error' 64 "$POLLUX" results --metric f1
is 'a metric that no job has is named' "pollux: none of these jobs has a metric 'f1'" "$err"
status 'an unknown job is refused with status 66' 66 "$POLLUX" results 99
for wrong in bleu '=(x)' 'a b=(x)' 'bleu=x' 'bleu=(x'; do
	status "--metric '$wrong' is refused" 64 "$POLLUX" submit --metric "$wrong" -- true
done

# Each job of a sweep looks for them, too.
"$POLLUX" submit -q --param v=4,7 --metric 'v=value ([0-9]+)' -- echo 'value {v}' >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 5 6 >waited 2>&1
wait_for 20 no_supervisor
"$POLLUX" schedule
is 'the jobs of a sweep have their metrics' '6 5' \
	"$("$POLLUX" results 5-6 --metric v | sed 1d | awk '{ print $1 }' | xargs)"

# Expressions without end take no more of the supervisor's time than they may.
cat >hostile <<'END'
for i in $(seq 300); do printf '%060d!\n' 0; done
echo "x=1"
sleep 1
END
"$POLLUX" submit -q --metric 'slow=((0+)+)+$' --metric 'x=x=([0-9]+)' -- sh hostile >/dev/null
"$POLLUX" schedule
status 'a job with an expression without end ends' 0 "$POLLUX" wait --timeout 200 7
wait_for 20 no_supervisor
is 'the last lines of that job are looked at all the same' '1.0|1.0|1.0' "$(metric 7 x)"

"$POLLUX" requeue 1
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 1
wait_for 20 no_supervisor
is 'the next supervisor keeps the values of other metrics' '0.3|0.1|0.3' \
	"$(metric 1 acc | sed 's/00*|/|/g; s/00*$//')"

# --- a sweep ---
cat >sweep <<'END'
"$POLLUX" report SAMPLES=100 METRIC.acc=0.$1$2
END
first=$("$POLLUX" submit -q --param lr=1e-1,2e-1 --param 'seed=3,a b' -- \
	sh sweep 5 '{seed}' '{lr}' | head -n 1)
group=$(store "SELECT group_id FROM jobs WHERE id = $first")
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$first" $((first + 1)) $((first + 2)) $((first + 3)) >waited 2>&1
is 'the parameters of a sweep are columns, with values as typed' "ID lr seed STATE
$first 1e-1 3 done
$((first + 2)) 2e-1 3 done" \
	"$("$POLLUX" results "$first" $((first + 2)) | awk '{ print $1, $2, $3, $4 }')"
is 'the names of jobs stay where other jobs are beside a sweep' 'ID NAME lr seed' \
	"$("$POLLUX" results 1 "$first" | awk 'NR == 1 { print $1, $2, $3, $4 }')"
is 'a job without the parameters has dashes' '- -' \
	"$("$POLLUX" results 1 "$first" | awk '$1 == 1 { print $3, $4 }')"
is 'CSV has the parameters' 'id,name,state,samples,run_time_s,parameter.lr,parameter.seed' \
	"$("$POLLUX" results --csv "group:$group" | sed -n '1s/,acc,.*//p')"
is 'CSV quotes a parameter with a space' \
	'a b' "$("$POLLUX" results --csv $((first + 1)) | awk -F, 'NR == 2 { print $7 }')"
is 'JSON has the parameters' \
	'lr=1e-1 seed=a b' "$("$POLLUX" results --json $((first + 1)) | json 'print join " ",
	map { "$_->{name}=$_->{value}" } @{$d->{jobs}[0]{parameters}}')"
is 'each run of a sweep has a name of its own' "sh lr=1e-1 seed=3
sh lr=1e-1 seed=a b
sh lr=2e-1 seed=3
sh lr=2e-1 seed=a b" "$(store "SELECT name FROM jobs WHERE id >= $first")"
is 'the group has the name of the command' sh \
	"$(store "SELECT name FROM job_groups WHERE id = $group")"

# --- a picture ---
cat >scored <<'END'
"$POLLUX" report SAMPLES=100 METRIC.f1=0.$((POLLUX_INDEX + 1))
END
scored=$("$POLLUX" submit -q --param lr=1e-3,1e-4 --param "rule=a b,it's" --param w=7 -- \
	sh scored '{lr}{rule}{w}')
"$POLLUX" schedule
# shellcheck disable=SC2086 # numbers
"$POLLUX" wait --timeout 200 $scored >waited 2>&1
wait_for 20 no_supervisor
# shellcheck disable=SC2086
status 'the metric is drawn against parameters' 0 "$POLLUX" results $scored --metric f1 --plot a.svg
is 'the table is printed beside a picture' \
	'0.4 0.3 0.2 0.1' "$(echo "$out" | awk 'NR > 1 { print $NF }' | xargs)"
words() { sed 's/<[^>]*>//g' a.svg | tr -s ' \t\n' ' ' | grep -ow "$1" | sort -u | xargs; }
is 'the picture has a frame for each parameter that differs' 'highest f1 lr rule' \
	"$(words 'highest f1\|lr\|rule\|w')"
is 'the axis has the values that are no numbers' 'a b' "$(words 'a b')"
is 'an axis from a ratio of 10 has the values as typed' '1e-3 1e-4' "$(words '1e-[0-9]')"
status 'jobs without parameters cannot be drawn' 1 "$POLLUX" results 1 2 --metric acc --plot b.svg
is 'the message says that no parameter differs' \
	"pollux: nothing to draw: no parameter differs between jobs that have a \
finite value of metric 'acc'" "$err"
ok 'a picture that cannot be drawn leaves no file' [ ! -e b.svg ]
status 'the name of a picture needs a known format' 64 "$POLLUX" results --plot b.txt

# --- metrics of a log, by their names ---
cat >usual <<'END'
echo 'Namespace(epochs=3, lr=0.1, val_split=0.2, loss=1)'
for i in 1 2 3; do
	echo "Epoch $i/3: train loss: 0.$((9 - i)) val loss: 0.5$i val acc: ${i}0% loss_scale=8"
	echo "best val_acc=0.99 epoch $i"
done
END
first=$("$POLLUX" submit -q -- sh usual)
"$POLLUX" submit -q --metric 'split=val_split=([0-9.]+)' -- sh usual >/dev/null
"$POLLUX" submit -q -b 10 -- sh -c '"$POLLUX" report SAMPLES=10 LOSS=0.25
	for i in 1 2 3; do echo "epoch $i loss=7.$i auc=0.$i"; done' >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$first" $((first + 1)) $((first + 2)) >waited 2>&1
wait_for 20 no_supervisor
names() { store "SELECT group_concat(name, ' ') FROM (SELECT name FROM job_metrics
	WHERE job_id = $1 ORDER BY name)"; }
is 'usual names beside an epoch are metrics' 'train_loss val_acc val_loss' "$(names "$first")"
is 'they have their last, lowest and highest values' '0.6|0.6|0.8 0.53|0.51|0.53 30.0|10.0|30.0' \
	"$(for name in train_loss val_loss val_acc; do metric "$first" "$name"; done | xargs)"
like 'results shows them' '^ *[0-9]* .* 0\.6  *0\.6 .* 30  *30 .* 0\.53  *0\.51$' \
	"$("$POLLUX" results "$first")"
is '--metric says which metrics count' split "$(names $((first + 1)))"
is 'a reported metric goes before one of the log' 'auc loss' "$(names $((first + 2)))"
is 'the reported metric is as reported' '0.25|0.25|0.25' "$(metric $((first + 2)) loss)"

# --- where a program shows its metrics ---
id=$("$POLLUX" submit -q -- sh -c 'echo "wandb: View run at https://wandb.ai/me/nets/runs/ab12"
	echo "TensorBoard 2.15.0 at http://localhost:6006/ (Press CTRL+C to quit)"')
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$id" >waited 2>&1
wait_for 20 no_supervisor
is 'status has the addresses' 'wandb https://wandb.ai/me/nets/runs/ab12
tensorboard http://localhost:6006/' \
	"$("$POLLUX" status "$id" | awk '$1 == "wandb" || $1 == "tensorboard" { print $1, $2 }')"
is 'JSON has them' 'https://wandb.ai/me/nets/runs/ab12 http://localhost:6006/' \
	"$("$POLLUX" status --json "$id" | json 'print join " ", map {
		$d->{jobs}[0]{details}{runs}[0]{$_} } qw(wandb_url tensorboard_url)')"

# --- a metric of --halving that no run reports ---
group=$("$POLLUX" submit --hold --array 0-1 --halving f9:max,rungs=5 -b 1 -- true 2>/dev/null)
run "$POLLUX" results "$group"
is 'a note names a metric of --halving that no run reports' \
	"pollux: note: no run of $group has reported 'f9', by \
which --halving compares them: none of them pauses" "$(echo "$err" | sed 's/group /group:/')"
run "$POLLUX" results 2
is 'the note of --halving is not for other jobs' '' "$err"
finish
