#!/bin/sh
# diverged.t - values that are not finite: kept and shown, worse than every number, and the end of a
# run where --stop-nan says so.
# shellcheck disable=SC2016,SC2317 # programs for other shells; functions called by name
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=8 POLLUX_SUBMIT_PASS=yes
export POLLUX_SLOTS POLLUX_SUBMIT_PASS

cleanup() { end_jobs; }
# Reports the values, one for each 100 samples; "stay": lives until it is stopped.
cat >values <<'END'
n=0
for v in $1; do
	n=$((n + 100))
	case $v in
	stay) while :; do sleep 0.1; done ;;
	*) "$POLLUX" report STEP=$((n / 10)) SAMPLES=$n "$2=$v" ;;
	esac
done
END
# ended_as WANT ID: the state and the reason of a job that ends
ended_as() {
	"$POLLUX" wait --timeout 200 "$2" >/dev/null 2>&1
	is "$3" "$1" "$(store "SELECT state || ' ' || reason FROM jobs WHERE id = $2")"
}
values() { "$POLLUX" submit -q "$@"; }

# --- --stop-nan ---
row=' was not finite in 3 reports in a row, the last at step'
id=$(values --stop-nan 3 --retries 5 -- sh values 'nan nan 1 nan nan nan stay' LOSS)
ended_as "failed diverged: loss$row 60" "$id" 'three in a row end a run, retries or not'
is 'at once' 1 "$(store "SELECT runs FROM jobs WHERE id = $id")"
like 'the log says so' '^\[stopped by pollux: diverged\]$' "$("$POLLUX" log "$id")"
like 'status has the loss' 'position .*loss nan$' "$("$POLLUX" status "$id")"
like 'and what was asked for' 'stop nan +after 3 values' "$("$POLLUX" status "$id")"
is 'the JSON too' '3 nan' "$("$POLLUX" status --json "$id" |
	json 'print "$d->{jobs}[0]{stop_nan} $d->{jobs}[0]{loss}"')"
id=$(values --stop-nan 3 -- sh values 'nan nan 1 inf -inf 2 nan nan' LOSS)
ended_as 'done completed' "$id" 'fewer do not'
id=$(values --stop-nan 3 -- sh values 'inf -inf NaN stay' METRIC.val_loss)
ended_as "failed diverged: val_loss$row 30" "$id" 'infinities count, and any loss'
id=$(values --stop-nan 1 -- sh values '1 nan stay' LOSS)
ended_as 'failed diverged: loss was not finite in 1 report, the last at step 20' "$id" 'one may do'
id=$(values --stop-nan 2 -- sh values 'nan nan nan' METRIC.accuracy)
ended_as 'done completed' "$id" 'a metric that is no loss does not count'
id=$(values --stop-nan 2 --metric 'accuracy=acc (\S+)' -- \
	sh -c 'for i in 1 2 3; do echo acc tensor\(nan\); done; while :; do sleep 0.1; done')
ended_as 'failed diverged: accuracy was not finite in 2 reports in a row' "$id" \
	'unless the person named it'
id=$(values --stop-nan 3 -- sh -c 'for i in 1 2 3; do echo "train loss: nan"; done; exec sleep 100')
ended_as 'failed diverged: log_loss was not finite in 3 reports in a row' "$id" \
	'a loss in the log counts'
id=$(values --stop-nan 2 -- sh values 'nan nan' LOSS)
ended_as "failed diverged: loss was not finite in 2 reports in a row, the last at step 20" "$id" \
	'a program that ended before has failed, too'
id=$(values -- sh values 'nan nan nan nan' LOSS)
ended_as 'done completed' "$id" 'without the option nothing is stopped'
values --stop-nan 2 --param 'v=1,nan' -- sh values '{v} {v} {v}' LOSS >ids
"$POLLUX" wait --timeout 200 "$(head -n 1 ids)" "$(tail -n 1 ids)" >/dev/null 2>&1
is 'in a sweep each run by itself' 'done failed' \
	"$(store "SELECT group_concat(state, ' ') FROM (SELECT state FROM jobs
		WHERE group_id = 1 ORDER BY id)")"
id=$(values -- sh values '1 nan nan nan stay' LOSS)
told() { [ "$(store "SELECT loss_is_nan FROM jobs WHERE id = $id")" = 1 ]; }
ok 'a run that diverged is known' wait_for 20 told
is 'the option is given to a running job' "job $id: stop nan none -> 3, at once" \
	"$("$POLLUX" edit --stop-nan 3 "$id")"
"$POLLUX" cancel "$id"
id=$(values --hold --stop-nan 3 true)
is 'and taken back' "job $id: stop nan 3 -> none" "$("$POLLUX" edit --unset stop-nan "$id")"
"$POLLUX" cancel "$id"
status 'no number' 64 "$POLLUX" submit --stop-nan 0 true
status 'nor a word' 64 "$POLLUX" submit --stop-nan x true

# --- results ---
new_store() { end_jobs; wait_for 40 no_supervisor; rm -rf "$POLLUX_DIR"; }
new_store
set -- --param 'how=nan,inf,-inf,late,blip,two,three' -- sh -c 'case $1 in
	late) sh values "0.1 0.2 nan" $2 ;; blip) sh values "nan 1" $2 ;; two) sh values 2 $2 ;;
	three) sh values 3 $2 ;; *) sh values "$1 $1" $2 ;; esac' - '{how}' METRIC.loss
