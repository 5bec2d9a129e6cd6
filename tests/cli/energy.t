#!/bin/sh
# energy.t - the energy that a run's devices take, by counters in files that stand where Linux has
# those of processors, and by the counter of a stand-in for NVML. A job moves the counters itself,
# so that what counts does not depend on time.
# shellcheck disable=SC2016,SC2317  # texts for other programs; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=las POLLUX_SLICE=0.2 POLLUX_CPU_ROOT=$TMP/root
export POLLUX_SLOTS POLLUX_POLICY POLLUX_SLICE POLLUX_CPU_ROOT

cleanup() { end_jobs; }
holds() { [ "$(store "SELECT EXISTS (SELECT 1 FROM runs WHERE $1)")" = 1 ]; }
passes_until() { "$POLLUX" schedule && holds "$1"; }
energy() { store "SELECT CASE WHEN energy_j IS NULL THEN 'unknown'
	ELSE printf('%.3f', energy_j) END FROM runs WHERE job_id = $1"; }
counter() { echo "$1" >"$zone/energy_uj.new" && mv "$zone/energy_uj.new" "$zone/energy_uj"; }
is_state() { [ "$(store "SELECT state FROM jobs WHERE id = $1")" = "$2" ]; }
runs() { # runs OPTION...: a job to its end
	id=$("$POLLUX" submit -q "$@")
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 200 "$id" >/dev/null 2>&1
	wait_for 20 no_supervisor
}

# A package with the processors of this machine, and as many others; a second package; a part of the
# first, which does not count.
zones=$TMP/root/sys/class/powercap zone=$TMP/root/sys/class/powercap/intel-rapl:0
mkdir -p "$zone" "$zones/intel-rapl:1" "$zones/intel-rapl:0:0" root/sys/devices/system/cpu
for package in 0 1; do
	echo "package-$package" >"$zones/intel-rapl:$package/name"
	echo 10000000 >"$zones/intel-rapl:$package/max_energy_range_uj"
	echo 3000000 >"$zones/intel-rapl:$package/energy_uj"
done
echo core >"$zones/intel-rapl:0:0/name"
echo 1000000 >"$zones/intel-rapl:0:0/energy_uj"
perl -e '
	my ($own) = `cat /proc/self/status` =~ /^Cpus_allowed_list:\s*(\S+)/m;
	my @own = map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $own;
	my @all = (@own, map { 5000 + $_ } @own);
	for my $p (@all, 10000) {
		my $dir = "root/sys/devices/system/cpu/cpu$p/topology";
		system "mkdir", "-p", $dir;
		open my $file, ">", "$dir/physical_package_id";
		print $file $p == 10000 ? 1 : 0, "\n";
	}
	open my $file, ">", "root/sys/devices/system/cpu/online";
	print $file join(",", @all, 10000), "\n";
'

runs -n half -- sh -c "echo 7000000 >'$zone/energy_uj'
	echo 9000000 >'$zones/intel-rapl:1/energy_uj'
	echo 9000000 >'$zones/intel-rapl:0:0/energy_uj'"
is "a slot with half of a package's processors gets half of its energy" 2.000 "$(energy 1)"
runs -n wraps -- sh -c "echo 1000000 >'$zone/energy_uj'"
is 'the energy is right where a counter began again' 2.000 "$(energy 2)"
mv "$zone/energy_uj" hidden
runs -n blind -- true
is 'the energy is unknown where a counter cannot be read' unknown "$(energy 3)"
mv hidden "$zone/energy_uj"

"$POLLUX" history --by name --csv >csv
is 'the CSV of history has the energy of a name' 'half,2' \
	"$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "energy_j") k = i }
		$1 == "half" { print $1 "," $k }' csv)"
is 'the CSV of history leaves unknown energy empty' 'blind,' \
	"$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "energy_j") k = i }
		$1 == "blind" { print $1 "," $k }' csv)"
is 'the JSON of history has the sum, and null for unknown energy' '4 null' \
	"$("$POLLUX" history --by name --json | json '
	my ($blind) = grep { $_->{key} eq "blind" } @{$d->{rows}};
	print $d->{total}{energy_j}, " ", $blind->{energy_j} // "null"')"
run env COLUMNS=120 "$POLLUX" history --by name
like 'the table of history has the energy of a name' '^half .* 0\.56 mWh +- +-$' "$out"
like 'the table of history has a dash for unknown energy' '^blind .* - +- +-$' "$out"
like 'the table of history has the sum of energies' '^all .* 1\.11 mWh +- +-$' "$out"
is 'the JSON of status has the energy of a run' 2 \
	"$("$POLLUX" status --json 1 |
	json 'print $d->{jobs}[0]{details}{runs}[0]{energy_j}')"

