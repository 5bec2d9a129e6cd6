#!/bin/bash
# share.sh - two programs on one slot of one core, by turns and with 'pollux submit --share'.
#
# Two programs that compute for half of their time and sleep for the other half, then two that only
# compute; each does the same steps in either way. A pass comes each second. Printed are the time
# from the first launch to the last end, the seconds in which both ran, how often the second one was
# parted from the first, and, with --share, what 'pollux explain' says of the pair. The policy is
# fifo: by turns is one after the other.
#
# Other work on the core would blur this: it takes more away from one process than from two, so that
# two seem to do more than one. So the programs run before all other work (chrt, as root), and the
# supervisors before them.
#
#	benchmarks/share.sh [STEPS]
set -eu
sqlite3() { command sqlite3 -cmd '.timeout 60000' "$@"; }

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
steps=${1:-400}
work=$(mktemp -d "${TMPDIR:-/tmp}/pollux-share.XXXXXX")
export POLLUX_SLOTS=1 POLLUX_POLICY=fifo POLLUX_SUBMIT_PASS=no POLLUX_NVML=none
export POLLUX_SHARED_DIR=no NO_COLOR=1 LC_ALL=C COLUMNS=200

cleanup() {
	for store in "$work"/*/; do
		POLLUX_DIR=$store "$pollux" cancel 1 2 || :
	done >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

cat >"$work/program" <<'END'
my ($steps, $sleep_s) = @ARGV;
$| = 1;
for my $i (1 .. $steps) {
	my $x = 1;
	for (1 .. 200000) { $x = ($x * 1103515245 + 12345) % 2147483648 }
	select undef, undef, undef, $sleep_s if $sleep_s;
	print "step $i/$steps\n";
}
END

first='' second=''
if chrt -r 2 true 2>/dev/null; then
	first='chrt -r 2' second='chrt -r 1'
else
	echo 'share.sh: chrt may not be used here: other work on the core blurs the figures' >&2
fi
# shellcheck disable=SC2086 # words
on_one_core() { $first taskset -c 0 "$pollux" "$@"; }

run() { # run NAME STEPS SLEEP_S OPTION...
	export POLLUX_DIR="$work/$1$#"
	local name=$1 steps=$2 sleep_s=$3
	shift 3
	for _ in 1 2; do
		# shellcheck disable=SC2086 # words
		on_one_core submit -q --workload "$name" --suspend always "$@" -- \
			$second perl "$work/program" "$steps" "$sleep_s" >/dev/null
	done
	until [ "$(sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT count(*) FROM jobs WHERE state = 'done'")" = 2 ]; do
		on_one_core schedule
		sleep 1
	done
	sqlite3 "$POLLUX_DIR/pollux.db" "SELECT '$name ${*:-by turns}: '
		|| round(max(end_boot_s) - min(launch_boot_s), 1) || ' s; both at work for '
		|| round(max(0, sum(duration_s) - (max(end_boot_s) - min(launch_boot_s))), 1)
		|| ' s; parted ' || (SELECT count(*) FROM events
			WHERE text LIKE '%they would do % times what they do by turns%')
		|| ' times' FROM runs"
	[ $# = 0 ] || on_one_core explain 2 | sed -n '/^beside others/,/^$/p' | grep pair -A3 || :
}

run loaders "$steps" 0.016
run loaders "$steps" 0.016 --share
run computing $((8 * steps)) 0
run computing $((8 * steps)) 0 --share
