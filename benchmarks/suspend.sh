#!/bin/bash
# suspend.sh [POLICY...] - six programs that save nothing on two processor slots, in slices of 10 s.
#
# POLICY is fifo, las, goodput, or 'killed': las again, while the watching pass is killed every 7 s
# and two supervisors are killed once; default: all. The programs are two long ones (about 40 s
# alone on the machine this was made on), two of 16 s and two of 8 s, submitted in this order one a
# second, the shorter ones last. With PYTHON=PYTHON, a Python that has torch, they train a network
# with it, unmodified; else they compute in perl. Each prints a checksum of its result, which is
# compared with that of the same program run alone. Nothing is judged by the exit status.
#
#	PYTHON=/opt/venv/bin/python benchmarks/suspend.sh
#	SUSPEND_DIR=/tmp/suspend benchmarks/suspend.sh fifo las    # keep stores and logs there
set -eu
sqlite3() { command sqlite3 -cmd '.timeout 60000' "$@"; }

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
python=${PYTHON:-}
scale=${SUSPEND_SCALE:-1}	# of the length of all programs
timeout=1500
unset POLLUX_DIR POLLUX_POLICY POLLUX_SLOTS POLLUX_SLICE XDG_CONFIG_HOME
export OMP_NUM_THREADS=1 NO_COLOR=1 LC_ALL=C
work=${SUSPEND_DIR:-} made='' watcher='' sampler=''
[ -n "$work" ] || work=$(made=1 && mktemp -d "${TMPDIR:-/tmp}/pollux-suspend.XXXXXX")
[ -n "${SUSPEND_DIR:-}" ] || made=$work
mkdir -p "$work"
work=$(cd "$work" && pwd)
export HOME="$work"

cleanup() {
	for pid in $watcher $sampler; do kill "$pid" 2>/dev/null || :; done
	for store in "$work"/*/store; do
		[ -e "$store/pollux.db" ] || continue
		mapfile -t ids < <(sqlite3 "$store/pollux.db" \
			"SELECT id FROM jobs WHERE end_time_s IS NULL")
		[ ${#ids[@]} = 0 ] || POLLUX_DIR=$store "$pollux" cancel "${ids[@]}" || :
	done >/dev/null 2>&1
	[ -z "$made" ] || rm -rf "$made"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# --- the programs ---

cat >"$work/train.py" <<'END'
import hashlib, sys, torch
seed, steps = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(seed)
x = torch.randn(4096, 256)
y = (x @ torch.randn(256, 10)).argmax(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Dropout(0.1),
                            torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64,
                                   shuffle=True)
step = 0
while step < steps:
    for a, b in data:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
        step += 1
        if step % 100 == 0:
            print(f"step {step}/{steps} loss {loss.item():.4f}", flush=True)
        if step >= steps:
            break
digest = hashlib.sha256()
for p in model.parameters():
    digest.update(p.detach().numpy().tobytes())
print("RESULT", digest.hexdigest())
END
cat >"$work/train.pl" <<'END'
use strict;
my ($seed, $steps) = @ARGV;
my $x = $seed;
$| = 1;
for my $i (1 .. $steps) {
	for (1 .. 20000) { $x = ($x * 1103515245 + 12345) % 2147483648 }
	print "step $i/$steps\n" if $i % 100 == 0;
}
print "RESULT $x\n";
END
if [ -n "$python" ]; then
	program=("$python" "$work/train.py")
	per_s=1000	# steps
else
	program=(perl "$work/train.pl")
	per_s=400
fi
lengths='40 40 16 16 8 8'
steps_of() { awk -v s="$1" -v n="$per_s" -v k="$scale" 'BEGIN { print int(s * n * k) }'; }

# --- measuring ---

# Every half second: the processor time of what is suspended. Only what lies between two looks at
# the same suspension counts. Prints the sum in seconds when it is told to stop.
cat >"$work/sample.pl" <<'END'
use strict;
my ($db, $dir, $out) = @ARGV;
my (%last, $sum, $looks);
$sum = $looks = 0;
my $ended;
$SIG{TERM} = sub { $ended = 1 };
until ($ended) {
	my %now;
	for (`sqlite3 -cmd '.timeout 5000' $db "SELECT id, suspended_boot_s FROM runs
		WHERE suspension = 'suspended' AND state = 'running'"`) {
		chomp;
		my ($id, $since) = split /\|/;
		for my $file (glob "/proc/[0-9]*/environ") {
			open(my $f, "<", $file) or next;
			local $/;
			my $environment = <$f> // "";
			next if index($environment, "POLLUX_REPORT_SOCKET=$dir/run/$id.sock") < 0;
			my ($pid) = $file =~ /(\d+)/;
			open(my $s, "<", "/proc/$pid/stat") or next;
			my $stat = <$s> // "";
			$stat =~ s/.*\) //;
			my @field = split / /, $stat;
			my $key = "$id $since $pid";
			$now{$key} = $field[11] + $field[12];
			$looks++, $sum += $now{$key} - $last{$key} if defined $last{$key};
		}
	}
	%last = %now;
	select undef, undef, undef, 0.5;
}
open(my $o, ">", $out);
printf $o "%.2f %d\n", $sum / 100, $looks;
END

