#!/bin/sh
# people.t - two people on one machine: two stores that share a directory. No device is used twice,
# whatever the slots of each; nothing that lies in the directory makes a command hang.
# shellcheck disable=SC2016,SC2317 # Perl; functions called by name
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
POLLUX_SHARED_DIR=$TMP/shared POLLUX_SLICE=1000 POLLUX_POLICY=las
export POLLUX_SHARED_DIR POLLUX_SLICE POLLUX_POLICY
install -d -m 1777 shared
ANN=$TMP/ann BOB=$TMP/bob
cleanup() { for POLLUX_DIR in "$ANN" "$BOB"; do end_jobs >/dev/null; done; }

# as ann|bob COMMAND...: of pollux, with as many slots as this person has
ann_slots=1 bob_slots=1
as() {
	who=$1
	shift
	case $who in
	ann) slots=$ann_slots ;;
	*) slots=$bob_slots ;;
	esac
	env POLLUX_DIR="$TMP/$who" POLLUX_SLOTS="$slots" "$POLLUX" "$@"
}
of() { command sqlite3 -cmd '.timeout 120000' "$TMP/$1/pollux.db" "$2"; } # of WHO SQL
state_is() { [ "$(of "$1" "SELECT state FROM jobs WHERE id = $2")" = "$3" ]; }
why() { of "$1" "SELECT reason FROM jobs WHERE id = $2"; }
# A pass that has seen all that was done before: another one may be at work, begun too early.
pass_of() {
	while [ "$(as "$1" schedule -v)" = 'another pass is at work' ]; do sleep 0.05; done
}
runs() { # runs WHO JOB: a pass starts it, and it runs
	pass_of "$1" && [ "$(of "$1" "SELECT count(*) FROM runs WHERE job_id = $2 AND
		state = 'running' AND $leader_pid > 0")" = 1 ]
}
has_ended() { # has_ended WHO JOB: no run of it is left
	[ "$(of "$1" "SELECT count(*) FROM runs WHERE job_id = $2 AND state <> 'ended'")" = 0 ]
}
cancel() { # cancel WHO JOB
	as "$1" cancel "$2" && wait_for 20 has_ended "$1" "$2"
}

# --- one device, two people ---
first=$(as ann submit -q -- sleep 1000)
second=$(as bob submit -q -- sleep 1000)
ok 'the first of two stores has the machine' wait_for 10 runs ann "$first"
pass_of bob
is 'the second store starts nothing' 0 "$(of bob 'SELECT count(*) FROM runs')"
is "the second store's job says who has the device" \
	'0 of 1 device; another store of yours has 1' "$(why bob "$second")"
like 'devices tells the second store that another user has the device' \
	'another user' "$(as bob devices)"
unlike 'devices does not call its own holder another user' 'another user' "$(as ann devices)"
is 'doctor takes no device of another user for a finding' \
	'' "$(as bob doctor | grep -i 'another user')"
as bob profile --devices >out 2>&1
like 'profile does not measure a device of another user' "is held by another user" "$(cat out)"

# --- a supervisor that was killed: the job's processes keep the device ---
supervisor=$(of ann "SELECT $supervisor_pid FROM runs WHERE job_id = $first")
leader=$(of ann "SELECT $leader_pid FROM runs WHERE job_id = $first")
kill -9 "$supervisor"
wait_for 10 is_over "$supervisor"
pass_of bob
is 'a device stays taken when its supervisor is killed' \
	"0 alive" "$(of bob 'SELECT count(*) FROM runs') $(
	is_over "$leader" || echo alive)"
is_swept() { pass_of ann && has_ended ann "$first"; }
as ann cancel "$first"
ok 'a job without supervisor is cancelled by a pass' wait_for 20 is_swept
ok 'the device is free after that job has gone' wait_for 20 runs bob "$second"
third=$(as ann submit -q -- sleep 1000)
pass_of ann
like "the first store's job now waits for the second store" \
	'another store of yours has 1' "$(why ann "$third")"
cancel ann "$third"
cancel bob "$second"

# --- other numbers of slots: the same processors ---
ann_slots=2
narrow=$(as ann submit -q --replicas 1 -- sleep 1000)
wide=$(as bob submit -q -- sleep 1000)
ok 'a job of the first store takes a part of the machine' wait_for 10 runs ann "$narrow"
pass_of bob
is 'a job of the second store does not get the whole machine' \
	0 "$(of bob "SELECT count(*) FROM runs WHERE job_id = $wide")"