"$POLLUX" submit -q "$@" >ids
"$POLLUX" wait --timeout 200 group:1 >/dev/null
order() { "$POLLUX" results "$@" | awk 'NR > 1 { printf "%s ", $2 }'; }
is 'the best come first: who diverged is behind, whatever it had before' \
	'blip two three late nan inf -inf ' "$(order --metric loss)"
is 'also where high values are good' 'three two blip late nan inf -inf ' \
	"$(order --metric loss:max)"
is 'last and lowest values' \
	'nan,nan,- inf,inf,- -inf,-inf,- late,nan,0.1 blip,1,1 two,2,2 three,3,3 ' \
	"$("$POLLUX" results | awk 'NR > 1 { printf "%s,%s,%s ", $2, $(NF - 1), $NF }')"
is 'CSV' 'nan,, inf,, -inf,, nan,0.1,0.2 1,1,1 2,2,2 3,3,3 ' \
	"$("$POLLUX" results --csv | sed '1d; s/^.*,\([^,]*,[^,]*,[^,]*\)$/\1/' | tr '\n' ' ')"
is 'JSON' 'nan:- inf:- -inf:- nan:0.1 1:1 2:2 3:3 ' "$("$POLLUX" results --json |
	json 'for (@{$d->{jobs}}) { my $m = $_->{metrics}[0];
		print "$m->{last}:", $m->{lowest} // "-", " " }')"
POLLUX_SUBMIT_PASS=no "$POLLUX" requeue 1 2 3 4 5
like 'the best of a group has not diverged' '; best loss 1 at how=blip$' "$("$POLLUX" status)"
"$POLLUX" cancel 1 2 3 4 5
"$POLLUX" submit -q --param 'v=nan,2,inf,1' -- sh values '{v}' LOSS >ids
"$POLLUX" wait --timeout 200 group:2 >/dev/null
losses() { "$POLLUX" status --columns loss --sort "$1" group:2 |
	awk 'NR > 1 { printf "%s ", $1 }'; }
is 'a column of status sorts them behind' '1.00 2.00 nan inf ' "$(losses loss)"
is 'whatever the order' '2.00 1.00 nan inf ' "$(losses -loss)"
status 'a plot' 0 "$POLLUX" results --metric loss --plot a.svg
is 'without a word of gnuplot' '' "$err"
ok 'is a picture' grep -q '<svg' a.svg
status 'a plot of nothing but NaN' 1 "$POLLUX" results 1 2 3 --metric loss --plot b.svg
like 'says what is missing' 'finite value of metric' "$err"
status 'a page' 0 "$POLLUX" page -o page.html
is 'has no number that is none' 0 "$(grep -cE '(points|d|cx|cy|x|y)="[^"]*(nan|inf)' page.html)"
like 'but their words' 'nan' "$(cat page.html)"

# --- halving ---
# trained VALUE LATER: reports a metric at 100, 200 and 300 samples, saves, and stops when told.
cat >trained <<'END'
trap 'exit 75' TERM
n=$(cat "$POLLUX_CHECKPOINT_DIR/at.ckpt" 2>/dev/null || echo 0)
while [ "$n" -lt 300 ]; do
	n=$((n + 100))
	echo "$n" >"$POLLUX_CHECKPOINT_DIR/at.ckpt"
	v=$1
	[ "$n" -gt 100 ] && [ "${2-}" ] && v=$2
	[ "$v" = none ] || set -- "$1" "$2" "METRIC.m=$v"
	"$POLLUX" report SAMPLES=$n CHECKPOINT="$POLLUX_CHECKPOINT_DIR/at.ckpt" ${3-}
	for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done
done
END
# halved MODE VALUES: where the runs of a sweep end, by their order
halved() {
	new_store
	"$POLLUX" submit -q --samples 300 --halving "m:$1,rungs=100/200" --param "v=$2" -- \
		sh trained '{v}' "${3-}" >/dev/null
	"$POLLUX" wait --timeout 90 group:1 >/dev/null 2>&1
	store "SELECT group_concat(iif(state = 'queued', 'paused' || rung, state), ' ') FROM
		(SELECT * FROM jobs ORDER BY id)"
}
is 'low is best: NaN goes no further' 'done paused1 paused1 paused1' "$(halved min 1,2,nan,3)"
is 'high is best: nor does it' 'paused1 paused1 paused1 done' "$(halved max 1,2,nan,3)"
is 'infinity is no high number' 'done paused1 paused1' "$(halved max 1,inf,-inf)"
is 'nor a low one' 'done paused1 paused1' "$(halved min 1,inf,-inf)"
is 'all diverge: all are paused, and nothing is left to do' 'paused1 paused1 paused1' \
	"$(halved min nan,inf,-inf)"
like 'which is said' 'm nan is 1st of 3: it has diverged, and goes no further' \
	"$("$POLLUX" status --all)"
is 'who never reports the metric beats nobody' 'done done paused1' "$(halved min none,1,2)"
is 'the one that was best diverges later' 'paused2' "$(halved min 1 nan)"
is 'one run alone goes to its end' 'done' "$(halved min 5)"
finish
