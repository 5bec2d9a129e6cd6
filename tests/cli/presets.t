#!/bin/sh
# presets.t - pollux presets, and what submit --preset makes of a command. Programs of the real
# frameworks are in tests/frameworks/presets.
# shellcheck disable=SC2016,SC2317  # texts for other shells; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=1
cleanup() { end_jobs; }

status 'presets prints a list' 0 "$POLLUX" presets
is 'the list has each preset of the source, with its summary' "$(cd "$ROOT/share/pollux/presets" &&
	for file in *.conf; do sed -n "s/^summary = /${file%.conf} /p" "$file"; done)" \
	"$(echo "$out" | sed 's/  */ /')"
for file in "$ROOT"/share/pollux/presets/*.conf; do
	ok "$(basename "$file"): says with what it was tried" grep -q '^tried = .*[0-9]' "$file"
done
status 'presets prints one of them' 0 "$POLLUX" presets hf
like 'presets shows the options of a preset' \
	'^  options +--resume-args=--resume_from_checkpoint \{newest\}$' "$out"
like 'presets shows the arguments of a preset' '^  arguments +--enable_jit_checkpoint True$' "$out"
status 'an unknown preset is a usage error' 64 "$POLLUX" presets none
is 'presets names the unknown preset' "pollux: no preset 'none'; 'pollux presets' lists them" "$err"
status 'submit refuses an unknown preset' 64 "$POLLUX" submit --preset ../hf -- true
like 'submit names the unknown preset as presets does' \
	"^pollux: no preset '../hf'; 'pollux presets' lists them" "$err"

# A program that keeps its words, and has to be stopped in its first run.
cat >words.sh <<'END'
printf '%s\n' "$@" >"$POLLUX_RUN.words"
mkdir -p "$1/checkpoint-5" "$1/runs"
echo 5 >"$1/checkpoint-5/state"
: >"saved$POLLUX_RUN"
[ "$POLLUX_RUN" != 1 ] || exec sleep 600
END
command_of() { "$POLLUX" status "$1" | sed -n 's/^  command  *//p'; }
words() { tr '\n' ' ' <"$1.words"; }
mkdir mine
job=$("$POLLUX" submit -q --preset hf --grace 7 -- \
	sh words.sh "$TMP/mine" --output_dir "$TMP/mine")
"$POLLUX" schedule
ok 'a job with a preset saves in its first run' wait_for 20 [ -e saved1 ]
"$POLLUX" requeue "$job"
is_stopped() { [ "$(store "SELECT state FROM runs WHERE number = 1")" = ended ]; }
ok 'the job with a preset is stopped' wait_for 20 is_stopped
"$POLLUX" schedule
status 'the job with a preset is done after its second run' 0 "$POLLUX" wait --timeout 1000 "$job"
is 'the job has the arguments of its preset' \
	"$TMP/mine --output_dir $TMP/mine --enable_jit_checkpoint True " \
	"$(words 1)"
is 'the job continues at the newest checkpoint of its directory' \
	"$TMP/mine --output_dir $TMP/mine --enable_jit_checkpoint True \
--resume_from_checkpoint $TMP/mine/checkpoint-5 " "$(words 2)"
is 'options of the command line go before those of a preset' '7.0 preempt' "$(store "SELECT grace_s,
	CASE preemption WHEN 'always' THEN 'preempt' ELSE preemption END FROM jobs
	WHERE id = $job" | tr '|' ' ')"
job=$("$POLLUX" submit -q --hold --preset nanogpt -- sh words.sh x)
is 'a directory is added where the command has none' "sh words.sh x --out_dir={checkpoint}" \
	"$(command_of "$job")"
job=$("$POLLUX" submit -q --hold --preset hf -- sh words.sh --enable_jit_checkpoint=False \
	--output_dir=out)
is 'an argument is not given twice' "sh words.sh --enable_jit_checkpoint=False --output_dir=out" \
	"$(command_of "$job")"
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >words\n' >torchrun
chmod +x torchrun
job=$("$POLLUX" submit -q --preset torchrun --no-torch -- ./torchrun train.py --lr 1)
"$POLLUX" schedule
"$POLLUX" wait "$job"
is 'arguments for a launcher come behind its name' \
	'--standalone --nproc-per-node=1 train.py --lr 1 ' "$(tr '\n' ' ' <words)"

for name in accelerate deepspeed; do cp torchrun "$name"; done
cp torchrun python3
behind() { # behind PRESET COMMAND...: the command of a job with the preset
	preset=$1
	shift
	command_of "$("$POLLUX" submit -q --hold --no-torch --preset "$preset" -- "$@" 2>err)"
}
is 'a launcher may have two words, and stand behind others' \
	'env A=1 ./accelerate launch --main_process_port={port} t.py' \
	"$(behind accelerate env A=1 ./accelerate launch t.py)"
