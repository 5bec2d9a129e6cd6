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
status 'a FIFO as configuration is a configuration error' 78 timeout 60 "$POLLUX" schedule
is 'a FIFO as configuration is named' "pollux: cannot read '$config': it is a FIFO" "$err"
rm "$config"
mkdir "$config"
status 'a directory as configuration is a configuration error' 78 "$POLLUX" schedule
is 'a directory as configuration is named' "pollux: cannot read '$config': it is a directory" "$err"
rmdir "$config"
# --- the engine, which passes of --watch read each time ---
cleanup() { [ -z "${watcher-}" ] || kill -9 "$watcher" 2>/dev/null; }
"$POLLUX" submit -q --begin +1h true >/dev/null
echo 'engine = local' >"$config"
env PATH="$TMP" "$POLLUX" schedule --watch 0.2 2>watched &
watcher=$!
passes() { [ "$(store 'SELECT count(*) FROM settings WHERE name = "POLLUX_POLICY"')" = 1 ]; }
ok 'a pass of --watch runs on this machine' wait_for 10 passes
echo 'engine = slurm' >"$config"
ok '--watch asks Slurm once the file says so' wait_for 10 grep -q scontrol watched
end "$watcher" INT 2>/dev/null
watcher=
rm "$config"

told() { # told PATTERN: submit and status tell, and go on
	status 'submit goes on with wrong settings' 0 "$POLLUX" submit -q --hold true
	like 'submit warns of wrong settings' \
		"^pollux: warning: $1; no job is started until that is mended\$" "$err"
	one_line 'submit warns of wrong settings'
	status 'status goes on with wrong settings' 0 "$POLLUX" status
	like 'status warns of wrong settings' \
		"^pollux: warning: $1; no job is started until that is mended\$" "$err"
	one_line 'status warns of wrong settings'
}
echo 'slise = 3' >"$config"
told "unknown setting 'slise' in '$config' line 1; did you mean 'slice'\\?"
printf '\npolicy = foo\n' >"$config"
foo="bad setting 'policy' in '$config' line 2: 'foo' is not one of goodput pollux las fifo"
told "$foo"
for command in schedule devices 'explain 1' 'profile true'; do
	# shellcheck disable=SC2086  # two words
	status "$command refuses wrong settings" 78 "$POLLUX" $command
	is "$command names file, line and choices" \
		"pollux: $foo" "$(printf '%s\n' "$err" | tail -n 1)"
done
rm "$config"

# --- slots without sense ---
cores=$(getconf _NPROCESSORS_ONLN)
many=$((cores * 10)) warning="^pollux: warning: $((cores * 10)) slots on $cores processor cores?:"
status 'a pass accepts ten slots for each core' 0 "$POLLUX" schedule --slots "$many"
like 'a pass warns of ten slots for each core' "$warning" "$err"
status 'a pass accepts one slot for each core' 0 "$POLLUX" schedule --slots "$cores"
is 'a pass does not warn of one slot for each core' '' "$err"
echo "slots = $many" >"$config"
status 'submit accepts ten configured slots for each core' 0 "$POLLUX" submit -q --hold true
like 'submit warns of ten configured slots for each core' "$warning" "$err"
status 'a pass of cron accepts ten configured slots for each core' 0 "$POLLUX" schedule
is 'a pass of cron does not warn of slots each minute' '' "$err"
rm "$config"

# --- names ---
name=$(head -c 100000 /dev/zero | tr '\0' a)
status 'a name of 100000 characters is refused' 64 "$POLLUX" submit -n "$name" true
is 'the refusal of the long name is one line' \
	"pollux: option '--name' has 100000 bytes, more than 255; see \
'pollux submit --help'" "$err"
status 'a name of 255 characters is accepted' \
	0 "$POLLUX" submit -q --hold -n "$(printf %.255s "$name")" true

# --- no store ---
for command in schedule status 'log 1' 'submit true'; do
	# shellcheck disable=SC2086  # two words
	run env POLLUX_DIR=/etc/passwd "$POLLUX" $command
	ok "$command fails with a file in place of the store's directory" [ "$rc" -ge 64 ]
	like "$command names the file in place of the directory" '/etc/passwd' "$err"
	one_line "$command tells the file in place of the directory"
done

# --- a lock that cannot be read ---
mkdir -p "$POLLUX_DIR/run"
ln -s nowhere "$POLLUX_DIR/run/device-cpu:0.lock"
like "a lock that cannot be read is not taken for an ended run's" \
	'^cpu:0 .*perhaps somebody \(its lock cannot be read\)' "$("$POLLUX" devices)"
rm "$POLLUX_DIR/run/device-cpu:0.lock"

# --- no /proc ---
# Sanitizers need /proc themselves; `make quick` runs this test without them.
if [ -z "${ASAN_OPTIONS:-}" ] && unshare --mount mount -t tmpfs none /proc 2>/dev/null; then
	# shellcheck disable=SC2016  # for the inner shell
	status 'a pass without /proc fails' 72 unshare --mount sh -c 'mount -t tmpfs none /proc &&
		exec timeout 60 "$POLLUX" schedule'
	like 'a pass without /proc says that it needs it' \
		"^pollux: cannot use '/proc/self/exe': .*; pollux needs /proc\$" "$err"
	one_line 'a pass tells the missing /proc'
fi

# --- a store that one may not read ---
drop='setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs'
if [ "$(id -u)" = 0 ] && $drop test -x "$POLLUX" 2>/dev/null; then
	chmod 755 "$TMP"
	chmod 700 "$POLLUX_DIR"
	for command in status 'log 1' 'wait 1'; do
		# shellcheck disable=SC2086  # words
		status "$command may not read the store of another user" 77 $drop "$POLLUX" $command
		like "$command says that it may not read the store" \
			"^pollux: cannot look for the store '.*': Permission denied\$" "$err"
		is "$command prints nothing of the store" '' "$out"
	done
	# shellcheck disable=SC2086  # words
	status 'a pass may not read the store of another user' \
		77 env -u POLLUX_DIR XDG_CONFIG_HOME=/etc \
		XDG_STATE_HOME="$POLLUX_DIR" $drop "$POLLUX" schedule
	like 'a pass says that it may not read the store' \
		"^pollux: cannot look for the store '.*': Permission denied\$" "$err"
	chmod 755 "$POLLUX_DIR"
	chmod 600 "$POLLUX_DIR/pollux.db"
	# shellcheck disable=SC2086  # words
	status 'status may not read a file of another user' 77 $drop "$POLLUX" status
	like 'status says that it may not read the file' \
		"^pollux: cannot read the store '.*': Permission denied\$" "$err"
	chmod 700 "$POLLUX_DIR"
fi
finish
