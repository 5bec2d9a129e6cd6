#!/bin/sh
# bench.sh BUILD - run the benchmarks: every executable file of benchmarks/ but
# jct.sh, which takes half an hour ('make bench-jct'), and every C program of
# benchmarks/ that has no script of its name to start it.
set -eu
build=$(cd "$1" && pwd)
export BENCH_BUILD="$build/benchmarks"
failed=

for script in benchmarks/*; do
	if [ -f "$script" ] && [ -x "$script" ] && [ "$script" != benchmarks/jct.sh ]; then
		echo "== $script"
		"$script" || failed="$failed $script"
	fi
done
for source in benchmarks/*.c; do
	name=$(basename "$source" .c)
	if [ ! -e "$source" ] || [ -e "benchmarks/$name" ] || [ -e "benchmarks/$name.sh" ]; then
		continue
	fi
	echo "== $source"
	"$BENCH_BUILD/$name" || failed="$failed $source"
done
[ -z "$failed" ] || { echo "bench.sh: failed:$failed" >&2; exit 1; }
