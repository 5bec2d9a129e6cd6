#!/bin/sh
# checkpoints.t - jobs resume from the newest checkpoint that is whole; after a start from one that
# fails, from the one before.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { end_jobs; }
# saves DIR FIRST REFUSED FROM: the first run evaluates FIRST in DIR and crashes after two steps. A
# later one cannot start from a file whose name matches REFUSED.
cat >saves <<'END2'
echo "${4:-nothing}" >>"$OUT"
mkdir -p "$1"
cd "$1" || exit 9
if [ "$POLLUX_RUN" = 1 ]; then
	eval "$2"
	"$POLLUX" report STEP=1 SAMPLES=8
	eval "$MORE"
	"$POLLUX" report STEP=2 SAMPLES=16
	kill -9 $$
fi
case ${4##*/} in $3) echo "RuntimeError: cannot read ${4##*/}" >&2; exit 1 ;; esac
"$POLLUX" report STEP=3 SAMPLES=24
END2
# True once the job has ended; a pause after a failure is over at once.
ends() {
	given_run all if outcome=failed end_boot_s-=1000
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 1 "$id" 2>/dev/null
	[ "$(store "SELECT state IN ('done', 'failed') FROM jobs WHERE id = $id")" = 1 ]
}
# job FIRST REFUSED OPTION...: waits for its end; its runs resumed from what $froms says
job() {
	first=$1 refused=$2
	shift 2
	rm -f froms
	id=$(MORE=$more OUT=$TMP/froms "$POLLUX" submit -q --resume-args '{newest}' \
		"$@" -- sh "$TMP/saves" '{checkpoint}' "$first" "$refused" '{resume}')
	wait_for 30 ends
	state=$(store "SELECT state FROM jobs WHERE id = $id")
	froms=$(sed "s,.*/,," froms | xargs)
}
more=

# --- the one before, once ---
job 'echo 1 >ckpt-1.pt; echo 2 >ckpt-2.pt; echo 3 >ckpt-3.pt' 'ckpt-3.pt' --retries 1
is 'after a start that fails, the checkpoint before is tried' 'nothing ckpt-3.pt ckpt-2.pt' "$froms"
is 'a job that resumed from the checkpoint before goes on' 'done' "$state"
is 'a start that failed for its checkpoint costs no retry' 1 \
	"$(store "SELECT failures FROM jobs WHERE id = $id")"
out=$("$POLLUX" status "$id" | tr -s '\n ' ' ')
like 'status tells that the checkpoint before is tried' \
	"could not resume from [^ ]*/ckpt-3.pt: RuntimeError: cannot read ckpt-3.pt; \
it is tried once from the one before: [^ ]*/ckpt-2.pt" "$out"
like 'status tells what the next run resumes from' \
	'resumes from ckpt-2.pt; run 2 could not resume from the one after it' "$out"
job 'echo 1 >ckpt-1.pt; echo 2 >ckpt-2.pt; echo 3 >ckpt-3.pt' 'ckpt-*' --retries 1
is 'the checkpoint before is tried once' 'nothing ckpt-3.pt ckpt-2.pt' "$froms"
is 'a job fails when the checkpoint before does not start either' failed "$state"
like 'status says that the job is not begun anew' \
	'could not resume from [^ ]*/ckpt-2.pt: .*; the job is not begun anew' \
	"$("$POLLUX" status "$id" | tr -s '\n ' ' ')"
job 'echo 1 >ckpt-1.pt' 'ckpt-*' --retries 1
is 'nothing else is tried where there is no checkpoint before' 'nothing ckpt-1.pt failed' \
	"$froms $state"

mkdir dots
ln -s dots link
for told in ckpt-2.pt ../link/ckpt-2.pt; do
	for as in dots/. link; do
		more="\"\$POLLUX\" report CHECKPOINT=$told"
		job 'rm -f ckpt*; echo 1 >ckpt-1.pt; echo 2 >ckpt-2.pt' 'ckpt-2.pt' --retries 1 \
			--checkpoint-dir "$as"
		is "a report of $told in $as names no second file" \
			'nothing ckpt-2.pt ckpt-1.pt done' "$froms $state"
	done
done
more=

# --- which is newest ---
job 'head -c 1000 /dev/zero >ckpt-1.pt; : >ckpt-2.pt' 'ckpt-2.pt' --retries 1
is 'a run does not resume from an empty file' 'nothing ckpt-1.pt' "$froms"
like 'status tells that an empty file is left out' \
	'resumes from ckpt-1.pt; ckpt-2.pt is left out: it is empty' "$("$POLLUX" status "$id")"
job 'for i in 1 2; do echo $i >model_$i.pt; echo $i >optim_$i.pt; done; cp model_1.pt model_3.pt' \
	'*_3.pt' --retries 1
is 'a model without optimizer is left out if those before have one' 'nothing model_2.pt' "$froms"
like 'status says why a model without optimizer is left out' \
	'model_3.pt is left out: it has no file such as optim_2.pt beside it' \
	"$("$POLLUX" status "$id")"
more='echo "{\"step\": 100}" >ck-100.json; echo "{\"step\": 20}" >ck-20.json'
job 'echo 0 >config.json' '' --retries 1
is 'a run resumes from JSON that has no other file beside it' 'nothing ck-100.json' "$froms"
more='echo 1 >ck-20.dat'
job : '' --retries 1
is 'a run does not resume from a file whose name tells nothing' 'nothing nothing' "$froms"
like 'status tells that a file is left out where there is no checkpoint' \
	'nothing to resume from; ck-20.dat is left out: its name is not one of a checkpoint' \
	"$("$POLLUX" status "$id")"
more='"$POLLUX" report CHECKPOINT=../odd/state STEP=1 SAMPLES=8'
job 'mkdir ../odd; echo 1 >../odd/state; echo 2 >b.txt' 'b*' --retries 1 --checkpoint-dir mine
is 'a reported checkpoint is found wherever it lies' 'nothing state' "$froms"
like 'status shows the path of a reported checkpoint' '"checkpoint_path": "/.*/odd/state"' \
	"$("$POLLUX" status --json "$id")"
more=

# --- what was there before the job ---
mkdir proj proj/data
echo x >proj/README.md
echo x >proj/old.ckpt
echo x >proj/data/a.jpg
touch -d '-1 day' proj/*
job : '*ckpt' --retries 1 --checkpoint-dir proj
is 'a job does not resume from what was there before it' 'nothing nothing' "$froms"
is 'a job that finds only older files is begun anew' 'done' "$state"
is '--resume-args without a template does not resume from older files' 'nothing nothing' \
	"$(job : '*ckpt' --retries 1 --checkpoint-dir proj --resume-args all; echo "$froms")"
job 'echo 1 >new.ckpt; touch -d "-2 days" new.ckpt' old.ckpt --retries 1 --checkpoint-dir proj
is 'a job resumes from what came during it, whatever its time' 'nothing new.ckpt' "$froms"

# --- many files of data beside ---
mkdir many
(cd many && mkdir data && cd data && seq 30000 | xargs touch)
job 'mkdir -p z/out; echo 1 >z/out/last.ckpt; touch data/new' '' --retries 1 --checkpoint-dir many
is 'a checkpoint beside 30,000 files is found' 'nothing last.ckpt' "$froms"
finish