alone() {
	local i=0
	for s in $lengths; do
		i=$((i + 1))
		"${program[@]}" $i "$(steps_of "$s")" | sed -n "s/^RESULT /$i /p"
	done >"$work/alone"
}

watch() { "$pollux" schedule --watch 1 --policy "$1" >>"$dir/watch.log" 2>&1 & watcher=$!; }
disturb() { # kills the pass every 7 s, and two supervisors
	local n=0 victim
	while ! "$pollux" wait --timeout 7 1 2 3 4 5 6 >/dev/null 2>&1; do
		[ "$(sqlite3 -cmd ".timeout 10000" "$dir/store/pollux.db" \
			"SELECT count(*) FROM jobs WHERE end_time_s IS NULL")" != 0 ] || break
		kill -9 "$watcher" 2>/dev/null || :
		wait "$watcher" 2>/dev/null || :
		n=$((n + 1))
		if [ $n = 2 ] || [ $n = 4 ]; then
			victim=$(sqlite3 -cmd ".timeout 10000" "$dir/store/pollux.db" "SELECT
				CAST(substr(handle, instr(handle, ' supervisor=') + 12) AS INTEGER)
				FROM runs
				WHERE suspension = '$([ $n = 2 ] && echo suspended || echo none)'
				AND state = 'running' LIMIT 1")
			[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || :
		fi
		watch las
	done
	echo "$n" >"$dir/kills"
}

run_one() { # run_one POLICY
	local policy=$1 i=0
	[ "$1" != killed ] || policy=las
	dir=$work/$1
	rm -rf "$dir"
	mkdir -p "$dir"
	export POLLUX_DIR="$dir/store" POLLUX_SLOTS=2 POLLUX_SLICE=10s POLLUX_SUBMIT_PASS=no
	"$pollux" status >/dev/null
	watch "$policy"
	for s in $lengths; do
		i=$((i + 1))
		"$pollux" submit -q --no-torch -n "p$i-${s}s" -- "${program[@]}" $i \
			"$(steps_of "$s")" >/dev/null
		sleep 1
	done
	perl "$work/sample.pl" "$dir/store/pollux.db" "$dir/store" "$dir/sampled" &
	sampler=$!
	if [ "$1" = killed ]; then disturb
	else "$pollux" wait --timeout $timeout 1 2 3 4 5 6 >/dev/null 2>&1 || :; fi
	kill $sampler; wait $sampler 2>/dev/null || :
	sampler=
	kill $watcher; wait $watcher 2>/dev/null || :
	watcher=
	for i in 1 2 3 4 5 6; do
		sed -n "s/^RESULT /$i /p" "$dir/store/logs/$i.log" | tail -n 1
	done >"$dir/results"
	unset POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE
}

# Seconds between an event of a pass and that of the supervisor that carried it out.
median_lag() { # median_lag DB ASKED DONE
	sqlite3 -cmd '.timeout 10000' "$1" "SELECT
		(SELECT min(d.time_s) FROM events d WHERE d.run_id = a.run_id
			AND d.kind = '$3' AND d.id > a.id) - a.time_s
		FROM events a WHERE a.kind = '$2'" |
		grep . | sort -n | awk '{ v[NR] = $1 }
		END { print NR ? sprintf("%.2f", v[int((NR + 1) / 2)]) : "-" }'
}

report() { # report POLICY
	local db=$work/$1/store/pollux.db sampled
	read -r sampled _ <"$work/$1/sampled"
	printf '%-8s %5s %10s %9s %11s %8s %12s %11s\n' "$1" \
		"$(comm -12 <(sort "$work/alone") <(sort "$work/$1/results") | wc -l)/6" \
		"$(sqlite3 "$db" "SELECT printf('%.1f', avg(end_time_s - submit_time_s)) FROM jobs
			WHERE state = 'done'")" \
		"$(sqlite3 "$db" "SELECT printf('%.1f', max(end_time_s) - min(submit_time_s))
			FROM jobs")" \
		"$(sqlite3 "$db" "SELECT count(*) FROM events WHERE kind = 'suspended'")" \
		"$sampled" "$(median_lag "$db" suspend suspended)" \
		"$(sqlite3 "$db" "SELECT count(*) FROM runs WHERE launch_time_s IS NOT NULL")"
}

alone
policies=("$@")
[ $# != 0 ] || policies=(fifo las goodput killed)
for policy in "${policies[@]}"; do run_one "$policy"; done
echo "six programs (${program[0]##*/}) on two slots, slices of 10 s;" \
	"$(getconf _NPROCESSORS_ONLN) processors"
printf '%-8s %5s %10s %9s %11s %8s %12s %11s\n' policy right 'mean JCT s' makespan \
	suspensions 'their CPU' 'median s to' launches
printf '%-8s %5s %10s %9s %11s %8s %12s %11s\n' '' '' '' s '' s 'be stopped' ''
for policy in "${policies[@]}"; do report "$policy"; done
[ ! -e "$work/killed/kills" ] || echo "passes killed: $(cat "$work/killed/kills"), supervisors: 2"
