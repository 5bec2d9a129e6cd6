#!/bin/sh
# day.t - a day of work as one person types it: a sweep, two jobs that change, a turn in the
# terminal, a failure that is told, what came of it all, and the end of what is no longer needed.
# No pass is typed: submissions and the ends of runs do them.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $out of run; cleanup
. "$(dirname "$0")/tap.sh"
unset POLLUX_SUBMIT_PASS
export POLLUX_SLOTS=2
cleanup() {
	touch "$TMP/morning"
	end_jobs
}
mkdir -p store
chmod 700 store
cat >store/config <<END
on_failure = echo "\$POLLUX_NAME \$POLLUX_STATE \$POLLUX_EXIT" >>$TMP/told
END

# --- a sweep: the accuracy is best for lr=0.2 and seed=1 ---
cat >train <<'END'
while [ ! -e morning ]; do sleep 0.05; done
acc=$(awk "BEGIN { print 0.9 - ($1 - 0.2)^2 + $2 / 1000 }")
"$POLLUX" report SAMPLES=100 METRIC.acc="$(awk "BEGIN { print $acc / 2 }")"
"$POLLUX" report SAMPLES=200 METRIC.acc="$acc"
echo model >"$3/model"
END
status 'submit accepts a sweep' 0 "$POLLUX" submit -q -b 10 --name 'lr{lr}' --max-running 1 \
	--param lr=0.1,0.2,0.4 --param seed=0,1 -- sh train '{lr}' '{seed}' '{checkpoint}'
ok 'the first run of the sweep starts at once' \
	wait_for 20 eval '"$POLLUX" status | grep -q "^1 device in use; 1 running, 5 waiting$"'
like 'status shows the sweep as one row' '^ - +group:1 lr\* +running .* 1 running, 5 queued$' \
	"$("$POLLUX" status)"

# --- two of them change ---
status 'edit changes two waiting jobs' 0 "$POLLUX" edit 5 6 --weight 3 --name late
is 'edit says what changed in each job' 'job 5: name lr0.4 -> late; weight 1 -> 3
job 6: name lr0.4 -> late; weight 1 -> 3' "$out"

# --- a turn in the terminal, beside the sweep ---
status 'a turn gets the other device' 0 "$POLLUX" run -n desk -- \
	sh -c 'read -r line; echo "$line, $POLLUX_REPLICAS device"; touch morning' <<'END'
good morning
END
is 'the program of the turn has the terminal' 'good morning, 1 device' "$out"
is 'the turn is stored as a job' '7|desk|done' \
	"$(store "SELECT id, name, state FROM jobs WHERE interactive")"
status 'the sweep ends well' 0 "$POLLUX" wait --timeout 200 group:1
wait_for 20 no_supervisor
like 'status shows that all six runs are done' '^ - +group:1 lr\* +ended .* 6 done' \
	"$("$POLLUX" status)"

# --- a failure ---
"$POLLUX" submit -q -n broken -- sh -c 'echo no such file >&2; exit 3' >/dev/null
status 'wait tells the exit status of a job that fails' 3 "$POLLUX" wait --timeout 200 8
ok 'the command of on_failure tells the failure' wait_for 20 grep -qsx 'broken failed 3' told
wait_for 20 no_supervisor
is 'the failure is told once, and nothing else is' 1 "$(wc -l <told | xargs)"
is 'the log of the failed job says why' 'no such file' "$("$POLLUX" log 8 | sed -n 3p)"

# --- what came of it ---
is 'results lists the best run first' '4 3 2 1 6 5' \
	"$("$POLLUX" results group:1 --metric acc:max | sed 1d | awk '{ print $1 }' | xargs)"
is 'results has the parameters, and last and lowest values' '0.2,1,0.901,0.4505' \
	"$("$POLLUX" results 4 --csv | perl -e 'my @h = split /,/, <> =~ s/\n//r;
		my %v; @v{@h} = split /,/, <> =~ s/\n//r;
		print join ",", @v{qw(parameter.lr parameter.seed acc acc.lowest)}')"
is 'history counts the jobs by state' '8 7 1' "$("$POLLUX" history --json |
	json 'print join " ", @{$d->{total}}{qw(jobs done failed)}')"
is 'history counts the jobs by group' '-,2 group:1,6' \
	"$("$POLLUX" history --by group --csv | sed 1d | cut -d , -f 1,2 | sort | xargs)"
status 'page writes a file' 0 "$POLLUX" page -o page.html
is 'the page has the sweep with parameters, the turn and the failure' 'broken desk lr=0.2' \
	"$(grep -Eo 'lr=0\.2|>desk<|>broken<' page.html | tr -d '<>' | sort -u | xargs)"
is 'the page has each of the 8 runs' 8 \
	"$(grep -o ': run [0-9]*, [a-z]*, ' page.html | wc -l | xargs)"

# --- the end of the day ---
status 'prune --dry-run succeeds' 0 "$POLLUX" prune --all --dry-run
ok 'prune --dry-run leaves a checkpoint that prune would remove' test -f store/checkpoints/4/model
status 'prune --keep-last 1 succeeds' 0 "$POLLUX" prune --all --keep-last 1
like 'prune says that seven jobs lose files and keep their records' '^7 jobs: .*; 7 records stay' \
	"$out"
is 'prune leaves the newest log' 8.log "$(cd store/logs && echo *.log)"
ok 'prune removes the checkpoints' test ! -e store/checkpoints/4
finish
