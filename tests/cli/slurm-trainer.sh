#!/bin/sh
# slurm-trainer.sh - a training program that proves how it was run, on each of its nodes.
#
#	slurm-trainer.sh CHECKPOINTS [STEPS]
#
# It makes steps of 8 samples, goes on from its checkpoint, and saves when it is asked to stop. Each
# node holds a lock of its own in $WITNESS; one that is held already is written to OVERLAP. The
# ledger has a line for each start, save and end: "WHAT NODE SAMPLES". With SAVE_S in its
# environment a save takes so many seconds longer.
dir=$1 steps=${2-1000000} node=${POLLUX_NODE:-0}
exec 9>"$WITNESS/lock-$POLLUX_JOB_ID-$node"
flock -n 9 || echo "job $POLLUX_JOB_ID run $POLLUX_RUN node $node" >>"$WITNESS/OVERLAP"
tell() { echo "$1 $POLLUX_JOB_ID $POLLUX_RUN $node $((8 * i)) of ${POLLUX_NODES:-1}" \
	>>"$WITNESS/ledger"; }
i=0
[ ! -e "$dir/step" ] || read -r i <"$dir/step"
[ "$node" != 0 ] || [ "$i" = 0 ] || "$POLLUX" report "RESUMED=$dir/step" SAMPLES=$((8 * i))
tell start
save() {
	[ -z "${SAVE_S-}" ] || sleep "$SAVE_S" 9>&-
	if [ "$node" = 0 ]; then
		echo "$i" >"$dir/step.new" && mv "$dir/step.new" "$dir/step"
		"$POLLUX" report STEP="$i" SAMPLES=$((8 * i)) "CHECKPOINT=$dir/step"
	fi
	tell save
	exit 75
}
trap save TERM
while [ "$i" -lt "$steps" ]; do
	i=$((i + 1))
	[ "$node" != 0 ] || "$POLLUX" report STEP="$i" SAMPLES=$((8 * i)) STEP_NS=50000000
	sleep 0.05 9>&-
done
tell "done"
