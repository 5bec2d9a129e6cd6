#!/bin/sh
# gpu_kit.t - tests/gpu-kit/run.sh by itself: arguments, limits, budget, stop and go on, summary.
# The steps are made up here; at the end some real ones run, with what stands in for a GPU.
# shellcheck disable=SC2317  # functions called by name
. "$(dirname "$0")/tap.sh"
kit=$ROOT/tests/gpu-kit/run.sh
unset POLLUX_DIR POLLUX_NVML
export GPU_KIT_STEPS="$TMP/steps" GPU_KIT_DEVICE=cpu GPU_KIT_GRACE=1 PATH="$TMP/bin:$PATH"
mkdir steps bin
# No GPU, whatever this machine has.
printf '#!/bin/sh\nexit 9\n' >bin/nvidia-smi
chmod +x bin/nvidia-smi
cleanup() { [ -z "${kit_pid-}" ] || kill "$kit_pid" 2>/dev/null; }
step() { # step NN-NAME LIMIT TAKES NEEDS: the commands come from the standard input
	{
		printf '# shows: something\n# limit: %s\n# takes: %s\n# needs: %s\n' "$2" "$3" "$4"
		# shellcheck disable=SC2016  # expanded by the step
		echo '. "$KIT/lib.sh"'
		cat
	} >"steps/$1.sh"
}
lines() { grep "^$1 " out/lines | sed "s/^$1 //; s/ time [0-9]* s/ time N s/"; }
is_gone() { ! grep -qs '^State:.*[^ZX] (' "/proc/$1/status"; }
one_line() { is "$1" 1 "$(printf '%s\n' "$err" | wc -l)"; }

# --- arguments --------------------------------------------------------------------
echo 'ok value 3 things' | step 10-first 20 1 ''
echo 'ok value 4 things' | step 20-second 20 1 ''
for arguments in --wrong extra '--budget x' '--budget 5d' --budget '--only nothing' '--out ""'; do
	status "'$arguments' is refused" 64 sh -c "\"$kit\" $arguments"
	one_line 'in one line'
done
status 'so is a directory that cannot be made' 73 "$kit" --out /proc/nothing
one_line 'in one line'
status '--help' 0 "$kit" --help
like 'has the exit statuses' '75 the budget ended' "$out"
status '--list' 0 "$kit" --list
like 'has steps in order, and limits' '^first +20 s  something$' "$(echo "$out" | head -n 1)"

# --- lines, logs, skips, failures ---------------------------------------------------
echo 'ok value 5 things' | step 30-on-gpu 20 1 gpu
printf 'fail value 6 things\necho word\n' | step 40-bad 20 1 ''
echo 'exit 7' | step 50-ends 20 1 ''
echo 'skip part no reason at all' | step 60-without 20 1 ''
echo ':' | step 70-silent 20 1 ''
status 'a failure is told' 1 "$kit" --out out
is 'lines of a step' 'ok value 3 things
ok time N s' "$(lines first)"
like 'a step that needs a GPU says why not' '^skip all - nvidia-smi shows no GPU$' "$(lines on-gpu)"
is 'and is skipped as a whole' 'skip time N s' "$(lines on-gpu | tail -n 1)"
is 'a failed line fails its step' 'fail time N s' "$(lines bad | tail -n 1)"
like 'the log has what it printed' '^word$' "$(cat out/bad.log)"
is 'so does an exit status' 'fail exit 7 status
fail time N s' "$(lines ends)"
is 'a step that skips all is skipped' 'skip part - no reason at all
skip time N s' "$(lines without)"
is 'a step that says nothing failed' 'fail time N s' "$(lines silent)"
like 'the summary has a row a line' '^\| first \| ok \| value \| 3 \| things \|$' \
	"$(cat out/summary.md)"
like 'and no GPU' 'No GPU was used.*: nvidia-smi shows no GPU' "$(cat out/summary.md)"
ok 'nothing is said to come from a card' [ ! -e out/RESULTS-gpu.md ]

# --- go on --------------------------------------------------------------------------
echo 'ok value 33 things' | step 10-first 20 1 ''
echo 'ok value 66 things' | step 40-bad 20 1 ''
run "$kit" --out out
is 'a step that is over is not run again' 'ok value 3 things' "$(lines first | head -n 1)"
like 'as is said' '^# first is over: ok$' "$out"
status 'but for --only' 1 "$kit" --out out --only bad,first
is 'with its new lines alone' 'ok value 33 things
ok time N s' "$(lines first)"
rm steps/[57]*
sed -i '/^ends /d; /^silent /d' out/lines
status 'then nothing failed' 0 "$kit" --out out

# --- limits and budget ----------------------------------------------------------------
rm -r steps out
mkdir steps
# A process that leaves its session and its parent, and one that refuses to end.
cat >escape <<'END'
setsid sh -c 'trap "" TERM; echo $$ >"$OUT/escaped"; sleep 300 & wait; sleep 300' &
END
{ cat escape; echo 'ok begun 1 thing; sleep 300'; } | step 10-long 10 1 ''
echo 'ok value 1 things' | step 20-next 20 1 ''
status 'a step ends at its limit' 1 "$kit" --out out
is 'which is a failure, and keeps what it said' 'ok begun 1 thing
fail limit 10 s
fail time N s' "$(lines long)"
is 'the next one runs' 'ok value 1 things' "$(lines next | head -n 1)"
ok 'the process that escaped is gone' is_gone "$(cat out/escaped)"
rm -r out
status 'a budget that ends first' 75 "$kit" --out out --budget 1s
like 'leaves steps for the next run' '^# long is left for the next run' "$out"
echo 'ok value 7 things' | step 30-last 20 5 ''
sed -i 's/^# limit: 10/# limit: 300/' steps/10-long.sh
status 'a step that hangs' 75 env GPU_KIT_GRACE=3 "$kit" \
	--out out --budget 18s --only long,last
