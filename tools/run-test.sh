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
# One in N scripts has its turn; which ones, the commit says, so that in time all have.
its_turn() { # its_turn N
	commit=$(git rev-parse HEAD 2>/dev/null | cut -c 1-7)
	name=$(printf %s "$test" | cksum | cut -d ' ' -f 1)
	[ $(((0x${commit:-0} + name + ${TURN:-0}) % $1)) = 0 ]
}
set -- "$program"
# In `make turns` SANITIZED is the environment of sanitized programs: for what is built below
# SANITIZED_BUILD, and for the scripts in their turn, but for those that PLAIN names. Else all tests
# are sanitized or none is. A sanitized command takes a third of its time to look for leaks: of the
# scripts, one in four looks, and in `make turns` one in eight.
# shellcheck disable=SC2016,SC2086 # expanded later; words
case $test in
"${SANITIZED_BUILD:-/none}"/*) set -- env $SANITIZED "$@" ;;
*.t)
	if [ -n "${SANITIZED-}" ]; then
		if case " $PLAIN " in *" $test "*) false ;; *) its_turn 4 ;; esac; then
			no_leaks='ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 "$@"'
			its_turn 8 || set -- sh -c "$no_leaks" sh "$@"
			set -- env $SANITIZED "$@"
		fi
	elif [ -n "${ASAN_OPTIONS-}" ] && [ -z "${ALL_CASES-}" ] && ! its_turn 4; then
		export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
	fi
	;;
esac
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
