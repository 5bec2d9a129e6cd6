#!/bin/sh
# doctor.t - pollux doctor: each fault that is planted is found, and gone once the command that is
# printed below it was run.
# shellcheck disable=SC2016,SC2317 # words for other shells; functions called by name
. "$(dirname "$0")/tap.sh"
cleanup() { end_jobs; }

mkdir bin
printf '#!/bin/sh\nexec "$POLLUX" "$@"\n' >bin/pollux
cat >bin/crontab <<'END_CRONTAB'
#!/bin/sh
case $1 in
-l) [ -e "$CRONTAB_FILE" ] || { echo 'no crontab for somebody' >&2; exit 1; }
	cat "$CRONTAB_FILE" ;;
-r) rm "$CRONTAB_FILE" ;;
-) cat >"$CRONTAB_FILE" ;;
esac
END_CRONTAB
chmod +x bin/*
PATH=$TMP/bin:$PATH CRONTAB_FILE=$TMP/table POLLUX_SLOTS=2
export PATH CRONTAB_FILE POLLUX_SLOTS

findings() { # findings SECTION text|mend|severity
	"$POLLUX" doctor --json | json 'print "$_->{'"$2"'}\n"
		for grep { $_->{section} eq "'"$1"'" } @{$d->{findings}}'
}
well() { [ -z "$(findings "$1" text)" ]; }
found() { # found NAME STATUS SECTION TEXT: sets $mend
	run "$POLLUX" doctor
	is "doctor exits with $2 for $1" "$2" "$rc"
	like "doctor finds $1" "$4" "$(findings "$3" text)"
	mend=$(findings "$3" mend | head -n 1)
	is "doctor prints the command against $1" 1 \
		"$(printf '%s\n' "$out" | grep -cxF "              mend: $mend")"
}
mended() { # mended NAME SECTION
	run sh -c "$mend"
	ok "doctor finds no more of $1 after: $mend" wait_for 15 well "$2"
}
looked() { # looked NAME: the command removes nothing
	like "doctor advises to look at $1" "^cd '?$POLLUX_DIR'? && ls -la " "$mend"
	find "$POLLUX_DIR" | sort >before
	status "the command that shows $1 can be typed" 0 sh -c "$mend"
	is "the command that shows $1 changes nothing" "$(cat before)" \
		"$(find "$POLLUX_DIR" | sort)"
}
long_ago() {
	touch -d "1 hour ago" "$POLLUX_DIR/schedule.lock" "$POLLUX_DIR/regular-pass"
}
older() { # older FILE: its holder has said nothing for another 70 s
	perl -e 'open my $f, "+<", shift or die; read $f, my $line, 112;
		$line =~ s/^(\d+ \d+) (\S+)/sprintf "%s %.3f", $1, $2 - 70/e;
		seek $f, 0, 0; printf $f "%-111.111s\n", $line =~ s/\s+$//r' "$1"
}
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }

# --- nothing is wrong ---
"$POLLUX" cron --install >/dev/null
"$POLLUX" submit -- true >/dev/null
echo elsewhere >"$POLLUX_DIR/pass.host" # of a time with engine = slurm
"$POLLUX" schedule
"$POLLUX" wait --timeout 600 1
wait_for 5 no_supervisor
run env COLUMNS=80 "$POLLUX" doctor
is 'doctor exits with 0 where all is well' '0 ' "$rc $err"
is 'doctor prints a line for each section' 13 \
	"$(printf '%s\n' "$out" | grep -c '^  [a-z]* *all is well')"
is 'doctor keeps to 80 columns' '' "$(printf '%s\n' "$out" | grep -E '.{81}' | grep -v '/')"
is 'doctor --json has no finding where all is well' '0 0 13' "$("$POLLUX" doctor --json |
	json 'print "$d->{exit_status} ", 0 + @{$d->{findings}}, " ", 0 + @{$d->{sections}}')"
status 'doctor --repair succeeds for a sound store' 0 "$POLLUX" doctor --repair
status 'doctor --repair leaves a sound store in its place' 2 ls "$POLLUX_DIR"/pollux.db.damaged-*

# --- settings ---
printf 'slots = 2\nslice = banana\n' >"$POLLUX_DIR/config"
found 'a bad setting' 69 settings "^bad setting 'slice' in '.*' line 2: 'banana' is not a time"
mended 'a bad setting' settings
is 'the command leaves the other settings as they were' 'slots = 2' \
	"$(grep -v '^#' "$POLLUX_DIR/config")"
rm "$POLLUX_DIR/config"
is 'doctor advises to unset a bad variable' 'unset POLLUX_SLICE' \
	"$(POLLUX_SLICE=banana "$POLLUX" doctor --json |
	json 'print $d->{findings}[0]{mend}')"

# --- permissions ---
chmod 777 "$POLLUX_DIR"
found 'a directory that all may write to' 69 permissions "^others may write to '$POLLUX_DIR'\$"
mended 'a directory that all may write to' permissions
chmod 644 "$POLLUX_DIR/pollux.db"
found 'a store that all may read' 1 permissions "^others may look into '.*/pollux.db'\$"
mended 'a store that all may read' permissions

