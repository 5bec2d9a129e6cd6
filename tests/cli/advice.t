#!/bin/sh
# advice.t - the commands that messages name for people to type, where the messages are or may be
# wrong: each is typed here, and nothing is harmed.
# shellcheck disable=SC2016,SC2317 # words for other shells; functions called by name
. "$(dirname "$0")/tap.sh"
cleanup() { end_jobs; }

mkdir bin
printf '#!/bin/sh\nexec "$POLLUX" "$@"\n' >bin/pollux
chmod +x bin/pollux
PATH=$TMP/bin:$PATH POLLUX_SLOTS=2
export PATH POLLUX_SLOTS
findings() { # findings SECTION text|mend
	"$POLLUX" doctor --json | json 'print "$_->{'"$2"'}\n"
		for grep { $_->{section} eq "'"$1"'" } @{$d->{findings}}'
}
typed() { # typed SECTION: each command that doctor names there
	findings "$1" mend | while IFS= read -r line; do sh -c "$line"; done >typed 2>&1
}
well() { [ -z "$(findings "$1" text)" ]; }
lives() { ! is_over "$1"; }
mode() { stat -c %a "$1"; }
owner() { stat -c %u "$1"; }

# --- files of jobs that the store does not have ---
saver() {
	"$POLLUX" submit -- sh -c 'echo precious >"$0/model"' '{checkpoint}' >/dev/null
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 600 "$1" >/dev/null 2>&1
	wait_for 5 no_supervisor
}
models() { cat "$POLLUX_DIR"/checkpoints/[0-9]*/model 2>/dev/null | wc -l; }
saver 1
"$POLLUX" backup copy
saver 2
saver 3
is 'three jobs save a model each' 3 "$(models)"
rm "$POLLUX_DIR"/pollux.db*
cp copy "$POLLUX_DIR/pollux.db"
like 'doctor tells that an older copy of the store does not know two jobs' \
	"'logs/.*' and 5 more: each is of a job that this store does not know; a newer copy of" \
	"$(findings leftovers text)"
typed leftovers
is "doctor's advice keeps the checkpoints of jobs that an older copy lacks" 3 "$(models)"
rm "$POLLUX_DIR"/pollux.db*
"$POLLUX" submit --hold -- true >/dev/null
like 'doctor tells that a new store does not know the files of old jobs' \
	'is of a job that is not in' "$(findings leftovers text)"
typed leftovers
is "doctor's advice keeps the checkpoints that a new store does not know" 3 "$(models)"
rm -r "$POLLUX_DIR"
saver 1
given_none jobs
like 'doctor names the files of a job whose record is lost' 'is of a job that is not in the store' \
	"$(findings leftovers text)"
typed leftovers
is "doctor's advice keeps the checkpoint of a job whose record is lost" 1 "$(models)"
rm -r "$POLLUX_DIR/checkpoints/1" "$POLLUX_DIR"/logs/1.*
touch "$POLLUX_DIR/checkpoints/net.pruned" "$POLLUX_DIR/checkpoints/best.of-all" \
	"$POLLUX_DIR/logs/7.log.old"
ok 'doctor does not report files that people named' well leftovers
mkdir "$POLLUX_DIR/checkpoints/7.pruned"
saver 2
typed leftovers
is "doctor's advice removes what prune was to remove, and nothing else" '2 best.of-all net.pruned' \
	"$(cd "$POLLUX_DIR/checkpoints" && echo *)"
ok 'doctor finds no leftovers after its advice was followed' well leftovers

# --- a job runs that an older copy of the store does not know ---
"$POLLUX" backup copy2
"$POLLUX" submit -- sleep 1000 >/dev/null
"$POLLUX" schedule
runs() { [ "$("$POLLUX" status --json | json 'print $d->{jobs}[-1]{state}')" = running ]; }
ok 'the job runs before an older copy takes the place of the store' wait_for 10 runs
run=$(store 'SELECT max(id) FROM runs')
supervisor=$(store "SELECT $supervisor_pid FROM runs WHERE id = $run")
leader=$(store "SELECT $leader_pid FROM runs WHERE id = $run")
mv "$POLLUX_DIR/pollux.db" newer
for end in wal shm; do mv "$POLLUX_DIR/pollux.db-$end" "newer-$end"; done
cp copy2 "$POLLUX_DIR/pollux.db"
like 'doctor tells of a supervisor that the older copy does not know' \
	"^cpu:0 has no run, but the supervisor of run $run works and holds it: a newer copy" \
	"$(findings locks text)"
typed locks
ok "doctor's advice does not kill a supervisor that the copy lacks" lives "$supervisor"
ok "doctor's advice does not kill a program that the copy lacks" lives "$leader"
rm "$POLLUX_DIR"/pollux.db*
mv newer "$POLLUX_DIR/pollux.db"
for end in wal shm; do mv "newer-$end" "$POLLUX_DIR/pollux.db-$end"; done

