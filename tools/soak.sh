#!/bin/sh
# soak.sh FUZZ_SECONDS - the long tests, one after the other: `make soak`.
#
# Every stage runs even if another failed. The summary at the end goes into
# benchmarks/RESULTS.md, section Soak.
export FAULT_STRIDE=1 ALL_CASES=1
mkdir -p build/soak
: >build/soak/summary
failed=0

stage() { # stage NAME COMMAND...
	name=$1 begin=$(date +%s)
	shift
	echo "== soak: $name"
	"$@" >"build/soak/$name" 2>&1
	rc=$?
	tail -n 40 "build/soak/$name"
	[ $rc = 0 ] || failed=1
	echo "| $name | $rc | $(($(date +%s) - begin)) | $(grep -h '^Files=' "build/soak/$name" |
		sed 's/,  *[0-9]* wallclock.*//') |" >>build/soak/summary
}

stage check make check
stage sanitize make sanitize
stage frameworks make check-frameworks
stage month make month
stage package make check-package
stage fuzz make fuzz FUZZ_SECONDS="$1"
echo "| stage | status | s | tests |"
echo "|---|---|---|---|"
cat build/soak/summary
exit $failed