# --- cron ---
"$POLLUX" cron --remove >/dev/null
long_ago
found 'a missing line in the crontab' 1 cron 'no line in the crontab runs passes'
"$POLLUX" schedule
ok 'doctor finds nothing of cron after another pass' well cron
long_ago
is 'doctor advises cron --install' 'pollux cron --install' "$mend"
sh -c "$mend" >/dev/null
"$POLLUX" schedule # as cron would
ok 'doctor finds nothing of cron after cron --install and a pass' well cron
echo '* * * * * '"POLLUX_DIR=$POLLUX_DIR"' /old/pollux schedule # pollux' >table
found 'a line with another program' 1 cron 'another program'
mended 'a line with another program' cron

# --- passes ---
"$POLLUX" submit -- true >/dev/null
long_ago
found 'an hour without a pass' 1 passes '^the last pass was 1h00m ago, though jobs wait or run$'
mended 'an hour without a pass' passes
"$POLLUX" wait --timeout 600 2
wait_for 5 no_supervisor
"$POLLUX" submit -- sleep 1000 >/dev/null
hold_store
"$POLLUX" schedule 3>&- &
pass=$!
ok 'a pass is at work' wait_for 10 has_schedule_lock "$pass"
kill -STOP "$pass"
ok 'the pass is stopped' wait_for 5 is_stopped "$pass"
older "$POLLUX_DIR/schedule.lock"
found 'a stopped pass' 69 passes "^the pass of process $pass has been at work for .* is stopped"
status 'doctor --repair finds nothing to repair in a sound store' 0 "$POLLUX" doctor --repair
let_store_go ROLLBACK
mended 'a stopped pass' passes
wait "$pass"

holds() { # holds MODE TYPE FILE: a process that has the lock on the file
	rm -f locked
	perl -MFcntl -e 'my ($mode, $type, $file) = @ARGV; open my $f, $mode, $file or die;
		my $lock = pack "ssx4qqix4", $type eq "read" ? F_RDLCK : F_WRLCK, 0, 0, 0, 0;
		fcntl $f, 37, $lock or die; open my $g, ">", "locked"; sleep 1000' "$@" &
}

# --- supervisors ---
runs() { [ "$("$POLLUX" status --json | json 'print $d->{jobs}[-1]{state}')" = running ]; }
"$POLLUX" schedule
ok 'the third job runs' wait_for 10 runs
run=$(store 'SELECT max(id) FROM runs')
pid=$(store "SELECT $supervisor_pid FROM runs WHERE id = $run")
kill -STOP "$pid"
ok 'the supervisor of the third job is stopped' wait_for 5 is_stopped "$pid"
older "$POLLUX_DIR/run/$run.lock"
found 'a stopped supervisor' 1 supervisors "^the supervisor of job 3, process $pid, is stopped"
mended 'a stopped supervisor' supervisors
kill -KILL "$pid"
wait_for 5 no_supervisor
holds '+<' read "$POLLUX_DIR/run/$run.lock"
ok 'a stranger has the lock of the run' wait_for 10 test -e locked
found 'a stranger with the lock of a run' 1 locks \
	"^process $! .*holds '.*/$run.lock': no supervisor can look after its run$"
mended 'a stranger with the lock of a run' locks
found 'a killed supervisor' 1 supervisors '^job 3 has no supervisor$'
mended 'a killed supervisor' supervisors
"$POLLUX" cancel 3
"$POLLUX" wait --timeout 600 3 2>/dev/null
wait_for 5 no_supervisor