bob_slots=2
ok 'a job of the second store gets the other part' wait_for 10 runs bob "$wide"
is 'the two stores have different parts' 2 "$({ of ann 'SELECT device FROM run_devices WHERE in_use'
	of bob 'SELECT device FROM run_devices WHERE in_use'; } | sort -u | wc -l)"
cancel bob "$wide"
cancel ann "$narrow"

# --- a device that was taken between the pass and the launch ---
ann_slots=1 bob_slots=1
POLLUX_SLICE=0.01
supervisor_of() { # supervisor_of RUN: of bob's
	for pid in $(POLLUX_DIR=$BOB supervisors_alive); do
		tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qx "pollux supervise $1 " && echo "$pid"
	done
}
next_run() { of bob "SELECT id FROM runs WHERE job_id = $late AND state = 'assigned'"; }
is_assigned() { # the pass has assigned the next run, and its supervisor waits for the device
	pass_of bob
	next=$(next_run)
	[ -n "$next" ] && [ -n "$(supervisor_of "$next")" ]
}
leaving=$(as bob submit -q --preempt --suspend never --grace 0 -- sleep 1000)
ok 'a job of the second store has the device' wait_for 10 runs bob "$leaving"
kill -STOP "$(of bob "SELECT $supervisor_pid FROM runs WHERE job_id = $leaving")"
late=$(as bob submit -q -- sleep 1000)
ok 'the next job is assigned the device' wait_for 10 is_assigned
next=$(next_run)
kill -STOP "$(supervisor_of "$next")"
kill -CONT "$(of bob "SELECT $supervisor_pid FROM runs WHERE job_id = $leaving")"
ok 'the first job leaves the device' wait_for 20 has_ended bob "$leaving"
quick=$(as ann submit -q -- sleep 1000)
ok 'a job of another user gets the device first' wait_for 10 runs ann "$quick"
kill -CONT "$(supervisor_of "$next")"
called_off() { [ "$(of bob "SELECT outcome FROM runs WHERE id = $next")" = not-started ]; }
ok 'the run that lost its device is called off' wait_for 20 called_off
is 'the job of that run waits, as if it had never been assigned' 'queued|0|0' \
	"$(of bob "SELECT state, runs, failures FROM jobs WHERE id = $late")"
like 'the history of the job says who took its device' 'another user took its device first' \
	"$(of bob "SELECT text FROM events WHERE job_id = $late AND kind = 'ended'")"
pass_of bob
like 'the reason of the job says who has the device' \
	'another store of yours has 1' "$(why bob "$late")"
as bob cancel "$leaving" "$late"
cancel ann "$quick"

# --- shares: what is beyond one's own goes to the other one at the end of a slice ---
ann_slots=2 bob_slots=2 POLLUX_SLICE=1000
in_use() { of "$1" 'SELECT count(*) FROM run_devices WHERE in_use'; }
have() { # have ANN BOB: after a pass of each, so many devices are in use
	pass_of ann && pass_of bob && [ "$(in_use ann) $(in_use bob)" = "$1 $2" ]
}
one=$(as ann submit -q --replicas 1 -- sleep 1000)
two=$(as ann submit -q --replicas 1 -- sleep 1000)
ok 'a user who is alone has all devices' wait_for 20 have 2 0
his=$(as bob submit -q --replicas 1 -- sleep 1000)
pass_of bob
like 'a user who comes later is told who has the devices' \
	'^0 of 2 devices; another store of yours has 2' "$(why bob "$his")"
pass_of ann
is 'jobs keep their devices within their slices' '2 0' "$(in_use ann) $(in_use bob)"
POLLUX_SLICE=0.01
gives_back() { pass_of ann && [ "$(in_use ann)" = 1 ]; }
ok 'one device is given back after the slices' wait_for 20 gives_back
# Between two turns she has none for a moment.
had=$(for _ in 1 2 3 4 5 6 7 8; do
	pass_of ann
	of ann 'SELECT device FROM run_devices WHERE in_use'
	sleep 0.1
done | sort -u | wc -l)
ok "a device given back is not taken again by jobs in turns ($had)" [ "$had" -le 1 ]
ok 'the other user takes the device that was given back' wait_for 20 have 1 1
like 'the job that gave its device back was told for whom' \
	'1 of 2 devices; another store of yours ' \
	"$(of ann "SELECT text FROM events WHERE kind = 'suspend'")"
