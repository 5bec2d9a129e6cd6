#!/bin/sh
# fuzz.sh BUILD SECONDS [FUZZER] - run FUZZER, or each fuzzer of `make fuzz`, for so long; as many
# at a time as FUZZ_JOBS says, by default as there are cores.
#
# What a fuzzer finds is kept in build/corpus/NAME and is where the next run begins;
# tests/fuzz/corpus/NAME and tests/fuzz/NAME.dict help it along if they exist.
set -eu
build=$1 seconds=$2 fuzzer=${3-}

if [ -z "$fuzzer" ]; then
	find "$build/fuzzing/fuzz" -name 'fuzz_*' ! -name '*.[do]' -print0 | sort -z |
		xargs -0 -r -n 1 -P "${FUZZ_JOBS:-$(nproc)}" "$0" "$build" "$seconds"
	exit
fi
name=${fuzzer##*/fuzz_}
corpus=$build/corpus/$name
mkdir -p "$corpus" "$build/crashes"
set -- "$corpus"
[ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
[ ! -e "tests/fuzz/$name.dict" ] || set -- "$@" "-dict=tests/fuzz/$name.dict"
echo "fuzz.sh: $name, $seconds s"
exec "$fuzzer" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 -verbosity=0 \
	-artifact_prefix="$build/crashes/$name-" "$@"