# --- locks ---
for type in read write; do
	holds '+<' "$type" "$POLLUX_DIR/schedule.lock"
	ok "a stranger has the lock of passes ($type)" wait_for 10 test -e locked
	found "a stranger with the lock of passes ($type)" 69 locks \
		"^process $! .*holds '$POLLUX_DIR/schedule.lock': no pass can begin$"
	is "doctor advises to kill the stranger ($type)" "kill -KILL $!" "$mend"
	mended "a stranger with the lock of passes ($type)" locks
done
holds '+>' write "$POLLUX_DIR/run/device-cpu:0.lock"
ok 'a process holds the lock of a device' wait_for 10 test -e locked
found 'a lock that was left' 1 locks '^cpu:0 has no run, but a process of an ended run holds it$'
is 'doctor advises to kill the process that holds the lock' "kill -KILL $!" "$mend"
mended 'a lock that was left' locks

# --- leftovers ---
for name in checkpoints/1.of-0a1b2c3d logs/1.log.of-0a1b2c3d; do mkdir "$POLLUX_DIR/$name"; done
found 'files of another store' 1 leftovers "'.*of-0a1b2c3d' and 1 more: each is of another store"
looked 'files of another store'
rm -r "$POLLUX_DIR"/*/1.*of-0a1b2c3d
mkdir -p "$POLLUX_DIR/checkpoints/7.pruned/x"
found 'files that prune left' 1 leftovers \
	"'checkpoints/7.pruned' was to be removed by 'pollux prune'"
mended 'files that prune left' leftovers
mkdir "$POLLUX_DIR/checkpoints/99"
: >"$POLLUX_DIR/logs/99.log"
found 'files of no job' 1 leftovers 'each is of a job that this store does not know; a newer copy'
looked 'files of no job'
rm -r "$POLLUX_DIR/checkpoints/99" "$POLLUX_DIR/logs/99.log"
: >"$POLLUX_DIR/run/9999.sock"
found 'files of an ended run' 1 leftovers "^1 file of ended runs in '.*/run'\$"
mended 'files of an ended run' leftovers
: >"$POLLUX_DIR/pollux.db.repaired"
: >"$POLLUX_DIR/pollux.db.repaired-journal"
found 'a repair that was killed' 1 leftovers "pollux.db.repaired' was left by a repair that did not"
mended 'a repair that was killed' leftovers
status 'the command removes the journal of the killed repair, too' 2 \
	ls "$POLLUX_DIR/pollux.db.repaired-journal"
ok 'the commands leave what belongs to jobs' test -s "$POLLUX_DIR/logs/1.log"

# --- settings, space ---
echo 'slise = 3' >"$POLLUX_DIR/config"
found_settings=$(findings settings text)
like 'doctor names an unknown setting in the configuration' 'slise' "$found_settings"
rm "$POLLUX_DIR/config"
mkdir small
if mount -t tmpfs -o size=4m pollux-test small 2>/dev/null; then
	unlike 'doctor finds nothing of a small disk with room' 'the disk of' \
		"$(POLLUX_DIR=$TMP/small findings space text)"
	dd if=/dev/zero of=small/filler bs=4k count=1020 2>/dev/null
	like 'doctor finds a small disk that is nearly full' \
		"^the disk of '.*/small' is nearly full: \
0\.0 MiB of 4\.0 MiB are free, less than 1 %" \
		"$(POLLUX_DIR=$TMP/small findings space text)"
	umount small
fi

