#!/bin/bash
# soak.sh FUZZ_SECONDS - the long tests, in two lanes side by side: `make soak`.
#
# The tests of one lane mostly wait, those of the other mostly compute. Every stage runs even if
# another failed. The summary at the end goes into benchmarks/RESULTS.md, section Soak.
unset MAKELEVEL MAKEFLAGS MFLAGS	# each make here is a first one, and parallel
mkdir -p build/soak
rm -f build/soak/*

stage() { # stage NAME COMMAND...: the output goes to build/soak/NAME
	local name=$1 begin=$SECONDS rc
	shift
	"$@" >"build/soak/$name" 2>&1
	rc=$?
	{
		printf '== soak: %s\n' "$name"
		tail -n 40 "build/soak/$name"
	} >"build/soak/$name.end"
	cat "build/soak/$name.end"
	[ $rc = 0 ] || touch build/soak/failed
	echo "| $name | $rc | $((SECONDS - begin)) | $(grep -h '^Files=' "build/soak/$name" |
		sed 's/,  *[0-9]* wallclock.*//') |" >>build/soak/summary
}

# Kills at every call are those of `check`; the sanitizers see every sixth.
waiting() {
	stage check env FAULT_STRIDE=1 ALL_CASES=1 make check
	stage month make month
	stage slurm-month make slurm-month
	stage package make check-package
}

computing() {
	stage sanitize env FAULT_STRIDE=6 ALL_CASES=1 nice -n 5 make sanitize
	stage injection nice -n 5 make injection
	stage fuzz nice -n 5 make fuzz FUZZ_SECONDS="$1"
	stage frameworks nice -n 5 make check-frameworks
}

make programs || exit
waiting &
computing "$1"
wait
echo "| stage | status | s | tests |"
echo "|---|---|---|---|"
cat build/soak/summary
echo "all of it: $SECONDS s"
[ ! -e build/soak/failed ]
