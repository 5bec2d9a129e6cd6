#!/bin/sh
# submit.t - pollux submit: what is captured, what each option stores, what is refused and leaves
# nothing.
# shellcheck disable=SC2016,SC2317,SC1003  # other shells; functions run by status; a backslash
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
export POLLUX_SLOTS=8	# enough for every job here

skip() { # skip NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
query() { sqlite3 -batch "$POLLUX_DIR/pollux.db" "$1"; }
hex() { od -An -v -tx1 | tr -d ' \n' | tr a-f A-F; }
count() { # the rows of all tables that a submission writes
	query 'SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM commands) +
		(SELECT count(*) FROM dependencies) + (SELECT count(*) FROM events)'
}
submit() { "$POLLUX" submit "$@"; }
id=0
submitted() { # submitted ARGUMENT...: the next number is printed; it is $id
	id=$((id + 1))
	run submit "$@"
	[ "$rc:$out:$err" = "0:$id:" ] ||
		result 1 "submit $* is accepted" "status $rc, printed '$out', '$err'; want $id"
}
column() { query "SELECT $1 FROM jobs WHERE id = $id"; }
stored() { # stored NAME COLUMN WANT
	is "$1" "$3" "$(column "$2")"
}
variables() { # what the last job has in its environment, a line each, newlines as '~'
	query "SELECT writefile('$TMP/.env', e.env) FROM commands c JOIN environments e
		ON e.id = c.environment_id WHERE job_id = $id" >/dev/null
	tr '\n\0' '~\n' <"$TMP/.env"
}
refused() { # refused STATUS MESSAGE ARGUMENT...: one line, the documented status, nothing printed
	wanted=$1 message=$2
	shift 2
	run submit "$@"
	if [ "$rc" = "$wanted" ] && [ -z "$out" ] && [ "$err" = "pollux: $message" ]; then
		result 0 "refused: $message"
	else
		result 1 "submit $* is refused" "want status $wanted and 'pollux: $message'
got status $rc, '$out' and '$err'"
	fi
}
see="; see 'pollux submit --help'"

# --- what is refused before there is a store ------------------------------------

refused 64 "no command to run$see"
refused 64 "no command to run$see" --
refused 64 "no command to run$see" --hold
refused 64 "unknown option '--bacth'; did you mean '--batch'?" --bacth 3 true
refused 64 "unknown option '--frobnicate'$see" --frobnicate true
refused 64 "unknown option '-z'$see" -z true
refused 64 "option '--hold' takes no value$see" --hold=1 true
refused 64 "option '--batch SAMPLES' needs a whole number from 1 to 1000000000" --batch
refused 64 "option '--name NAME' needs a value that is not empty" --name '' true
refused 64 "option '--parameters N[K|M|G]' needs a value that is not empty" --parameters '' true

int="is not a whole number from"
for wrong in 0 -1 1000000001 99999999999999999999 1e3 1.5 nan inf 0x10 ' 1' '1 ' x; do
	refused 64 "option '--batch SAMPLES': '$wrong' $int 1 to 1000000000" --batch "$wrong" true
done
for wrong in 0 -1 1000000001; do
	refused 64 "option '--max-local-batch SAMPLES': '$wrong' $int 1 to 1000000000" \
		-b 1 --max-local-batch "$wrong" true
done
range='is not a whole number, or two as smaller:larger, from 1 to'
for wrong in 2:1 0:4 -1:4 1: :4 : 1:2:3 1:1000000001 a:b 1-2; do
	refused 64 "option '--batch-range MIN:MAX': '$wrong' $range 1000000000" \
		-b 1 --batch-range "$wrong" true
done
for wrong in 2:1 -1 1025 1:1025 1: x; do
	refused 64 "option '--replicas N[:MAX]': '$wrong' ${range%1 to}0 to 1024" -r "$wrong" true
done
refused 64 "option '--batch' 8 is outside --batch-range 16:32$see" -b 8 --batch-range 16:32 true
refused 64 "option '--batch' 64 is outside --batch-range 16:32$see" -b 64 --batch-range 16:32 true
refused 64 "option '--batch-range' needs --batch$see" --batch-range 16:32 true
refused 64 "option '--max-local-batch' needs --batch$see" --max-local-batch 16 true
refused 64 "option '--accumulate' needs --batch$see" --accumulate true
for wrong in 0 -0.1 nan inf 1e999 0x1p3 x; do
	refused 64 "option '--lr RATE': '$wrong' is not a number from 1e-12 to 1000000000000" \
		--lr "$wrong" true
done
for wrong in 0 -1 1e19 nan; do
	refused 64 "option '--samples N': '$wrong' is not a number from 1 to 1e+18" \
		--samples "$wrong" true
	refused 64 "option '--steps N': '$wrong' is not a number from 1 to 1e+18" \
		--steps "$wrong" true
done
refused 64 "option '--epochs N': '0' is not a number from 1e-06 to 1000000000000" \
	--epochs 0 --dataset-size 9 true
refused 64 "option '--dataset-size SAMPLES': '0' $int 1 to 1e+15" --epochs 1 --dataset-size 0 true
refused 64 "option '--epochs' needs --dataset-size$see" --epochs 3 true
refused 64 "option '--dataset-size' needs --epochs$see" --dataset-size 3 true
refused 64 "give one of --samples, --steps and --epochs, not 2$see" --samples 1 --steps 1 true
refused 64 "give one of --samples, --steps and --epochs, not 3$see" \
	--samples 1 --steps 1 --epochs 1 --dataset-size 1 true
for wrong in 0 -1 1001 nan; do
	refused 64 "option '--weight W': '$wrong' is not a number from 0.001 to 1000" \
		-w "$wrong" true
done
for wrong in -1 1001 1.5; do
	refused 64 "option '--retries N': '$wrong' $int 0 to 1000" --retries "$wrong" true
done
time="is not a time (such as 90s, 1.5m, 2h or 1d) from"
for wrong in 0 -5 5x 5m2h nan 1e10 ' 5' s; do
	refused 64 "option '--time-limit TIME': '$wrong' $time 1 to 1000000000 seconds" \
		-t "$wrong" true
done
for wrong in -1 2d x 1m1m; do
	refused 64 "option '--grace TIME': '$wrong' $time 0 to 86400 seconds" --grace "$wrong" true
done
catchable='wants a signal that a program can catch, such as TERM, INT or USR1, not'
for wrong in KILL STOP 9 19 0 -1 65 BOGUS term SIG; do
	refused 64 "option '--stop-signal' $catchable '${wrong#SIG}'$see" \
		--stop-signal "$wrong" true
done
refused 64 "option '--stop-signal' $catchable 'KILL'$see" --stop-signal SIGKILL true
for wrong in 0 -1 ok: ok:0 'ok:-1' 99999999999999999999; do
	refused 64 "option '--after' wants job numbers such as '3,end:4,group:2', not \
'$wrong'$see" --after "$wrong" true
done
for wrong in '1,' ',1' '1,,2'; do
	refused 64 "option '--after' wants job numbers such as '3,end:4,group:2', not ''$see" \
		--after "$wrong" true
done
for wrong in A =A =; do
	refused 64 "option '--env' wants NAME=VALUE, not '$wrong'$see" -e "$wrong" true
done
refused 64 "give one of --preempt and --no-preempt$see" --preempt --no-preempt true

echo '#!/bin/sh' >script
refused 66 "command not found: 'no-such-command'" no-such-command
refused 66 "command not found: ''" ''
refused 66 "cannot execute '$TMP/./no-such-command': No such file or directory" ./no-such-command
refused 66 "cannot execute '/nowhere/x': No such file or directory" /nowhere/x
refused 66 "cannot execute '$TMP/./script': it has no execute bit, which chmod +x $TMP/./script \
sets" ./script
refused 66 "cannot execute '$TMP': not a program" "$TMP"
refused 66 "cannot enter directory '/nowhere': No such file or directory" --chdir /nowhere true
refused 66 "cannot enter directory '$TMP/nowhere': No such file or directory" --chdir nowhere true
refused 66 "cannot enter directory '$TMP/script': Not a directory" --chdir script true
refused 66 "cannot enter directory '/bin/sh': Not a directory" --chdir /bin/sh true
# Under valgrind the program is a script, which needs its own PATH and directory.
is_script() { [ "$(head -c 2 "$POLLUX")" = '#!' ]; }
if is_script; then
	skip 'a command is looked for in PATH' 'run by a script'
else
	run env PATH="$TMP" "$POLLUX" submit true
	is 'a command is looked for in PATH' "66 pollux: command not found: 'true'" "$rc $err"
fi

mkdir gone
in_deleted_directory() { (cd gone && rmdir "$TMP/gone" && submit true); }
status 'submit from a deleted directory is refused' 66 in_deleted_directory
is_script || is 'submit says that the present directory is deleted' \
	'pollux: cannot tell the present directory: No such file or directory' "$err"

# An argument list that the kernel does not let through is the shell's to report.
ten_megabytes() {
	part=$(head -c 100000 /dev/zero | tr '\0' x)
	set --
	while [ $# -lt 100 ]; do set -- "$@" "$part"; done
	"$POLLUX" submit true "$@"
}
status 'ten megabytes of arguments are refused by execve(2)' 126 ten_megabytes
like 'the shell says that the argument list is too long' 'Argument list too long' "$err"

ok 'refused submissions made no store' test ! -e "$POLLUX_DIR"

# --- one job, as it is captured ------------------------------------------------

mkdir 'a dir'
cat >'a dir/train *.sh' <<'END'
#!/bin/sh
END
chmod +x 'a dir/train *.sh'
cd 'a dir' || exit 1
newline='
'
submitted './train *.sh' '' 'two words' '*' '?' '$HOME' '`x`' "it's" "a${newline}b" -q \
	--hold '{{' -- '\'
cd ..
is 'the arguments are stored one by one, as they are' \
	"$(printf '%s\0' './train *.sh' '' 'two words' '*' '?' '$HOME' '`x`' "it's" "a${newline}b" \
		-q --hold \
		'{{' -- '\' | hex)" "$(query 'SELECT hex(argv) FROM commands WHERE job_id = 1')"
is 'the program is stored by its absolute path' "$TMP/a dir/./train *.sh" \
	"$(query 'SELECT CAST(program AS TEXT) FROM commands WHERE job_id = 1')"
is 'the directory of the submission is stored' "$TMP/a dir" \
	"$(query 'SELECT CAST(directory AS TEXT) FROM commands WHERE job_id = 1')"
stored 'options behind the command are its own' state queued
stored 'a job has one replica by default' "min_replicas || ' ' || max_replicas" '1 1'
stored 'what is not declared is unknown' \
	"batch_size IS NULL AND min_batch_size IS NULL AND max_batch_size IS NULL AND
	max_local_batch_size IS NULL AND learning_rate IS NULL AND total_samples IS NULL AND
	total_steps IS NULL AND time_limit_s IS NULL" 1
stored 'weight, retries, signal and grace have their defaults' \
	"printf('%g %d %d %g', weight, retries, stop_signal, grace_s)" \
	'1 0 15 60'
stored 'devices are taken by default only once a job has saved' preemption saved
is 'a directory without a repository has no commit' \
	'' "$(query 'SELECT git_commit FROM commands WHERE job_id = 1')"
is 'the store is private' '700 600' "$(stat -c %a "$POLLUX_DIR" "$POLLUX_DIR/pollux.db" | xargs)"
is 'the directories of the store are private' '700 700 700' \
	"$(stat -c %a "$POLLUX_DIR/logs" "$POLLUX_DIR/run" "$POLLUX_DIR/checkpoints" | xargs)"

submitted -- env
is 'a program in PATH is stored by its path' "$(command -v env)" \
	"$(query "SELECT CAST(program AS TEXT) FROM commands WHERE job_id = $id")"
mkdir bin
printf '#!/bin/sh\n' >bin/tool
chmod +x bin/tool
id=$((id + 1))
PATH=bin:$PATH "$POLLUX" submit tool >/dev/null
is 'a relative directory in PATH is made absolute' "$TMP/bin/tool" \
	"$(query "SELECT CAST(program AS TEXT) FROM commands WHERE job_id = $id")"
submitted --chdir 'a dir' "./train *.sh"
is '--chdir finds a relative program from there' "$TMP/a dir/./train *.sh" \
	"$(query "SELECT CAST(program AS TEXT) FROM commands WHERE job_id = $id")"
is '--chdir is the directory of the job' "$TMP/a dir" \
	"$(query "SELECT CAST(directory AS TEXT) FROM commands WHERE job_id = $id")"
is '--chdir sets PWD' "PWD=$TMP/a dir" "$(variables | grep '^PWD=')"

# --- the environment ------------------------------------------------------------

id=$((id + 1))
env RANK=1 WORLD_SIZE=8 LOCAL_RANK=1 MASTER_ADDR=h MASTER_PORT=1 CUDA_VISIBLE_DEVICES=0 \
	SLURM_JOB_ID=5 SLURM_ANYTHING=1 POLLUX_JOB_ID=99 POLLUX_RUN=3 POLLUX_BATCH=64 \
	POLLUX_CHECKPOINT_DIR=/x TERM=xterm TORCHELASTIC_RUN_ID=x KEPT="a${newline}b = c" EMPTY= \
	"$POLLUX" submit -e ADDED=1 -e 'ADDED=two words' \
	-e KEPT2= --env "HOME=/elsewhere" true >/dev/null
stays=$(variables)
is 'nothing of another launcher, a job or the terminal is kept' '' \
	"$(printf '%s\n' "$stays" |
		grep -E -e '^(RANK|WORLD_SIZE|LOCAL_RANK|MASTER_|CUDA_VISIBLE|SLURM_)' \
			-e '^(POLLUX_|TERM|TORCHELASTIC_)')"
like 'a variable of two lines is kept whole' '^KEPT=a~b = c$' "$stays"
like 'an empty variable is kept' '^EMPTY=$' "$stays"
like 'PATH is kept' '^PATH=.' "$stays"
is '--env adds variables; the last one counts' \
	'ADDED=two words' "$(printf '%s\n' "$stays" | grep '^ADDED=')"
like '--env takes an empty value' '^KEPT2=$' "$stays"
is '--env replaces a variable' 'HOME=/elsewhere' "$(printf '%s\n' "$stays" | grep '^HOME=')"

# --- what is printed -------------------------------------------------------------

id=$((id + 1))
is 'a pipe gets the number alone' "$id" "$(submit true)"
id=$((id + 1))
is '-q prints the number alone' "$id" "$(submit -q true)"
if command -v script >/dev/null; then
	id=$((id + 1))
	touch "$POLLUX_DIR/regular-pass" # passes come: no advice
	is 'a terminal gets a sentence' "Submitted job $id (true: queued, needs 1 device)" \
		"$(script -qec "'$POLLUX' submit true" /dev/null </dev/null | tr -d '\r')"
	id=$((id + 1))
	is 'a terminal gets name, state and devices in the sentence' \
		"Submitted job $id (a\\033b: held, needs 2 devices)" \
		"$(script -qec "'$POLLUX' submit -n '$(printf 'a\033b')' --hold -r 2 true" \
			/dev/null </dev/null |
		tr -d '\r')"
	id=$((id + 1))
	is 'a terminal gets the number alone with -q' "$id" \
		"$(script -qec "'$POLLUX' submit -q true" /dev/null </dev/null | tr -d '\r')"
else
	skip 'a terminal gets a sentence' 'no script(1)'
fi

# --- every option lands in the store -----------------------------------------------

submitted --name resnet --workload images -b 256 --batch-range 128:4096 \
	--max-local-batch 128 --lr 0.1 \
	-r 2:8 --samples 1e6 -w 2.5 --time-limit 1h30m --retries 3 --stop-signal USR1 --grace 90s \
	--checkpoint-dir out --resume-args '--from {checkpoint}' --hold -a 1,ok:2 -a end:3 true \
	'{batch}' '{lr}'
stored 'name and workload are stored' "name || ' ' || workload" 'resnet images'
stored 'batch sizes are stored' \
	"batch_size || ' ' || min_batch_size || ' ' || max_batch_size || ' ' ||
		max_local_batch_size" '256 128 4096 128'
stored 'the learning rate is stored' learning_rate 0.1
stored 'the rule of the learning rate is auto by default' learning_rate_rule auto
stored 'no noise scale is stored by default' "noise_scale IS NULL" 1
stored 'replicas are stored' "min_replicas || ' ' || max_replicas" '2 8'
stored 'samples are stored' "printf('%d', total_samples)" 1000000
stored 'the weight is stored' weight 2.5
stored 'the time limit is stored' "printf('%g', time_limit_s)" 5400
stored 'retries are stored' retries 3
stored 'the stop signal is stored' stop_signal 10
stored 'the grace is stored' "printf('%g', grace_s)" 90
stored '--hold holds the job' state held
stored 'the reason says that the job was held at submission' \
	reason "held at submission; 'pollux release $id' lets it go"
is '--checkpoint-dir is made absolute' "$TMP/out" \
	"$(query "SELECT CAST(checkpoint_dir AS TEXT) FROM commands WHERE job_id = $id")"
is '--resume-args is stored' '--from {checkpoint}' \
	"$(query "SELECT CAST(resume_args AS TEXT) FROM commands WHERE job_id = $id")"
is '--after is stored as success or as any end' '1|ok 2|ok 3|end' \
	"$(query "SELECT after_id, rule FROM dependencies WHERE job_id = $id" | xargs)"
stored 'devices may be taken from a job that resumes' preemption always
stored 'a job does not accumulate by default' accumulates 0
submitted -b 256 --lr-rule sqrt --noise-scale 1e3 true
stored '--lr-rule is stored' learning_rate_rule sqrt
stored '--noise-scale is stored' "printf('%g', noise_scale)" 1000
refused 64 \
	"option '--lr-rule' wants auto, adascale, sqrt-gain, sqrt, linear or none, not 'cubic'; \
see 'pollux submit --help'" --lr-rule cubic true
refused 64 "option '--lr-rule' needs --batch; see 'pollux submit --help'" --lr-rule sqrt true
status 'passes that the program may not make are accepted' \
	0 env POLLUX_DIR="$TMP/passes" "$POLLUX" \
	submit -b 64 --max-local-batch 16 true
is 'submit warns of passes that the program may not make' \
	"pollux: warning: with --max-local-batch 16 its batch of 64 takes 4 passes for an update, \
which its program has to make: by {accum}, or by POLLUX_ACCUM and --accumulate" "$err"
for told in "--accumulate -b 64 true" "-b 64 true {accum}" "-b 64 -r 4 true" "-b 16 true"; do
	# shellcheck disable=SC2086  # words
	run env POLLUX_DIR="$TMP/passes" "$POLLUX" submit --max-local-batch 16 $told
	is "submit does not warn of passes with $told" '' "$err"
done
status 'a batch that changes without its learning rate is accepted' 0 \
	env POLLUX_DIR="$TMP/passes" "$POLLUX" submit -b 64 --batch-range 64:128 true '{batch}'
like 'submit warns of a batch that changes without its learning rate' \
	'^pollux: warning: its batch changes .* but its learning rate does not follow: ' "$err"
like 'explain warns of a batch that changes without its learning rate' \
	' its command does not carry this out: it has \{batch\}, but neither ' \
	"$(POLLUX_DIR="$TMP/passes" "$POLLUX" explain "$out" | tr -s '\n ' '  ')"
for told in "{batch} {lr_scale}" "--lr {lr} {local_batch}" "{batch} --resume-args {lr_scale}"; do
	# shellcheck disable=SC2086  # words
	run env POLLUX_DIR="$TMP/passes" \
		"$POLLUX" submit -b 64 --batch-range 64:128 --samples 640 --lr 0.1 true $told
	is "submit does not warn of the learning rate with $told" '' "$err"
done
run env POLLUX_DIR="$TMP/passes" "$POLLUX" submit -b 64 --batch-range 64:128 --samples 640 \
	--lr-rule none true '{batch}'
is 'submit does not warn of the learning rate with --lr-rule none' '' "$err"
run env POLLUX_DIR="$TMP/passes" "$POLLUX" submit -b 64 --batch-range 64:128 --torch true '{batch}'
is 'submit does not warn of the learning rate with --torch' '' "$err"
run env POLLUX_DIR="$TMP/passes" "$POLLUX" submit -b 64 --batch-range 64:128 --samples 640 true
is 'submit does not warn of a program that reads the environment' '' "$err"
refused 64 "option '--noise-scale' needs --batch; see 'pollux submit --help'" --noise-scale 10 true
submitted -b 256 --accumulate true
stored '--accumulate is stored' accumulates 1
submitted -b 256 true '--passes={accum}'
stored 'a command with {accum} accumulates' accumulates 1
submitted -b 256 --resume-args '--passes {accum}' true
stored 'resume arguments with {accum} accumulate' accumulates 1
submitted -b 256 true '{{accum}}'
stored 'a literal brace is no {accum}' accumulates 0

submitted --steps 5000 true
stored '--steps is stored' "printf('%d', total_steps) || ' ' || ifnull(total_samples, '-')" '5000 -'
submitted --epochs 2.5 --dataset-size 60000 true
stored '--epochs times --dataset-size is stored' "printf('%d', total_samples)" 150000
submitted -r 3 true
stored '-r N means from N to N' "min_replicas || ' ' || max_replicas" '3 3'
id=$((id + 1))
run env POLLUX_SLOTS=2 "$POLLUX" submit -r 3:8 true
is 'a job of more devices than there are is accepted, with a warning' \
	"0:$id:pollux: warning: job $id needs 3 devices, \
but 2 can be used here: it waits until there are more" "$rc:$out:$err"
id=$((id + 1))
run env POLLUX_SLOTS=2 "$POLLUX" submit -r 2:8 true
is 'a job of as many devices as there are gets no warning' "0:$id:" "$rc:$out:$err"
id=$((id + 1))
run env POLLUX_SLOTS=many "$POLLUX" submit -r 3 true
is 'a wrong setting does not keep a job from the queue' "0:$id" "$rc:$out"
like 'submit warns of a wrong setting' \
	"^pollux: warning: bad variable 'POLLUX_SLOTS' in the environment: " "$err"
submitted true '{gpus}'
stored '{gpus} means from one device to all' "min_replicas || ' ' || max_replicas" '1 0'
submitted true '{{gpus}}'
stored 'a literal {gpus} means one device' "min_replicas || ' ' || max_replicas" '1 1'
submitted -r 2 true '{gpus}'
stored '-r goes before {gpus}' "min_replicas || ' ' || max_replicas" '2 2'
submitted --no-preempt true '{checkpoint}'
stored '--no-preempt is stored' preemption never
submitted --preempt true
stored '--preempt is stored' preemption always
submitted true '{checkpoint}'
stored '{checkpoint} is a sign that it saves' preemption always
for signal in INT SIGINT 2; do
	submitted --stop-signal "$signal" true
	stored "--stop-signal $signal is stored" stop_signal 2
done
submitted --grace 0 true
stored '--grace 0 is stored' "printf('%g', grace_s)" 0
submitted --after ok:1,end:1 true
is 'the last of two rules for one job counts' '1|end' \
	"$(query "SELECT after_id, rule FROM dependencies WHERE job_id = $id")"

# --- names ----------------------------------------------------------------------

for program in python3.11 bash shred; do
	printf '#!/bin/sh\n' >"bin/$program"
	chmod +x "bin/$program"
done
name_of() { # name_of WANT ARGUMENT...
	wanted=$1
	shift
	submitted "$@"
	stored "a job of '$*' is called $wanted" name "$wanted"
}
name_of tool bin/tool x.y
mkdir -p dir && : >dir/train.py # else submit warns
name_of train.py bin/python3.11 -u dir/train.py --lr=0.1
name_of run.sh bin/bash -e run.sh arg.x
name_of bash bin/bash -c 'exec ./a.out'
name_of shred bin/shred secret.txt
name_of 'train *.sh' './a dir/train *.sh'
submitted env a 'b c'
stored 'jobs of the same command share a workload' workload "$(command -v env) a 'b c'"

# --- git --------------------------------------------------------------------------

commit_of() { query "SELECT git_commit || ' ' || git_dirty FROM commands WHERE job_id = $id"; }
if command -v git >/dev/null; then
	export HOME="$TMP" GIT_CONFIG_NOSYSTEM=1
	mkdir -p repository/sub
	cd repository || exit 1
	git init -q .
	submitted true
	is 'a repository without a commit gives none' '' "$(commit_of)"
	echo 1 >file
	git add file
	git -c user.name=x -c user.email=x@x commit -q -m x
	head=$(git rev-parse HEAD)
	submitted true
	is 'the commit of a clean tree is stored' "$head 0" "$(commit_of)"
	echo 1 >untracked
	submitted true
	is 'untracked files do not matter' "$head 0" "$(commit_of)"
	echo 2 >file
	cd sub || exit 1
	submitted true
	is 'a changed file is stored, seen from below as well' "$head 1" "$(commit_of)"
	cd "$TMP" || exit 1
	submitted --chdir repository/sub true
	is 'the repository is that of --chdir' "$head 1" "$(commit_of)"
	if is_script; then
		skip 'no git, no commit' 'run by a script'
	else
		id=$((id + 1))
		PATH=$TMP/bin "$POLLUX" submit tool >/dev/null
		is 'submit without git stores no commit' '' "$(commit_of)"
	fi
else
	skip 'the commit of the tree' 'no git(1)'
fi

# --- dependencies on what is not there ------------------------------------------------

before=$(count)
refused 66 "option '--after': no such job: 12345" --after 12345 true
refused 66 "option '--after': no such job: 12345" --after 1,ok:12345 true
is 'nothing is kept of a job after one that is not there' "$before" "$(count)"
submitted true
ok 'the next job is stored' [ "$(count)" -gt "$before" ]

# A job waits for another; one that was to succeed and did not takes it along.
submitted --hold true
first=$id
submitted --after "end:$first" true
any=$id
submitted --after "$first" true
good=$id
reason_of() { query "SELECT state || ': ' || reason FROM jobs WHERE id = $1"; }
others=$(query "SELECT group_concat(id, ' ') FROM jobs WHERE id < $first")
given_job "$others" state=held # this is not about them
"$POLLUX" schedule --slots 1
is 'a job waits for another' "queued: after job $first, which is held" "$(reason_of "$any")"
"$POLLUX" cancel "$first"
status 'a pass after the first job was cancelled succeeds' 0 "$POLLUX" schedule --slots 1
is 'a job after a success that did not come is cancelled' \
	"cancelled: job $first, which was to succeed first, was cancelled" \
	"$(reason_of "$good")"
ok 'a job after any end ends' wait_for 20 "$POLLUX" wait "$any"
is 'a job after any end is done' 'done' "$(query "SELECT state FROM jobs WHERE id = $any")"
submitted --after "ok:$any" true
"$POLLUX" schedule --slots 1
ok 'a job after a success ends' wait_for 20 "$POLLUX" wait "$id"

# --- dependencies by name ---------------------------------------------------------------

for _ in 1 2; do submitted --hold --name over true; done
"$POLLUX" cancel "$id" $((id - 1))
for _ in 1 2 3; do submitted --hold --name lr-1 true; done
"$POLLUX" cancel "$id"
after() { # after WANT ARGUMENT...: rule and id of each job that the new one comes after
	want=$1 id=$((id + 1))
	shift
	run submit --hold "$@" true
	is "submit $* comes after '$want'" \
		"$want" "$(query "SELECT group_concat(rule || ' ' || after_id, ',')
		FROM (SELECT * FROM dependencies WHERE job_id = $id ORDER BY after_id)")"
}
newest=$id
after "ok $((newest - 2)),ok $((newest - 1))" --after lr-1
is 'submit says which jobs a name means' \
	"pollux: --after 'lr-1': jobs $((newest - 2)), $((newest - 1))" "$err"
after "ok $((newest - 2)),ok $((newest - 1))" --after 'ok:lr*'
after "ok $((newest - 3))" --after over
after "end $id" --after end:@
after "ok $((newest - 1)),ok $newest" --after "$((newest - 1))-$newest"
after "ok 1,notok 2,ok $((newest - 3))" --after '1,over' --after notok:2
before=$(count)
refused 66 "no job matches 'nobody'" --after ok:nobody true
refused 66 "no job matches '3-'; a range has two ends, such as 28-40" --after 3- true
is 'no job comes of an unknown name or a bad range' "$before" "$(count)"

# --- arguments as many as the kernel lets through ---------------------------------------

large() { (
	# shellcheck disable=SC3045  # where it is not known, it is skipped
	ulimit -S -s 65536 || exit 99
	part=$(head -c 131000 /dev/zero | tr '\0' x)
	set --
	while [ $# -lt 40 ]; do set -- "$@" "$part"; done
	submit --hold true "$@"
); }
run large
if [ "$rc" = 99 ]; then
	skip 'five megabytes of arguments' 'the stack may not be made larger'
else
	id=$((id + 1))
	is 'five megabytes of arguments are a job' "0 $id" "$rc $out"
	is 'five megabytes of arguments are stored whole' "$((5 + 40 * 131001))" \
		"$(query "SELECT length(argv) FROM commands WHERE job_id = $id")"
fi

# --- stores that are none ------------------------------------------------------------------

good=$POLLUX_DIR
POLLUX_DIR=$TMP/bad
export POLLUX_DIR
bad_store() { # bad_store NAME MESSAGE: of the file pollux.db prepared there
	sum=$(cksum <"$POLLUX_DIR/pollux.db")
	refused 65 "$2" true
	is "$1 stays as it was" "$sum" "$(cksum <"$POLLUX_DIR/pollux.db")"
	rm -rf "$POLLUX_DIR"
	mkdir -m 700 "$POLLUX_DIR"
}
mkdir -m 700 "$POLLUX_DIR"
yes 'this is a text file' | head -n 1000 >"$POLLUX_DIR/pollux.db"
bad_store 'a text file' "cannot use the store '$POLLUX_DIR/pollux.db': file is not a database"
sqlite3 -batch "$POLLUX_DIR/pollux.db" \
	'CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT)'
bad_store 'the database of another program' \
	"'$POLLUX_DIR/pollux.db' is a SQLite file, but not a pollux store"
sqlite3 -batch "$good/pollux.db" ".backup '$POLLUX_DIR/pollux.db'" \
	'PRAGMA user_version' >version
sqlite3 -batch "$POLLUX_DIR/pollux.db" "PRAGMA user_version = 99"
bad_store 'a newer store' \
	"the store '$POLLUX_DIR/pollux.db' has version 99, written by a newer pollux; \
this one knows up to $(cat version)"
head -c 4096 "$good/pollux.db" >"$POLLUX_DIR/pollux.db"
bad_store 'a store cut off' \
	"cannot use the store '$POLLUX_DIR/pollux.db': database disk image is malformed"
mkdir "$POLLUX_DIR/pollux.db"
refused 73 "cannot open '$POLLUX_DIR/pollux.db': it is a directory" true
rm -r "$POLLUX_DIR"

# --- directories that will not do ------------------------------------------------------------

echo text >"$POLLUX_DIR"
refused 73 "'$POLLUX_DIR' is not a directory" true
is 'the file in place of the directory stays as it is' text "$(cat "$POLLUX_DIR")"
run env POLLUX_DIR="$POLLUX_DIR/below" "$POLLUX" submit true
is 'a store below a file cannot be created' \
	"73 pollux: cannot create directory '$POLLUX_DIR/below': Not a directory" "$rc $err"
rm "$POLLUX_DIR"
for mode in 770 707 702; do
	mkdir "$POLLUX_DIR"
	chmod "$mode" "$POLLUX_DIR"
	refused 77 "others may write to '$POLLUX_DIR'; type: chmod 700 $POLLUX_DIR" true
	ok "nothing is made in a directory of mode $mode" rmdir "$POLLUX_DIR"
done
run env POLLUX_DIR=/proc/1 "$POLLUX" submit true
unlike 'a directory where nothing can be made is no crash' '^0' "$rc"

# As another user: root may do everything.
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$TMP"
	cp "$POLLUX" "$TMP/bin/pollux" 2>/dev/null
	GCOV_PREFIX=$TMP/gcov
	export GCOV_PREFIX
	mkdir -m 777 other "$GCOV_PREFIX"
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	nobody_submits() { as_nobody "$TMP/bin/pollux" submit "$@"; }
else
	mkdir other
	as_nobody() { "$@"; }
	nobody_submits() { "$POLLUX" submit "$@"; }
fi
if as_nobody true 2>/dev/null && nobody_submits --help >/dev/null 2>&1; then
	mkdir -m 700 other/full other/closed
	: >other/unread
	chmod 755 other/unread
	as_nobody mkdir -m 500 other/unwritable
	[ "$(id -u)" != 0 ] || chown 65534:65534 other/full
	POLLUX_DIR=$TMP/other/unwritable
	status 'a store in a directory that may not be written to is refused' 73 nobody_submits true
	is 'the directory that may not be written to is named' \
		"pollux: cannot create directory '$POLLUX_DIR/logs': Permission denied" "$err"
	POLLUX_DIR=$TMP/other/unwritable/below
	status 'a store below a directory that may not be written to is refused' \
		73 nobody_submits true
	is 'the store below that directory is named' \
		"pollux: cannot create directory '$POLLUX_DIR': Permission denied" \
		"$err"
	POLLUX_DIR=/
	status 'a directory of somebody else is refused' 77 nobody_submits true
	is 'submit names the directory of somebody else' \
		"pollux: '/' belongs to another user; set POLLUX_DIR to one of your own" \
		"$err"
	POLLUX_DIR=$TMP/other/full
	status "a directory of one's own is accepted" 0 nobody_submits true
	chmod 000 other/closed
	status 'a --chdir that may not be entered is refused' 66 nobody_submits \
		--chdir "$TMP/other/closed" true
	is 'the --chdir that may not be entered is named' \
		"pollux: cannot enter directory '$TMP/other/closed': Permission denied" "$err"
	chmod 400 other/full/pollux.db*
	status 'a store that may not be written to is refused' 77 nobody_submits true
	is 'submit says that the store may not be written to' \
		"pollux: cannot use the store '$POLLUX_DIR/pollux.db': attempt to write a readonly \
database" "$err"
	chmod 000 other/full/pollux.db*
	status 'a store that may not be read is refused' 73 nobody_submits true
	chmod 700 other/closed
else
	skip 'directories of others' 'no other user to be'
fi
if [ "$(id -u)" = 0 ] && ! getent passwd 54321 >/dev/null 2>&1; then
	mkdir -m 777 gcov-at-home
	nobody_at_home() {
		setpriv --reuid=54321 --regid=54321 --clear-groups \
			env -u HOME -u POLLUX_DIR -u XDG_STATE_HOME \
			GCOV_PREFIX="$TMP/gcov-at-home" "$TMP/bin/pollux" submit true
	}
	if setpriv --reuid=54321 --clear-groups "$TMP/bin/pollux" --version >/dev/null 2>&1; then
		status 'submit without a place for a store is refused' 78 nobody_at_home
		is 'submit says that there is no place for the store' \
			'pollux: no place for the store: set POLLUX_DIR or HOME' "$err"
	else
		skip 'no place for a store' 'no other user to be'
	fi
else
	skip 'no place for a store' 'not root'
fi

# --- where the store is ---------------------------------------------------------------------

unset POLLUX_DIR
mkdir home state
run env HOME="$TMP/home" "$POLLUX" submit true
ok 'the store is in the home directory by default' test -f "$TMP/home/.local/state/pollux/pollux.db"
run env HOME="$TMP/home" XDG_STATE_HOME="$TMP/state" "$POLLUX" submit true
ok 'the store is in XDG_STATE_HOME' test -f "$TMP/state/pollux/pollux.db"
run env POLLUX_DIR=relative/store "$POLLUX" submit true
ok 'the store is in POLLUX_DIR, which may be relative' test -f "$TMP/relative/store/pollux.db"
finish
