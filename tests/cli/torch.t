#!/bin/sh
# torch.t - the helper for PyTorch: who gets it, what it is told, and what pollux makes of its
# reports.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3'
POLLUX_SLOTS=1
export POLLUX_SLOTS
unset PYTHONPATH POLLUX_TORCH POLLUX_DATA_DIR

cleanup() {
	touch "$TMP/go"
	end_jobs
}
submit() { "$POLLUX" submit "$@"; }
torch_of() { store "SELECT coalesce(torch, '-') FROM jobs WHERE id = $1"; }

# --- who gets the helper ---
mkdir -p packages/torch share/pollux/torch
echo '__version__ = "0"' >packages/torch/__init__.py
echo 'import sys' >train.py
echo 'import os; os.environ.get("POLLUX_LR_SCALE")' >aware.py
has=$TMP/packages
decided() { # decided NAME WANT ARGUMENT...
	name=$1 want=$2
	shift 2
	is "$name" "$want" "$(torch_of "$(submit --hold "$@")")"
}
decided 'a Python without torch is offered the helper' offered -- python3 -c 'import sys' python3
decided 'python -S cannot have the helper' isolated -- python3 -S -c pass
decided 'python -uI cannot have the helper' isolated -- nice python3 -uI train.py
decided 'python -E behind -W cannot have the helper' isolated -- \
	sh -c 'true; exec /usr/bin/python3.11 -E -W error train.py'
decided 'options of a script are no options of Python' offered -- env -i python3 train.py -I -S
decided 'a module named behind -m is no option' offered -- env A=1 python3 -m I.E.S
printf '#!/bin/sh\n# python -I, PYTHONPATH=src\npython3 "$@"\n' >comments
decided 'comments of a script do nothing' offered -- sh comments -I
printf '#!/bin/sh\nexport PYTHONPATH="src:$PYTHONPATH"\npython3 train.py\n' >keeps
decided 'a script may put a directory before PYTHONPATH' offered -- bash keeps
printf '#!/bin/sh\nPYTHONPATH=$PWD/src python3 train.py\n' >hides
decided 'a script with another PYTHONPATH hides the helper' hidden -- bash hides
like 'status says what hides the helper' 'helper +none where it sets another PYTHONPATH' \
	"$("$POLLUX" status "$(store 'SELECT max(id) FROM jobs')")"
decided 'env with another PYTHONPATH hides the helper' hidden -- env PYTHONPATH=src python3 train.py
printf '#!/bin/sh\npython3 train.py --lr-scale "$POLLUX_LR_SCALE"\n' >scales
decided 'a script that hands a learning rate on gets no helper' - -- timeout 9 bash scales
printf 'train:\n\t"$(POLLUX)" report STEP=1; pollux report STEP=2\n' >Makefile
decided 'a Makefile that reports gets no helper' - -- make train
printf 'train:\n\tpython3 -I train.py\n' >Makefile
decided 'the Python of a Makefile is seen' isolated -- make train
printf '#!/bin/sh\npython3 train.py --out "$POLLUX_CHECKPOINT_DIR"\n' >saves
decided 'a script that names the directory of checkpoints is offered the helper' offered -- \
	bash saves
decided 'a Python with torch gets the helper' auto --env PYTHONPATH="$has" -- python3 train.py
decided '--no-torch keeps the helper from a Python with torch' \
	off --no-torch --env PYTHONPATH="$has" -- python3 train.py
decided 'a script that speaks to pollux itself gets no helper' - --env PYTHONPATH="$has" -- \
	python3 aware.py
decided '--torch gives the helper to such a script' \
	on --torch --env PYTHONPATH="$has" -- python3 aware.py
mkfifo fifo.py
status 'a script that is a FIFO is not read' 0 timeout $((10 * TIME_SCALE)) "$POLLUX" submit \
	--hold --env PYTHONPATH="$has" -- python3 fifo.py
decided 'the parts that --torch names are kept' on,batch,resume --torch=batch,resume true
printf '#!/usr/bin/env -S python3\nimport sys\n' >run-it
printf '#!%s\nimport sys\n' "$(command -v python3)" >run-that
printf "#!/bin/sh\n'''exec' \"%s\" \"\$0\" \"\$@\"\n' '''\n" "$(command -v python3)" >run-long
printf '#!/bin/sh\nexec python3 train.py\n' >run-shell
chmod +x run-*
for script in run-it run-that run-long; do
	decided "$script is a Python" auto --env PYTHONPATH="$has" -- "./$script"
