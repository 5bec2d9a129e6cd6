# tap.sh - TAP helpers for the command-line tests. A test begins with
#
#	#!/bin/sh
#	. "$(dirname "$0")/tap.sh"
#
# and ends with `finish`. It then runs in a new, empty directory $TMP with a
# store of its own ($POLLUX_DIR), both removed when it ends. make(1) sets POLLUX
# and TRAIN; the data set is in $FASHION_MNIST. tests/fault/ sources it as ../cli/tap.sh.
#
# Nothing may depend on how fast the machine is. A limit in seconds says how long
# something takes on a quiet machine; TIME_SCALE (10; more under sanitizers)
# multiplies every limit. What a test does, its samples
# and steps, is never scaled.
# shellcheck shell=sh
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
: "${POLLUX:=$ROOT/build/pollux}" "${TRAIN:=$ROOT/build/examples/train}" "${TIME_SCALE:=10}"
: "${FASHION_MNIST:=/usr/share/datasets/fashion-mnist}"
TMP=$(mktemp -d "${TMPDIR:-/tmp}/pollux-test.XXXXXX")
POLLUX_DIR=$TMP/store
NO_COLOR=1
LC_ALL=C
SHELL=/bin/sh	# of script(1), which takes the user's
REPORTER=$ROOT/tests/cli/reporter.pl
POLLUX_NVML=none	# the same devices on every machine; tests/cli/gpu.t has others
POLLUX_SHARED_DIR=no	# people.t has one
POLLUX_SUBMIT_PASS=no	# tests decide when passes come; at_once.t has the default
export POLLUX REPORTER TRAIN FASHION_MNIST POLLUX_DIR NO_COLOR LC_ALL SHELL POLLUX_NVML \
	POLLUX_SUBMIT_PASS POLLUX_SHARED_DIR
unset XDG_STATE_HOME XDG_CONFIG_HOME
# Credentials of who runs the tests, of which commands tell.
for name in $(env | sed -n 's/^\([A-Za-z0-9_]*\)=.*/\1/p' | grep -v '^GIT_' |
	grep -iE 'key|token|secret|passw|credential'); do
	unset "$name"
