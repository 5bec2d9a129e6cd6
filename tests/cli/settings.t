#!/bin/sh
# settings.t - what is no configuration, no store or no /proc is said in one line, without a hang.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS
one_line() { # one_line NAME: what was printed on standard error is one line
	is "$1 in one line" 1 "$(printf '%s\n' "$err" | wc -l)"
}

# --- the configuration ---
"$POLLUX" submit -q --hold true >/dev/null
config=$POLLUX_DIR/config
mkfifo "$config"
status 'a FIFO as configuration' 78 timeout 60 "$POLLUX" schedule
is 'is named' "pollux: cannot read '$config': it is a FIFO" "$err"
rm "$config"
mkdir "$config"
status 'a directory as configuration' 78 "$POLLUX" schedule
is 'is named' "pollux: cannot read '$config': it is a directory" "$err"
rmdir "$config"
# --- the engine, which passes of --watch read each time ---
cleanup() { [ -z "${watcher-}" ] || kill -9 "$watcher" 2>/dev/null; }
"$POLLUX" submit -q --begin +1h true >/dev/null
echo 'engine = local' >"$config"
env PATH="$TMP" "$POLLUX" schedule --watch 0.2 2>watched &
watcher=$!
passes() { [ "$(store 'SELECT count(*) FROM settings WHERE name = "POLLUX_POLICY"')" = 1 ]; }
ok 'a pass of --watch on this machine' wait_for 10 passes
echo 'engine = slurm' >"$config"
ok 'asks Slurm once the file says so' wait_for 10 grep -q scontrol watched
end "$watcher" INT 2>/dev/null
watcher=
rm "$config"

told() { # told PATTERN: submit and status tell, and go on
	status 'submit goes on' 0 "$POLLUX" submit -q --hold true
	like 'and says so' "^pollux: warning: $1; no job is started until that is mended\$" "$err"
	one_line 'submit says so'
	status 'status goes on' 0 "$POLLUX" status
	like 'and says so' "^pollux: warning: $1; no job is started until that is mended\$" "$err"
	one_line 'status says so'
}
echo 'slise = 3' >"$config"
told "unknown setting 'slise' in '$config' line 1; did you mean 'slice'\\?"
printf '\npolicy = foo\n' >"$config"
foo="bad setting 'policy' in '$config' line 2: 'foo' is not one of goodput pollux las fifo"
told "$foo"
for command in schedule devices 'explain 1' 'profile true'; do
	# shellcheck disable=SC2086  # two words
	status "$command is refused" 78 "$POLLUX" $command
	is 'by file, line and choices' "pollux: $foo" "$(printf '%s\n' "$err" | tail -n 1)"
done
rm "$config"

# --- slots without sense ---
cores=$(getconf _NPROCESSORS_ONLN)
many=$((cores * 10)) warning="^pollux: warning: $((cores * 10)) slots on $cores processor cores?:"
status 'ten slots for each core' 0 "$POLLUX" schedule --slots "$many"
like 'are warned of' "$warning" "$err"
status 'one slot for each core' 0 "$POLLUX" schedule --slots "$cores"
is 'is not' '' "$err"
echo "slots = $many" >"$config"
status 'in the configuration' 0 "$POLLUX" submit -q --hold true
like 'submit warns' "$warning" "$err"
status 'a pass of cron does not' 0 "$POLLUX" schedule
is 'each minute' '' "$err"
rm "$config"

# --- names ---
name=$(head -c 100000 /dev/zero | tr '\0' a)
status 'a name of 100000 characters' 64 "$POLLUX" submit -n "$name" true
is 'is refused in one line' "pollux: option '--name' has 100000 bytes, more than 255; see \
'pollux submit --help'" "$err"
status 'one of 255' 0 "$POLLUX" submit -q --hold -n "$(printf %.255s "$name")" true

# --- no store ---
for command in schedule status 'log 1' 'submit true'; do
	# shellcheck disable=SC2086  # two words
	run env POLLUX_DIR=/etc/passwd "$POLLUX" $command
	ok "$command: a file in place of the store's directory is no success" [ "$rc" -ge 64 ]
	like 'and named' '/etc/passwd' "$err"
	one_line 'which it says'
done

# --- a lock that cannot be read ---
mkdir -p "$POLLUX_DIR/run"
ln -s nowhere "$POLLUX_DIR/run/device-cpu:0.lock"
like 'is not taken for that of an ended run' \
	'^cpu:0 .*perhaps somebody \(its lock cannot be read\)' "$("$POLLUX" devices)"
rm "$POLLUX_DIR/run/device-cpu:0.lock"

# --- no /proc ---
# Sanitizers need /proc themselves; `make quick` runs this test without them.
if [ -z "${ASAN_OPTIONS:-}" ] && unshare --mount mount -t tmpfs none /proc 2>/dev/null; then
	# shellcheck disable=SC2016  # for the inner shell
	status 'a pass without /proc' 72 unshare --mount sh -c 'mount -t tmpfs none /proc &&
		exec timeout 60 "$POLLUX" schedule'
	like 'says so' "^pollux: cannot use '/proc/self/exe': .*; pollux needs /proc\$" "$err"
	one_line 'which it says'
fi

# --- a store that one may not read ---
drop='setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs'
if [ "$(id -u)" = 0 ] && $drop test -x "$POLLUX" 2>/dev/null; then
	chmod 755 "$TMP"
	chmod 700 "$POLLUX_DIR"
	for command in status 'log 1' 'wait 1'; do
		# shellcheck disable=SC2086  # words
		status "$command of a store that one may not read" 77 $drop "$POLLUX" $command
		like 'says so' "^pollux: cannot look for the store '.*': Permission denied\$" "$err"
		is 'and nothing else' '' "$out"
	done
	# shellcheck disable=SC2086  # words
	status 'a pass of such a store' 77 env -u POLLUX_DIR XDG_CONFIG_HOME=/etc \
		XDG_STATE_HOME="$POLLUX_DIR" $drop "$POLLUX" schedule
	like 'says so' "^pollux: cannot look for the store '.*': Permission denied\$" "$err"
	chmod 755 "$POLLUX_DIR"
	chmod 600 "$POLLUX_DIR/pollux.db"
	# shellcheck disable=SC2086  # words
	status 'status of a file that one may not read' 77 $drop "$POLLUX" status
	like 'says so' "^pollux: cannot read the store '.*': Permission denied\$" "$err"
	chmod 700 "$POLLUX_DIR"
fi
finish
