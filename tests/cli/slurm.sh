# slurm.sh - a Slurm of a test's own on this machine: several nodes, munge, no systemd.
#
#	. "$ROOT/tests/cli/slurm.sh"		# after tap.sh
#	slurm_or_skip				# skip_all where there can be none
#	must 'it comes up' slurm_up 4 4		# 4 nodes with 4 GPUs each, of the type "tiny"
#	must 'it runs' within 20 COMMAND...	# waits; a wait that fails ends the test
#	...
#	slurm_down				# in cleanup()
#
# Everything is below $SLURM; each daemon's pid is in $SLURM/pid. A GPU is /dev/null by another
# name. A guard ends all of it when the test was killed and could not.
# shellcheck shell=sh
SLURM=$TMP/slurm
SLURM_CONF=$SLURM/slurm.conf
TMPDIR=$TMP	# of the jobs: what a killed supervisor leaves goes with the test
export SLURM_CONF TMPDIR
PATH=$PATH:/usr/sbin:/sbin

slurm_or_skip() {
	[ "$(id -u)" = 0 ] || skip_all 'Slurm is started by root alone'
	for slurm_program in munged slurmctld slurmd sbatch squeue scontrol scancel srun; do
		command -v $slurm_program >/dev/null ||
			skip_all "there is no $slurm_program: tools/need.sh slurm"
	done
	slurm_guard &
}

# --- waits ---------------------------------------------------------------------

# A wait that fails is dear, and what comes after it would fail, too. So it ends the test, and no
# wait is longer than MOST_S however slow the machine is said to be.
MOST_S=120
within() { # within SECONDS COMMAND...: wait_for, at most MOST_S
	slurm_s=$1
	shift
	[ $((slurm_s * TIME_SCALE)) -le $MOST_S ] || slurm_s=$(((MOST_S - 1) / TIME_SCALE + 1))
	wait_for "$slurm_s" "$@"
}

# until_store SQL: passes, until the query has a row. A pass takes in what runs have written; cron
# would run one each minute.
holds_after_pass() {
	"$POLLUX" schedule >pass.out 2>pass.err
	[ "$(store "SELECT count(*) FROM ($1)")" -gt 0 ]
}
until_store() { within 25 holds_after_pass "$1"; }

