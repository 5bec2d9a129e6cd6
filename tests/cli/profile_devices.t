#!/bin/sh
# profile_devices.t - pollux profile --devices: real measurements of CPU slots, kept, shown and
# used.
# shellcheck disable=SC2016,SC2317  # Perl; functions run by wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY

longer_than() { perl -CS -ne 'BEGIN { $w = shift } chomp; print "$_\n" if length > $w' "$1"; }
cleanup() { end_jobs; }
running() { [ "$(store "SELECT count(*) FROM runs WHERE state = 'running'")" = 1 ]; }

# --- what loads what ---
unlike 'pollux is not linked with BLAS or CUDA' 'blas|cuda|cublas' "$(ldd "$POLLUX" 2>&1)"

# --- usage ---
status 'an operand is a usage error' 64 "$POLLUX" profile --devices cpu:0
status 'a device that is not there is refused with status 66' \
	66 "$POLLUX" profile --devices --device cpu:99999
is 'a device that is not there is named' \
	"pollux: no device 'cpu:99999'; see 'pollux devices'" "$err"
mkdir -p "$POLLUX_DIR"
echo 'slots = many' >"$POLLUX_DIR/config"
status 'a bad configuration is a configuration error' 78 "$POLLUX" profile --devices
rm "$POLLUX_DIR/config"

# --- all of it, on this machine ---
kind=$("$POLLUX" devices --json |
	json 'print((grep { $_->{usable} && $_->{id} =~ /^cpu:/ } @{$d->{devices}})[0]{kind})')
slots=$("$POLLUX" devices --json |
	json 'print scalar grep { $_->{usable} && $_->{id} =~ /^cpu:/ } @{$d->{devices}}')
status 'a quick look at every kind succeeds' 0 "$POLLUX" profile --devices --quick --json
printf '%s' "$out" >quick.json
is 'the document has its keys' 'kinds left_out quick schema_version time_s' \
	"$(json 'print join " ", sort keys %$d' <quick.json)"
is 'each kind has its keys' 'device_id device_kind measurements notes peak_basis peaks' \
	"$(json 'print join " ", sort keys %{$d->{kinds}[-1]}' <quick.json)"
is 'each measurement has its keys' \
	'bytes bytes_per_s devices flops k m n peak_ratio repetitions steady time_s time_sd_s
 variant what' "$(json 'print join " ", sort keys %{$d->{kinds}[-1]{measurements}[0]}' <quick.json |
	sed 's/ variant/\n&/')"
is 'the kind is that of the devices' "$kind" \
	"$(json 'print $d->{kinds}[-1]{device_kind}' <quick.json)"
like 'products have two widths, and rows in powers of four' \
	'^256 1024: 1 4 16( 64( 256( 1024)?)?)?$' "$(json '
	my @p = grep { $_->{what} eq "product" } @{$d->{kinds}[-1]{measurements}};
	my %w = map { $_->{n} => 1 } @p;
	print join(" ", sort { $a <=> $b } keys %w), ": ",
		join " ", map { $_->{m} } grep { $_->{n} == 256 } @p' <quick.json)"
is 'rates are operations over times' '' "$(json 'for (@{$d->{kinds}[-1]{measurements}}) {
	next if $_->{what} ne "product";
	my $want = 2 * $_->{m} * $_->{n} * $_->{k} / $_->{time_s};
	print "$_->{flops} is not $want\n" if abs($_->{flops} / $want - 1) > 1e-12;
	print "no repetitions\n" if $_->{repetitions} < 1; }' <quick.json)"
# Kernels that do not know the processor, or a measuring loop that waits, would be far below this.
is "the best product reaches a fiftieth of the processor's peak" 1 "$(json '
	my ($p) = grep { $_->{variant} eq "fp32" } @{$d->{kinds}[-1]{peaks}};
	my ($best) = sort { $b <=> $a } map { $_->{peak_ratio} } grep { $_->{what} eq "product" }
		@{$d->{kinds}[-1]{measurements}};
	print $p ? 0 + ($best > 0.02) : 1' <quick.json)"
is 'copies in memory are measured' 1 \
	"$(json 'print 0 + (2 <= grep { $_->{what} eq "memory" && $_->{bytes_per_s} > 1e6 }
	@{$d->{kinds}[-1]{measurements}})' <quick.json)"
