#!/bin/sh
# run-test.sh SECONDS LOGS TEST - run one test under a time limit, for prove.
#
# What the test prints is kept in LOGS. If the test fails, LOGS/FAILED gets its
# name, each check that failed with the comments before it and what it wanted and
# got, and its last words.
seconds=$1 logs=$2 test=$3
log=$logs/$(printf %s "$test" | tr / _)

case $test in
/*) program=$test ;;
*) program=./$test ;;
esac
set -- "$program"
# What is built below SANITIZED_BUILD runs in the environment SANITIZED.
# shellcheck disable=SC2086 # words
case $test in "${SANITIZED_BUILD:-/none}"/*) set -- env $SANITIZED "$@" ;; esac
timeout "$seconds" "$@" >"$log.out" 2>"$log.err"
rc=$?
echo $rc >"$log.rc"
[ $rc != 124 ] || echo "# ended by the time limit of $seconds s" >>"$log.out"
cat "$log.out"
cat "$log.err" >&2
if [ $rc != 0 ] || grep -q '^not ok ' "$log.out"; then
	{
		echo "== $test: exit status $rc"
		awk '/^#/ && !show { before = before $0 "\n"; next }
			/^not ok / { printf "%s", before; show = 1 }
			!/^(not ok |#)/ { show = 0 }
			{ before = "" }
			show' "$log.out"
		grep -q '^not ok ' "$log.out" || tail -n 10 "$log.out"
		tail -n 20 "$log.err" | sed 's/^/stderr: /'
	} >"$log.failed"
	cat "$log.failed" >>"$logs/FAILED"
fi
exit $rc