done
decided 'a script of a shell is no Python' offered --env PYTHONPATH="$has" -- ./run-shell
mkdir -p spaces/torch
printf '#!/bin/sh\nexec python3 -S "$@"\n' >python3.98
chmod +x python3.98
decided 'a directory named torch is no torch' offered --chdir spaces -- ../python3.98 -c pass
POLLUX_TORCH=no decided 'POLLUX_TORCH=no gives nobody the helper' \
	- --env PYTHONPATH="$has" -- python3 train.py
echo 'torch = no' >"$POLLUX_DIR/config"
decided 'torch = no in the configuration gives nobody the helper' \
	- --env PYTHONPATH="$has" -- python3 train.py
decided '--torch goes before torch = no' on --torch true
echo 'helper = off' >"$POLLUX_DIR/config"
decided 'helper = off in the configuration says the same' \
	- --env PYTHONPATH="$has" -- python3 train.py
decided 'helper = off holds for scripts of shells, too' - -- ./run-shell
rm "$POLLUX_DIR/config"
status 'an unknown part of --torch is a usage error' 64 "$POLLUX" submit --torch=compile true
is 'the unknown part of --torch is named' \
	"pollux: option '--torch' wants any of batch and resume, with commas between, not \
'compile'; see 'pollux submit --help'" "$err"
status '--torch without a part is a usage error' 64 "$POLLUX" submit --torch= true
for parts in ',' 'batch,' ',batch' 'batch,,resume'; do
	status "an empty part of --torch is a usage error: '$parts'" \
		64 "$POLLUX" submit "--torch=$parts" true
	like "an empty part of --torch is told: '$parts'" \
		"wants any of batch and resume, with commas between, not '$parts'" "$err"
done
status '--torch with --no-torch is a usage error' 64 "$POLLUX" submit --torch --no-torch true
like '--torch and --no-torch are told to exclude each other' \
	'give one of --torch and --no-torch' "$err"
printf '#!/bin/sh\nexec sleep 1000\n' >python3.99
chmod +x python3.99
began=$(date +%s)
decided 'a Python that does not answer is offered the helper' offered -- ./python3.99 train.py
ok 'submit does not wait for a Python that does not answer' \
	[ $(($(date +%s) - began)) -lt $((20 * TIME_SCALE)) ]

# --- what it is told ---
cat >share/pollux/torch/sitecustomize.py <<'END2'
import os
told = [os.environ.get("POLLUX_" + k) for k in ("TORCH", "TORCH_BUDGET", "LR_SCALE")]
if told[0]:
    print("helper:", *told, flush=True)
END2
POLLUX_DATA_DIR=$TMP/share
export POLLUX_DATA_DIR
run_job() { # run_job ARGUMENT...: to its end
	id=$(submit "$@")
	"$POLLUX" schedule
	ok "job $id ends" "$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$id"
	log=$("$POLLUX" log "$id")
}
run_job --env PYTHONPATH=/else -b 8 --torch=batch -- python3 -c 'import os
print(os.environ["PYTHONPATH"])'
like 'the helper is loaded and told its parts' '^helper: on,batch 0.01 1$' "$log"
like 'the directory of the helper is the first of PYTHONPATH' \
	"^$TMP/share/pollux/torch:/else\$" "$log"
is 'the stored environment has nothing of the helper' 0 \
	"$(store "SELECT instr(e.env, CAST('POLLUX_TORCH' AS BLOB)) FROM commands c
		JOIN environments e ON e.id = c.environment_id WHERE job_id = $id")"
run_job --torch -b 8 --lr 1 -- python3 -c 'pass' '--lr={lr}'
like 'the helper keeps the rate where the command has {lr}' '^helper: on,keep-lr 0.01 1$' "$log"
run_job --no-torch --env PYTHONPATH="$has" -- python3 -c 'pass'
unlike 'the helper is not loaded with --no-torch' '^helper:' "$log"
run_job --env PYTHONPATH="$has" -- python3 -c 'pass'
like 'a helper that is on by itself is told as with --torch' '^helper: on 0.01 1$' "$log"
like 'status says why the helper is to be on' \
	'helper +to be on: its Python has torch' "$("$POLLUX" status "$id")"
POLLUX_DATA_DIR=$TMP/nowhere run_job --torch -- python3 -c 'pass'
like 'status says that the helper is not there' 'helper +not loaded: share/pollux/torch' \
	"$("$POLLUX" status "$id")"

# --- what it reports ---
cat >told.py <<'END2'
import os, socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
def report(*lines):
    s.sendto("".join(l + "\n" for l in lines).encode(), os.environ["POLLUX_REPORT_SOCKET"])
