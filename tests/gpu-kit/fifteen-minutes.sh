#!/bin/bash
# fifteen-minutes.sh 1|2 [SECONDS] - the kit in two calls, on a machine that is there for so long.
#
#	bash tests/gpu-kit/fifteen-minutes.sh 1	in a checkout, with build/gpu-kit/build and data
#	bash tests/gpu-kit/fifteen-minutes.sh 2
#	tests/gpu-kit/fifteen-minutes.sh page TAR	at home: writes benchmarks/RESULTS-gpu.md
#
# The second call takes what did not pass in the first, by gpu-kit-results, then what takes longer.
# On another machine, carry that directory as well: the first call's results, unpacked. A call ends
# in SECONDS (355; the second 320), whatever hangs, with all results in OUT/gpu-kit-N.tgz.
# GROW_GIB=N first uses so much memory, where the machine's grows as it is used.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
results=${KIT_RESULTS:-$PWD/gpu-kit-results}
steps='facts programs spin devices profile-devices suspend energy'
passed() { grep -Eq "^$1 (ok|skip) time " "$results/lines" 2>/dev/null; }
case ${1-} in
1)	seconds=${2:-355} ;;
2)	seconds=${2:-320} first=$steps steps=
	for step in $first; do
		passed "$step" || steps+="$step "
	done
	steps+='resident slices overhead profile' ;;	# the last one does what it can
page)	mkdir -p "$results" && tar -xzf "${2:?}" -C "$results" &&
		exec cp "$results/RESULTS-gpu.md" benchmarks/
	exit 1 ;;
*)	sed -n '2s/^# //p' "$0" >&2
	exit 64 ;;
esac
mkdir -p "$results"
[ -z "${GROW_GIB-}" ] || timeout 20 python3 -c "bytearray($GROW_GIB << 30)"
# run.sh ends what hangs, for which it needs a while after its budget.
timeout -k 3 $((seconds - SECONDS - 8)) "$here/run.sh" --out "$results" \
	--budget $((seconds - SECONDS - 32)) --only "${steps// /,}"
rc=$?
timeout 5 tar -czf "${OUT:-$PWD}/gpu-kit-$1.tgz" -C "$results" --exclude=.lock .
echo "# call $1: $SECONDS s of $seconds, status $rc"
exit $rc