is 'an option of a launcher counts with dashes, too' \
	'./accelerate launch --main-process-port 7 t.py' \
	"$(behind accelerate ./accelerate launch --main-process-port 7 t.py)"
is 'a module may be a launcher' \
	'./python3 -m torch.distributed.launch --master_port={port} --nproc_per_node={gpus} t' \
	"$(behind old-torchrun ./python3 -m torch.distributed.launch t)"
is 'another command of accelerate gets no port' './accelerate test t.py' \
	"$(behind accelerate ./accelerate test t.py)"
is 'submit warns of a command without the launcher of its preset' \
	"pollux: warning: preset 'accelerate': the command has no 'accelerate launch' of its own, \
which gets: --main_process_port={port}" "$(head -n 1 err)"
job=$("$POLLUX" submit -q --preset deepspeed --no-torch --suspend never -- \
	sh -c 'echo $MASTER_PORT >port; exec ./deepspeed "$@"' sh deepspeed t.py '{x}' '{{port}}')
"$POLLUX" schedule
"$POLLUX" wait "$job"
is 'the port of a preset is MASTER_PORT, and other braces stay' \
	"deepspeed --master_port=$(cat port) t.py {x} {port} " "$(tr '\n' ' ' <words)"

# A parameter of a sweep may have the name of a template. --checkpoint-dir knows it as well.
directories() { # directories OPTION...: of the runs of a sweep in the directory out-{lr}
	ids=$("$POLLUX" submit -q --hold --preset hf "$@" -- sh words.sh --output_dir 'out-{lr}')
	for id in $ids; do
		store "SELECT CAST(checkpoint_dir AS TEXT) FROM commands WHERE job_id = $id"
	done | sed "s:^$TMP/::" | tr '\n' ' '
}
printf 'lr\n3\n4\n' >runs.csv
is 'a sweep over lr saves where its runs save' 'out-1 out-2 ' "$(directories --param lr=1,2)"
is '--param=lr in one word saves where its runs save' 'out-5 out-6 ' "$(directories --param=lr=5,6)"
is 'a sweep by a file saves where its runs save' 'out-3 out-4 ' "$(directories --params runs.csv)"
is 'a template that is no parameter is not known before a launch' ' ' \
	"$(directories --lr 0.1 2>err)"
like 'submit warns of a directory that is not known before a launch' \
	"^pollux: warning: the directory 'out-\{lr\}' is not known before a launch" \
	"$(cat err)"
run "$POLLUX" submit -q --hold --preset hf -- sh words.sh --output_dir '{checkpoint}/{run}'
is 'submit does not warn of a place in the directory of the job' '0:' "$rc:$err"

mkdir -p share/pollux/presets
printf '# mine\nsummary = mine\ngrace = soon\n' >share/pollux/presets/mine.conf
printf 'nonsense\n' >share/pollux/presets/bad.conf
export POLLUX_DATA_DIR="$TMP/share"
status 'a wrong option in a preset is a usage error' 64 "$POLLUX" submit --preset mine -- true
like 'submit names the preset of a wrong option' \
	"^pollux: with preset 'mine': option '--grace TIME'" "$err"
status 'a wrong line in a preset is a configuration error' 78 "$POLLUX" submit --preset bad -- true
like 'submit names the line of a wrong preset' \
	"presets/bad.conf', line 1: KEY = VALUE is wanted$" "$err"

dir=$TMP/share/pollux/presets
mkdir share/pollux/presets/directory.conf
mkfifo share/pollux/presets/fifo.conf
{ printf 'summary = '; printf '%02000d\n' 1; } >share/pollux/presets/long.conf
printf 'summary = a\0b\n' >share/pollux/presets/zero.conf
ln -s nowhere share/pollux/presets/link.conf
for preset in directory fifo; do
	status "a $preset in place of a preset is refused" \
		78 timeout $((10 * TIME_SCALE)) "$POLLUX" submit \
		--preset "$preset" -- true
	is "submit says that the $preset is not a regular file" \
		"pollux: cannot read preset '$dir/$preset.conf': it is not a regular file" \
		"$err"
done
for preset in long zero; do
	status "a preset with a bad line ($preset) is refused" 78 "$POLLUX" presets "$preset"
	is "presets says which line is bad ($preset)" \
		"pollux: '$dir/$preset.conf', line 1: too long, or not text" "$err"
done
status 'a preset that is a link to nothing is unknown' 64 "$POLLUX" presets link
is 'a bad preset queues nothing' 0 "$(store "SELECT count(*) FROM jobs WHERE name = 'true'")"
for command in presets 'presets hf' 'submit --preset hf -- true'; do
	# shellcheck disable=SC2086  # words
	POLLUX_DATA_DIR=$TMP/none status "'$command' fails without presets" 1 "$POLLUX" $command
	is "'$command' says where presets were looked for" \
		"pollux: no presets found: POLLUX_DATA_DIR is \
'$TMP/none', and '$TMP/none/pollux/presets' has none" "$err"
done
finish