POLLUX_SLICE=1000
# The turn between ann's two jobs that the short slice began is over.
is_settled() {
	have 1 1 && [ "$(of ann "SELECT count(*) FROM runs
		WHERE suspension IN ('asked', 'resuming')")" = 0 ]
}
ok 'the devices stay divided between the users' wait_for 20 is_settled
is_told() {
	pass_of bob && pass_of ann && of ann 'SELECT reason FROM jobs' |
		grep -q '^1 of 2 devices; another store of yours has 1; '
}
ok 'jobs that wait are told who has the devices' wait_for 20 is_told
is "nobody takes the other user's share" '1 1' "$(in_use ann) $(in_use bob)"
pass_of bob
like 'status says what the other user has and wants' \
	'^1 of 2 devices; another store of yours has 1 and wants 1 more$' \
	"$(as bob status)"
is 'JSON has what the other user has and wants' \
	'another store of yours 1 2' "$(as bob status --json |
	json 'print join " ", map { @$_{qw(user devices_held devices_wanted)} } @{$d->{people}}')"
like 'doctor sees the other user' '^ *people +all is well: .*/shared, 1 other$' "$(as bob doctor)"
is 'the shared file tells nothing but numbers' 2 "$(cat shared/user-* | sed -E \
	's/(since|gained|at)=[0-9]+[.][0-9]+ //g' | grep -Exc \
	'pollux-1 held=1 wanted=[12] devices=2 weight=1 [0-9a-f-]+')"
is 'the shared directory has no other files' "device-cpu.lock user user" \
	"$(find shared -mindepth 1 -printf '%f\n' | sed 's/^user-.*/user/' | sort | xargs)"
# A lie: a file of numbers that cannot be, and a FIFO, are not believed.
sed 's/wanted=./wanted=999999999/' shared/user-* | head -n 1 >"shared/user-$(id -u)-1-1"
mkfifo "shared/user-$(id -u)-1-2"
as bob cancel "$his"
wait_for 20 has_ended bob "$his"
ok 'devices that are free again go to the user who is left' wait_for 20 have 2 0
is 'a user who wants nothing has no shared file' 0 "$(find shared -name 'user-*' -newer \
	bob/pollux.db -name "*$(printf %x "$(stat -c %i bob)")" | wc -l)"
rm shared/user-*-1-?
as ann cancel "$one" "$two"
wait_for 20 has_ended ann "$one"
wait_for 20 has_ended ann "$two"

# --- what anybody may put into the directory ---
ann_slots=1 bob_slots=1
rm shared/device-cpu.lock
mkfifo -m 666 shared/device-cpu.lock
stuck=$(as bob submit -q -- true)
finds() { # finds TEXT: a finding of doctor's
	as bob doctor --json | json 'print map { "$_->{text}\n" }
		grep { $_->{section} eq "people" } @{$d->{findings}}' | grep -Eq "$1"
}
status 'a pass does not hang at a FIFO instead of a lock' 0 timeout $((20 * TIME_SCALE)) \
	env POLLUX_DIR="$BOB" POLLUX_SLOTS=1 "$POLLUX" schedule
like 'a FIFO is reported as a lock that cannot be read' 'cannot be read' "$(why bob "$stuck")"
ok 'doctor finds the FIFO' \
	finds "^$(id -un) made '.*/shared/device-cpu.lock' so that nobody else can lock it"
rm shared/device-cpu.lock
ln -s /etc/passwd shared/device-cpu.lock
pass_of bob
like 'a link is reported as a lock that cannot be read' 'cannot be read' "$(why bob "$stuck")"
rm shared/device-cpu.lock
# Files by the hundred, some with the names of people; only a few stores of one user count.
seq 600 | sed 's,.*,shared/junk&,' | xargs touch
seq 600 | sed 's,.*,shared/user-77777-&-1,' | xargs touch
now=$(perl -MTime::HiRes -e 'print Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC())')
line="pollux-1 held=1 wanted=2 devices=1 weight=1 since=0 gained=0 at=$now"
for i in $(seq 40); do
	echo "$line $(cat /proc/sys/kernel/random/boot_id)" >"shared/user-$(id -u)-abc-$i"
done
ok 'doctor finds foreign files, and whose they are' \
	finds "has 123[0-9] files that do not belong there, most of them of $(id -un)\$"
is 'status has at most eight stores of one user' 8 \
	"$(as bob status --json | json 'print scalar @{$d->{people}}')"
find shared -name 'junk*' -delete
find shared -name 'user-*' -delete
chmod 777 shared
status 'a shared directory without the sticky bit is refused' 78 as bob schedule
ok 'doctor finds the missing sticky bit' finds 'others may remove files there'
like 'the message says how to set the sticky bit' \
	"^pollux: cannot use the shared directory '.*': .*; type: chmod \\+t " "$err"
chmod 1777 shared
pass_of bob
ok 'a job runs when the directory has no foreign files' wait_for 20 state_is bob "$stuck" 'done'
finish
