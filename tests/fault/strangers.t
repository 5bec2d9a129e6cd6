#!/bin/sh
# strangers.t - what other users, and root, can and cannot do to a user's pollux: root leaves no
# file in another's store; a name that is taken, a link or a FIFO silences nobody and is not written
# through. Each user has a uid of their own: only for root.
# shellcheck disable=SC2015,SC2016,SC2317 # ok in chains; texts for others; functions by name
. "$(dirname "$0")/../cli/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
[ "$(id -u)" = 0 ] || skip_all 'only root can be several people'
chmod 755 "$TMP"
as_user() { # as_user UID COMMAND...
	uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups env POLLUX_DIR="$TMP/home-$uid/store" \
		HOME="$TMP/home-$uid" "$@"
}
as_user 70011 "$POLLUX" --version >/dev/null 2>&1 ||
	skip_all 'other users may not execute the program, or there is no setpriv'
for uid in 70011 70012 70013; do
	install -d -m 755 -o "$uid" -g "$uid" "home-$uid"
done
THEIRS=$TMP/home-70011/store

# --- root in another user's store ----------------------------------------------------------------

as_user 70011 "$POLLUX" submit -q --hold true >/dev/null
by_root() { # what root's command leaves in the store
	POLLUX_DIR=$THEIRS timeout $((10 * TIME_SCALE)) "$POLLUX" "$@" >out 2>&1 </dev/null
	find "$THEIRS" ! -user 70011 -printf '%f '
}
left=
while read -r command; do
	# shellcheck disable=SC2086 # words
	left="$left$(by_root $command)"
done <<LIST
schedule
schedule --dry-run
supervise 1
status
status 1
doctor
doctor --repair
cancel 1
hold 1
release 1
requeue 1
edit --name other 1
first 1
again 1
submit true
run true
prune --all
devices
explain 1
results
history
page
cron
log 1
wait --timeout 1s 1
backup $TMP/copy.db
LIST
is 'no command of root leaves a file of root' '' "$left"
by_root schedule >/dev/null
like 'a pass of root is refused' 'belongs to another user; set POLLUX_DIR' "$(cat out)"
ok "the user can cancel a job after root's commands" as_user 70011 "$POLLUX" cancel 1

# --- a store that lacks columns ------------------------------------------------------------------

"$POLLUX" submit -q --hold true >/dev/null
"$POLLUX" submit -q --hold true >/dev/null
chmod 640 "$POLLUX_DIR/pollux.db"
store 'ALTER TABLE jobs DROP COLUMN weight; ALTER TABLE runs DROP COLUMN outcome; DROP TABLE events'
like 'doctor finds the columns that the store lacks' \
	"DAMAGED.* the store has no 'events', and more" "$("$POLLUX" doctor)"
"$POLLUX" doctor --repair >out
is 'repair keeps the jobs' 2 "$("$POLLUX" status --json | json 'print scalar @{$d->{jobs}}')"
is 'repair keeps the mode of the store' 640 "$(stat -c %a "$POLLUX_DIR/pollux.db")"
unlike 'doctor finds no damage after the repair' DAMAGED "$("$POLLUX" doctor)"
while read -r sql; do
	store "$sql"
	like "doctor finds: $sql" 'DAMAGED' "$("$POLLUX" doctor)"
	"$POLLUX" doctor --repair >out
	unlike "repair mends: $sql" 'DAMAGED' "$("$POLLUX" doctor)"
	ok "a job can be submitted after: $sql" "$POLLUX" submit -q --hold true
done <<LIST
CREATE TRIGGER other BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'no'); END;
CREATE UNIQUE INDEX other ON jobs (state, min_replicas) WHERE id > 1000;
CREATE TABLE e AS SELECT * FROM events; DROP TABLE events; ALTER TABLE e RENAME TO events;
PRAGMA user_version = 30;
LIST
store 'CREATE TABLE other (x NOT NULL); ALTER TABLE jobs ADD COLUMN other TEXT'
unlike 'doctor takes a harmless table and column for no damage' DAMAGED "$("$POLLUX" doctor)"

# --- names in the shared directory ---------------------------------------------------------------

install -d -m 1777 shared
POLLUX_SHARED_DIR=$TMP/shared POLLUX_SLOTS=2 POLLUX_POLICY=las POLLUX_SLICE=1000
export POLLUX_SHARED_DIR POLLUX_SLOTS POLLUX_POLICY POLLUX_SLICE
own=user-70011-$(printf '%x-%x' "$(stat -c %d "$THEIRS")" "$(stat -c %i "$THEIRS")")
tells() { # the user's pass tells what it wants, under some name, to the others
	as_user 70011 "$POLLUX" schedule
	find shared -user 70011 -name "$own*" -type f -size +0 | grep -q .
}
as_user 70011 "$POLLUX" submit -q --replicas 2 -- sleep 1000 >/dev/null
ok 'a file tells what the user wants' tells
is "the file has the name of the user's store" \
	"$own" "$(find shared -user 70011 -name 'user-*' -printf %f)"