# --- a damaged store ---
rows_of() { sqlite3 "$POLLUX_DIR/pollux.db" "SELECT count(*) FROM $1"; }
"$POLLUX" submit --hold -- true >/dev/null
copied_jobs 4 5 1000
store 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
id=$(store "SELECT value FROM settings WHERE name = 'store_id'")
page=$(store "SELECT pageno FROM dbstat WHERE name = 'jobs' AND pagetype = 'leaf'
	ORDER BY path LIMIT 1 OFFSET 30")
lost=$(store "SELECT ncell FROM dbstat WHERE name = 'jobs' AND pageno = $page")
dd if=/dev/zero of="$POLLUX_DIR/pollux.db" bs=4096 seek=$((page - 1)) count=1 conv=notrunc \
	2>/dev/null
found 'an overwritten page of jobs' 65 store 'damaged|malformed'
is 'doctor advises doctor --repair' 'pollux doctor --repair' "$mend"
hold_store
status 'doctor --repair refuses while a process uses the store' 75 "$POLLUX" doctor --repair
is 'doctor --repair names the process that uses the store' \
	"pollux: process $holder uses the store '$POLLUX_DIR/pollux.db': let it end first" "$err"
let_store_go ROLLBACK
mkdir -p "$POLLUX_DIR/run"
ln -s loop "$POLLUX_DIR/run/7.lock"
status 'doctor --repair refuses while it cannot tell whether a job runs' 75 \
	"$POLLUX" doctor --repair
is 'doctor --repair says that a job may run' \
	"pollux: '$POLLUX_DIR/run/7.lock' cannot be read: a job may run" "$err"
rm "$POLLUX_DIR/run/7.lock"
status 'doctor --repair exits with 1 where rows are lost' 1 "$POLLUX" doctor --repair
like 'doctor --repair says how many jobs are lost' \
	"^  jobs +$((1000 - lost)) rows, $lost could not be read\$" "$out"
like 'doctor --repair says how many commands went with the jobs' \
	"^  commands +$((1000 - lost)) rows, $lost dropped with" "$out"
kept=$(printf '%s\n' "$out" | tail -n 1)
ok 'doctor --repair keeps the damaged store' test -s "$kept"
ok 'doctor finds no damage after the repair' well store
is 'the repaired store is sound' ok "$(sqlite3 "$POLLUX_DIR/pollux.db" 'PRAGMA integrity_check')"
is 'the repaired store has the jobs on both sides of the damage' "$((1000 - lost)) 1 1000" \
	"$(rows_of jobs) $(store 'SELECT min(id) FROM jobs') $(store 'SELECT max(id) FROM jobs')"
is 'the repaired store has the name of the damaged one' "$id" \
	"$(store "SELECT value FROM settings WHERE name = 'store_id'")"
is 'the repaired store has the first job as done' 'done' \
	"$(POLLUX_DIR=$POLLUX_DIR "$POLLUX" status --json 1 | json 'print $d->{jobs}[0]{state}')"
"$POLLUX" release 4
"$POLLUX" schedule
status 'a job of the repaired store runs' 0 "$POLLUX" wait --timeout 600 4
is 'the repaired store gives a new job a new number' 1001 "$("$POLLUX" submit --hold -- true)"

# --- nothing can be read ---
wait_for 5 no_supervisor
mkdir "$POLLUX_DIR/checkpoints/1500"
rm -f "$POLLUX_DIR"/pollux.db-*
dd if=/dev/urandom of="$POLLUX_DIR/pollux.db" bs=4096 count=1 conv=notrunc 2>/dev/null
found 'an overwritten first page' 65 store 'not a database'
status 'doctor --repair exits with 1 where nothing can be read' 1 "$POLLUX" doctor --repair
is 'a new store begins behind the numbers of the old one' 1501 "$("$POLLUX" submit --hold -- true)"

# --- not ours ---
mkdir foreign
sqlite3 foreign/pollux.db 'CREATE TABLE t (x)'
status "doctor --repair refuses another program's file" 65 \
	env POLLUX_DIR="$TMP/foreign" "$POLLUX" doctor --repair
like "doctor --repair says that the file is another program's" "another program's" "$err"
unlike "doctor does not advise to repair another program's file" '--repair' \
	"$(POLLUX_DIR=$TMP/foreign "$POLLUX" doctor)"
status 'doctor refuses an operand' 64 "$POLLUX" doctor now
status 'doctor refuses --json with --repair' 64 "$POLLUX" doctor --json --repair
# --- a pass that nobody watches ---
"$POLLUX" submit -q -- sh -c 'until [ -e go ]; do sleep 0.1; done' >/dev/null
"$POLLUX" schedule
echo 'slots = moon' >"$POLLUX_DIR/config"
touch go
ok 'a pass that nobody watches fails' wait_for 20 [ -s "$POLLUX_DIR/failed-pass" ]
rm "$POLLUX_DIR/config"
found 'a pass that failed' 1 passes \
	"^the pass after a submission or the end of a job failed [0-9]+s ago: .*'slots'.*moon"
mended 'a pass that failed' passes
wait_for 5 no_supervisor
finish