# --- a silence of which nobody knows whether it was the machine's ---
perl -e 'open my $f, "+<", shift or die; read $f, my $line, 112;
	$line =~ s/^(\d+ \d+) (\S+)/sprintf "%s %.3f", $1, $2 - 70/e;
	seek $f, 0, 0; printf $f "%-111.111s\n", $line =~ s/\s+$//r' "$POLLUX_DIR/run/$run.lock"
is 'doctor gives a supervisor that lives time to show it' '' "$(findings supervisors text)"
job=$(store 'SELECT max(id) FROM jobs')
"$POLLUX" cancel --force --yes "$job" >/dev/null 2>&1
"$POLLUX" schedule
"$POLLUX" wait --timeout 60 "$job" >/dev/null 2>&1
wait_for 5 no_supervisor

# --- who has a lock, and who reads its file ---
perl -MFcntl -e 'open my $f, "+>", shift or die;
	my $lock = pack "ssx4qqix4", F_WRLCK, 0, 0, 0, 0;
	fcntl $f, 37, $lock or die; open my $g, ">", "locked"; sleep 1000' \
	"$POLLUX_DIR/run/device-cpu:0.lock" &
holds=$!
tail -f "$POLLUX_DIR/run/device-cpu:0.lock" >/dev/null &
reads=$!
ok 'a process holds the lock of a device' wait_for 10 test -e locked
typed locks
ok 'the process that holds the lock ends as doctor advised' wait_for 10 is_over "$holds"
wait "$holds" 2>/dev/null
ok "a process that only has the lock's file open lives on" lives "$reads"
kill_now "$reads"
wait "$reads" 2>/dev/null
ok 'doctor finds no lock after the process ended' well locks

# --- settings: the file is elsewhere, its name is odd ---
odd="$TMP/it's \$HOME * here"
mkdir "$odd"
mkdir -m 700 "$odd/store"
printf 'slots = moon\nslice = 5m\n' >"$odd/settings of mine"
ln -s "$odd/settings of mine" "$odd/store/config"
here=$POLLUX_DIR POLLUX_DIR=$odd/store
unset POLLUX_SLOTS
like 'doctor names a bad setting in a file behind a link' "'moon'" "$(findings settings text)"
typed settings
ok 'doctor finds no bad setting after its advice was followed' well settings
ok 'the link to the settings is still a link' test -L "$odd/store/config"
is "doctor's advice comments out the bad line in the file behind the link" \
	'# slots = moon slice = 5m' "$(xargs <"$odd/settings of mine")"
export POLLUX_SLOTS=2

# --- owners and modes: names, links, places of other people ---
"$POLLUX" submit --hold -- true >/dev/null
chmod 777 "$odd/store"
run "$POLLUX" submit -- true
is "submit refuses a store's directory that all may write to" 77 "$rc"
sh -c "${err#*; type: }"
is "the command that submit names mends the directory's mode" 700 "$(mode "$odd/store")"
chmod 777 "$odd/store"
chmod 666 "$odd/store/pollux.db"
typed permissions
is 'the commands that doctor names mend the modes of directory and store' '700 600' \
	"$(mode "$odd/store") $(mode "$odd/store/pollux.db")"
mkdir -m 2775 scratch
mv "$POLLUX_DIR/logs"/* scratch 2>/dev/null
rm -r "$POLLUX_DIR/logs"
ln -s "$TMP/scratch" "$POLLUX_DIR/logs"
like 'doctor tells that others may write to a linked directory of logs' \
	"others may write to '.*/logs'" "$(findings permissions text)"
