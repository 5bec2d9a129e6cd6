#!/bin/sh
# waiting.sh [JOBS...] - what a pass costs that finds many waiting jobs: processor seconds of
# `pollux schedule` as a whole, at 1,000, 4,000, 16,000 and 50,000 jobs. If the time per job grows
# from left to right, something is quadratic.
#
# One job is really submitted; SQL copies it. The jobs are of 100 workloads. Half say how long they
# are, a third asks for two devices, and all take batches of 32 to 512. `first` is the pass that
# starts two jobs and writes a reason for each other one; `next` changes nothing; `after` is a pass
# over a chain of jobs, each of which waits for the one before.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 1000 4000 16000 50000
: "${POLLUX:=$PWD/build/pollux}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/pollux-waiting.XXXXXX")
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
POLLUX_SLOTS=2 POLLUX_DIR=$dir/store
export POLLUX_SLOTS POLLUX_DIR
export POLLUX_SUBMIT_PASS=no # passes come when this script says so
unset POLLUX_POLICY POLLUX_REPORT_SOCKET

# shellcheck disable=SC2086  # words
stop() { # what runs
	[ -e "$POLLUX_DIR/pollux.db" ] || return 0
	store "UPDATE jobs SET state = 'held' WHERE state = 'queued'"
	running=$(store "SELECT id FROM jobs WHERE state = 'running'")
	[ -z "$running" ] || "$POLLUX" cancel $running >"$dir/out" 2>&1
	[ -z "$running" ] || "$POLLUX" wait $running >"$dir/out" 2>&1 || :
}
store() { sqlite3 -cmd '.timeout 120000' "$POLLUX_DIR/pollux.db" "$1"; }
columns() { store "SELECT group_concat(name) FROM pragma_table_info('$1') WHERE name <> '$2'"; }
cpu() { # cpu COMMAND...: its processor seconds, its children's too
	perl -e 'system(@ARGV) == 0 or exit 1; my @t = times; printf "%.3f\n", $t[2] + $t[3]' \
		"$@" 2>"$dir/err" >"$dir/out" || { cat "$dir/err" >&2; exit 1; }
	tail -n 1 "$dir/out"
}

printf '%8s %8s %8s %8s %8s   %s\n' jobs first next after status 'us a job (next)'
for n in "$@"; do
	rm -rf "$POLLUX_DIR"
	"$POLLUX" submit -q --no-torch --batch 32 --batch-range 32:512 --lr 0.1 \
		-- sh -c 'exec sleep 100000' '{batch}' '{lr}' >"$dir/out"
	jobs=$(columns jobs id) commands=$(columns commands job_id)
	store "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < $n)
		INSERT INTO jobs (id, $jobs) SELECT n.i, $jobs FROM jobs, n;
		INSERT INTO commands (job_id, $commands)
		SELECT one.id, $commands FROM (SELECT id FROM jobs WHERE id > 1) AS one, commands;
		UPDATE jobs SET workload = 'w' || (id % 100), weight = 1 + id % 7,
		 total_samples = iif(id % 2, 1000 * id, NULL), min_replicas = 1 + (id % 3 = 0),
		 max_replicas = 2"
	first=$(cpu "$POLLUX" schedule)
	next=$(cpu "$POLLUX" schedule)
	status=$(cpu "$POLLUX" status)
	store "INSERT INTO dependencies (job_id, after_id, rule)
		SELECT id, id - 1, 'ok' FROM jobs WHERE id > 2"
	after=$(cpu "$POLLUX" schedule)
	stop
	printf '%8d %8s %8s %8s %8s   %s\n' "$n" "$first" "$next" "$after" "$status" \
		"$(perl -e 'printf "%.1f", 1e6 * $ARGV[0] / $ARGV[1]' "$next" "$n")"
done
