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
	status "run.sh refuses '$arguments'" 64 sh -c "\"$kit\" $arguments"
	one_line "run.sh says in one line what is wrong with '$arguments'"
done
status 'run.sh refuses a directory that cannot be made' 73 "$kit" --out /proc/nothing
one_line 'run.sh says in one line that it cannot make the directory'
status 'run.sh --help succeeds' 0 "$kit" --help
like 'run.sh --help has the exit statuses' '75 the budget ended' "$out"
status 'run.sh --list succeeds' 0 "$kit" --list
like 'run.sh --list has the steps in order, with their limits' '^first +20 s  something$' \
	"$(echo "$out" | head -n 1)"

# --- lines, logs, skips, failures ---------------------------------------------------
echo 'ok value 5 things' | step 30-on-gpu 20 1 gpu
printf 'fail value 6 things\necho word\n' | step 40-bad 20 1 ''
echo 'exit 7' | step 50-ends 20 1 ''
echo 'skip part no reason at all' | step 60-without 20 1 ''
echo ':' | step 70-silent 20 1 ''
status 'run.sh exits with 1 where a step failed' 1 "$kit" --out out
is 'the results have the lines of a step' 'ok value 3 things
ok time N s' "$(lines first)"
like 'a step that needs a GPU says why it is skipped' '^skip all - nvidia-smi shows no GPU$' \
	"$(lines on-gpu)"
is 'a step that needs a GPU is skipped as a whole' 'skip time N s' "$(lines on-gpu | tail -n 1)"
is 'a failed line fails its step' 'fail time N s' "$(lines bad | tail -n 1)"
like "the step's log has what it printed" '^word$' "$(cat out/bad.log)"
is 'an exit status fails its step' 'fail exit 7 status
fail time N s' "$(lines ends)"
is 'a step that skips all is skipped' 'skip part - no reason at all
skip time N s' "$(lines without)"
is 'a step that says nothing fails' 'fail time N s' "$(lines silent)"
like 'the summary has a row for each line' '^\| first \| ok \| value \| 3 \| things \|$' \
	"$(cat out/summary.md)"
like 'the summary says that no GPU was used' 'No GPU was used.*: nvidia-smi shows no GPU' \
	"$(cat out/summary.md)"
ok 'run.sh writes no results of a card without a GPU' [ ! -e out/RESULTS-gpu.md ]

# --- go on --------------------------------------------------------------------------
echo 'ok value 33 things' | step 10-first 20 1 ''
echo 'ok value 66 things' | step 40-bad 20 1 ''
run "$kit" --out out
is 'run.sh runs no step again that is over' 'ok value 3 things' "$(lines first | head -n 1)"
like 'run.sh says that the step is over' '^# first is over: ok$' "$out"
status 'run.sh --only runs steps again' 1 "$kit" --out out --only bad,first
is 'the results have only the new lines of a step' 'ok value 33 things
ok time N s' "$(lines first)"
rm steps/[57]*
sed -i '/^ends /d; /^silent /d' out/lines
status 'run.sh exits with 0 when nothing failed' 0 "$kit" --out out

# --- limits and budget ----------------------------------------------------------------
rm -r steps out
mkdir steps
# A process that leaves its session and its parent, and one that refuses to end.
cat >escape <<'END'
setsid sh -c 'trap "" TERM; echo $$ >"$OUT/escaped"; sleep 300 & wait; sleep 300' &
END
{ cat escape; echo 'ok begun 1 thing; sleep 300'; } | step 10-long 10 1 ''
echo 'ok value 1 things' | step 20-next 20 1 ''
status 'run.sh exits with 1 where a step reaches its limit' 1 "$kit" --out out
is 'a step at its limit fails, and keeps what it said' 'ok begun 1 thing
fail limit 10 s
fail time N s' "$(lines long)"
is 'the step after it runs' 'ok value 1 things' "$(lines next | head -n 1)"
ok 'the process that escaped from the step is gone' is_gone "$(cat out/escaped)"
rm -r out
status 'run.sh exits with 75 when its budget ends' 75 "$kit" --out out --budget 1s
like 'run.sh leaves steps for the next run' '^# long is left for the next run' "$out"
echo 'ok value 7 things' | step 30-last 60 40 ''
sed -i 's/^# limit: 10/# limit: 300/' steps/10-long.sh
status 'run.sh exits with 75 where a step hangs' 75 \
	env GPU_KIT_GRACE=3 "$kit" --out out --budget 66s --only long,last
