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
is 'three jobs have saved' 3 "$(models)"
rm "$POLLUX_DIR"/pollux.db*
cp copy "$POLLUX_DIR/pollux.db"
like 'an older copy takes the place of the store: two jobs are lost' \
	"'logs/.*' and 5 more: each is of a job that this store does not know; a newer copy of" \
	"$(findings leftovers text)"
typed leftovers
is 'what is advised keeps their checkpoints' 3 "$(models)"
rm "$POLLUX_DIR"/pollux.db*
"$POLLUX" submit --hold -- true >/dev/null
like 'a new store begins behind their numbers, and never had them' 'is of a job that is not in' \
	"$(findings leftovers text)"
typed leftovers
is 'what is advised keeps them, too' 3 "$(models)"
rm -r "$POLLUX_DIR"
saver 1
store 'DELETE FROM jobs'
like 'a record is lost' 'is of a job that is not in the store' "$(findings leftovers text)"
typed leftovers
is 'what is advised keeps what the job saved' 1 "$(models)"
rm -r "$POLLUX_DIR/checkpoints/1" "$POLLUX_DIR"/logs/1.*
touch "$POLLUX_DIR/checkpoints/net.pruned" "$POLLUX_DIR/checkpoints/best.of-all" \
	"$POLLUX_DIR/logs/7.log.old"
ok 'files that people named are none of pollux' well leftovers
mkdir "$POLLUX_DIR/checkpoints/7.pruned"
saver 2
typed leftovers
is 'what prune was to remove is removed, nothing else' '2 best.of-all net.pruned' \
	"$(cd "$POLLUX_DIR/checkpoints" && echo *)"
ok 'and the finding is gone' well leftovers

# --- a job runs that an older copy of the store does not know ---
"$POLLUX" backup copy2
"$POLLUX" submit -- sleep 1000 >/dev/null
"$POLLUX" schedule
runs() { [ "$("$POLLUX" status --json | json 'print $d->{jobs}[-1]{state}')" = running ]; }
ok 'a job runs' wait_for 10 runs
run=$(store 'SELECT max(id) FROM runs')
supervisor=$(store "SELECT $supervisor_pid FROM runs WHERE id = $run")
leader=$(store "SELECT $leader_pid FROM runs WHERE id = $run")
mv "$POLLUX_DIR/pollux.db" newer
for end in wal shm; do mv "$POLLUX_DIR/pollux.db-$end" "newer-$end"; done
cp copy2 "$POLLUX_DIR/pollux.db"
like 'its supervisor is not taken for a leftover' \
	"^cpu:0 has no run, but the supervisor of run $run works and holds it: a newer copy" \
	"$(findings locks text)"
typed locks
ok 'and nobody is told to kill it' lives "$supervisor"
ok 'nor its program' lives "$leader"
rm "$POLLUX_DIR"/pollux.db*
mv newer "$POLLUX_DIR/pollux.db"
for end in wal shm; do mv "newer-$end" "$POLLUX_DIR/pollux.db-$end"; done

# --- a silence of which nobody knows whether it was the machine's ---
perl -e 'open my $f, "+<", shift or die; read $f, my $line, 112;
	$line =~ s/^(\d+ \d+) (\S+)/sprintf "%s %.3f", $1, $2 - 70/e;
	seek $f, 0, 0; printf $f "%-111.111s\n", $line =~ s/\s+$//r' "$POLLUX_DIR/run/$run.lock"
is 'a supervisor that lives gets time to show it' '' "$(findings supervisors text)"
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
ok 'a process keeps a device' wait_for 10 test -e locked
typed locks
ok 'it ends as advised' wait_for 10 is_over "$holds"
wait "$holds" 2>/dev/null
ok 'one that has the file open goes on' lives "$reads"
kill_now "$reads"
wait "$reads" 2>/dev/null
ok 'the finding is gone' well locks

# --- settings: the file is elsewhere, its name is odd ---
odd="$TMP/it's \$HOME * here"
mkdir "$odd"
mkdir -m 700 "$odd/store"
printf 'slots = moon\nslice = 5m\n' >"$odd/settings of mine"
ln -s "$odd/settings of mine" "$odd/store/config"
here=$POLLUX_DIR POLLUX_DIR=$odd/store
unset POLLUX_SLOTS
like 'a bad setting' "'moon'" "$(findings settings text)"
typed settings
ok 'the finding is gone' well settings
ok 'the link is still one' test -L "$odd/store/config"
is 'the file that it stands for has changed' '# slots = moon slice = 5m' \
	"$(xargs <"$odd/settings of mine")"
export POLLUX_SLOTS=2