if [ "$slots" -ge 2 ]; then
	is 'two slots wait for each other' 1 "$(json 'print scalar grep { $_->{what} eq "barrier" &&
		$_->{devices} == 2 } @{$d->{kinds}[-1]{measurements}}' <quick.json)"
	is 'two slots sum vectors of several sizes' '4096 65536 1048576' \
		"$(json 'print join " ", map { $_->{bytes} }
		grep { $_->{what} eq "reduction" && $_->{devices} == 2 }
		@{$d->{kinds}[-1]{measurements}}' <quick.json)"
fi
like 'a note says which library multiplies' 'products by OpenBLAS, kernels' \
	"$(json 'print "$_\n" for @{$d->{kinds}[-1]{notes}}' <quick.json)"

# --- kept ---
is 'all measurements are in the store' \
	"$(json 'print scalar map { @{$_->{measurements}} } @{$d->{kinds}}' <quick.json)" \
	"$(store 'SELECT count(*) FROM device_measurements')"
is 'the store has measurements as they were shown' '' \
	"$(store -separator ' ' "SELECT what, m, n, bytes, devices, printf('%.6g', time_s)
	FROM device_measurements WHERE device_kind = '$kind'" | sort >stored
	json 'for (@{$d->{kinds}[-1]{measurements}}) { no warnings;
		printf "%s %d %d %d %d %.6g\n", @$_{qw(what m n bytes devices time_s)} }' \
		<quick.json | sort |
	diff - stored)"
row()
{
	store "SELECT count(*), max(measured_time_s) FROM device_measurements WHERE what = 'product'
		AND variant = 'fp32' AND m = 1 AND n = 256 AND device_kind = '$kind'"
}
before=$(row)
# A steady measurement is kept where the new one is not steady.
given_kinds all steady=0
export COLUMNS=80
status 'one slot is measured again, for people' 0 "$POLLUX" profile --devices --quick --device cpu:0
is 'the tables are within 80 columns' '' "$(printf '%s\n' "$out" | longer_than 80)"
unlike 'the tables have no colour in a pipe' "$(printf '\033')" "$out"
like 'the kind is the heading' '^.*\(cpu:0\)$' "$out"
like 'the table has a row of products' '^fp32 +16 +[0-9.]+\*? +[0-9]+% ' "$out"
like 'the table has a row of copies' '^memory +- +1 +64K ' "$out"
unlike 'one slot measures no exchange' '^barrier' "$out"
is 'a measurement of the same size is replaced' 1 "$(row | cut -d '|' -f 1)"
ok 'the replaced measurement is newer' test "$before" != "$(row)"

# --- a job that has the device is not disturbed ---
"$POLLUX" submit -q -- sleep 600 >id
"$POLLUX" schedule --slots 1
wait_for 20 running
status 'the slot of a job is refused' 75 env POLLUX_SLOTS=1 "$POLLUX" profile --devices --quick
like 'the job that holds the slot is named' \
	"^pollux: device 'cpu:0' is held by job $(cat id);" "$err"
status 'the slot of a job is refused by its name' \
	75 env POLLUX_SLOTS=1 "$POLLUX" profile --devices --quick --device cpu:0
"$POLLUX" cancel "$(cat id)"
"$POLLUX" wait --timeout 300 "$(cat id)" || :
# Given out by a pass, and not started yet.
id=$("$POLLUX" submit -q --hold -- true)
past_run "$id" state=assigned
had_device "$run" cpu:0 ''
status 'a device that a job is about to have is refused' 75 "$POLLUX" profile --devices --quick \
	--device cpu:0
like 'the job that is about to have the device is named' "held by job $id;" "$err"
given_none runs if id="$run"
given_none settings	# the last pass had one slot
# Not in the store, but locked: a supervisor that has just taken it.
if command -v flock >/dev/null && command -v python3 >/dev/null; then
	python3 -c 'import fcntl, struct, sys, time
f = open(sys.argv[1], "w")
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
print("locked", flush=True)
time.sleep(600)' "$POLLUX_DIR/run/device-cpu:0.lock" >locked &
	locker=$!
	wait_for 20 grep -q locked locked
	status 'a device that is locked is refused' 75 "$POLLUX" profile --devices --quick \
		--device cpu:0
	kill "$locker"
	wait "$locker" 2>/dev/null
fi

# --- a process that measures dies with the one that asked ---
"$POLLUX" profile --devices >/dev/null 2>&1 &
asker=$!
has_child() { child=$(ps -o pid= --ppid "$asker" | tr -d ' ') && [ -n "$child" ]; }
wait_for 20 has_child
is_shown() { "$POLLUX" devices | grep -q '^cpu:0 .* pollux profile --devices '; }
ok 'devices tells that a profile has the device' wait_for 20 is_shown
is 'JSON tells that a profile has the device' 'pollux profile --devices' \
	"$("$POLLUX" devices -j | json 'print $d->{devices}[0]{held_by}')"
