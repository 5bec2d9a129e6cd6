#!/bin/sh
# stopped-opener.t - a process that is stopped while it opens the store, or writes, keeps all others
# from the store. They say which process it is, and what to do.
# shellcheck disable=SC2317  # functions run by wait_for
. "$(dirname "$0")/../cli/tap.sh"
POLLUX_SLOTS=1
export POLLUX_SLOTS
[ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || skip_all 'another struct flock'
cleanup() { [ -z "${stopped-}" ] || kill -9 "$stopped" 2>/dev/null; }

# Takes a write lock on a byte of a file, as SQLite does, and stops itself.
cat >take <<'END'
use Fcntl;
my ($file, $byte) = @ARGV;
open(my $f, "+<", $file) or die;
fcntl($f, F_SETLK, pack("ssx4qqix4", F_WRLCK, 0, $byte, 1, 0)) or die "taken: $!";
kill STOP => $$;
sleep 1000;
END
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
"$POLLUX" submit -q --hold -- true >/dev/null

refused() { # refused NAME COMMAND...: in the background, as each waits for ten seconds
	file=$1
	shift
	rc=0
	"$POLLUX" "$@" >/dev/null 2>"$file.err" || rc=$?
	echo $rc >"$file.rc"
}
take_and_refuse() { # take_and_refuse FILE BYTE WHERE
	: >>"$1" # who opens the store first makes it
	perl take "$1" "$2" &
	stopped=$!
	ok "a process is stopped $3" wait_for 20 is_stopped "$stopped"
	refused schedule schedule &
	first=$!
	refused status status &
	second=$!
	refused submit submit -q --hold -- true
	wait "$first" "$second"
	for command in schedule status submit; do
		is "$command is refused" 75 "$(cat $command.rc)"
		like "$command says which process is stopped" \
			"locked, by process $stopped \\(perl\\), which is stopped: \
'kill -CONT $stopped' " \
			"$(cat $command.err)"
	done
	kill -9 "$stopped"
	wait "$stopped" 2>/dev/null
	status 'submit succeeds when the stopped process is gone' \
		0 "$POLLUX" submit -q --hold -- true
}
take_and_refuse "$POLLUX_DIR/pollux.db-shm" 128 'while it opens the store'
take_and_refuse "$POLLUX_DIR/pollux.db" 1073741824 'before it reads'
is 'no job was lost, and none added' '1 2 3' "$(store 'SELECT id FROM jobs' | xargs)"
finish
