#!/bin/sh
# torch_behind.t - the helper for PyTorch behind other programs that start Python.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
export POLLUX_SLOTS=1
unset POLLUX_TORCH
cleanup() { end_jobs; }

# --- whatever starts Python ---
# The stand-in for torch is found by a file of the user's own beside the helper's.
PYTHONPATH=$TMP/site:$ROOT/tests/torch
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
mkdir site
cat >site/sitecustomize.py <<'END'
import os, sys
with open("site-ran", "a") as file:
    file.write("%s\n" % [os.path.basename(p) for p in sys.path if "torch" in p])
END
sed 's/range(100)/range(96)/' "$ROOT/tests/torch/plain.py" >train.py
cat >run.sh <<'END'
echo preparing
python3 -c 'print("prepared")'
python3 train.py "$@"
END
printf 'train:\n\t@python3 train.py\n' >Makefile
cat >spawn.py <<'END'
import subprocess, sys
sys.exit(subprocess.run([sys.executable, "train.py"]).returncode)
END
python3 -m venv --without-pip --system-site-packages venv
rm -f site-ran
run_job() { # run_job ARGUMENT...: to its end
	id=$("$POLLUX" submit -q "$@")
	"$POLLUX" schedule
	"$POLLUX" wait --timeout $((30 * TIME_SCALE)) "$id"
	wait_for 20 no_supervisor
}
told() { store "SELECT r.framework || ', ' || r.step_source || ', ' || j.steps || ', ' || j.torch
	FROM runs r JOIN jobs j ON j.id = r.job_id WHERE j.id = $id"; }
behind() { # behind NAME COMMAND...
	name=$1
	shift
	run_job -- "$@"
	is "the helper counts the updates behind $name" \
		'torch 0-standin, reports, 9.0, auto' "$(told)"
}
behind 'bash run.sh' bash run.sh 1
behind 'sh -c' sh -c 'echo; python3 train.py; echo done'
behind 'env' env A=1 python3 train.py
behind 'nice and timeout' nice -n 1 timeout 300 python3 train.py
behind 'make' make train
behind 'xargs' sh -c 'echo 1 2 | xargs -n 2 python3 train.py'
behind 'the Python of a virtual environment' sh -c '. venv/bin/activate; python train.py'
behind 'another Python' python3 spawn.py
is 'the sitecustomize of the user ran in each Python, behind the helper' \
	"['torch']" "$(sort -u site-ran)"
like 'status says that the helper is on' 'helper +on: torch 0-standin' "$("$POLLUX" status "$id")"
run_job --no-torch -- bash run.sh
is 'with --no-torch it does not' 'off' "$(store "SELECT coalesce(framework, '') || torch
	FROM runs r JOIN jobs j ON j.id = r.job_id WHERE j.id = $id")"
"$POLLUX" again -q "$(store "SELECT max(id) FROM jobs WHERE torch = 'auto'")" -- \
	bash run.sh 2 >/dev/null
is 'a job like another one, with another command, is offered the helper anew' offered \
	"$(store 'SELECT torch FROM jobs ORDER BY id DESC LIMIT 1')"
"$POLLUX" cancel --yes "$(store 'SELECT max(id) FROM jobs')"

# --- programs that it leaves alone ---
sed 's/^print/import os; os.environ.get("POLLUX_LR_SCALE"); print/' train.py >aware.py
run_job -- sh -c 'python3 aware.py'
is 'a program that speaks to pollux itself is left alone' ', offered' \
	"$(store "SELECT coalesce(r.framework, '') || ', ' || j.torch
		FROM runs r JOIN jobs j ON j.id = r.job_id WHERE j.id = $id")"
cat >speaks.py <<'END'
import os, subprocess, sys
os.environ.get("POLLUX_REPORT_SOCKET")
import torch
subprocess.run([sys.executable, "train.py"])
END
run_job -- sh -c 'python3 speaks.py'
is 'so is a program that such a program starts' '' \
	"$(store "SELECT framework FROM runs WHERE job_id = $id")"
run_job -- sh -c 'python3 -c "import os, torch; os.environ.get(\"POLLUX_REPORT_SOCKET\")"; true'
is 'a program behind -c is read as well' '' "$(store "SELECT framework FROM runs
	WHERE job_id = $id")"
run_job -- sh -c 'printf "%s\n" $POLLUX_TORCH $PYTHONPATH'
is 'a program that is no Python is told of the helper alone' \
	"offered $ROOT/share/pollux/torch:$TMP/site:$ROOT/tests/torch" \
	"$("$POLLUX" log "$id" | grep -v '^[#[]\|^exec' | tr '\n' ' ' |
		sed 's/ $//; s:/[^/]*/\.\./:/:')"
