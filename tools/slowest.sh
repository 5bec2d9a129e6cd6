#!/bin/sh
# slowest.sh STATE... - the ten slowest tests of each of prove's records, as tables.
for state; do
	echo "Seconds in $state:"
	echo
	echo '| test | s |'
	echo '|---|---|'
	awk '/^  [^ ].*:$/ { sub(/:$/, ""); test = $1 }
		/^    elapsed:/ { printf "| %s | %.1f |\n", test, $2 }' "$state" |
		sort -t'|' -k3 -nr | head -n 10
	echo
done
