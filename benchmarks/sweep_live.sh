#!/bin/sh
# sweep_live.sh [SYSTEM...] - a sweep of eight alike programs, with two debug runs thrown in, live.
#
# SYSTEM is a policy of pollux, or 'tsp' (task-spooler); default: goodput fifo tsp. Each runs the
# same programs on SLOTS (2) processor slots from an empty store: eight of SWEEP_S (30) s of steps
# of 0.25 s, and after 20 and 50 s a debug run of 2 s, submitted with a time limit of 30 s.
# Nobody tells a length otherwise. Slices are of 10 s; programs save nothing, and take turns by
# suspension. Printed, in seconds: until the first result of the sweep; until the best, its mean
# over all runs, as each may be the best; until all are done; how much longer than 2 s each debug
# run took. Nothing is judged by the exit status. Two and a half minutes for each; on a quiet
# machine.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
slots=${SLOTS-2} sweep_s=${SWEEP_S-30}
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-sweep-live.XXXXXX")
unset XDG_STATE_HOME XDG_CONFIG_HOME
POLLUX_DIR=$made/store	# never the user's, whose jobs finish() would cancel
export POLLUX_DIR
watcher=
finish() {
	[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || :
	"$pollux" cancel --state active --yes >/dev/null 2>&1 || :
	TS_SOCKET=$made/socket tsp -K >/dev/null 2>&1 || :
	sleep 1
	rm -rf "$made"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# job SECONDS FILE: the time of its end goes into the file
cat >"$made/job" <<'END'
#!/bin/sh
i=0
while [ $i -lt $(($1 * 4)) ]; do
	sleep 0.25
	i=$((i + 1))
done
date +%s.%N >"$2"
END
chmod +x "$made/job"

submit() { # submit SYSTEM NAME SECONDS [OPTION...]
	system=$1 file=$dir/$2 seconds=$3
	shift 3
	date +%s.%N >"$file.came"
	if [ "$system" = tsp ]; then
		tsp "$made/job" "$seconds" "$file" >/dev/null
	else
		"$pollux" submit -q "$@" -- "$made/job" "$seconds" "$file" >/dev/null
	fi
}

took() { # took NAME: from its submission to its end
	[ -s "$dir/$1" ] || echo 9999
	[ ! -s "$dir/$1" ] || echo "$(cat "$dir/$1") $(cat "$dir/$1.came")" |
		awk '{ printf "%.1f\n", $1 - $2 }'
}

all_ended() {
	n=0
	for file in "$dir"/[sd][1-8]; do
		[ ! -s "$file" ] || n=$((n + 1))
	done
	[ $n = 10 ]
}

echo 'system    first   best    all  debug 1  debug 2'
[ $# -gt 0 ] || set -- goodput fifo tsp
for system; do
	dir=$made/$system
	mkdir "$dir"
	POLLUX_DIR=$dir/store POLLUX_SLOTS=$slots POLLUX_SLICE=10s POLLUX_POLICY=$system
	TS_SOCKET=$made/socket TS_SAVELIST=$dir/list
	export POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY TS_SOCKET TS_SAVELIST
	if [ "$system" = tsp ]; then
		tsp -S "$slots"
	else
		"$pollux" schedule --watch 1 >"$dir/passes" 2>&1 &
		watcher=$!
	fi
	for k in 1 2 3 4 5 6 7 8; do
		submit "$system" "s$k" "$sweep_s" --workload sweep
	done
	sleep 20
	submit "$system" d1 2 -t 30s --workload debug
	sleep 30
	submit "$system" d2 2 -t 30s --workload debug
	for _ in $(seq 300); do
		! all_ended || break
		sleep 1
	done
	[ -z "$watcher" ] || kill "$watcher"
	watcher=
	for k in 1 2 3 4 5 6 7 8; do
		took "s$k"
	done | sort -n | awk -v name="$system" -v a="$(took d1)" -v b="$(took d2)" '
		NR == 1 { first = $1 } { sum += $1; last = $1 }
		END { printf "%-8s %6.1f %6.1f %6.1f %8.1f %8.1f\n", name, first, sum / NR, last,
			a - 2, b - 2 }'
done
