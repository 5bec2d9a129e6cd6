#!/bin/sh
# cli.sh [ROUNDS [JOBS]] - what submit, status and an idle pass cost, as whole
# processes, beside task-spooler, nq and a bare sqlite3 doing the like.
#
# All take turns in one run (see cli.c). The stores hold JOBS (1,000) jobs that
# were really submitted; where nothing runs, their states were then set by SQL.
# Nothing is judged: missed targets are printed, and the exit status is 0.
set -eu

rounds=${1:-101} jobs=${2:-1000}
root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
driver=${BENCH_BUILD:-$root/build/benchmarks}/cli

unset POLLUX_DIR POLLUX_POLICY XDG_CONFIG_HOME TS_SLOTS TS_ONFINISH TS_ENV
tmp=$(mktemp -d "${TMPDIR:-/tmp}/pollux-bench.XXXXXX")
fast=$(mktemp -d /dev/shm/pollux-bench.XXXXXX 2>/dev/null) || fast=
export HOME="$tmp" TMPDIR="$tmp" NO_COLOR=1 LC_ALL=C
# Two slots whatever the machine, and no slice that ends while this runs.
export POLLUX_SLOTS=2 POLLUX_SLICE=10d
export POLLUX_SUBMIT_PASS=no # passes come when this script says so
cd "$tmp"	# in no git repository: 'git status' would be timed too

