#!/bin/sh
# bench.sh BUILD [smoke] - run the benchmarks: every executable file of benchmarks/ but
# jct.sh, which takes half an hour ('make bench-jct'), and every C program of
# benchmarks/ that has no script of its name to start it. With `smoke` only a
# few rounds of those that take no longer than a second or two: do they still run?
set -eu
build=$(cd "$1" && pwd)
export BENCH_BUILD="$build/benchmarks"
failed=

if [ "${2-}" = smoke ]; then
	programs=$BENCH_BUILD
	for command in assign 'decide smoke' 'one_tier 1' 'fit 1' 'goodput 4' predict 'steps 1' \
		'reports 1 1000'; do
		# shellcheck disable=SC2086  # words
		"$programs"/$command >"$build/smoke" 2>&1 || {
			cat "$build/smoke"
			failed="$failed $command;"
		}
	done
	for command in "cli.sh 3 20" "waiting.sh 100"; do
		# shellcheck disable=SC2086  # words
		benchmarks/$command >"$build/smoke" 2>&1 || {
			cat "$build/smoke"
			failed="$failed $command;"
		}
	done
	[ -z "$failed" ] || { echo "bench.sh: failed:$failed" >&2; exit 1; }
	exit 0
fi

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
