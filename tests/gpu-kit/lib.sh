# lib.sh - what the steps in shell have in common. run.sh gives them STEP, OUT, KIT, ROOT, POLLUX,
# TRAIN, SCRATCH (where they start, and may write) and STEP_SECONDS.
# shellcheck shell=bash
set -u
say() { # say RESULT NAME VALUE UNIT...: a line
	echo "$STEP $*" | tee -a "$OUT/lines"
}
ok() { say ok "$@"; }
fail() { say fail "$@"; }
skip() { say skip "$1" - "${@:2}"; } # skip NAME WHY
check() { # check NAME VALUE UNIT CONDITION: an awk expression in v, the value; none fails
	if [ -n "$2" ] && awk -v v="$2" "BEGIN { exit !($4) }"; then
		ok "$1" "$2" "$3"
	else
		fail "$1" "${2:--}" "$3 (wanted: $4)"
	fi
}
quick() { if [ -n "$GPU_KIT_QUICK" ]; then echo "$2"; else echo "$1"; fi; } # quick IN-FULL QUICK
difference() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6f", (a > b ? a - b : b - a) }'; }

# A store of the step's own. Its jobs are cancelled when the step ends; run.sh ends what is left.
POLLUX_DIR=$PWD/store
export POLLUX_DIR
trap 'exit 1' HUP INT TERM
trap cancel_all EXIT
cancel_all() {
	local id

	for id in $("$POLLUX" status --all 2>/dev/null |
			awk '$3 ~ /^(queued|starting|running|suspended|stopping|held)$/ {
				print $1 }'); do
		"$POLLUX" cancel "$id" 2>/dev/null
	done
}