status 'a second profile of a device is refused' 75 "$POLLUX" profile --devices --device cpu:0
is 'the second profile is told who holds the device' \
	"pollux: device 'cpu:0' is held by pollux profile --devices; try again later" "$err"
"$POLLUX" submit -q -- true >/dev/null
"$POLLUX" schedule --slots 1
like 'a waiting job is told that a profile holds the device' \
	'cpu:0: pollux profile --devices still holds it' \
	"$(store 'SELECT reason FROM jobs ORDER BY id DESC LIMIT 1')"
"$POLLUX" cancel "$(store 'SELECT max(id) FROM jobs')"
given_none settings
kill -9 "$asker"
gone() { ! kill -0 "$child" 2>/dev/null; }
ok 'a killed profile of devices leaves nothing behind' wait_for 20 gone

# --- what is expected of a job by it ---
for bad in x 0 1Q -5 '' 1e99; do
	status "--parameters '$bad' is a usage error" 64 "$POLLUX" submit \
		--parameters "$bad" -- true
done
id=$("$POLLUX" submit -q --hold --workload w --parameters 0.25M -b 128 -r 1:2 --preempt -- true)
is 'the parameters are kept' 250000.0 \
	"$(store "SELECT parameters FROM workloads WHERE workload = 'w'")"
past_run "$id" batch_size=128 local_batch_size=128 launch_time_s=1 launch_boot_s=1 end_time_s=60 \
	duration_s=59 outcome=stopped first_step_s=3 stop_duration_s=1.5
given_job all runs=1
measured "$id" 0.004 device_kind="$kind" n_steps=5000 step_time_sd_s=0.00002
run "$POLLUX" explain "$id" --json
printf '%s' "$out" >explained.json
is 'a pass seen at one size is divided by what is expected' prior \
	"$(json 'print $d->{model}{parameters}{alpha_grad}{basis}' <explained.json)"
is 'the divided pass keeps its time' 1 "$(json 'my $p = $d->{model}{parameters};
	my $t = $p->{alpha_grad}{value} + 128 * $p->{beta_grad}{value};
	print 0 + (abs($t / 0.004 - 1) < 1e-3)' <explained.json)"
run "$POLLUX" explain "$id"
like 'explain calls the basis prior' '^alpha_grad .* prior$' "$out"
like 'explain says where the prior comes from' "on 'pollux profile --devices' and" \
	"$(printf '%s' "$out" | tr -s ' \n' ' ')"
if [ "$slots" -ge 2 ]; then
	is 'synchronising two is expected to cost something' 'prior 1' "$(json '
		my $s = $d->{model}{parameters}{alpha_sync_local};
		print "$s->{basis} ", 0 + ($s->{value} > 1e-7 && $s->{value} < 1)' <explained.json)"
fi
# A pass fits it with the prior, and anew when that changes. (The job asks for more than there is.)
"$POLLUX" submit -q --workload w -b 128 -r 1000 --preempt -- true >/dev/null 2>&1
bases() { store "SELECT basis FROM models WHERE workload = 'w'"; }
"$POLLUX" schedule
like 'a pass fits with the prior' '^k' "$(bases)"
"$POLLUX" profile --devices --quick --device cpu:0 >/dev/null
given_model all basis=xxxxxxx
"$POLLUX" schedule
like 'a pass fits again when the devices were measured again' '^k' "$(bases)"
given_model all basis=xxxxxxx
"$POLLUX" schedule
is 'a pass does not fit again when nothing has changed' xxxxxxx "$(bases)"
given_none device_measurements
given_none models
run "$POLLUX" explain "$id" --json
is 'the model is tied without measurements of devices' 'tied tied' "$(printf '%s' "$out" | json '
	my $p = $d->{model}{parameters};
	print "$p->{alpha_grad}{basis} $p->{alpha_sync_local}{basis}"')"
# --- a process that measured hangs in its exit, as in a driver ---
: "${FAULT:=$ROOT/build/fault}"
touch hangs
status 'a measuring process that hangs in its exit is not waited for' 0 \
	env ASAN_OPTIONS="${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}verify_asan_link_order=0" \
	LD_PRELOAD="$FAULT/preload_exit.so" EXIT_HANGS_FILE="$TMP/hangs" EXIT_HANGS_NAME=pollux \
	timeout 300 "$POLLUX" profile --devices --quick
rm hangs

finish