cleanup() {
	if [ -e behind/pollux.db ]; then	# a supervisor's last act is a pass
		sqlite3 behind/pollux.db \
			"UPDATE jobs SET state = 'held' WHERE state = 'queued'" || :
		POLLUX_DIR=$tmp/behind "$pollux" cancel 1 2 >/dev/null 2>&1 || :
	fi
	for queue in ts ts2; do
		[ ! -S $queue ] || TS_SOCKET=$tmp/$queue tsp -K 2>/dev/null || :
	done
	for blocker in ./*.pid; do
		[ ! -e "$blocker" ] || kill "$(cat "$blocker")" 2>/dev/null || :
	done
	[ ! -d nq-queue ] || (cd nq-queue && timeout 10 nq -w ,*) 2>/dev/null || :
	sleep 1
	cd /
	rm -rf "$tmp" ${fast:+"$fast"}
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

subject() { # subject NAME [VARIABLE=VALUE] COMMAND...: to be timed
	printf '%s' "$1"
	shift
	printf '\t%s' "$@"
	echo
}

repeat() { # repeat N COMMAND...: its output is thrown away
	i=$1
	shift
	while [ "$i" -gt 0 ]; do
		"$@" >/dev/null
		i=$((i - 1))
	done
}

have() { # have PROGRAM PACKAGE
	command -v "$1" >/dev/null 2>&1 && return
	echo "cli.sh: SKIPPED: there is no $1 (package $2); its rows are left out" >&2
	return 1
}

# --- pollux ---

sql() { # sql STORE STATEMENTS
	sqlite3 -cmd ".timeout 120000" "$1/pollux.db" "$2" >/dev/null
}

copy() { # copy STORE NEW STATEMENTS
	cp -a "$1" "$2"
	sql "$2" "$3"
}

submit() { # submit STORE N COMMAND...
	POLLUX_DIR=$tmp/$1
	export POLLUX_DIR
	shift
	n=$1
	shift
	repeat "$n" "$pollux" submit -q -- "$@"
	unset POLLUX_DIR
}

pass() { # pass STORE
	POLLUX_DIR=$tmp/$1 "$pollux" schedule
}

make_stores() {
	submit empty 1 true
	sql empty 'PRAGMA foreign_keys = ON; DELETE FROM jobs'
	submit queued "$jobs" true
	# A run for each, with its device and its events.
	copy queued finished "INSERT INTO runs (job_id, number, state, replicas, accumulation_steps,
		  learning_rate_scale, boot_id, assigned_time_s, assigned_boot_s, launch_time_s,
		  end_time_s, duration_s, outcome, exit_code)
		 SELECT id, 1, 'ended', 1, 1, 1, 'x', submit_time_s, 0, submit_time_s,
		  submit_time_s + 60, 60, 'completed', 0 FROM jobs;
		INSERT INTO run_devices (run_id, position, device, kind, binding, cores, in_use)
			SELECT id, 0, 'cpu:0', 'cpu', '0', 1, 0 FROM runs;
		INSERT INTO events (time_s, job_id, run_id, kind, text)
		 SELECT end_time_s, job_id, id, 'ended', 'completed' FROM runs;
		UPDATE jobs SET state = 'done', reason = 'completed', runs = 1, run_time_s = 60,
		 attained_service_device_s = 60, exit_code = 0, start_time_s = submit_time_s,
		 end_time_s = submit_time_s + 60, samples = 60000, epoch = 1, loss = 0.5"
	# Half in line, an eighth held, a tenth failed, two running, the rest done.
	copy finished mixed \
		"UPDATE jobs SET state = 'queued', reason = 'needs 1 device; 2nd in line',
		  end_time_s = NULL, next_start_time_s = submit_time_s + 7200 WHERE id % 2;
		UPDATE jobs SET state = 'held', end_time_s = NULL WHERE id % 8 = 0;
		UPDATE jobs SET state = 'failed', reason = 'failed: exit status 1'
		  WHERE id % 10 = 2;
		UPDATE jobs SET state = 'running', end_time_s = NULL, total_samples = 1e5,
		  batch_size = 128 WHERE id IN (4, 6);
		UPDATE runs SET state = 'running', end_time_s = NULL, outcome = NULL,
		  step_time_s = 0.01 WHERE job_id IN (4, 6)"
	copy queued held "UPDATE jobs SET state = 'held', reason = 'held'"
	copy queued unfit 'UPDATE jobs SET min_replicas = 64, max_replicas = 64'
	# Each waits for one that is held, and for the one before it.
	copy queued after "UPDATE jobs SET state = 'held' WHERE id = 1;
		INSERT INTO dependencies (job_id, after_id, rule)
			SELECT id, 1, 'ok' FROM jobs WHERE id > 1;
		INSERT OR IGNORE INTO dependencies (job_id, after_id, rule)
			SELECT id, id - 1, 'end' FROM jobs WHERE id > 1"
	# Two that really run, and the others in line behind them.
	submit behind 2 sleep 100000
	pass behind
	submit behind $((jobs - 2)) true
}

subjects_of_pollux() {
	for kind in behind mixed finished; do
		subject "status, $kind" POLLUX_DIR="$tmp/$kind" "$pollux" status
	done
	for kind in empty finished held unfit after behind; do
		subject "pass, $kind" POLLUX_DIR="$tmp/$kind" "$pollux" schedule
	done
	subject 'submit' POLLUX_DIR="$tmp/queued" "$pollux" submit -q -- true
	[ -z "$fast" ] || cp -a queued "$fast/"
	[ -z "$fast" ] ||
		subject 'submit, on tmpfs' POLLUX_DIR="$fast/queued" "$pollux" submit -q -- true
}

# --- the others ---

subjects_of_sqlite() {
	# On one line: a subject is a line.
	insert="INSERT INTO jobs (state, name, argv, env)"
	insert="$insert VALUES ('queued', 'true', x'00', zeroblob(999))"
	sqlite3 bare.db 'PRAGMA journal_mode = WAL; CREATE TABLE jobs (id INTEGER PRIMARY KEY,
		state TEXT, name TEXT, argv BLOB, env BLOB)' >/dev/null
	subject 'sqlite3, list' sqlite3 "$tmp/mixed/pollux.db" \
		'SELECT id, name, state, runs, run_time_s, samples, batch_size, reason FROM jobs'
	subject 'sqlite3, submit' sqlite3 "$tmp/bare.db" "PRAGMA synchronous = FULL; $insert"
	subject 'sqlite3, submit, unsynced' sqlite3 "$tmp/bare.db" \
		"PRAGMA synchronous = OFF; $insert"
}

block() { # block NAME COMMAND...: a first job that does not end, by COMMAND sh -c ...
	name=$1
	shift
	# shellcheck disable=SC2016  # expanded by that sh
	"$@" sh -c 'echo $$ >"$0" && exec sleep 100000' "$tmp/$name.pid" >/dev/null
}

# A job that waits is a connection, of which task-spooler takes 1,000: the first
# tenth of its list has ended.
subjects_of_tsp() {
	have tsp task-spooler || return 0
	# shellcheck disable=SC3045  # dash has it
	ulimit -n 4096 2>/dev/null || :
	export TS_SOCKET="$tmp/ts" TS_MAXCONN=1000 TS_MAXFINISHED="$jobs"
	ended=$((jobs / 10))
	repeat $ended tsp -n true
	tsp -w
	block ts tsp
	repeat $((jobs - ended - 1)) tsp true
	subject 'tsp, list' TS_SOCKET="$tmp/ts" tsp
	TS_SOCKET=$tmp/ts2	# the first is about full
	block ts2 tsp
	subject 'tsp, submit' TS_SOCKET="$tmp/ts2" tsp true
}

# nq has no list; fq shows what was queued, and ls the names of the files.
subjects_of_nq() {
	have nq nq || return 0
	export NQDIR="$tmp/nq-list"
	repeat "$jobs" nq -q true
	NQDIR=$tmp/nq-queue
	block nq nq -q
	subject 'nq, list' NQDIR="$tmp/nq-list" fq -a -n -q
	subject 'nq, ls' ls "$tmp/nq-list"
	subject 'nq, submit' NQDIR="$tmp/nq-queue" nq -q true
}

# --- the report ---

report() {
	awk -F '\t' '
	{
		name[++n] = $1
		median[$1] = $2
		least[$1] = $3
		greatest[$1] = $4
	}
	function ratio(a, b) {
		if (b in median)
			printf "  %6.2f (%.2f)", median[a] / median[b], least[a] / least[b]
		else
			printf "  %13s", "-"
	}
	function verdict(a, limit, what) {
		if (a in median)
			printf "%s  %-17s %5.2f ms; wanted: %5.2f ms, %s\n",
				median[a] <= limit ? "met   " : "MISSED", a, median[a], limit, what
	}
	function no_slower(a, b) {
		if (b in median)
			verdict(a, median[b], "as fast as " b)
	}
	END {
		printf "%-25s %7s %7s %7s   ratio of medians (of minima) to\n", "",
			"median", "min", "max"
		printf "%-25s %7s %7s %7s  %13s %13s %13s\n", "", "ms", "ms", "ms",
			"tsp", "nq", "sqlite3"
		for (i = 1; i <= n; i++) {
			a = name[i]
			printf "%-25s %7.2f %7.2f %7.2f", a, median[a], least[a], greatest[a]
			what = a ~ /^submit/ ? "submit" : a ~ /^(status|pass),/ ? "list" : ""
			if (what) {
				ratio(a, "tsp, " what)
				ratio(a, "nq, " what)
				ratio(a, "sqlite3, " what)
			}
			print ""
		}
		print ""
		for (i = 1; i <= n; i++)
			if (name[i] ~ /^(status|pass),/) {
				verdict(name[i], 10, "on its own")
				no_slower(name[i], "tsp, list")
				no_slower(name[i], "nq, list")
			}
		if ("nq, submit" in median) {
			verdict("submit", 2 * median["nq, submit"], "twice nq, submit")
			verdict("submit, on tmpfs", 2 * median["nq, submit"],
				"the same, were syncing free")
		}
	}'
}

command -v sqlite3 >/dev/null 2>&1 || { echo 'cli.sh: SKIPPED: there is no sqlite3' >&2; exit 0; }
make_stores
for kind in empty finished held unfit after behind; do pass "$kind"; done
{
	subject 'a process (true)' true
	subject 'pollux --version' "$pollux" --version
	subjects_of_pollux
	subjects_of_sqlite
	subjects_of_tsp
	subjects_of_nq
} >subjects.tsv

filesystem=$(df --output=fstype,source . | tail -n 1)
load=$(cut -d ' ' -f 1-3 /proc/loadavg)
cat <<END
$jobs jobs, $rounds rounds in turn, on $filesystem, $(nproc) processors, load $load

status, pass    with jobs that
  empty           are none
  finished        have all ended, within the last day
  held            are all held
  unfit           are queued and ask for more devices than there are
  after           are queued, each after two others, the first of which is held
  behind          are queued behind two that run
  mixed           are of all these kinds
submit          to the $jobs queued ones; on disk when it returns (fsync)
tsp, nq         sync nothing. Submit: to a queue whose first job goes on. List: 'tsp' with
                $jobs jobs, most of them queued; 'fq -a -n -q', the command lines of $jobs
                jobs of nq; and 'ls' of nq's directory: names, of no job a state or a command
sqlite3         list: eight columns of mixed. Submit: an insert of 1 kB, synchronous = FULL

END
"$driver" "$rounds" subjects.tsv >times.tsv
report <times.tsv
