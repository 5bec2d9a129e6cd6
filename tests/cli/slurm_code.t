#!/bin/sh
# slurm_code.t - on Slurm, too, a run with other code says so, and a snapshot is used.
# shellcheck disable=SC2317  # functions run by wait_for
. "$(dirname "$0")/tap.sh"
. "$ROOT/tests/cli/slurm.sh"
command -v git >/dev/null || skip_all 'no git'
slurm_or_skip
unset POLLUX_SLOTS POLLUX_POLICY SLURM_JOB_ID
cleanup() { slurm_down; }
must 'a Slurm comes up' slurm_up 1 2
mkdir -p "$POLLUX_DIR" && chmod 700 "$POLLUX_DIR"
printf 'engine = slurm\nslurm_lease = %ds\n' $((2 * TIME_SCALE)) >"$POLLUX_DIR/config"

git init -q project
cd project || exit 1
git config user.name x && git config user.email x@x
# shellcheck disable=SC2016 # for the program
echo 'echo "version 1"; while [ ! -e "$1" ]; do sleep 0.1; done' >train.sh
git add -A && git commit -qm x
plain=$("$POLLUX" submit -q --preempt -- sh train.sh "$TMP/go")
kept=$("$POLLUX" submit -q --preempt --snapshot -- sh train.sh "$TMP/go")
running() { # running N: both jobs have their Nth run, which has begun
	"$POLLUX" schedule >/dev/null
	for id in "$plain" "$kept"; do
		[ "$(grep -c '^version' "$POLLUX_DIR/logs/$id.log")" = "$1" ] || return 1
	done
}
must 'both jobs run' wait_for 60 running 1
sed -i 's/version 1/version 2/' train.sh
"$POLLUX" requeue --force "$plain" "$kept" >/dev/null 2>&1
must 'both jobs run again' wait_for 60 running 2
: >"$TMP/go"
must 'both jobs are done' until_store "SELECT count(*) = 2 FROM jobs WHERE state = 'done'"
commit=$(git rev-parse HEAD | cut -c1-6)
is 'the run with other code says so' \
	"code changed since the first run: $commit -> $commit+, 1 file: train.sh" \
	"$(store "SELECT text FROM events WHERE job_id = $plain AND kind = 'code'")"
is 'the snapshot has the code as it was' 'version 1
version 1' "$(grep '^version' "$POLLUX_DIR/logs/$kept.log")"
finish