# --- owners and modes: names, links, places of other people ---
"$POLLUX" submit --hold -- true >/dev/null
chmod 777 "$odd/store"
run "$POLLUX" submit -- true
is 'a directory for all is refused' 77 "$rc"
sh -c "${err#*; type: }"
is 'what is typed mends it' 700 "$(mode "$odd/store")"
chmod 777 "$odd/store"
chmod 666 "$odd/store/pollux.db"
typed permissions
is 'doctor says the same' '700 600' "$(mode "$odd/store") $(mode "$odd/store/pollux.db")"
mkdir -m 2775 scratch
mv "$POLLUX_DIR/logs"/* scratch 2>/dev/null
rm -r "$POLLUX_DIR/logs"
ln -s "$TMP/scratch" "$POLLUX_DIR/logs"
like 'a directory of logs for all, by a link' "others may write to '.*/logs'" \
	"$(findings permissions text)"
typed permissions
is 'keeps its mode, which others may need' 2775 "$(mode scratch)"
rm "$POLLUX_DIR/logs"
mkdir -m 700 "$POLLUX_DIR/logs"
mkdir -m 1777 all
mkdir -m 777 project
touch project/paper.tex
for place in all project; do
	run env POLLUX_DIR="$TMP/$place" "$POLLUX" submit -- true
	before=$(mode $place)
	is "$place: a store in a place of many people" 77 "$rc"
	is "$place: another one is named" "export POLLUX_DIR=$TMP/$place/pollux" "${err#*; type: }"
	is "$place: which can be typed" 1 \
		"$(sh -c "${err#*; type: }; pollux submit --hold -- true")"
	POLLUX_DIR=$TMP/$place typed permissions
	is "$place: and keeps its mode" "$before" "$(mode $place)"
done
if [ "$(id -u)" = 0 ]; then
	mkdir -m 700 theirs
	POLLUX_DIR=$TMP/theirs "$POLLUX" submit --hold -- true >/dev/null
	chown -R 65534 theirs
	like 'the store of somebody else' "'.*/theirs' belongs to user 65534: set POLLUX_DIR" \
		"$(POLLUX_DIR=$TMP/theirs findings permissions text)"
	POLLUX_DIR=$TMP/theirs typed permissions
	is 'stays theirs' '65534 65534' "$(owner theirs) $(owner theirs/pollux.db)"
	chown 65534 "$POLLUX_DIR/supervisor.log" 2>/dev/null ||
		install -m 600 -o 65534 /dev/null "$POLLUX_DIR/supervisor.log"
	typed permissions
	is 'a file in one'\''s own store is taken back' 0 "$(owner "$POLLUX_DIR/supervisor.log")"
	rm "$POLLUX_DIR/supervisor.log"
	install -m 600 -o 65534 /dev/null secret
	ln -s "$TMP/secret" "$POLLUX_DIR/supervisor.log"
	like 'but a link' "'.*/supervisor.log' belongs to user 65534" "$(findings permissions text)"
	typed permissions
	ln -f secret "$POLLUX_DIR/supervisor.log"
	typed permissions
	is 'of either kind takes nobody'\''s file' '65534 600' "$(owner secret) $(mode secret)"
	rm "$POLLUX_DIR/supervisor.log"
fi
POLLUX_DIR=$here

# --- a disk that is nearly full ---
saver 3
mkdir small
if mount -t tmpfs -o size=4m,mode=700 pollux-test small 2>/dev/null; then
	cp -r "$POLLUX_DIR"/* small
	sqlite3 small/pollux.db 'UPDATE jobs SET end_time_s = 1' 'PRAGMA wal_checkpoint(TRUNCATE)' \
		>/dev/null
	rm -f small/pollux.db-*
	dd if=/dev/zero of=small/filler bs=4k count=1020 2>/dev/null
	before=$(find small/logs small/checkpoints | sort)
	POLLUX_DIR=$TMP/small typed space
	is 'what is advised only shows what could go' "$before" \
		"$(find small/logs small/checkpoints | sort)"
	umount small
fi

# --- a directory that people share ---
shared() { # shared MEND: after it, typed from another section as well
	POLLUX_SHARED_DIR=$TMP/$1 findings people mend
}
like 'one that is missing' "mkdir -p -m 1777 $TMP/agreed\$" "$(shared agreed)"
sh -c "$(shared agreed)"
is 'is made' 1777 "$(mode agreed)"
is 'and the finding is gone' '' "$(shared agreed)"
mkdir -m 770 team
like 'one without the sticky bit' "chmod \\+t $TMP/team\$" "$(shared team)"
sh -c "$(shared team)"
is 'gets it, and is opened to nobody else' 1770 "$(mode team)"
is 'the finding is gone' '' "$(shared team)"
touch afile
is 'a file is looked at' "ls -ld $TMP/afile" "$(shared afile)"
if [ "$(id -u)" = 0 ]; then
	mkdir -m 755 site
	mkdir -m 700 nobody
	chown 65534 nobody
	chmod 755 "$TMP"
	is 'one that is not for the user keeps its mode' "ls -ld $TMP/site" \
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
status 'a script of Windows, by a link: mended as typed' 0 "$POLLUX" submit --hold -- ./script
ok 'the link is still one' test -L script
printf 'echo\r\n' >of-shell.sh
run "$POLLUX" submit --hold -- sh of-shell.sh
command=${err#*last word; }
sh -c "${command% mends that}"
is 'one that a shell is given' echo "$(cat of-shell.sh)"
finish