typed permissions
is "doctor's advice leaves the linked directory its mode" 2775 "$(mode scratch)"
rm "$POLLUX_DIR/logs"
mkdir -m 700 "$POLLUX_DIR/logs"
mkdir -m 1777 all
mkdir -m 777 project
touch project/paper.tex
for place in all project; do
	run env POLLUX_DIR="$TMP/$place" "$POLLUX" submit -- true
	before=$(mode $place)
	is "$place: submit refuses a store in a place of many people" 77 "$rc"
	is "$place: submit names another place for the store" \
		"export POLLUX_DIR=$TMP/$place/pollux" "${err#*; type: }"
	is "$place: the named command can be typed, and makes a store" 1 \
		"$(sh -c "${err#*; type: }; pollux submit --hold -- true")"
	POLLUX_DIR=$TMP/$place typed permissions
	is "$place: doctor's advice leaves the place its mode" "$before" "$(mode $place)"
done
if [ "$(id -u)" = 0 ]; then
	mkdir -m 700 theirs
	POLLUX_DIR=$TMP/theirs "$POLLUX" submit --hold -- true >/dev/null
	chown -R 65534 theirs
	like 'doctor tells that a store belongs to another user' \
		"'.*/theirs' belongs to user 65534: set POLLUX_DIR" \
		"$(POLLUX_DIR=$TMP/theirs findings permissions text)"
	POLLUX_DIR=$TMP/theirs typed permissions
	is "doctor's advice leaves another user's store to its owner" '65534 65534' \
		"$(owner theirs) $(owner theirs/pollux.db)"
	chown 65534 "$POLLUX_DIR/supervisor.log" 2>/dev/null ||
		install -m 600 -o 65534 /dev/null "$POLLUX_DIR/supervisor.log"
	typed permissions
	is "doctor's advice gives a file in the user's own store back to the user" 0 \
		"$(owner "$POLLUX_DIR/supervisor.log")"
	rm "$POLLUX_DIR/supervisor.log"
	install -m 600 -o 65534 /dev/null secret
	ln -s "$TMP/secret" "$POLLUX_DIR/supervisor.log"
	like 'doctor tells that the file behind a link belongs to another user' \
		"'.*/supervisor.log' belongs to user 65534" "$(findings permissions text)"
	typed permissions
	ln -f secret "$POLLUX_DIR/supervisor.log"
	typed permissions
	is "doctor's advice takes nobody's file by a symbolic or hard link" '65534 600' \
		"$(owner secret) $(mode secret)"
	rm "$POLLUX_DIR/supervisor.log"
fi
POLLUX_DIR=$here

# --- a disk that is nearly full ---
saver 3
mkdir small
if mount -t tmpfs -o size=4m,mode=700 pollux-test small 2>/dev/null; then
	cp -r "$POLLUX_DIR"/* small
	sqlite3 small/pollux.db "$(job_sql all end_time_s=1)" 'PRAGMA wal_checkpoint(TRUNCATE)' \
		>/dev/null
	rm -f small/pollux.db-*
	dd if=/dev/zero of=small/filler bs=4k count=1020 2>/dev/null
	before=$(find small/logs small/checkpoints | sort)
	POLLUX_DIR=$TMP/small typed space
	is "doctor's advice for a full disk only shows what could go" "$before" \
		"$(find small/logs small/checkpoints | sort)"
	umount small
fi

# --- a directory that people share ---
shared() { # shared MEND: after it, typed from another section as well
	POLLUX_SHARED_DIR=$TMP/$1 findings people mend
}
like 'doctor advises to make a shared directory that is missing' "mkdir -p -m 1777 $TMP/agreed\$" \
	"$(shared agreed)"
sh -c "$(shared agreed)"
is 'the advised command makes the shared directory' 1777 "$(mode agreed)"
is 'doctor finds nothing to mend in the directory that was made' '' "$(shared agreed)"
mkdir -m 770 team
like 'doctor advises to set a missing sticky bit' "chmod \\+t $TMP/team\$" "$(shared team)"
sh -c "$(shared team)"
is 'the advised command sets the sticky bit and opens nothing to others' 1770 "$(mode team)"
is 'doctor finds nothing to mend once the sticky bit is set' '' "$(shared team)"
touch afile
is 'doctor advises to look at a file in place of a shared directory' "ls -ld $TMP/afile" \
	"$(shared afile)"
if [ "$(id -u)" = 0 ]; then
	mkdir -m 755 site
	mkdir -m 700 nobody
	chown 65534 nobody
	chmod 755 "$TMP"
	is 'doctor only looks at a shared directory that the user may not change' \
		"ls -ld $TMP/site" \
		"$(cp "$POLLUX" program
		export POLLUX_SHARED_DIR="$TMP/site" POLLUX_DIR="$TMP/nobody"
		setpriv --reuid=65534 --regid=65534 --clear-groups ./program doctor --json |
		json 'print $_->{mend} for grep { $_->{section} eq "people" } @{$d->{findings}}')"
fi

# --- scripts ---
mkdir "a dir"
printf '#!/bin/sh\r\necho ran\r\n' >"a dir/real's.sh"
chmod +x "a dir/real's.sh"
ln -s "a dir/real's.sh" script
run "$POLLUX" submit --hold -- ./script
command=${err#*found; }
sh -c "${command% mends that}"
status 'the named command mends a Windows script behind a link' 0 \
	"$POLLUX" submit --hold -- ./script
ok 'the link to the script is still a link' test -L script
printf 'echo\r\n' >of-shell.sh
run "$POLLUX" submit --hold -- sh of-shell.sh
command=${err#*last word; }
sh -c "${command% mends that}"
is 'the named command mends a Windows script that a shell is given' echo "$(cat of-shell.sh)"
finish
