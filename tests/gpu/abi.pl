#!/usr/bin/perl
# abi.pl nvml|cuda HEADER - print C that compiles only if our declarations of NVML, or of CUDA's
# driver, are those of NVIDIA's HEADER: numbers, layouts, and prototypes of what is called.
#
# A line "/* absent: WHAT */" is about something that this HEADER lacks, which another has. CC is
# the compiler.
use strict;
use warnings;
use Cwd "abs_path";
use File::Basename;

my $library = shift;
my $header = abs_path(shift);
my $source = dirname(dirname(dirname(__FILE__))) . '/src/device/nvidia/';
my $cc = $ENV{CC} // 'cc';

my %of = (
	nvml => {
		ours => 'nvml.h', table => 'nvml.c', struct => 'nvml', result => 'nvmlReturn_t',
		# what their types are to us; those that we call int are enums
		types => {
			nvmlReturn_t => 'int', nvmlDevice_t => 'nvml_handle',
			nvmlMemory_t => 'struct nvml_memory', nvmlPciInfo_t => 'struct nvml_pci',
			nvmlUtilization_t => 'struct nvml_rates',
			nvmlProcessUtilizationSample_t => 'struct nvml_process_sample',
			nvmlTemperature_t => 'struct nvml_temperature',
			nvmlTemperatureSensors_t => 'int', nvmlEnableState_t => 'int',
			nvmlComputeMode_t => 'int', nvmlGpuTopologyLevel_t => 'int',
			nvmlGpuP2PCapsIndex_t => 'int', nvmlGpuP2PStatus_t => 'int',
			nvmlProcessInfo_t => 'void', nvmlProcessInfo_v1_t => 'void',
			nvmlProcessInfo_v2_t => 'void',
		},
		# ours, how its size compares with theirs, theirs, and our member = theirs
		layouts => [
			'struct nvml_memory == nvmlMemory_t total_bytes=total free_bytes=free ' .
				'used_bytes=used',
			'struct nvml_rates == nvmlUtilization_t gpu_percent=gpu ' .
				'memory_percent=memory',
			'struct nvml_process_sample == nvmlProcessUtilizationSample_t pid=pid ' .
				'time_us=timeStamp sm_percent=smUtil memory_percent=memUtil ' .
				'encoder_percent=encUtil decoder_percent=decUtil',
			'struct nvml_temperature == nvmlTemperature_t version=version ' .
				'sensor=sensorType celsius=temperature',
			# all of theirs is written; more may be there than we use
			'struct nvml_pci >= nvmlPciInfo_t domain=domain bus=bus device=device ' .
				'device_id=pciDeviceId subsystem_id=pciSubSystemId',
			map { "struct entry <= $_ pid=pid memory_bytes=usedGpuMemory" }
				qw(nvmlProcessInfo_v1_t nvmlProcessInfo_v2_t nvmlProcessInfo_t),
		],
		pairs => [
			'NVML_UUID_SIZE == NVML_DEVICE_UUID_V2_BUFFER_SIZE',
			'NVML_NAME_SIZE == NVML_DEVICE_NAME_V2_BUFFER_SIZE',
			'NVML_NOT_AVAILABLE == (unsigned long long)NVML_VALUE_NOT_AVAILABLE',
			'NVML_LINKS >= NVML_NVLINK_MAX_LINKS',
			'NVML_TEMPERATURE_VERSION == nvmlTemperature_v1',
			'NVML_TEMPERATURE_GPU == THEIRS_NVML_TEMPERATURE_GPU',
			'NVML_COMPUTE_EXCLUSIVE_THREAD == NVML_COMPUTEMODE_EXCLUSIVE_THREAD',
			'NVML_COMPUTE_PROHIBITED == NVML_COMPUTEMODE_PROHIBITED',
			'NVML_COMPUTE_EXCLUSIVE_PROCESS == NVML_COMPUTEMODE_EXCLUSIVE_PROCESS',
			'NVML_P2P_CAPS_NVLINK == NVML_P2P_CAPS_INDEX_NVLINK',
			'NVML_P2P_OK == NVML_P2P_STATUS_OK',
			'NVML_ANCESTOR_BOARD == NVML_TOPOLOGY_INTERNAL',
			'NVML_ANCESTOR_SWITCHES == NVML_TOPOLOGY_MULTIPLE',
			'NVML_ANCESTOR_NODE == NVML_TOPOLOGY_NODE',
			'NVML_SLOWED_POWER_CAP == nvmlClocksThrottleReasonSwPowerCap',
			'NVML_SLOWED_HARDWARE == nvmlClocksThrottleReasonHwSlowdown',
			'NVML_SLOWED_HEAT_SOFTWARE == nvmlClocksThrottleReasonSwThermalSlowdown',
			'NVML_SLOWED_HEAT_HARDWARE == nvmlClocksThrottleReasonHwThermalSlowdown',
			'NVML_SLOWED_POWER_BRAKE == nvmlClocksThrottleReasonHwPowerBrakeSlowdown',
			'ENTRY_V1 == sizeof(nvmlProcessInfo_v1_t)',
			'ENTRY_V2 == sizeof(nvmlProcessInfo_v2_t)',
			'ENTRY_V2 == sizeof(nvmlProcessInfo_t)',
		],
		theirs => sub { $_[0] eq 'SUCCESS' ? 'THEIRS_NVML_SUCCESS' : "NVML_ERROR_$_[0]" },
		numbers => qr/\bNVML_[A-Z0-9_]+/,
		no_numbers => qr/^NVML_(ASK|FUNCTION_NOT_FOUND)$/,
	},
	cuda => {
		ours => 'cuda_driver.h', table => 'cuda_driver.c', struct => 'cuda_driver',
		result => 'CUresult',
		types => {
			CUresult => 'int', CUdevice => 'int', CUprocessState => 'int',
			CUdeviceptr => 'cu_pointer', CUcontext => 'cu_context',
			CUmodule => 'cu_module', CUfunction => 'cu_function',
			CUstream => 'cu_stream', CUcheckpointLockArgs => 'struct cu_lock_args',
			CUcheckpointCheckpointArgs => 'void', CUcheckpointRestoreArgs => 'void',
			CUcheckpointUnlockArgs => 'void',
		},
		layouts => [
			'struct cu_lock_args == CUcheckpointLockArgs timeout_ms=timeoutMs ' .
				'reserved0=reserved0 reserved1=reserved1',
		],
		pairs => [
			'sizeof(cu_pointer) == sizeof(CUdeviceptr)',
			map { "CU_ARGS * sizeof(uint64_t) == sizeof(CUcheckpoint${_}Args)" }
				qw(Checkpoint Restore Unlock),
		],
		theirs => sub { $_[1] eq 'state' ? "CU_PROCESS_STATE_$_[0]" :
			$_[0] eq 'OK' ? 'CUDA_SUCCESS' : "CUDA_ERROR_$_[0]" },
		numbers => qr/\bCU_[A-Z0-9_]+/,
		no_numbers => qr/^$/,
	},
);
my $l = $of{$library} // die "abi.pl: no library '$library'\n";