like 'a step that hangs leaves the next one its time' '^ok value 7 things' "$(lines last)"
like 'a step that hangs says that its time ended' '^skip rest - its [1-8] s ended first$' \
	"$(lines long)"
run "$kit" --out out --only last,next
is 'run.sh --only runs steps in its own order' 'last next' \
	"$(echo "$out" | sed -n 's/ ok value.*//p' | xargs)"
rm -r out
status 'run.sh exits with 75 where there is too little time' 75 "$kit" --out out --budget 0
unlike 'run.sh begins no step where there is too little time' '^# long is over' "$out"

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
is 'run.sh ends by SIGTERM' 143 "$rc"
ok 'run.sh ends its processes at SIGTERM' is_gone "$(cat out/escaped)"
like 'the summary has the step that was over at SIGTERM' '^\| first \| ok \| value \| 1 \|' \
	"$(cat out/summary.md)"
status 'run.sh goes on after SIGTERM' 0 "$kit" --out out
is 'the step that was stopped runs from its beginning' 'ok begun 1 thing
ok value 2 things
ok time N s' "$(lines second)"
stop KILL
ok 'run.sh leaves a process when it is killed' kill -0 "$(cat out/escaped)"
old=$(cat out/escaped)
status 'run.sh goes on after it was killed' 0 "$kit" --out out
ok 'the next run.sh ends the process that was left' is_gone "$old"

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
calls() { OUT=$TMP/out run "$ROOT/tests/gpu-kit/fifteen-minutes.sh" "$1" "$2"; }
calls 1 60
like 'a call ends in time, though a step hangs' '^# call 1: [0-9]+ s of 60, status 75$' "$out"
like 'a call leaves the step that hangs for the next one' \
	'^# devices is left for the next run: its' "$out"
like 'a call gives the later steps their time' '^energy ok time ' "$out"
is 'a call packs its results into one file' './lines' "$(tar -tzf out/gpu-kit-1.tgz | grep lines)"
# On a busy machine the first call may have had no time for what comes after the step that hangs.
left=$(for name in facts programs spin devices profile-devices suspend energy; do
	grep -Eq "^$name ok time " results/lines || printf '%s ' "$name"
done)
like 'the first call leaves the step that failed and the one that hangs' \
	'^programs devices ' "$left"
# Nothing hangs any more, so it does not take all of its time.
calls 2 900
is 'the second call begins with what did not pass' \
	"${left}resident slices overhead profile" \
	"$(echo "$out" | sed -n 's/ ok value.*//p' | xargs)"
like 'the second call exits with 0 when all passed' '^# call 2: [0-9]+ s of 900, status 0$' "$out"
status 'a call without its number is refused' 64 "$ROOT/tests/gpu-kit/fifteen-minutes.sh"
unset KIT_RESULTS

# --- real steps, with what stands in for a GPU ----------------------------------------
if [ -e "${GPU_STANDIN-}/nvml_new.so" ] && [ -e "${CUDA_HOST-}" ]; then
	export GPU_KIT_BUILD="${GPU_STANDIN%/gpu}"
	unset GPU_KIT_STEPS GPU_KIT_DEVICE
	status 'run.sh passes with stand-ins for a GPU' 0 "$ROOT/tests/gpu-kit/standin/run.sh" \
		"$TMP/standin" --only facts,spin,programs,devices
	like 'the stand-in run has a job on the processor' '^programs ok job-on-the-processor 0 ' \
		"$out"
	if python3 -c 'import ctypes, json, statistics, subprocess' 2>/dev/null; then
		like 'the stand-in run respects a foreign process' \
			'^devices ok foreign-respected queued' "$out"
		like 'the stand-in run stops a process on the GPU' '^spin ok queue-stopped ' "$out"
		like 'the stand-in run records NVML and replays it' \
			'^facts (ok replayed 1 |skip recording - nvidia-ml-py is not)' "$out"
	fi
	like 'the summary of the stand-in run says that no GPU was used' 'No GPU was used' \
		"$(cat standin/out/summary.md)"
	ok 'the stand-in run writes no results of a card' [ ! -e standin/out/RESULTS-gpu.md ]
	unlike 'the stand-in run leaves no process' . \
		"$(grep -lsxzF "GPU_KIT_MARK=$TMP/standin/out" /proc/[0-9]*/environ)"
else
	echo '# SKIPPED: real steps: GPU_STANDIN and CUDA_HOST do not say what stands in for a GPU'
fi
finish
