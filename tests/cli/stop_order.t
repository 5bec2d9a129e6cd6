#!/bin/sh
# stop_order.t - who gets the stop signal, and when: whatever starts a program, the program saves
# once, is told once, and has what it needs until it has saved.
# shellcheck disable=SC2013,SC2016,SC2317  # words; other shells' texts; run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=64
export POLLUX_SLOTS
cleanup() { end_jobs; }

# A program that saves when it is told to stop, and quits if it is told twice meanwhile, as some do.
# Whatever happens to it stands in the file events. It needs the processes that it prints to, and
# those of its words: "loaders" die of the signal, "workers" have its handlers, as after fork().
cat >train <<'END'
#!/usr/bin/perl
use strict; use POSIX; use Time::HiRes qw(sleep time);
my ($name, @words) = @ARGV;
my %is = map { $_ => 1 } @words;
my ($told, @children) = (0);
my $signal = $is{usr1} ? "USR1" : "TERM";
my $self = $$;
sub note { open(my $file, ">>", "events") or die; syswrite($file, "$name @_\n") }
my $heard = 0;
sub hear { return if $is{patient} && time - $heard < 1;
	$heard = time; note($$ == $self ? "told" : "worker told"); $told++ }
$SIG{PIPE} = sub { note("broken pipe"); _exit(3) };
sub child { my $heeds = shift; my $pid = fork // die; push(@children, $pid) && return if $pid;
	$SIG{$signal} = $heeds ? \&hear : "DEFAULT";
	while (getppid() == $self) { sleep 0.05 }
	_exit(0) }
$SIG{$signal} = \&hear unless $is{waits};
my $set = POSIX::SigSet->new(SIGTERM);
sigprocmask(SIG_BLOCK, $set) if $is{waits};
child(0) if $is{loaders}; child(1) if $is{workers};
sub say_line { syswrite(STDOUT, "@_\n") }
my $n = 0;
while (1) {
	if ($is{waits}) { my $pending = POSIX::SigSet->new; sigpending($pending);
		if ($pending->ismember(SIGTERM)) {
			$SIG{TERM} = \&hear; sigsuspend(POSIX::SigSet->new) } }
	last if $told;
	$n++; say_line("step $n") unless $is{silent};
	open(my $file, ">", "at.new.$name"); print $file $n; close($file);
	rename("at.new.$name", "at.$name");
	sleep 0.05;
}
my $until = time + ($is{slow} ? 4 : 1);
while (time < $until) {
	sleep 0.05;
	if ($told > 1) { note("quit"); _exit(4) }
	for (@children) { if (waitpid($_, WNOHANG)) { note("lost a child"); _exit(5) } }
	say_line("saving");
}
open(my $file, ">", "$ENV{POLLUX_CHECKPOINT_DIR}/$name"); print $file $n; close($file);
note("saved");
kill("KILL", @children);
_exit(1);
END

cat >reads <<'END'
#!/usr/bin/perl
open(my $from, "-|", @ARGV) or die; print while <$from>; close($from); exit(1);
END
cat >starts <<'END'
#!/usr/bin/perl
exit(system(@ARGV) >> 8);
END
# passes the signal on to its child alone
cat >forwards <<'END'
#!/usr/bin/perl
my $child = open(my $from, "-|", @ARGV) or die;
$SIG{TERM} = sub { kill("TERM", $child) };
print while <$from>; exit(1);
END
# gives its child a socket to print to, as node does
cat >sockets <<'END'
#!/usr/bin/perl
use Socket;
socketpair(my $own, my $its, AF_UNIX, SOCK_STREAM, 0) or die;
if (!fork) { close($own); open(STDOUT, ">&", $its); exec(@ARGV) or die; }
close($its);
print while <$own>; exit(1);
END
chmod +x train reads starts forwards sockets
PATH=$TMP:$PATH