sub content {
	local (@ARGV, $/) = @_;
	my $text = <>;
	$text =~ s{/\*.*?\*/}{}gs;
	return $text;
}
my $ours = content("$source$l->{ours}");
my $table = content("$source$l->{table}");
my $include = dirname($header);
my $theirs = `$cc -E -P -dD -DNVML_NO_UNVERSIONED_FUNC_DEFS -isystem '$include' '$header'`;
die "abi.pl: '$header' cannot be read\n" if $? || !$theirs;
my %word = map { $_ => 1 } $theirs =~ /\w+/g;

# --- what is to be the same ---

my @pairs = @{$l->{pairs}};
while ($ours =~ /enum (?:nvml|cu)_(code|state) \{(.*?)\}/gs) {
	my ($enum, $text) = ($1, $2);
	push @pairs, map { my $name = $_; s/^(?:NVML|CU)_//;
		"$name == " . $l->{theirs}->($_, $enum) } $text =~ /(\w+) = \d+/g;
}
for (@{$l->{layouts}}) {
	my ($mine, $compare, $its, $members) = /^(.*?) ([=<>]=) (\w+) (.*)/;
	push @pairs, "sizeof($mine) $compare sizeof($its)";
	for (split / /, $members) {
		my ($m, $i) = split /=/;
		push @pairs, "offsetof($mine, $m) == offsetof($its, $i)",
			"sizeof((($mine *)0)->$m) == sizeof((($its *)0)->$i)";
	}
}
for (sort keys %{$l->{types}}) {
	push @pairs, "sizeof(int) == sizeof($_)" if $l->{types}{$_} eq 'int';
}
# A number that is new in our header has to be compared as well.
my $all = join "\n", @pairs;
my $defined = join('', $ours =~ /^enum.*?^\};|^#define\s+\S+/gms);
my %numbers = map { $_ => 1 } $defined =~ /$l->{numbers}/g;
my @forgotten = grep { $all !~ /(?<!THEIRS_)\b$_\b/ && $_ !~ $l->{no_numbers} } sort keys %numbers;
die "abi.pl: nothing says what @forgotten is in NVIDIA's header\n" if @forgotten;

