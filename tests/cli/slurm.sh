# slurm.sh - a Slurm of a test's own on this machine: several nodes, munge, no systemd.
#
#	. "$ROOT/tests/cli/slurm.sh"		# after tap.sh
#	slurm_or_skip				# skip_all where there can be none
#	slurm_up 4 4				# 4 nodes with 4 GPUs each, of the type "tiny"
#	...
#	slurm_down				# in cleanup()
#
# Everything is below $SLURM; each daemon's pid is in $SLURM/pid. A GPU is /dev/null by another
# name.
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
}

# free_ports N: the first of so many ports in a row that nobody uses
free_ports() {
	perl -MIO::Socket::INET -e 'my $n = shift;
		TRY: for (1 .. 200) {
			my $first = 20000 + int(rand(30000));
			for my $port ($first .. $first + $n - 1) {
				next TRY unless IO::Socket::INET->new(Listen => 1,
					LocalPort => $port, LocalAddr => "127.0.0.1");
			}
			print $first;
			exit;
		}
		exit 1' "$1"
}

slurm_conf() { # slurm_conf NODES GPUS PORT
	cat <<-END
		ClusterName=test
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
slurm_d() { slurmd -N "$1" </dev/null >/dev/null 2>&1; }
slurm_idle() { [ "$(timeout 2 sinfo -h -o '%t %D' 2>/dev/null)" = "idle $(cat "$SLURM/nodes")" ]; }
slurm_answers() { timeout 2 sinfo -h >/dev/null 2>&1; }

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
	wait_for 5 slurm_idle && return
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

slurm_stepds() { # the processes of this Slurm's steps
	pgrep -x slurmstepd | while read -r slurm_p; do
		grep -qz "^SLURM_CONF=$SLURM_CONF$" "/proc/$slurm_p/environ" 2>/dev/null &&
			echo "$slurm_p"
	done
}

slurm_down() {
	[ -e "$SLURM_CONF" ] || return 0
	timeout 5 squeue -h -o %A 2>/dev/null |
		xargs -r timeout 5 scancel --signal=KILL --full 2>/dev/null
	for p in $(slurm_stepds); do kill -9 "$p" 2>/dev/null; done
	for name in slurmctld $(cd "$SLURM/pid" && ls -d slurmd.* 2>/dev/null) munged; do
		slurm_kill KILL "$name"
	done
	for p in $(slurm_stepds); do kill -9 "$p" 2>/dev/null; done
	return 0
}
