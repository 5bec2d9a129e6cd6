#!/bin/sh
# profile_warnings.t - what pollux profile says of commands that do not do what it takes them to do.
# shellcheck disable=SC2016  # Perl
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:2 pu:1' POLLUX_SLOTS=2
export HWLOC_SYNTHETIC POLLUX_SLOTS

warnings() { printf '%s' "$out" | json 'print "$_\n" for @{$d->{warnings}}'; }

# fake NS: a step takes so long, whatever the machine does.
cat >fake <<'END'
#!/bin/sh
exec "$REPORTER" "$1"
END
chmod +x fake

# --- it is not told its sizes ---
status 'a command that does not take its batch is profiled' \
	0 "$POLLUX" profile --budget $((12 * TIME_SCALE)) \
	--points 2 -b 16 --batch-range 16:64 -r 1:2 --json -- ./fake 5000000
like 'a note says that the command has no template for its batch' \
	'note: its command has no \{batch\} or \{local_batch\}: unless it heeds POLLUX_BATCH' "$err"
like 'a note says that the command has no template for its devices' \
	'note: its command has no \{gpus\}: unless it heeds POLLUX_REPLICAS' "$err"
like 'a warning says that a step takes the same at two batches' \
	'^a step takes the same at batch 32 as at 16, 5 and 5 ms: does the command take' \
	"$(warnings)"

# --- some of the devices are taken ---
blocker=$("$POLLUX" submit -q -- sleep 600)
"$POLLUX" schedule
cat >scales <<'END'
#!/bin/sh
exec ./fake $((1000000 + 100000 * $1))
END
chmod +x scales
status 'a profile runs with one device of two' \
	0 "$POLLUX" profile --budget $((12 * TIME_SCALE)) --points 3 -b 16 \
	--batch-range 16:64 -r 1:2 --json -- ./scales '{local_batch}' '{gpus}'
"$POLLUX" cancel "$blocker"
like 'a warning says what was not measured, and why' \
	"^more than 1 device: not measured \(cpu:0 has job $blocker\)" "$(warnings)"
# --- nothing is known of the noise scale ---
is 'throughput is told at every batch' '16 32 64' \
	"$(printf '%s' "$out" |
		json 'print join " ", map { $_->{batch_size} } @{$d->{batch_sizes}}')"
is 'efficiency of larger batches is not told without a noise scale' 0 \
	"$(printf '%s' "$out" | json 'print scalar grep { defined $_->{efficiency} &&
	$_->{batch_size} > 16 } @{$d->{batch_sizes}}')"
run "$POLLUX" profile "$(printf '%s' "$out" | json 'print $d->{id}')"
like 'the table tells throughput at a larger batch' '^ +64 +64 +1 +7\.[0-9]+ms +[0-9.]+k +- ' "$out"
unlike 'the table has no note that says nothing' '^  note +-$' "$out"
like 'the table marks two devices as not measured' '^ +2 .* not measured$' "$out"

# --- a model does not fit ---
cat >jumps <<'END'
#!/bin/sh
case $1 in 16 | 64) ns=4000000 ;; *) ns=8000000 ;; esac
exec ./fake $ns
END
chmod +x jumps
status 'step times that go up and down are profiled' \
	0 "$POLLUX" profile --budget $((12 * TIME_SCALE)) \
	--points 3 -b 16 --batch-range 16:64 --json -- ./jumps '{batch}'
unlike 'a command that takes its sizes gets no note' 'has no \{batch\}' "$err"
like 'a warning says that the model fits badly' '^the model is off by [1-9][0-9]+ % ' "$(warnings)"

# --- no batch size ---
status 'a command without a batch size is profiled' \
	0 "$POLLUX" profile --budget $((20 * TIME_SCALE)) --json \
	-- ./fake 5000000
is 'a command without a batch size is measured once' '1 1' "$(printf '%s' "$out" | json '
	print scalar(@{$d->{points}}), " ", 0 + ($d->{points}[0]{half_width} < 0.02)')"

# --- not steady ---
cat >wavers <<'END'
#!/bin/sh
trap 'exit 75' TERM
i=0
while :; do
	i=$((i + 1))
	noise=$(date +%N | tail -c 7 | sed 's/^0*//')
	"$POLLUX" report STEP=$i STEP_NS=$((1000000 * $1 + $noise * 10)) SYNC_NS=0
	sleep 0.08
done
END
chmod +x wavers
# A fifth of the budget for each. One may be steady by chance. The second point, which only has to
# fit, begins in the first half of the budget.
status 'step times that waver are profiled' 0 "$POLLUX" profile --budget 40 --points 5 -b 16 \
	--batch-range 16:32 --json -- ./wavers '{batch}'
like 'a warning counts the points that should be steady and are not' \
	'^[1-9] points? (was|were) not steady .* of [1-9] that should be: .*; '\
'the other 1 had only to show' "$(warnings)"
finish
