#!/bin/sh
# people.t - three people on one machine, 60 short jobs, and kills: no device is used twice, all
# jobs are done, nobody can read what is another's. Each has a uid of their own: only for root.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
as_user() { # as_user UID COMMAND...
	uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups env POLLUX_DIR="$TMP/home-$uid/store" \
		HOME="$TMP/home-$uid" "$@"
}
PEOPLE='70001 70002 70003'
JOBS=20 KILLS=24
[ "$(id -u)" = 0 ] || skip_all 'only root can be three people'
chmod 755 "$TMP"
as_user 70001 "$POLLUX" --version >/dev/null 2>&1 ||
	skip_all 'other users may not execute the program, or there is no setpriv'
POLLUX_SHARED_DIR=$TMP/shared POLLUX_SLOTS=$(nproc) POLLUX_SLICE=0.3 POLLUX_POLICY=las
[ "$POLLUX_SLOTS" -le 4 ] || POLLUX_SLOTS=4
export POLLUX_SHARED_DIR POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY
install -d -m 1777 shared witness
for uid in $PEOPLE; do
	install -d -m 755 -o "$uid" -g "$uid" "home-$uid"
done
ours() { # ours [COMMAND]: the processes of the test's people that run this
	for uid in $PEOPLE; do ps -o pid= -o args= -u "$uid"; done | grep -- "${1-}" |
		awk '{ print $1 }'
}
cleanup() {
	for round in 1 2 3 4 5; do
		for pid in $(ours); do kill -9 "$pid" 2>/dev/null; done
		sleep 0.1
	done
	: "$round"
}

# The witness: a job locks each processor that it may run on, and writes where one is taken.
cat >witness.pl <<'EOF'
use Fcntl ':flock';
my ($dir, $ms) = @ARGV;
open(my $status, '<', '/proc/self/status') or die;
my ($list) = grep { s/^Cpus_allowed_list:\s*// } <$status>;
chomp $list;
my @kept;
umask 0;
for my $cpu (map { /(\d+)-(\d+)/ ? ($1 .. $2) : $_ } split /,/, $list) {
	open(my $lock, '>>', "$dir/cpu-$cpu") or die;
	push @kept, $lock;
	next if flock $lock, LOCK_EX | LOCK_NB;
	open(my $overlap, '>>', "$dir/OVERLAP") or die;
	print $overlap "processor $cpu: process $$ of user $<\n";
}
open(my $ledger, '>>', "$dir/ledger") or die;
syswrite $ledger, "$<\n";
select undef, undef, undef, $ms / 1000;
EOF
for uid in $PEOPLE; do
	i=0
	while [ $i -lt $JOBS ]; do
		as_user "$uid" "$POLLUX" submit -q --replicas 1 --preempt --suspend never \
			--retries 100 --grace 0 -- perl "$TMP/witness.pl" "$TMP/witness" 150
		i=$((i + 1))
	done >"submitted-$uid"
done
is 'each user has submitted all jobs' "$((3 * JOBS))" "$(cat submitted-* | wc -l)"

count() { # count UID STATES: jobs
	sqlite3 "$TMP/home-$1/store/pollux.db" "SELECT count(*) FROM jobs WHERE state IN ($2)"
}
left() {
	n_left=0
	for uid in $PEOPLE; do n_left=$((n_left + $(count "$uid" "'queued', 'running'"))); done
	echo "$n_left"
}
passes() { for uid in $PEOPLE; do as_user "$uid" "$POLLUX" schedule >>passes 2>&1; done; }

# Passes as cron would run them; after each a supervisor and a job are killed.
rounds=0 kills=0 half=''
until_done() {
	while [ "$(left)" != 0 ] && [ $rounds -lt 2000 ]; do
		passes
		rounds=$((rounds + 1))
		[ -n "$half" ] || [ "$(left)" -gt $((3 * JOBS / 2)) ] ||
			half=$(sort witness/ledger | uniq -c | awk '{ print $1 }' | xargs)
		[ $kills -lt $KILLS ] || continue
		for what in 'pollux supervise' witness.pl; do
			victim=$(ours "$what" | head -n 1)
			[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null && kills=$((kills + 1))
		done
	done
}
until_done
is 'all jobs are done' "$JOBS $JOBS $JOBS" "$(for uid in $PEOPLE; do
	count "$uid" "'done'"; done | xargs)"
ok "$kills processes were killed meanwhile" [ "$kills" -ge 10 ]
is 'no device was used twice' '' "$(cat witness/OVERLAP 2>/dev/null)"
echo "# starts of each when half of the jobs were done: $half"
ok 'no user had to wait for the others to end' \
	[ "$(echo "$half" | tr ' ' '\n' | grep -c '^[0-9][0-9]*$')" = 3 ]
is 'no pass failed' '' "$(cat passes)"

# --- what each can read of the others ---
for uid in $PEOPLE; do
	other=70001
	[ "$uid" != 70001 ] || other=70002
	is "$other reads nothing of $uid" '' \
		"$(as_user "$other" find "$TMP/home-$uid" -mindepth 2 2>/dev/null)"
done
is 'the shared directory has only locks and numbers' \
	'' "$(as_user 70003 find shared -mindepth 1 -readable \
	! -name device-cpu.lock ! -name 'user-7000[123]-*')"
is 'no lock has a word in it' '' "$(find shared -name 'device-*' -size +0)"
finish
