#!/bin/sh
# fuzz.sh BUILD SECONDS - run each fuzzer of `make fuzz` for so long.
#
# What it finds is kept in build/corpus/NAME and is where the next run begins;
# tests/fuzz/corpus/NAME and tests/fuzz/NAME.dict help it along if they exist.
set -eu
build=$1 seconds=$2

for fuzzer in "$build"/fuzzing/fuzz/fuzz_*; do
	case $fuzzer in
	*.[do] | *'*') continue ;;
	esac
	name=${fuzzer##*/fuzz_}
	corpus=$build/corpus/$name
	mkdir -p "$corpus" "$build/crashes"
	set -- "$corpus"
	[ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
	[ ! -e "tests/fuzz/$name.dict" ] || set -- "$@" "-dict=tests/fuzz/$name.dict"
	echo "fuzz.sh: $name, $seconds s"
	"$fuzzer" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$build/crashes/$name-" "$@"
done
