#!/bin/sh
# odd_files.t - a FIFO, a directory, a device or a link in the place of a file of the store: every
# command ends, passes go on, and what runs ends and leaves its device.
# shellcheck disable=SC2016,SC2317 # jobs' own variables; functions called by name
. "$(dirname "$0")/../cli/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
export POLLUX_SLOTS=1
limit=$((20 * TIME_SCALE))
cleanup() { end_jobs >/dev/null; }
ends() { timeout -s KILL "$limit" "$POLLUX" "$@" >out 2>&1; [ $? != 137 ]; }
put() { # put KIND PATH: this in the place of the file
	rm -rf "$2"
	case $1 in
	FIFO) mkfifo "$2" ;;
	directory) mkdir "$2" ;;
	device) ln -s /dev/full "$2" ;;
	*) ln -s "$2.nowhere" "$2" ;;
	esac
}

"$POLLUX" submit -q true >/dev/null
"$POLLUX" submit -q --hold true >/dev/null
"$POLLUX" schedule
ok 'a job has ended' "$POLLUX" wait --timeout "$limit" 1
for name in logs/1.log logs/1.store schedule.lock schedule.again regular-pass failed-pass outage \
	supervisor.log pollux.db-queue run/device-cpu:0.lock config pass.host next-pass \
	pollux.db pollux.db-wal pollux.db-shm pollux.db-journal; do
	for kind in FIFO directory device link; do
		[ ! -e "$POLLUX_DIR/$name" ] || mv "$POLLUX_DIR/$name" kept
		put "$kind" "$POLLUX_DIR/$name"
		hung=
		for command in schedule 'status --all' 'status 1' 'log 1' doctor devices \
			'submit -q --hold true' 'edit --name x 2' 'prune --dry-run --all'; do
			# shellcheck disable=SC2086 # words
			ends $command || hung="$hung $command;"
		done
		is "a $kind at $name hangs no command" '' "$hung"
		case $kind:$name in
		link:pollux.db) ;; # a store is made where it leads
		*:run/*)
			like "doctor shows a $kind at $name" "ls -ld $POLLUX_DIR/$name" \
				"$("$POLLUX" doctor)" ;;
		*:schedule.lock | *:supervisor.log | *:next-pass | *:pollux.db | *:pollux.db-[wsj]*)
			like "doctor names a $kind at $name" "/$name' is (a symbolic|no regular)" \
				"$("$POLLUX" doctor 2>&1)" ;;
		esac
		rm -rf "${POLLUX_DIR:?}/$name" "$POLLUX_DIR/$name.nowhere"*
		[ ! -e kept ] || mv kept "$POLLUX_DIR/$name"
	done
done

mkfifo "$POLLUX_DIR/new" && mv "$POLLUX_DIR/new" "$POLLUX_DIR/schedule.lock"
POLLUX_SUBMIT_PASS=yes "$POLLUX" run true 2>ran &
waits=$!
ok 'run says why no pass comes' wait_for 20 grep -q 'the last pass failed: .*schedule.lock' ran
mend=$("$POLLUX" doctor | sed -n 's/^ *mend: test /test /p')
mv "$POLLUX_DIR/schedule.lock" odd
touch "$POLLUX_DIR/schedule.lock"
sh -c "$mend"
ok 'the advice of doctor leaves a new regular file alone' \
	[ -f "$POLLUX_DIR/schedule.lock" ]
mv odd "$POLLUX_DIR/schedule.lock"
ok 'the advice of doctor mends the odd file' sh -c "$mend"
ok 'passes come after the mend' "$POLLUX" schedule
wait "$waits"
is 'the run that waited ends well' 0 $?

# A program of the job puts it there while the job runs.
for kind in 'mkfifo $l' 'mkdir $l' 'ln -s /dev/full $l'; do
	job=$("$POLLUX" submit -q -- sh -c \
		'l=$POLLUX_DIR/logs/$POLLUX_JOB_ID.log; rm $l; '"$kind"'; echo printed; exit 0')
	"$POLLUX" schedule
	ok "a log replaced by '$kind': the job ends" "$POLLUX" wait --timeout "$limit" "$job"
	ok "log does not hang after '$kind'" ends log "$job"
	ok "requeue does not hang after '$kind'" ends requeue "$job"
	ends schedule
	ok "a pass does not hang after '$kind'" ends schedule
	"$POLLUX" cancel "$job" >/dev/null 2>&1
	next=$("$POLLUX" submit -q true)
	done_now() { ends schedule; "$POLLUX" wait --timeout 1s "$next" >/dev/null 2>&1; }
	ok "another job gets the device after '$kind'" wait_for 20 done_now
done
finish