step = 0
report("FRAMEWORK=torch 2.15.0", "HELPER=no gradient noise: torch.compile", "TOTAL_SAMPLES=4000")
for step in range(1, 101):
    report("STEP=%d" % step, "SAMPLES=%d" % (8 * step), "STEP_NS=1000000", "PEAK_BYTES=%d" % step)
report("CHECKPOINT=/c.pt", "STEP=100", "SAMPLES=800")
while not os.path.exists("go"):
    time.sleep(0.05)
END2
id=$(submit --torch --suspend never -b 8 -- python3 told.py)
"$POLLUX" schedule
stands() { [ "$(store "SELECT samples FROM jobs WHERE id = $id")" = "$1" ]; }
ok 'reports of the helper arrive' wait_for 20 stands 800.0
like 'status shows that the helper is on, and what it refuses' \
	'torch helper on, no gradient noise: torch.compile' \
	"$("$POLLUX" status | tr -s ' \n' ' ')"
like 'status ID shows that the helper is on, and what it refuses' \
	'helper +on: torch 2.15.0; no gradient noise: torch.compile' \
	"$("$POLLUX" status "$id")"
like 'explain shows that the helper is on, and what it refuses' \
	'helper +on: torch 2.15.0; no gradient noise' "$("$POLLUX" explain "$id")"
like 'the total of the helper says how much is done' \
	'position .* 20.0% done' "$("$POLLUX" status "$id")"
is 'JSON has all that the helper told' \
	'on:torch 2.15.0:no gradient noise: torch.compile:4000:100:0.2' "$(
	"$POLLUX" status --json "$id" | json 'my $j = $d->{jobs}[0]; my $r = $j->{run};
	print join ":", $j->{torch}, @$r{qw(framework helper)}, $j->{reported_total_samples},
		$r->{peak_allocated_bytes}, $j->{done_ratio}')"
is 'a program that saves is not known to resume' 0 \
	"$(store "SELECT resumes FROM jobs WHERE id = $id")"
other=$(submit true)
"$POLLUX" schedule
like 'a program that was never seen to resume keeps its device' \
	'it was never seen to resume' "$("$POLLUX" status | tr -s ' \n' ' ')"
touch go
ok 'the program with the helper ends' "$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$id"
"$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$other"

# --- memory ---
cat >memory.py <<'END2'
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b"OUT_OF_MEMORY=2147483648\nPEAK_BYTES=23085449216\nLIMIT_BYTES=25340715008\n",
         os.environ["POLLUX_REPORT_SOCKET"])
raise SystemExit(1)
END2
id=$(submit --torch -b 8 -- python3 memory.py)
"$POLLUX" schedule
"$POLLUX" wait --timeout $((20 * TIME_SCALE)) "$id"
is 'an allocation that failed is the diagnosis, and bounds the batch' \
	'out of memory: 2.0 GiB asked for, 21.5 of 23.6 GiB in use|1|8' \
	"$(store "SELECT diagnosis, out_of_memory, local_batch_size FROM runs WHERE job_id = $id")"

# --- the file of positions ---
cat >positions.py <<'END2'
import os, sys
from types import SimpleNamespace
from pollux_torch.checkpoints import Positions
positions = Positions(sys.argv[1])
print(len(positions.read()))
if len(sys.argv) > 2:
    saved = SimpleNamespace(step=1, samples=8, is_weights=False)
    positions.add(saved, sys.argv[2], os.stat(sys.argv[2]), True)
    print(positions.find(sys.argv[2], os.stat(sys.argv[2]))["samples"])
END2
positions() { # positions DIRECTORY [CHECKPOINT]
	PYTHONPATH=$ROOT/share/pollux/torch POLLUX_TORCH=off timeout $((10 * TIME_SCALE)) \
		python3 -B positions.py "$@" 2>&1 | paste -sd ' '
}
mkdir kept dir dir/.pollux-torch.json pipe
mkfifo pipe/.pollux-torch.json
is 'a FIFO in place of the positions is not read' 0 "$(positions pipe)"
is 'a directory in place of the positions is not read' 0 "$(positions dir)"
for text in '' nonsense '{"a": 1}' '[1, null, {}, {"dev": 1}]' 'null' '"text"'; do
	printf '%s' "$text" >kept/.pollux-torch.json
	is "no list of positions counts as an empty one: '$text'" '0 8' \
		"$(positions kept memory.py)"
done
is 'a position is kept' '1 8' "$(positions kept memory.py)"
finish