done
exec </dev/null	# so that a pass of a test is one of cron's, not one that a person types
# The processes of a run, as SQL: what its handle says (src/engine/local/local.h).
# shellcheck disable=SC2034 # tests use it
supervisor_pid="CAST(substr(handle, nullif(instr(handle, ' supervisor='), 0) + 12) AS INTEGER)"
# shellcheck disable=SC2034
leader_pid="CAST(substr(handle, nullif(instr(handle, ' leader='), 0) + 8) AS INTEGER)"
# shellcheck disable=SC2034
guardian_pid="CAST(substr(handle, nullif(instr(handle, ' guardian='), 0) + 10) AS INTEGER)"
sqlite3() { command sqlite3 -cmd '.timeout 120000' "$@"; }
store() { sqlite3 "$POLLUX_DIR/pollux.db" "$@"; }
. "$ROOT/tests/cli/given.sh"
# Takes the store's write lock, as a test of its own. What waits for the lock can be looked at until
# let_store_go.
hold_store() {
	rm -f hold held
	mkfifo hold
	command sqlite3 -cmd '.timeout 120000' "$POLLUX_DIR/pollux.db" >held <hold &
	holder=$!
	exec 3>hold
	echo "BEGIN IMMEDIATE; SELECT 'held';" >&3
	ok 'the store is locked' wait_for 20 [ -s held ]
}
let_store_go() { # let_store_go SQL: after the last of it, ROLLBACK or COMMIT
	echo "$1;" >&3
	exec 3>&-
	wait "$holder"
}
has_schedule_lock() { # has_schedule_lock PID: and its number stands in it
	find "/proc/$1/fd" -lname '*/schedule.lock' 2>/dev/null | grep -q . &&
		grep -aq "^$1 " "$POLLUX_DIR/schedule.lock"
}
# A pass that sees what was written before: that of an earlier run's end may be at work, begun too
# early, and then another one does nothing.
pass() {
	while answer=$("$POLLUX" schedule -v) || return; do
		[ "$answer" = 'another pass is at work' ] || return 0
		sleep 0.1
	done
}
# json CODE: run Perl on the document $d read from stdin; dies, and fails, unless it is valid.
json() { perl -MJSON::PP -0777 -ne 'my $d = JSON::PP->new->utf8->decode($_); '"$1"; }
holds() { [ "$(store "SELECT $1")" = 1 ]; } # holds EXPRESSION: of SQL, about the store
# Passes in the background; `cleanup` calls end_passes.
watcher=
watch_passes() { # watch_passes SECONDS [OPTION...]
	"$POLLUX" schedule --watch "$@" >passes.out 2>passes.err &
	watcher=$!
}
end_passes() {
	[ -z "$watcher" ] || end "$watcher" || :
	watcher=
}
# Makes kinds/, profiles as in DIR but of two kinds of GPU: on `fast` all takes a third.
profiles_of_kinds() { # profiles_of_kinds DIR
	mkdir kinds
	for app in "$1"/*; do
		profile=kinds/${app##*/}
		mkdir "$profile"
		cp "$app"/validation-*.csv "$profile"
		cp "$app/placements.csv" "$profile/placements-slow.csv"
		# shellcheck disable=SC2016 # Perl
		perl -F, -lane 'print join ",", map { $_ + 0 eq $_ && /\./ ? $_ / 3 : $_ } @F' \
			"$app/placements.csv" >"$profile/placements-fast.csv"
	done
}
end_jobs() { # all of the store: for `cleanup`
	for id in $(store "SELECT id FROM jobs WHERE state IN ('queued', 'running')" \
		2>/dev/null); do
		"$POLLUX" cancel "$id" 2>/dev/null && "$POLLUX" wait --timeout 200 "$id" 2>/dev/null
	done
}
# Supervisors, and the passes that they end with, are known by their environment. `near` adds
# processes that are just becoming another program: for a moment such a process has no environment,
# and may be a supervisor. `all` looks for those of every store of the test.
pollux_program=$(readlink -f "$POLLUX") # also where POLLUX becomes a script that runs it
supervisors_alive() { # supervisors_alive [near|all]
	perl -e 'my ($pollux, $dir, $tmp, $mode) = @ARGV;
		my $near = $mode eq "near";
		my $stores = $mode eq "all" ? qr,\Q$tmp\E/[^\0]*, : qr/\Q$dir\E/;
		sub content { open(my $file, "<", shift) or return "?"; local $/;
			return <$file> // "" }
		for (grep { (readlink "$_/exe" // "") eq $pollux } glob "/proc/[0-9]*") {
			my ($command, $environment) = (content("$_/cmdline"),
				content("$_/environ"));
			my $ours = $environment =~ /(^|\0)POLLUX_DIR=$stores\0/ &&
				$command =~ /\0(supervise|schedule)\0/;
			my $unsure = $near && ($command eq "" || $environment eq "") &&
				readlink "$_/exe";
			print "$1\n" if ($ours || $unsure) && m,(\d+),;
		}' "$pollux_program" "$POLLUX_DIR" "$TMP" "${1-}"
}
no_supervisor() { alive=$(supervisors_alive near) && [ -z "$alive" ]; }
test_left_nothing() { no_supervisor && [ -z "$(supervisors_alive all)" ]; }
# What a test left is shown and killed, and fails the test.
end_leftovers() {
	wait_for 5 test_left_nothing 2>/dev/null && return
	left=$(supervisors_alive all)
	[ -n "$left" ] || return 0
	echo '# processes are left:'
	# shellcheck disable=SC2086 # pids
	ps -o pid,ppid,stat,wchan:20,args $left 2>&1 | sed 's/^/# /'
	# shellcheck disable=SC2086
	kill -9 $left 2>/dev/null
	return 1
}
# A test may define its own `cleanup`, to end what it started.
cleanup() { :; }
tap_exit() { # tap_exit STATUS
	tap_rc=$1
	cleanup
	end_leftovers || tap_rc=1
	cd / && rm -rf "$TMP"
	exit "$tap_rc"
}
trap 'tap_exit $?' EXIT
trap 'exit 1' HUP INT TERM
cd "$TMP" || exit 1

n=0
tap_failed=0

result() { # result PASS NAME [DIAGNOSTIC]: PASS is an exit status
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ -z "${3-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
		tap_failed=1
	fi
}

is() { # is NAME WANT GOT
	if [ "$2" = "$3" ]; then result 0 "$1"; else result 1 "$1" "want '$2'
got  '$3'"; fi
}

ok() { # ok NAME COMMAND...: the command succeeds
	name=$1
	shift
	if diagnostic=$("$@" 2>&1); then result 0 "$name"
	else result 1 "$name" "want success, got status $? of: $*${diagnostic:+
$diagnostic}"; fi
}

like() { # like NAME PATTERN TEXT: an extended regular expression matches a line
	if printf '%s\n' "$3" | grep -Eq -e "$2"; then result 0 "$1"
	else result 1 "$1" "no line like '$2' in
$3"; fi
}

unlike() { # unlike NAME PATTERN TEXT
	if printf '%s\n' "$3" | grep -Eq -e "$2"; then result 1 "$1" "a line like '$2' in
$3"
	else result 0 "$1"; fi
}

status() { # status NAME WANT COMMAND...: exit status; output in $out and $err
	name=$1 want=$2
	shift 2
	run "$@"
	if [ "$rc" = "$want" ]; then result 0 "$name"
	else result 1 "$name" "want status $want, got $rc of: $*
$(printf %s "$out" | head -n 20)
$err"; fi
}

run() { # run COMMAND...: sets $rc, $out and $err
	rc=0
	"$@" >"$TMP/.out" 2>"$TMP/.err" || rc=$?
	out='' err=''
	# shellcheck disable=SC2034  # for the tests
	[ ! -s "$TMP/.out" ] || out=$(cat "$TMP/.out")
	# shellcheck disable=SC2034
	[ ! -s "$TMP/.err" ] || err=$(cat "$TMP/.err")
}

# Kills the processes, and waits until they are gone: then a pass finds their locks free.
kill_now() { # kill_now PID...
	kill -9 "$@" 2>/dev/null
	for tap_pid; do
		wait_for 20 eval "! grep -qs '^State:.*[^ZX] (' /proc/$tap_pid/status"
	done
}

# Repeats a command until it succeeds. When the time is over it fails, and shows the last try step
# by step. The tries become rarer, or on a busy machine they would keep it busy; for the same reason
# only each fifth one looks at the clock.
wait_for() { # wait_for SECONDS COMMAND...
	limit='' seconds=$1 tries=0
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		: "${limit:=$(($(date +%s) + seconds * TIME_SCALE))}"
		if [ $((tries % 5)) = 0 ] && [ "$(date +%s)" -gt "$limit" ]; then
			echo "not within $seconds s * $TIME_SCALE: $*" >&2
			(set -x; "$@") 2>&1 | tail -n 20 >&2
			return 1
		fi
		case $tries in
		[1-4]) sleep 0.05 ;;
		[5-9]) sleep 0.1 ;;
		*) sleep 0.2 ;;
		esac
	done
}

# Ends a process of this test's in the background; returns its exit status. The leak check of a
# sanitized program attaches to it from a child. Where a SIGCONT comes meanwhile, as timeout(1)
# sends after SIGTERM, both wait for ever: what does not end is shown and killed.
end() { # end PID [SIGNAL]
	kill "-${2-TERM}" "$1"
	if ! wait_for 20 is_over "$1"; then
		ps -o pid,ppid,stat,wchan:20,args -p "$1" --ppid "$1" 2>&1 | sed 's/^/# /'
		# shellcheck disable=SC2046 # pids
		kill -9 $(ps -o pid= --ppid "$1") "$1" 2>/dev/null
	fi
	wait "$1"
}
is_over() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; } # is_over PID

skip_all() { # skip_all WHY
	echo "1..0 # SKIP $1"
	exit 0
}

finish() {
	echo "1..$n"
	exit "$tap_failed"
}
