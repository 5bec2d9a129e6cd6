#!/bin/sh
# profile_gpu.t - pollux profile --devices of GPUs, as far as can be tested without one: stand-ins
# answer for NVML and CUDA (tests/gpu/). Their products and copies take made-up times, which pollux
# has to report. This test was never run on a real GPU.
# shellcheck disable=SC2016,SC2317  # Perl; functions run by status
. "$(dirname "$0")/tap.sh"
[ -e "${GPU_STANDIN-}/nvml_new.so" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins for NVML are: make check'
unset COLUMNS POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_HOME CUDA_PATH
POLLUX_NVML=$GPU_STANDIN/nvml_new.so NVML_STANDIN=$TMP/answers POLLUX_GPU_ROOT=$TMP/root COLUMNS=80
export POLLUX_NVML NVML_STANDIN POLLUX_GPU_ROOT COLUMNS
mkdir root lib

a=aaaaaaaa000000000000000000000001 b=bbbbbbbb000000000000000000000002
uuid() { echo "$1" | sed 's/^\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)/GPU-\1-\2-\3-\4-/'; }
gpu()
{
	printf 'gpu %s NVIDIA H200\nmemory 143771 143000\n' "$(uuid "$1")"
	printf 'rates 0\ntemperature 35\npersistence 1\n'
}
{ gpu $a; gpu $b; } >answers

# --- no CUDA here, or one that has other GPUs ---
status 'a profile of GPUs without CUDA fails with status 69' 69 "$POLLUX" profile --devices --quick
like 'one line says what is missing of CUDA' \
	'^pollux: (cannot (use|open) CUDA|CUDA does not show)' "$err"
is 'the message about CUDA is a single line' 1 "$(printf '%s\n' "$err" | wc -l)"

# --- with CUDA's stand-in ---
if ! nm -D "$GPU_STANDIN/cuda_standin.so" 2>/dev/null | grep -q cublasGemmEx; then
	echo "# SKIP the rest: pollux was built where CUDA's headers were not found"
	finish
fi
for name in cudart.so.11.0 cudart.so.12 cudart.so.13 cudart.so.14 cublas.so.11 cublas.so.12 \
	cublas.so.13 cublas.so.14 cuda.so.1; do
	ln -s "$GPU_STANDIN/cuda_standin.so" "lib/lib$name"
done
with_cuda() { env LD_LIBRARY_PATH="$TMP/lib" CUDA_STANDIN_UUIDS="$a$b" "$@"; }
for visible in 1 '' 7 "$(uuid $b)"; do
	status "a shell's CUDA_VISIBLE_DEVICES='$visible' hides no GPU" 0 \
		with_cuda env CUDA_VISIBLE_DEVICES="$visible" \
		"$POLLUX" profile --devices --quick --device "gpu:$(uuid $a)"
done
status 'two GPUs of a kind are profiled' 0 with_cuda "$POLLUX" profile --devices --quick --json
printf '%s' "$out" >all.json
is 'two GPUs of a kind are one kind, by the first' "1 gpu:$(uuid $a)" \
	"$(json 'print scalar @{$d->{kinds}}, " $d->{kinds}[0]{device_id}"' <all.json)"
is 'products are in five types and two widths, 1 to 4096 rows' \
	'bf16 fp16 fp32 fp64 tf32: 1024 8192: 1 8 64 512 4096' "$(json '
	my (%t, %w, %m);
	for (@{$d->{kinds}[0]{measurements}}) {
		$t{$_->{variant}} = $w{$_->{n}} = $m{$_->{m}} = 1 if $_->{what} eq "product";
	}
	print join(" ", sort keys %t), ": ", join(" ", sort { $a <=> $b } keys %w), ": ",
		join(" ", sort { $a <=> $b } keys %m)' <all.json)"
# Each call takes 4 us and its operations or bytes at a rate: those of the better layout.
is 'rates of products are those of the stand-in' '' "$(json '
	my %rate = (fp64 => 6e13, fp32 => 5e13, tf32 => 4e14, fp16 => 8e14, bf16 => 8e14);
	for (@{$d->{kinds}[0]{measurements}}) {
		next if $_->{what} ne "product";
		my $flop = 2 * $_->{m} * $_->{n} * $_->{k};
		my $want = $flop / (4e-6 + $flop / $rate{$_->{variant}});
		print "$_->{variant} $_->{m} x $_->{n}: $_->{flops}, not $want\n"
			if abs($_->{flops} / $want - 1) > 1e-3 || !$_->{steady};
	}' <all.json)"
is 'rates of copies are those of the stand-in' '' "$(json '
	my %rate = ("" => 2e12, "pinned to device" => 5e10, "pinned to host" => 5e10, peer => 2e11);
	my %seen;
	for (@{$d->{kinds}[0]{measurements}}) {
		next if $_->{what} !~ /^(memory|copy)$/;
		my $rate = $rate{$_->{variant} // ""} or next;
		my $ways = $_->{what} eq "memory" ? 2 : 1;
		my $want = $ways * $_->{bytes} / (4e-6 + $_->{bytes} / $rate);
		print "$_->{what} $_->{bytes}: $_->{bytes_per_s}, not $want\n"
			if abs($_->{bytes_per_s} / $want - 1) > 1e-3;
		$seen{$_->{variant} // ""}++;
	}
	print "not measured: $_\n" for grep { !$seen{$_} } keys %rate' <all.json)"
is 'pageable copies and launches are timed by the clock' '6 2' "$(json '
	my @m = @{$d->{kinds}[0]{measurements}};
	print scalar(grep { ($_->{variant} // "") =~ /^pageable/ && $_->{time_s} > 0 } @m), " ",
		scalar grep { $_->{what} eq "launch" && $_->{time_s} > 0 } @m' <all.json)"
is 'peer copies are of two devices' 2 "$(json 'print +(grep { ($_->{variant} // "") eq "peer" }
	@{$d->{kinds}[0]{measurements}})[0]{devices}' <all.json)"
# The peaks of the GPU: 132 multiprocessors at 1.98 GHz, 4096 FLOP a cycle in bf16; memory of 6144
# bits at 3.201 GHz, twice a cycle.
is 'peaks are computed from the data of the GPU' '1.0705e+15 4.9167e+12' "$(json '
	my %p = map { $_->{variant} => $_->{per_s} } @{$d->{kinds}[0]{peaks}};
	printf "%.4e %.4e", $p{bf16}, $p{memory}' <all.json)"
is 'a complete profile has no notes' \
	'' "$(json 'print "$_\n" for @{$d->{kinds}[0]{notes}}' <all.json)"
is 'all measurements are kept under the kind' \
	"$(json 'print scalar @{$d->{kinds}[0]{measurements}}' <all.json)" \
	"$(sqlite3 "$POLLUX_DIR/pollux.db" \
		"SELECT count(*) FROM device_measurements WHERE device_kind LIKE '%H200%'")"
status 'a profile of a GPU is shown for people' \
	0 with_cuda "$POLLUX" profile --devices --quick --device "gpu:$(uuid $b)"
like 'the table of products is in TFLOP/s' '^products of matrices, M x W by W x W, TFLOP/s$' "$out"
like 'the table has a row of bf16' '^bf16 +4096 +[0-9.]+ +0% +79[0-9] +0% +7[0-9]%$' "$out"
is 'the tables are within 80 columns' '' "$(printf '%s\n' "$out" | grep -E '.{81}')"

# --- GPUs that are joined in two ways: exchanges on each, and what is then expected ---
cp answers two
c=cccccccc000000000000000000000003
{ gpu $a; echo 'nvlink 2'; gpu $c; gpu $b; echo 'nvlink 0'; } >answers
with_pair() { with_cuda env CUDA_STANDIN_UUIDS="$a$b$c" CUDA_STANDIN_NEAR=2 "$@"; }
status 'a pair and a GPU beside it are profiled' \
	0 with_pair "$POLLUX" profile --devices --quick --json
printf '%s' "$out" >tiers.json
# The workload told no parameters: the exchange that counts is of about 40 MB.
exchange='my %time; my $best = 9;
	for (@{$d->{kinds}[0]{measurements}}) {
		my $off = $_->{bytes} ? abs(log($_->{bytes} / 4e7)) : 9;
		next if ($_->{variant} // "") !~ /^peer/ || $off > $best;
		$best = $off;
		$time{$_->{variant}} = $_->{time_s};
	}'
is 'copies are of one pair of each tier and of the best pair' \
	'peer 1.0, peer fast 1.0, peer machine 3.9' "$(json "$exchange"'
	print join ", ", map { sprintf "%s %.1f", $_, $time{$_} / $time{peer} } sort keys %time
	' <tiers.json)"
job=$("$POLLUX" submit -q --hold --workload w -b 64 -- true)
kind=$(store 'SELECT DISTINCT device_kind FROM device_measurements')
past_run "$job" local_batch_size=64
measured "run:$run" 0.1 device_kind="$kind" n_steps=5000 step_time_sd_s=1e-9
past_run "$job" replicas=2 local_batch_size=32
measured "run:$run" 0.06 device_kind="$kind" n_steps=5000 step_time_sd_s=1e-9 tier=fast
expected=$(json "$exchange"'
	printf "prior %.4f", $time{"peer machine"} / $time{"peer fast"}' <tiers.json)
status 'a workload that was seen on the pair is explained' 0 "$POLLUX" explain "$job" --json
is 'synchronising elsewhere is expected to be slower as measured' \
	"$expected" "$(printf '%s' "$out" | json '
	my $t = $d->{model}{tiers}{machine}; printf "%s %.4f", $t->{basis}, $t->{factor}')"
mv two answers

# --- what fails ---
status 'a GPU with little memory is profiled' \
	0 with_cuda env CUDA_STANDIN_MIB=700 "$POLLUX" profile --devices \
	--quick --json
is 'notes tell the products that do not fit in little memory' \
	'no products in fp32 of width 8192 and up: cannot allocate memory: out of memory
no products in tf32 of width 8192 and up: cannot allocate memory: out of memory
no products in fp64 of width 8192 and up: cannot allocate memory: out of memory' \
	"$(printf '%s' "$out" | json 'print "$_\n" for @{$d->{kinds}[0]{notes}}')"
status 'a GPU without free memory fails with status 69' \
	69 with_cuda env CUDA_STANDIN_MIB=1 "$POLLUX" profile --devices --quick
is 'the message says that cuBLAS has no memory' \
	'pollux: cannot allocate memory for cuBLAS: out of memory' "$err"
status 'a GPU that CUDA does not show fails with status 69' \
	69 with_cuda env CUDA_STANDIN_UUIDS="$b" "$POLLUX" profile \
	--devices --quick --device "gpu:$(uuid $a)"
like 'the message names the GPU that CUDA does not show' \
	"^pollux: CUDA does not show device 'gpu:$(uuid $a)'" "$err"
finish
