#!/bin/sh
# fit.sh - the time of a fit, and, where python3 (or $PYTHON) has scipy, its ratio
# to the published optimizer's on the same subsets, in the same run.
set -eu
cd "$(dirname "$0")/.."

ours=$("${BENCH_BUILD:-build/benchmarks}/fit")
printf '%s\n' "$ours"
median=$(printf '%s\n' "$ours" | sed -n 's/^median_ms //p')
[ -n "$median" ] || exit 0
if ! reference=$(OMP_NUM_THREADS=1 "${PYTHON:-python3}" tests/reference/fit_reference.py \
	--time 200 2>/dev/null); then
	echo '# no scipy: nothing to compare with (PYTHON may name an interpreter that has it)'
	exit 0
fi
echo "scipy_median_ms $reference"
awk -v ours="$median" -v theirs="$reference" 'BEGIN { printf "ratio %.3f\n", ours / theirs }'