run_job -- sh -c '"$0" submit -q --hold -- sh -c "echo \$PYTHONPATH"' "$POLLUX"
inner=$("$POLLUX" log "$id" | grep -x '[0-9]*')
"$POLLUX" release "$inner"
"$POLLUX" schedule
"$POLLUX" wait --timeout $((30 * TIME_SCALE)) "$inner"
is 'a job that a job submitted has the helper once' 1 \
	"$("$POLLUX" log "$inner" | grep -o share/pollux/torch | wc -l | tr -d ' ')"

# --- several trainings in one job ---
sed 's/range(3)/range(2)/' train.py >train2.py
sed 's/^print.*/raise SystemExit(len(1))/' train.py >fails.py
run_job -b 32 -- sh -c 'python3 train.py; python3 -c pass; python3 train2.py; sleep 0.3'
is 'the positions of two trainings add up' '15.0|15.0|480.0|2|9.0' "$(store "SELECT j.steps,
	j.reported_total_steps, j.samples, r.stage, r.stage_first_steps
	FROM jobs j JOIN runs r ON r.job_id = j.id WHERE j.id = $id")"
like 'status tells the stage' \
	'position +samples 480, steps 15 of 15, stage 2: 6 of 6, .*100.0% done' \
	"$("$POLLUX" status "$id")"
is 'JSON tells the stage' '2:9' "$("$POLLUX" status --json "$id" |
	json 'print join ":", @{$d->{jobs}[0]{details}{runs}[0]}{qw(stage stage_first_steps)}')"
cat >exec.py <<'END'
import sys
exec(open("train2.py").read())
END
run_job -b 32 -- sh -c 'python3 train.py; python3 exec.py'
is 'what the first training told of its end is no end of the second' '15.0||480.0' "$(store "SELECT
	steps, reported_total_steps, samples FROM jobs WHERE id = $id")"
like 'status shows no total that is not known' 'steps 15, stage 2: 6(, |$)' \
	"$("$POLLUX" status "$id")"
run_job -b 32 -- sh -c 'python3 fails.py; python3 train.py'
is 'a training that failed is no stage' '|9.0' "$(store "SELECT r.stage, j.steps
	FROM jobs j JOIN runs r ON r.job_id = j.id WHERE j.id = $id")"
cat >stages.sh <<'END'
trap 'kill $!; wait $!; exit 75' TERM
for out in "$POLLUX_CHECKPOINT_DIR/one" "$POLLUX_CHECKPOINT_DIR/two"; do
	mkdir -p "$out"
	python3 "$1/train.py" --batch 256 --size 2560 --epochs "$(basename "$out" |
		sed 's/one/1/; s/two/30/')" --out "$out" &
	wait $!
done
END
id=$("$POLLUX" submit -q -b 256 --suspend never --preempt -- sh stages.sh "$ROOT/tests/torch")
"$POLLUX" schedule
stands() { [ "$(store "SELECT steps >= 60 AND stage = 2 FROM runs JOIN jobs ON jobs.id = job_id
	WHERE job_id = $id")" = 1 ]; }
ok 'the second of two stages trains' wait_for 30 stands
"$POLLUX" requeue "$id"
is_stopped() { [ "$(store "SELECT state FROM runs WHERE job_id = $id AND number = 1")" = ended ]; }
ok 'the run is stopped in its second stage' wait_for 30 is_stopped
"$POLLUX" schedule
"$POLLUX" wait --timeout $((30 * TIME_SCALE)) "$id"
wait_for 20 no_supervisor
is 'a run that is stopped in its second stage goes on there' '310.0|0.0|2|10.0' "$(store "
	SELECT j.steps, j.lost_samples, r.stage, r.stage_first_steps
	FROM jobs j JOIN runs r ON r.job_id = j.id WHERE j.id = $id AND r.number = 2")"
is 'the files of runs are gone' '' "$(find "$POLLUX_DIR/run" -name "*.stage*")"

# --- Pythons of other versions, and what a Python without torch pays ---
for python in python2 python2.7 "$HOME"/.pyenv/versions/*/bin/python; do
	"$python" -c '' 2>/dev/null || continue
	said=$(POLLUX_REPORT_SOCKET=/nowhere POLLUX_TORCH=on PYTHONPATH=$ROOT/share/pollux/torch \
		"$python" -W error -c 'import sys, sitecustomize
sys.stdout.write(sitecustomize.__file__ + " " + str("pollux_torch" in sys.modules))' 2>&1)
	is "the helper is silent in $("$python" --version 2>&1)" \
		"$ROOT/share/pollux/torch/sitecustomize.py False" "$said"
done
is 'a Python without torch loads one module more' sitecustomize "$(
	modules() { POLLUX_REPORT_SOCKET=/nowhere POLLUX_TORCH=on PYTHONPATH=$1 python3 -c '
import sys; print("\n".join(sorted(sys.modules)))'; }
	modules '' >without
	modules "$ROOT/share/pollux/torch" | comm -13 without -)"
finish