must() { # must NAME COMMAND...: ok; the test ends if the command fails
	tap_failed_before=$tap_failed tap_failed=0
	ok "$@"
	if [ $tap_failed != 0 ]; then
		{
			timeout 5 squeue -o '%i %j %T %N %r' 2>&1
			store "SELECT job_id, run_id, kind, text FROM events ORDER BY id DESC
				LIMIT 12" 2>&1
			timeout 5 sinfo -N -o '%N %T %E' 2>&1
			tail -n 5 "$SLURM"/log/* pass.out pass.err 2>/dev/null
		} | sed 's/^/# /'
		finish
	fi
	tap_failed=$tap_failed_before
}

# --- daemons -------------------------------------------------------------------

# The processes that this Slurm, or its jobs, began: all have SLURM_CONF in their environment, as
# this test's own processes have. Those of the names given alone.
slurm_processes() { # slurm_processes NAMES
	pgrep -x "$1" | while read -r slurm_p; do
		grep -qz "^SLURM_CONF=$SLURM_CONF$" "/proc/$slurm_p/environ" 2>/dev/null &&
			echo "$slurm_p"
	done
}

# Waits, in a session of its own, until this test has ended. A test that was killed has ended
# nothing: the guard kills what it began, and removes its directory.
slurm_guard() {
	exec perl -MPOSIX -MFile::Path -e 'my ($parent, $conf, $dir) = @ARGV;
		POSIX::setsid();
		chdir "/";
		sleep 1 while getppid() == $parent;
		for my $round (1 .. 20) {
			last unless -d $dir;
			my @left;
			for (grep { $_ ne "/proc/$$" } glob "/proc/[0-9]*") {
				open(my $file, "<", "$_/environ") or next;
				local $/;
				my $environment = <$file> // "";
				push @left, m,(\d+),
					if $environment =~ /(^|\0)SLURM_CONF=\Q$conf\E\0/;
			}
			kill "KILL", @left;
			last unless @left;
			select undef, undef, undef, 0.2;
		}
		exec "umount $dir/shared 2>/dev/null; exec rm -rf $dir" if -d $dir' \
		$$ "$SLURM_CONF" "$TMP" >/dev/null 2>&1 </dev/null
}

# free_ports N: the first of so many ports in a row, of 16, that nobody uses. Tests that run at a
# time begin with different ones; none is among those that the kernel gives to clients.
free_ports() {
	perl -MIO::Socket::INET -e 'my ($n, $pid) = @ARGV;
		TRY: for my $try (0 .. 749) {
			my $first = 20000 + 16 * (($pid + 7 * $try) % 750);
			for my $port ($first .. $first + $n - 1) {
				next TRY unless IO::Socket::INET->new(Listen => 1,
					LocalPort => $port, LocalAddr => "0.0.0.0");
			}
			print $first;
			exit;
		}
		exit 1' "$1" $$
}

slurm_conf() { # slurm_conf NODES GPUS PORT
	cat <<-END
		ClusterName=test$$
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmctldPort=$3
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$SLURM/munge/socket
		CredType=cred/munge
		CryptoType=crypto/munge
		StateSaveLocation=$SLURM/state
		SlurmdSpoolDir=$SLURM/spool/%n
		SlurmctldPidFile=$SLURM/pid/slurmctld
		SlurmdPidFile=$SLURM/pid/slurmd.%n
		SlurmctldLogFile=$SLURM/log/slurmctld
		SlurmdLogFile=$SLURM/log/slurmd.%n
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		ReturnToService=2
		SlurmdTimeout=${SLURMD_TIMEOUT-60}
		MessageTimeout=5
		KillWait=2
		MinJobAge=300
		InactiveLimit=0
		SlurmdParameters=config_overrides
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerType=sched/backfill
		SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
		GresTypes=gpu
		JobRequeue=0
		AccountingStorageType=accounting_storage/none
		JobCompType=jobcomp/none
		NodeName=n[1-$1] NodeHostname=$(hostname -s) NodeAddr=127.0.1.[1-$1] \\
		Port=[$(($3 + 1))-$(($3 + $1))] CPUs=16 RealMemory=8000 Gres=gpu:tiny:$2
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
}

slurm_gres() { # slurm_gres NODES GPUS
	echo AutoDetect=off
	if mknod "$SLURM/dev/gpu0" c 1 3 2>/dev/null; then
		i=1
		while [ $i -lt "$2" ]; do
			mknod "$SLURM/dev/gpu$i" c 1 3
			i=$((i + 1))
		done
		echo "NodeName=n[1-$1] Name=gpu Type=tiny File=$SLURM/dev/gpu[0-$(($2 - 1))]"
	else
		echo "NodeName=n[1-$1] Name=gpu Type=tiny Count=$2"
	fi
}

slurm_ctld() { slurmctld </dev/null >/dev/null 2>&1; }
slurm_resume() { timeout 10 scontrol update nodename=ALL state=resume >/dev/null 2>&1; }
slurm_d() { slurm_in "$1" slurmd -N "$1" </dev/null >/dev/null 2>&1; }
# A node, whose daemon is then started anew, can have mounts of its own: what is mounted by slurm_in
# is seen by that node's processes alone.
slurm_own_mounts() { # slurm_own_mounts NODE
	unshare --mount sleep 100000 </dev/null >/dev/null 2>&1 &
	echo $! >"$SLURM/mounts.$1"
	wait_for 5 grep -qsx sleep "/proc/$!/comm"
}
slurm_in() { # slurm_in NODE COMMAND...: with the mounts of the node
	slurm_node=$1
	shift
	[ ! -e "$SLURM/mounts.$slurm_node" ] ||
		set -- nsenter --mount="/proc/$(cat "$SLURM/mounts.$slurm_node")/ns/mnt" "$@"
	"$@"
}
slurm_idle() { [ "$(timeout 2 sinfo -h -o '%t %D' 2>/dev/null)" = "idle $(cat "$SLURM/nodes")" ]; }
slurm_answers() { timeout 2 sinfo -h >/dev/null 2>&1; }
# The processes of a node with mounts of its own, of these names.
slurm_on() { # slurm_on NODE PATTERN
	perl -e 'my ($holder, $pattern) = @ARGV;
		my $mounts = readlink "/proc/$holder/ns/mnt" or exit;
		for (grep { $_ ne "/proc/$holder" } glob "/proc/[0-9]*") {
			next if (readlink "$_/ns/mnt" // "") ne $mounts;
			open(my $file, "<", "$_/comm") or next;
			print substr($_, 6), "\n" if (<$file> // "") =~ /^(?:$pattern)$/;
		}' "$(cat "$SLURM/mounts.$1")" "$2"
}

slurm_up() { # slurm_up NODES GPUS
	for d in pid state spool log munge dev; do mkdir -p "$SLURM/$d"; done
	chmod 755 "$TMP" "$SLURM" "$SLURM/munge"
	echo "$1" >"$SLURM/nodes"
	slurm_conf "$1" "$2" "$(free_ports $(($1 + 1)))" >"$SLURM_CONF"
	slurm_gres "$1" "$2" >"$SLURM/gres.conf"
	(umask 077 && head -c 128 /dev/urandom >"$SLURM/munge/key")
	munged --force --key-file="$SLURM/munge/key" --socket="$SLURM/munge/socket" \
		--pid-file="$SLURM/pid/munged" --log-file="$SLURM/munge/log" \
		--seed-file="$SLURM/munge/seed" --num-threads=2
	slurm_ctld
	for k in $(seq "$1"); do
		mkdir -p "$SLURM/spool/n$k"
		slurm_d "n$k"
	done
	within 5 slurm_idle && return
	tail -n 5 "$SLURM"/log/* | sed 's/^/# /'
	return 1
}

slurm_pid() { # slurm_pid NAME: nothing if no such daemon lives
	[ -s "$SLURM/pid/$1" ] && slurm_p=$(cat "$SLURM/pid/$1") &&
		case $(cat "/proc/$slurm_p/comm" 2>/dev/null) in
		"${1%%.*}"*) echo "$slurm_p" ;;
		esac
}

slurm_kill() { # slurm_kill SIGNAL NAME
	slurm_p=$(slurm_pid "$2")
	[ -z "$slurm_p" ] || kill "-$1" "$slurm_p"
}

# What a test leaves that ends well is a fault: tap_exit looks for that. Of one that has failed, or
# is to end, nothing is waited for.
slurm_down() {
	slurm_names='slurmstepd|slurmctld|slurmscriptd|slurmd|munged|srun'
	[ "${tap_rc-0}" = 0 ] || slurm_names="$slurm_names|pollux|slurm-trainer.s"
	[ -e "$SLURM_CONF" ] || return 0
	cat "$SLURM"/mounts.* 2>/dev/null | xargs -r kill -9 2>/dev/null
	timeout 5 squeue -h -o %A 2>/dev/null |
		xargs -r timeout 5 scancel --signal=KILL --full 2>/dev/null
	slurm_round=0
	while [ $((slurm_round += 1)) -le 10 ]; do
		# a daemon that is just being started has no pid file
		slurm_left=$(slurm_processes "$slurm_names")
		[ -n "$slurm_left" ] || break
		# shellcheck disable=SC2086 # pids
		kill -9 $slurm_left 2>/dev/null
		sleep 0.1
	done
	return 0
}