like 'does not take the time that the next one needs' '^ok value 7 things' "$(lines last)"
like 'and says that its time ended' '^skip rest - its [1-5] s ended first$' "$(lines long)"
run "$kit" --out out --only last,next
is 'the order is that of --only' 'last next' "$(echo "$out" | sed -n 's/ ok value.*//p' | xargs)"
rm -r out
status 'where there is too little to begin with' 75 "$kit" --out out --budget 0
unlike 'nothing is begun' '^# long is over' "$out"

# --- stop and go on -----------------------------------------------------------------
rm -r steps out
mkdir steps
echo 'ok value 1 things' | step 10-first 20 1 ''
# It hangs the first time.
{ cat escape; cat <<'END'; } | step 20-second 30 1 ''
ok begun 1 thing
[ -e "$OUT/again" ] || { touch "$OUT/again"; sleep 300; }
ok value 2 things
END
begun() { grep -q '^second ok begun' out/lines && [ -s out/escaped ]; }
stop() { # stop SIGNAL: the run, once its second step hangs; sets $rc
	rm -rf out
	"$kit" --out out >stopped 2>&1 &
	kit_pid=$!
	wait_for 20 begun
	kill -"$1" "$kit_pid"
	rc=0
	wait "$kit_pid" 2>/dev/null || rc=$?
	kit_pid=
}
stop TERM
is 'stopped by SIGTERM' 143 "$rc"
ok 'with its processes' is_gone "$(cat out/escaped)"
like 'it has what was over' '^\| first \| ok \| value \| 1 \|' "$(cat out/summary.md)"
status 'a second call goes on' 0 "$kit" --out out
is 'with the step that was stopped, from its beginning' 'ok begun 1 thing
ok value 2 things
ok time N s' "$(lines second)"
stop KILL
ok 'killed, it leaves processes' kill -0 "$(cat out/escaped)"
old=$(cat out/escaped)
status 'the next call goes on too' 0 "$kit" --out out
ok 'and ends them' is_gone "$old"

# --- two calls -----------------------------------------------------------------------
rm -r steps out
mkdir steps out
export KIT_RESULTS="$TMP/results"
n_step=10
for name in facts programs spin devices profile-devices suspend energy resident slices overhead \
		profile; do
	n_step=$((n_step + 1))
	echo 'ok value 1 thing' | step $n_step-$name 300 1 ''
done
# The first time one fails and one hangs.
step 12-programs 300 1 '' <<'END'
if [ -e "$OUT/again" ]; then ok value 1 thing; else fail value 0 things; fi
touch "$OUT/again"
END
step 14-devices 300 1 '' <<'END'
[ -e "$OUT/go" ] || { touch "$OUT/go"; sleep 300; }
ok value 1 thing
END
calls() { OUT=$TMP/out run "$ROOT/tests/gpu-kit/fifteen-minutes.sh" "$1" 60; }
calls 1
like 'a call ends in time, whatever hangs' '^# call 1: [0-9]+ s of 60, status 75$' "$out"
like 'a step that hangs is left' '^# devices is left for the next run: its' "$out"
like 'those after it have had their time' '^energy ok time ' "$out"
is 'all is in one file' './lines' "$(tar -tzf out/gpu-kit-1.tgz | grep lines)"
calls 2
is 'the second call begins with what did not pass' \
	'programs devices resident slices overhead profile' \
	"$(echo "$out" | sed -n 's/ ok value.*//p' | xargs)"
like 'and all has passed' '^# call 2: [0-9]+ s of 60, status 0$' "$out"
status 'it needs to know which call' 64 "$ROOT/tests/gpu-kit/fifteen-minutes.sh"
unset KIT_RESULTS

# --- real steps, with what stands in for a GPU ----------------------------------------
if [ -e "${GPU_STANDIN-}/nvml_new.so" ] && [ -e "${CUDA_HOST-}" ]; then
	export GPU_KIT_BUILD="${GPU_STANDIN%/gpu}"
	unset GPU_KIT_STEPS GPU_KIT_DEVICE
	status 'the programs, and devices beside nvidia-smi' 0 \
		"$ROOT/tests/gpu-kit/standin/run.sh" "$TMP/standin" \
		--only facts,spin,programs,devices
	like 'a job runs' '^programs ok job-on-the-processor 0 ' "$out"
	if python3 -c 'import ctypes, json, statistics, subprocess' 2>/dev/null; then
		like 'a foreign process is respected' '^devices ok foreign-respected queued' "$out"
		like 'a process is stopped on the GPU' '^spin ok queue-stopped ' "$out"
		like 'NVML is recorded, and replayed' \
			'^facts (ok replayed 1 |skip recording - nvidia-ml-py is not)' "$out"
	fi
	like 'that there was no GPU is said' 'No GPU was used' "$(cat standin/out/summary.md)"
	ok 'and no results are written' [ ! -e standin/out/RESULTS-gpu.md ]
	unlike 'no process stays' . \
		"$(grep -lsxzF "GPU_KIT_MARK=$TMP/standin/out" /proc/[0-9]*/environ)"
else
	echo '# SKIPPED: real steps: GPU_STANDIN and CUDA_HOST do not say what stands in for a GPU'
fi
finish
