#!/bin/sh
# resume.t - what counts as a checkpoint, and a start from one that fails.
# shellcheck disable=SC2016,SC2317  # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
cleanup() { end_jobs; }
holds() { [ "$(store "SELECT count(*) FROM ($1)")" -gt 0 ]; }
# works DIR START STOP [RESUMED]: evaluates $START, makes steps, and evaluates $STOP when it is
# asked to stop. When it is resumed it cannot start.
cat >works <<'END'
cd "$1" || exit 9
echo "$4" >>"$OUT/resumed"
if [ "$4" ]; then
	echo "FileNotFoundError: no trainer_state.json" >&2
	exit 1
fi
trap "$3; exit 1" TERM
eval "$2"
sleep 0.5
i=0
while :; do
	i=$((i + 1))
	"$POLLUX" report STEP=$i SAMPLES=$((8 * i))
	sleep 0.1
done
END
OUT=$TMP
export OUT
begin() { # begin START STOP OPTION...
	start=$1 stop=$2
	shift 2
	rm -f resumed
	id=$("$POLLUX" submit -q --resume-args '--from={newest}' "$@" -- \
		sh "$TMP/works" '{checkpoint}' "$start" "$stop" '{resume}')
	dir=$POLLUX_DIR/checkpoints/$id
	"$POLLUX" schedule
}
works() { wait_for 5 holds "SELECT 1 FROM runs WHERE job_id = $id AND last_samples > 8"; }
again() { # the job is stopped, and launched once more
	"$POLLUX" requeue --force "$id"
	wait_for 5 holds "SELECT 1 FROM runs WHERE job_id = $id AND number = 2 AND
		(last_samples > 0 OR outcome = 'failed')"
}
leave() {
	"$POLLUX" cancel "$id" 2>/dev/null
	"$POLLUX" wait --timeout 600 "$id" 2>/dev/null
}
resumed() { sed -n 2p resumed; }

# --- what is no checkpoint ---
begin 'mkdir -p runs/a lightning_logs/version_0; echo x >config.json' \
	'echo x >runs/a/events.out.tfevents.1; echo x >b.log; echo x >lightning_logs/hparams' \
	--resume-args --from=last
ok 'a program that writes logs works' works
ok 'a program that writes logs is launched again' again
is 'a program that writes logs has nothing to resume from' '' "$(resumed)"
is 'status does not say that it resumed from logs' \
	'' "$(store "SELECT resumed_from FROM runs WHERE job_id = $id")"
leave
begin '' 'echo x >model.txt; echo x >state-7' \
	--resume-args --from=last --checkpoint-glob 'state-[0-8]*x'
ok 'a program whose files match no pattern works' works
ok 'a program whose files match no pattern is launched again' again
is 'a program whose files match no pattern has nothing to resume from' '' "$(resumed)"
leave

# --- what is ---
missing='no trainer_state.json'
begin '' 'echo x >model.txt' --resume-args --from=last --retries 0
ok 'a program that saves works' works
ok 'a program that saves is launched again' again
is 'a program that saves is to resume' --from=last "$(resumed)"
is 'a job that cannot resume fails' failed "$(store "SELECT state FROM jobs WHERE id = $id")"
like 'status says why the job could not resume, and from what' \
	"could not resume from $dir: FileNotFoundError: $missing; the \
job is not begun anew, which would overwrite what it saved" \
	"$("$POLLUX" status "$id" | tr -s '\n ' ' ')"
is 'JSON has the checkpoint from which the job could not resume' \
	"$dir" "$("$POLLUX" status --json "$id" |
	json 'print $d->{jobs}[0]{details}{runs}[1]{resumed_from}')"
rm -f resumed
"$POLLUX" requeue "$id"
"$POLLUX" schedule
"$POLLUX" wait --timeout 600 "$id" 2>/dev/null
is 'another try resumes from the same checkpoint' --from=last "$(sed -n 1p resumed)"
begin 'mkdir -p lightning_logs/version_0/checkpoints' \
	'echo x >lightning_logs/version_0/checkpoints/last.ckpt'
ok "a program that saves in a logger's directory works" works
ok "a program that saves in a logger's directory is launched again" again
is "a checkpoint in a logger's directory is the newest" \
	"--from=$dir/lightning_logs/version_0/checkpoints/last.ckpt" "$(resumed)"
leave
begin '' 'mkdir -p runs; echo x >runs/state-7; echo x >model.txt' \
	--checkpoint-glob 'state-*'
ok 'a program whose files match a pattern works' works
ok 'a program whose files match a pattern is launched again' again
is 'a program whose files match a pattern resumes from its file' \
	"--from=$dir/runs/state-7" "$(resumed)"
is 'JSON has the pattern of checkpoints' 'state-*' "$("$POLLUX" status --json "$id" |
	json 'print $d->{jobs}[0]{details}{checkpoint_glob}')"
finish
