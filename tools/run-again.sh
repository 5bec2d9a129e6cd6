#!/bin/sh
# run-again.sh MOST LOGS TESTS PROVE... - after a run of so many TESTS that failed: if at most MOST
# of them failed, these are run a second time, one after the other. They are named, and deserve a
# look, though they pass then: what they wait for is too short for a busy machine.
#
# Where prove(1) itself was killed, or a test could not be run, nothing is run again: prove's record
# does not have such tests.
most=$1 logs=$2 tests=$3
shift 3
ran=$(find "$logs" -name '*.rc' | wc -l)
[ "$ran" = "$tests" ] || { echo "== only $ran of $tests tests ended"; exit 1; }
failed=$("$@" --state=failed --dry)
n=$(printf %s "$failed" | grep -c .)
told=$(grep -c '^== .*: exit status' "$logs/FAILED")
[ "$n" -ge 1 ] && [ "$n" -ge "$told" ] && [ "$n" -le "$most" ] || exit 1
printf %s "$failed" | sed 's/^/== once more, alone: /'
echo
rm -f "$logs/FAILED"
"$@" -j1 --state=failed || { cat "$logs/FAILED"; exit 1; }
