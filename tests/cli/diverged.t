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
ended_as "failed diverged: loss$row 60" "$id" \
	'three reports of nan in a row end a run that has retries left'
is 'a run that diverged is not retried' 1 "$(store "SELECT runs FROM jobs WHERE id = $id")"
like 'the log says that pollux stopped the run' '^\[stopped by pollux: diverged\]$' \
	"$("$POLLUX" log "$id")"
like 'status has the loss nan' 'position .*loss nan$' "$("$POLLUX" status "$id")"
like 'status has the option --stop-nan' 'stop nan +after 3 values' "$("$POLLUX" status "$id")"
is 'the JSON of status has --stop-nan and the loss nan' '3 nan' "$("$POLLUX" status --json "$id" |
	json 'print "$d->{jobs}[0]{stop_nan} $d->{jobs}[0]{loss}"')"
id=$(values --stop-nan 3 -- sh values 'nan nan 1 inf -inf 2 nan nan' LOSS)
ended_as 'done completed' "$id" 'fewer than three reports in a row end no run'
id=$(values --stop-nan 3 -- sh values 'inf -inf NaN stay' METRIC.val_loss)
ended_as "failed diverged: val_loss$row 30" "$id" \
	'infinities count, of any metric named like a loss'
id=$(values --stop-nan 1 -- sh values '1 nan stay' LOSS)
ended_as 'failed diverged: loss was not finite in 1 report, the last at step 20' "$id" \
	'one report ends a run with --stop-nan 1'
id=$(values --stop-nan 2 -- sh values 'nan nan nan' METRIC.accuracy)
ended_as 'done completed' "$id" 'a metric that is no loss does not count'
id=$(values --stop-nan 2 --metric 'accuracy=acc (\S+)' -- \
	sh -c 'for i in 1 2 3; do echo acc tensor\(nan\); done; while :; do sleep 0.1; done')
ended_as 'failed diverged: accuracy was not finite in 2 reports in a row' "$id" \
	'a metric that --metric names counts, though it is no loss'
id=$(values --stop-nan 3 -- sh -c 'for i in 1 2 3; do echo "train loss: nan"; done; exec sleep 100')
ended_as 'failed diverged: log_loss was not finite in 3 reports in a row' "$id" \
	'a loss in the log counts'
id=$(values --stop-nan 2 -- sh values 'nan nan' LOSS)
ended_as "failed diverged: loss was not finite in 2 reports in a row, the last at step 20" "$id" \
	'a program that ends by itself after nan has failed, too'
id=$(values -- sh values 'nan nan nan nan' LOSS)
ended_as 'done completed' "$id" 'without --stop-nan no run is stopped'
values --stop-nan 2 --param 'v=1,nan' -- sh values '{v} {v} {v}' LOSS >ids
"$POLLUX" wait --timeout 200 "$(head -n 1 ids)" "$(tail -n 1 ids)" >/dev/null 2>&1
is 'each run of a sweep ends by its own values' 'done failed' \
	"$(store "SELECT group_concat(state, ' ') FROM (SELECT state FROM jobs
		WHERE group_id = 1 ORDER BY id)")"
id=$(values -- sh values '1 nan nan nan stay' LOSS)
told() { [ "$(store "SELECT loss_is_nan FROM jobs WHERE id = $id")" = 1 ]; }
ok 'the store knows that a run diverged' wait_for 20 told
is 'edit gives --stop-nan to a running job' "job $id: stop nan none -> 3, at once" \
	"$("$POLLUX" edit --stop-nan 3 "$id")"
"$POLLUX" cancel "$id"
id=$(values --hold --stop-nan 3 true)
is 'edit takes --stop-nan from a job' "job $id: stop nan 3 -> none" \
	"$("$POLLUX" edit --unset stop-nan "$id")"
"$POLLUX" cancel "$id"
status 'submit refuses --stop-nan 0' 64 "$POLLUX" submit --stop-nan 0 true
status 'submit refuses --stop-nan with a word' 64 "$POLLUX" submit --stop-nan x true

# --- results ---
new_store() { end_jobs; wait_for 40 no_supervisor; rm -rf "$POLLUX_DIR"; }
new_store
set -- --param 'how=nan,inf,-inf,late,blip,two,three' -- sh -c 'case $1 in
	late) sh values "0.1 0.2 nan" $2 ;; blip) sh values "nan 1" $2 ;; two) sh values 2 $2 ;;
	three) sh values 3 $2 ;; *) sh values "$1 $1" $2 ;; esac' - '{how}' METRIC.loss