for thing in 'touch' 'mkdir' 'mkfifo' 'ln -s /etc/passwd' 'ln -s nowhere'; do
	find shared -mindepth 1 -delete
	# shellcheck disable=SC2086 # words
	as_user 70012 $thing "shared/$own"
	# shellcheck disable=SC2086
	as_user 70012 $thing "shared/.$own"
	ok "somebody's '$thing' under that name does not silence the user" tells
	like "doctor counts the '$thing', and says whose it is" \
		'has [12] files? that do(es)? not belong there, .*of ' \
		"$(as_user 70011 "$POLLUX" doctor)"
	as_user 70011 "$POLLUX" schedule
	is "one file of the user is left beside '$thing'" 1 \
		"$(find shared -user 70011 -name '*user-*' | wc -l)"
done
as_user 70013 "$POLLUX" submit -q --hold true >/dev/null
like 'other users hear of the user' 'user 70011 has 2' "$(as_user 70013 "$POLLUX" status)"
as_user 70011 "$POLLUX" cancel 2
is_told() {
	as_user 70011 "$POLLUX" schedule
	! find shared -user 70011 -name 'user-*' | grep -q .
}
ok 'a user who wants nothing more leaves no file' wait_for 20 is_told
find shared -mindepth 1 -delete
(umask 077 && as_user 70012 touch shared/device-cpu.lock)
like 'doctor says who keeps the lock from others' \
	"user 70012 made '.*device-cpu.lock' so that nobody else can lock it" \
	"$(as_user 70011 "$POLLUX" doctor)"
rm shared/device-cpu.lock
unset POLLUX_SHARED_DIR

# The default directory: only one that root, or the user, made there, and no link.
if unshare -m true 2>/dev/null; then
	run unshare -m --propagation private sh -c '
		mount -t tmpfs -o mode=1777,size=1m none /run/lock && cd /run/lock &&
		setpriv --reuid=70012 --regid=70012 --clear-groups ln -s /tmp pollux &&
		"$0" doctor | grep -A 1 people' "$POLLUX"
	like 'a link in place of the default directory is told' \
		"'/run/lock/pollux' is not used, as it is a symbolic link, made by user 70012" \
		"$out"
else
	skip 1 'no mount namespaces'
fi

# --- outputs -------------------------------------------------------------------------------------

install -d -m 1777 open
echo precious >target
chmod 666 target
chmod 777 .
as_user 70012 ln -s "$TMP/target" open/page.html
as_user 70012 ln -s "$TMP" open/directory
as_user 70012 mkfifo -m 666 open/fifo
writes() { timeout $((10 * TIME_SCALE)) "$POLLUX" "$@" >out 2>&1; }
for command in 'page -o' 'backup'; do
	for name in open/page.html open/directory/target open/directory/new open/fifo; do
		# shellcheck disable=SC2086 # words
		writes $command "$name"
		is "$command through ${name#open/} of another user is refused" 73 $?
	done
done
for mode in 755 777; do
	as_user 70012 mkdir -m $mode open/theirs-$mode
	as_user 70012 ln -s "$TMP/target" open/theirs-$mode/page.html
	writes page -o "$TMP/open/theirs-$mode/page.html"
	is "page through a link in their directory of mode $mode is refused" 73 $?
done
like "the message says that the link is another user's" \
	'another user' "$("$POLLUX" page -o open/page.html 2>&1)"
is 'the target of the link stays' precious "$(cat target)"
ln -s "$TMP/mine.html" open/mine.html
ok "page follows one's own link" "$POLLUX" page -o open/mine.html
ok "page writes to the target of one's own link" [ -s mine.html ]
ok "page follows one's own link in another directory" "$POLLUX" page -o "$TMP/open/mine.html"
chmod 755 .

# --- limits, and texts of others -----------------------------------------------------------------

run sh -c 'ulimit -f 10; exec "$0" submit -q --hold true' "$POLLUX"
is 'a file beyond ulimit -f is an input/output error' 74 "$rc"
like 'the message names ulimit -f' 'ulimit -f' "$err"
seq 200 | while read -r _; do "$POLLUX" submit -q --hold true; done >/dev/null
for command in 'page' 'status --all' 'status --json' 'history --json'; do
	# shellcheck disable=SC2086 # words
	"$POLLUX" $command >/dev/full 2>err
	like "$command on a full disk says why" 'No space left on device' "$(cat err)"
done
escape=$(printf 'e\033]0;owned\007')
for command in status 'status --all' doctor 'schedule --dry-run' devices results history; do
	mkdir -p "$TMP/$escape"
	# shellcheck disable=SC2086 # words
	POLLUX_DIR="$TMP/$escape/none" "$POLLUX" $command >out 2>&1
	unlike "$command prints no escape sequence of a path" "$(printf '\033')" "$(cat out)"
done
finish
