#!/bin/sh
# policies.t - every policy in live passes: jobs start by it, and end.
# shellcheck disable=SC2317  # functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE
HWLOC_SYNTHETIC='package:1 core:2 pu:1'
export HWLOC_SYNTHETIC

running() { [ "$("$POLLUX" status | grep -Ec "$policy-. +running ")" = "$1" ]; }
# The last supervisors run a pass before they leave.
cleanup() {
	for id in $("$POLLUX" status | awk '$1 ~ /^[0-9]+$/ { print $1 }'); do
		"$POLLUX" cancel "$id" 2>/dev/null && "$POLLUX" wait --timeout 200 "$id" 2>/dev/null
	done
	sleep 0.5
}

all=$("$POLLUX" simulate --help all | tr -s ' \n' ' ' | sed 's/.* one of \([a-z ]*\);.*/\1/')
live=$("$POLLUX" schedule --help | tr -s ' \n' ' ' | sed 's/.* one of \([a-z ]*\);.*/\1/')
is 'passes have four policies' 'goodput pollux las fifo' "$live"
for policy in $all; do
	case " $live " in *" $policy "*) continue ;; esac
	status "$policy is refused by a pass" 78 env POLLUX_POLICY="$policy" "$POLLUX" schedule
	like 'the message names the policies that a pass has' \
		"^pollux: bad variable 'POLLUX_POLICY' .*: '$policy' is not one of goodput " "$err"
done

for policy in $live; do
	POLLUX_POLICY=$policy
	export POLLUX_POLICY
	ids=
	for name in a b c; do
		ids="$ids $("$POLLUX" submit -q --name "$policy-$name" \
			-- sh -c 'while [ ! -e '"$TMP/go-$policy"' ]; do sleep 0.1; done')"
	done
	status "$policy: a pass succeeds" 0 "$POLLUX" schedule -v
	# A supervisor that is about to end keeps its slot for a moment; the pass that it runs then
	# starts another job.
	ok "$policy: two jobs run on two slots" wait_for 20 running 2
	run "$POLLUX" status
	like "$policy: the third job is told what it waits for" \
		"$policy-c +queued .* (needs|asks) " "$out"
	touch "$TMP/go-$policy"
	# shellcheck disable=SC2086  # words
	status "$policy: all jobs end, the third in its turn" 0 "$POLLUX" wait \
		--timeout $((30 * TIME_SCALE)) $ids
done
finish
