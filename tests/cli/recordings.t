#!/bin/sh
# recordings.t - cards as their owners described them (tests/gpu/recordings): what pollux says of
# them and does with a job there, and that NVIDIA's own Python module reads the same from the
# stand-in for NVML. Drivers of the times of these cards had other symbols: each has a library.
# shellcheck disable=SC2016,SC2317 # Perl has variables; functions are called by name
. "$(dirname "$0")/tap.sh"
[ -n "${GPU_STANDIN-}" ] ||
	skip_all 'GPU_STANDIN does not say where the stand-ins are: make check'
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY CUDA_VISIBLE_DEVICES
recordings=$ROOT/tests/gpu/recordings
POLLUX_GPU_ROOT=$TMP/root COLUMNS=160
export POLLUX_GPU_ROOT POLLUX_NVML NVML_STANDIN COLUMNS
mkdir root
cleanup() { end_jobs; }

# card LIBRARY RECORDING: sets $table, $facts (of the first GPU), $state and $reason of a job there
card() {
	POLLUX_NVML=$GPU_STANDIN/$1.so NVML_STANDIN=$recordings/$2 POLLUX_DIR=$TMP/$2
	status "$2: devices succeeds" 0 "$POLLUX" devices
	table=$out
	facts=$("$POLLUX" devices --json | json 'print join " ", map { $_ // "-" }
		@{$d->{devices}[0]}{qw(utilization temperature_c power_w power_limit_w usable)}')
	id=$("$POLLUX" submit -q -- true)
	status "$2: schedule succeeds" 0 "$POLLUX" schedule
	state=$(store 'SELECT state FROM jobs') reason=$("$POLLUX" status "$id" |
		sed -n 's/^  reason *//p')
}
runs() { wait_for 20 sh -c "\"$POLLUX\" status --all | grep -q ' done '"; }

card nvml_v1 gt740m-laptop
like 'what the card does not tell is a dash' \
	'^gpu:0  yes       1.6  2.0     -  64 C  -  +GeForce GT 740M, 2 GiB$' "$table"
is 'JSON has null for what the old card does not tell' '- 64 - - 1' "$facts"
ok 'a job runs on the old card' runs

card nvml_v2 rtx2070-laptop
like 'a card without a limit of power is shown' \
	'^gpu:0  yes       7.2  7.8   7 %  59 C  -  +GeForce RTX 2070 with Max-Q Design, 8 GiB$' \
	"$table"
is 'JSON has no limit of power for that card' '0.07 59 18 - 1' "$facts"
ok 'a job runs on the card without a limit of power' runs

card nvml_new rtx4090-desktop
like 'a display on the card takes some memory' \
	'^gpu:0  yes      23.2  24.0  23 %  45 C  -  +NVIDIA GeForce RTX 4090, 24 GiB$' "$table"
is 'JSON has all values that the card tells' '0.23 45 26 450 1' "$facts"
ok 'a job runs beside the display' runs

card nvml_new rtx4090-desktop-busy
like 'devices names the process that computes on the card' \
	'^gpu:0  no       10.0  24.0  16 %  44 C  pid 3264863 ' "$table"
is 'a card with such a process is not usable' '0.16 44 26 450 0' "$facts"
is 'a job waits for the busy card' queued "$state"
like 'the reason names the process, with its memory' '^gpu:0: pid 3264863 .*13576 MiB' "$reason"
"$POLLUX" devices --ignore 3264863 >/dev/null
"$POLLUX" schedule
ok 'the job runs once the process is to be ignored' runs

card nvml_v2 a100-mig
is 'no card with MIG is given out' 2 "$(echo "$table" | grep -c '^gpu:[01]  no ')"
is 'the utilization of a card with MIG is not known' '- 44 66 300 0' "$facts"
is 'a job waits for a card with MIG' queued "$state"
like 'the reason says how to switch MIG off' '^gpu:0: MIG is on, .*nvidia-smi -i 0 -mig 0' "$reason"

# --- NVIDIA's own module ---

if wheels=$("$ROOT/tests/gpu/wheels.sh"); then
	mkdir lib
	ln -s "$GPU_STANDIN/nvml_new.so" lib/libnvidia-ml.so.1
	cat >h200 <<-'END'
	driver 580.159.04
	gpu GPU-a0000000-0000-0000-0000-000000000001 NVIDIA H200
	pci 1a:c1:2
	memory 143771.125 120000.5
	rates 97
	temperature 61
	power 699123
	limit 700000
	energy 12345678901234
	slowed 68
	mig 0
	persistence 1
	compute 3
	process 4711 2048.25 88
	process 4712 ?
	mps 4713 17
	ancestor 1 20
	nvlink 1
	gpu GPU-b0000000-0000-0000-0000-000000000002 NVIDIA H200
	pci 1a:c2:0
	answer memory 999
	answer rates 15
	answer power 4
	compute 0
	answer samples 4
	answer processes 4
	ancestor 0 20
	nvlink 0
	END
	printf 'init 9\n' >no-driver
	for file in "$recordings"/* "$TMP/h200" "$TMP/no-driver"; do
		run env NVML_STANDIN="$file" LD_LIBRARY_PATH="$TMP/lib" \
			PYTHONPATH="$wheels/nvidia-ml-py" python3 "$ROOT/tests/gpu-kit/record.py"
		is "nvidia-ml-py reads ${file##*/} as it was written" \
			"$(grep -v '^#' "$file")" "$(echo "$out$err" | grep -v '^#')"
	done
else
	echo "# SKIPPED: nvidia-ml-py beside the stand-in: $wheels"
fi
finish