# --- C ---

# Their names that we have, too, begin with THEIRS_.
my @clash = grep { $word{$_} } sort keys %numbers;
print "#include <stddef.h>\n#define NVML_NO_UNVERSIONED_FUNC_DEFS\n";
print "#define $_ THEIRS_$_\n" for @clash;
print "#include \"$header\"\n";
print "#undef $_\n" for @clash;
print "#include \"device/nvidia/$l->{table}\"\n";
for (@pairs) {
	my ($its) = /[=<>]= (.*)/;
	my @missing = grep { !$word{s/^THEIRS_//r} } $its =~ /\b(?:THEIRS_NVML_|NVML_|nvml|CU)\w+/g;
	push @missing, grep { !$word{$_} } $its =~ /(?:, |->)(\w+)\)?$/;
	my ($mine, $compare) = /^(.*?) ([=<>]=)/;
	print @missing ? "/* absent: $_ */\n" :
		"_Static_assert((long long)($mine) $compare (long long)($its), \"$_\");\n";
}

# The functions, as the table of the source has them, and those of processes.
my %member;
while ($table =~ /S\((\w+)\)[^{}]*?\{?\s*((?:"\w+"[,\s]*)+)/g) {
	my ($name, $symbols) = ($1, $2);
	$member{$_} = $name for $symbols =~ /"(\w+)"/g;
}
while ($table =~ /(compute|mps)_names\[\w+\] = \{(.*?)\}/gs) {
	my ($name, $symbols) = ("$1_processes", $2);
	$member{$_} = $name for $symbols =~ /"(\w+)"/g;
}
die "abi.pl: no functions in $l->{table}\n" if keys %member < 10;
for my $name (sort keys %member) {
	my ($arguments) = $theirs =~ /\b$l->{result}\s+$name\s*\(([^()]*)\)\s*;/;
	if (!defined $arguments) {
		print "/* absent: prototype of $name */\n";
		next;
	}
	$arguments =~ s/\b$_\b/$l->{types}{$_}/g for keys %{$l->{types}};
	my $mine = "((struct $l->{struct} *)0)->$member{$name}";
	print "int THEIRS_$name($arguments);\n",
		"_Static_assert(__builtin_types_compatible_p(__typeof__(&THEIRS_$name), ",
		"__typeof__($mine)), \"prototype of $name\");\n";
}