# --- cases: all of a batch run at once, each in a directory of its own ---
n_cases=0
# starts_case STORY PROGRAMS OPTION... -- COMMAND...
case_of() {
	n_cases=$((n_cases + 1))
	mkdir "case.$n_cases"
	echo "$1" >"case.$n_cases/story"
	echo "$2" >"case.$n_cases/programs"
	shift 2
	(cd "case.$n_cases" && "$POLLUX" submit -q --preempt --suspend never "$@" >id 2>>err)
	id=$(cat "case.$n_cases/id")
	batch="${batch-} $n_cases"
}
saves() { story=$1; shift; case_of "$story" a "$@"; }
both_save() { story=$1; shift; case_of "$story" 'a b' "$@"; }
steps_of() { n_steps=$(cat "case.$1/at.$2" 2>/dev/null); echo "${n_steps:-0}"; }
all_work() {
	for c in $batch; do
		for program in $(cat "case.$c/programs"); do
			[ "$(steps_of "$c" "$program")" -ge 5 ] || {
				echo "$(cat "case.$c/story"): $program does not work"
				return 1
			}
		done
	done
}
ids() { for c in $batch; do cat "case.$c/id"; done; }
# All runs but those that come after the stop.
all_over() {
	[ "$(store "SELECT count(*) FROM runs WHERE number = 1 AND state <> 'ended' AND job_id IN
		($(ids | paste -sd,))")" = 0 ]
}
wanted() { for program in $(cat "case.$1/programs"); do echo "$program saved
$program told"; done; }
begin_batch() {
	"$POLLUX" schedule
	ok "$1: all programs work" wait_for 60 all_work
}
end_batch() {
	ok "$1: all runs end" wait_for 90 all_over
	for c in $batch; do
		is "$(cat "case.$c/story"): told once, and saved" "$(wanted "$c")" \
			"$(sort "case.$c/events" 2>/dev/null)"
	done
	batch=
}
# shellcheck disable=SC2046 # numbers
run_batch() { begin_batch "$1" && "$POLLUX" hold --yes --force $(ids) && end_batch "$1"; }

# --- a program by itself, and what becomes it ---
saves 'a program' -- train a
saves 'a program with data loaders' -- train a loaders
saves 'a program whose workers have its handler' -- train a workers
saves 'a program that waits for its signals' -- train a waits
saves 'a program with another signal' --stop-signal USR1 -- train a usr1 loaders
saves 'a program of nohup, nice and env' -- nohup nice env X=y train a loaders

# --- launchers that die of the signal ---
saves 'a program of a shell' -- sh -c 'train a loaders; echo over'
saves 'a program of a shell in a shell' -- sh -c 'sh -c "train a loaders; echo over"; echo over'
saves 'a program in a pipe to tee' -- sh -c 'train a loaders 2>&1 | tee -a train.log'
saves 'a program in a pipe to tee and cat' -- sh -c 'train a 2>&1 | tee train.log | cat'
saves 'a program in a pipe to a tee that writes into gzip' \
	-- bash -c 'train a 2>&1 | tee >(gzip >log.gz)'
saves 'a program of a launcher' -- starts train a loaders
saves 'a program of a launcher that reads what it prints' -- reads train a loaders
saves 'a program whose launcher reads it through a shell and tee' -- reads sh -c 'train a | tee log'
saves 'a program whose launcher reads it from a socket' -- sockets train a loaders
saves 'the second command of a list' -- sh -c 'true; train a workers; train z'
both_save 'two programs' -- sh -c 'train a & train b loaders & wait'
both_save 'a pipe of two' -- sh -c 'train a loaders | train b'
saves 'a program of a shell with another signal' --stop-signal USR1 -- \
	sh -c 'train a usr1 loaders; true'

run_batch 'no handler in the launcher'

# --- launchers that have a handler ---
# timeout(1) signals its program, and then its whole group, data loaders too, unless it is told not
# to: a program may get two signals at once from timeout itself.
saves 'a program of timeout' -- timeout 1h train a patient
saves 'a program of timeout of a shell' -- timeout 1h sh -c 'train a patient; true'
saves 'a program of timeout --foreground' -- timeout --foreground 1h train a loaders
saves 'a program of a script that passes the signal on, and ends' -- \
	sh -c 'trap "kill -TERM \$p" TERM; train a loaders silent slow & p=$!; wait $p; exit 1'
saves 'a program of a script that waits for its end' -- sh -c 'trap "kill -TERM \$p; wait \$p" TERM
	train a workers slow & p=$!; wait $p; exit 1'
saves 'a program of a script that signals its whole group' --grace 30 -- \
	sh -c 'trap "trap : TERM; kill -TERM 0" TERM; train a slow & wait; wait; exit 1'
saves 'a program of a script with a trap that runs too late' --grace 30 -- \
	sh -c 'trap "exit 1" TERM; train a loaders; exit 2'
saves 'a program without steps, of such a script' --grace 16 -- \
	sh -c 'trap "exit 1" TERM; train a silent; exit 2'
saves 'a program of a script that does not pass the signal on' --grace 30 -- \
	sh -c 'trap "exit 1" TERM; train a loaders & wait'
saves 'a program of a shell, which dies of the signal passed on' --grace 30 -- \
	forwards sh -c 'train a loaders; true'
saves 'a program of a script that waits again' --grace 30 -- \
	sh -c 'trap "x=1" TERM; train a loaders & wait; wait; exit 2'
for shell in bash zsh mksh; do
	command -v $shell >/dev/null || continue
	saves "a program of $shell with a trap that runs too late" --grace 30 -- \
		$shell -c 'trap "exit 1" TERM; train a loaders; exit 2'
done
if command -v tini >/dev/null; then
	saves 'a program of tini, which waits for its signals' -- tini -s -- train a loaders slow
fi
printf 'all:\n\t@true && train a loaders\n' >Makefile
saves 'a program of make' --grace 30 -- make -s -f ../Makefile all
if command -v setsid >/dev/null; then
	saves 'a program of setsid' -- setsid -w train a loaders
	saves 'a program of a shell and setsid' -- sh -c 'setsid -w train a loaders; true'
fi
if command -v script >/dev/null; then
	saves 'a program of script' -- script -qec 'train a loaders' typescript
	saves 'a program of script of a shell' -- sh -c 'script -qec "train a" typescript; true'
fi
if command -v xvfb-run >/dev/null; then
	saves 'a program of xvfb-run' -- xvfb-run -a train a loaders
fi

run_batch 'a handler in the launcher'

# --- a process that is stopped, and supervisors that are killed while a program saves ---
saves 'a stopped program' -- sh -c 'train a; true'
stopped=$id
saves 'a program whose supervisor is killed' -- train a slow loaders
saves 'a program of a shell, whose supervisor is killed' -- sh -c 'train a slow loaders; true'
begin_batch 'accidents'
leader=$(store "SELECT $leader_pid FROM runs WHERE job_id = $stopped")
kill -STOP "$(ps -o pid= --ppid "$leader")"
# shellcheck disable=SC2046 # numbers
"$POLLUX" hold --yes --force $(ids)
for c in $((n_cases - 1)) "$n_cases"; do
	ok 'a program is told to stop before its supervisor is killed' \
		wait_for 20 grep -q 'a told' "case.$c/events"
	kill_now "$(store "SELECT $supervisor_pid FROM runs WHERE job_id = $(cat "case.$c/id")")"
done
"$POLLUX" schedule
end_batch 'accidents'
finish