"$POLLUX" submit -q "$@" >ids
"$POLLUX" wait --timeout 200 group:1 >/dev/null
order() { "$POLLUX" results "$@" | awk 'NR > 1 { printf "%s ", $2 }'; }
is 'results lists runs that diverged last, whatever they had before' \
	'blip two three late nan inf -inf ' "$(order --metric loss)"
is 'results lists runs that diverged last where high values are good' \
	'three two blip late nan inf -inf ' \
	"$(order --metric loss:max)"
is 'results has the last and the lowest value of each run' \
	'nan,nan,- inf,inf,- -inf,-inf,- late,nan,0.1 blip,1,1 two,2,2 three,3,3 ' \
	"$("$POLLUX" results | awk 'NR > 1 { printf "%s,%s,%s ", $2, $(NF - 1), $NF }')"
is 'the CSV of results has nan and infinities' 'nan,, inf,, -inf,, nan,0.1,0.2 1,1,1 2,2,2 3,3,3 ' \
	"$("$POLLUX" results --csv | sed '1d; s/^.*,\([^,]*,[^,]*,[^,]*\)$/\1/' | tr '\n' ' ')"
is 'the JSON of results has nan and infinities' 'nan:- inf:- -inf:- nan:0.1 1:1 2:2 3:3 ' \
	"$("$POLLUX" results --json |
	json 'for (@{$d->{jobs}}) { my $m = $_->{metrics}[0];
		print "$m->{last}:", $m->{lowest} // "-", " " }')"
POLLUX_SUBMIT_PASS=no "$POLLUX" requeue 1 2 3 4 5
like 'status has the best run of a group that has not diverged' '; best loss 1 at how=blip$' \
	"$("$POLLUX" status)"
"$POLLUX" cancel 1 2 3 4 5
"$POLLUX" submit -q --param 'v=nan,2,inf,1' -- sh values '{v}' LOSS >ids
"$POLLUX" wait --timeout 200 group:2 >/dev/null
losses() { "$POLLUX" status --columns loss --sort "$1" group:2 |
	awk 'NR > 1 { printf "%s ", $1 }'; }
is 'status sorts nan and infinity last' '1.00 2.00 nan inf ' "$(losses loss)"
is 'status sorts nan and infinity last in the other order, too' '2.00 1.00 nan inf ' \
	"$(losses -loss)"
status 'results makes a plot of values with nan' 0 "$POLLUX" results --metric loss --plot a.svg
is 'gnuplot does not complain of the plot' '' "$err"
ok 'the plot is a picture' grep -q '<svg' a.svg
status 'results fails to plot nothing but nan' 1 "$POLLUX" results 1 2 3 --metric loss --plot b.svg
like 'results says that a finite value is missing' 'finite value of metric' "$err"
status 'page writes a file' 0 "$POLLUX" page -o page.html
is 'the page has no nan or infinity among its coordinates' 0 \
	"$(grep -cE '(points|d|cx|cy|x|y)="[^"]*(nan|inf)' page.html)"
like 'the page has nan among its values' 'nan' "$(cat page.html)"

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
is 'a run with nan goes no further where low values are good' 'done paused1 paused1 paused1' \
	"$(halved min 1,2,nan,3)"
is 'a run with nan goes no further where high values are good' 'paused1 paused1 paused1 done' \
	"$(halved max 1,2,nan,3)"
is 'a run with infinity goes no further where high values are good' 'done paused1 paused1' \
	"$(halved max 1,inf,-inf)"
is 'a run with -infinity goes no further where low values are good' 'done paused1 paused1' \
	"$(halved min 1,inf,-inf)"
is 'all runs are paused when all have diverged' 'paused1 paused1 paused1' \
	"$(halved min nan,inf,-inf)"
like 'status says that a run has diverged and goes no further' \
	'm nan is 1st of 3: it has diverged, and goes no further' "$("$POLLUX" status --all)"
is 'a run that never reports the metric beats nobody' 'done done paused1' "$(halved min none,1,2)"
is 'a run that was best and diverges later is paused' 'paused2' "$(halved min 1 nan)"
is 'one run alone goes to its end' 'done' "$(halved min 5)"
finish