# --- a run that is suspended pays for nothing meanwhile ---

counter 1000000
a=$("$POLLUX" submit -q --suspend always -- sh -c "echo 3000000 >'$zone/energy_uj'; touch moved
	until [ -e go ]; do sleep 0.1; done; echo 9800000 >'$zone/energy_uj'")
"$POLLUX" schedule
ok 'the first job moves the counter' wait_for 20 [ -e moved ]
b=$("$POLLUX" submit -q --suspend always -- sh -c '>begun; until [ -e over ]; do sleep 0.1; done')
ok 'the first job gives way to another' \
	wait_for 30 passes_until "job_id = $a AND suspension = 'suspended'"
ok 'the other job runs' wait_for 20 [ -e begun ]
is 'a suspended run has the energy that it took until then' 1.000 "$(energy "$a")"
counter 9000000
touch over
ok 'the other job ends' wait_for 20 is_state "$b" 'done'
ok 'the first job has the device again' \
	wait_for 30 passes_until "job_id = $a AND suspension = 'none'"
touch go
ok 'the first job ends' wait_for 20 is_state "$a" 'done'
is 'energy taken meanwhile belongs to the other job' '1.400 3.000' "$(energy "$a") $(energy "$b")"

# --- jobs that share a device ---

POLLUX_POLICY=fifo
counter 1000000
cat >steps <<'STEPS'
$| = 1;
for my $i (1 .. 100000) {
	select undef, undef, undef, 0.03;
	print "step $i/100000\n";
	exit 0 if -e "finish";
}
STEPS
for _ in 1 2; do "$POLLUX" submit -q --share --workload w -- perl steps >/dev/null; done
c=$((b + 1)) d=$((b + 2))
"$POLLUX" schedule
ok 'the first of two sharing jobs runs' wait_for 20 holds "job_id = $c AND state = 'running'"
ok 'the second job runs beside it' wait_for 60 passes_until "job_id = $d AND state = 'running'"
ok 'each job has a first reading of the counter' \
	wait_for 20 holds "job_id = $c AND energy_j IS NOT NULL AND EXISTS (
	SELECT 1 FROM runs WHERE job_id = $d AND energy_j IS NOT NULL)"
counter 9000000
touch finish
ok 'the first of two sharing jobs ends' wait_for 30 is_state "$c" 'done'
ok 'the second of two sharing jobs ends' wait_for 30 is_state "$d" 'done'
is "each of two sharing jobs took half of the slot's half" '2.000 2.000' \
	"$(energy "$c") $(energy "$d")"

# --- GPUs ---

if [ -n "${GPU_STANDIN-}" ]; then
	A=GPU-aaaaaaaa-0000-0000-0000-000000000001
	POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root
	export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT
	unset POLLUX_SLOTS
	gpu() { printf 'gpu %s NVIDIA RTX A6000\nmemory 49140 48000\nrates 0\n' "$A"
		printf 'persistence 1\n'; [ $# = 0 ] || echo "energy $1"; }
	gpu 1000000 >answers
	gpu 8200000 >later
	runs -- sh -c 'mv later answers'
	is "a run on a GPU has the energy that the GPU's counter tells" 7200.000 "$(energy "$id")"
	gpu >answers
	runs -- true
	is 'the energy is unknown on a GPU without a counter' unknown "$(energy "$id")"
fi
finish
