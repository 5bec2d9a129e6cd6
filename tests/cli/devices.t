#!/bin/sh
# devices.t - pollux devices: slots, settings, tables and JSON. Machines are described to hwloc.
. "$(dirname "$0")/tap.sh"
HWLOC_SYNTHETIC='package:2 [numa] core:2 pu:2'
export HWLOC_SYNTHETIC
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY COLUMNS

status 'devices succeeds' 0 "$POLLUX" devices
table=$(printf '%s\n' "$out" | sed '/^$/,$d')
is 'devices lists one slot for each physical core' 'ID     CORES  HELD BY  BOUND TO  KIND
cpu:0      1  -        0-1       CPU, 1 core
cpu:1      1  -        2-3       CPU, 1 core
cpu:2      1  -        4-5       CPU, 1 core
cpu:3      1  -        6-7       CPU, 1 core' "$table"
like 'devices says why there are no GPUs' "^GPUs: POLLUX_NVML is 'none'$" "$out"
like 'devices says which CUDA there is' '^CUDA: ([0-9]+\.[0-9]|cannot (open|use) CUDA: )' "$out"
is 'devices prints nothing on stderr' '' "$err"
status 'devices makes no store' 2 ls "$POLLUX_DIR"

status 'devices accepts --slots 2' 0 "$POLLUX" devices --slots 2
is '--slots 2 divides the cores' 'ID     CORES  HELD BY  BOUND TO  KIND
cpu:0      2  -        0-3       CPU, 2 cores
cpu:1      2  -        4-7       CPU, 2 cores' "$(printf '%s\n' "$out" | sed '/^$/,$d')"
status 'devices accepts --slots 5' 0 "$POLLUX" devices --slots 5
like 'more slots than cores share the cores' '^cpu:0 +1  -  +0-1 +CPU, 1 core shared by 2 slots$' \
	"$out"

mkdir -p "$POLLUX_DIR"
echo 'slots = 2' >"$POLLUX_DIR/config"
run "$POLLUX" devices
is 'slots in the configuration file divide the cores' 3 \
	"$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
run env POLLUX_SLOTS=3 "$POLLUX" devices
is 'POLLUX_SLOTS is stronger than the configuration file' 4 \
	"$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
run env POLLUX_SLOTS=3 "$POLLUX" devices -s 1
is '--slots is stronger than POLLUX_SLOTS' 2 "$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
run env POLLUX_SLOTS=3 "$POLLUX" devices -s 0
is '--slots 0 stands for one slot per physical core' 5 \
	"$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
echo 'slots = many' >"$POLLUX_DIR/config"
status 'a wrong file is a configuration error' 78 "$POLLUX" devices
is 'devices names the file and the line of the wrong setting' \
	"pollux: bad setting 'slots' in '$POLLUX_DIR/config' line 1: 'many' is not \
a whole number from 0 to 1024 (0: one per physical core), or two sizes such as 2x1,1x2" "$err"
status 'devices with --slots does not need the wrong setting' 0 "$POLLUX" devices --slots 1
rm "$POLLUX_DIR/config"
status 'a wrong variable is a configuration error' 78 env POLLUX_SLOTS=-1 "$POLLUX" devices

status 'devices --json succeeds' 0 "$POLLUX" devices --slots 1 --json
is 'devices --json prints the whole document' '{
  "devices": [
    {
      "id": "cpu:0",
      "name": "cpu:0",
      "kind": "CPU, 4 cores",
      "cores": 4,
      "binding": "0-7",
      "memory_bytes": null,
      "free_bytes": null,
      "utilization": null,
      "temperature_c": null,
      "power_w": null,
      "power_limit_w": null,
      "energy_j": null,
      "slowed_by": null,
      "job_id": null,
      "held_by": null,
      "usable": true,
      "reason": null,
      "self_test_failed": null,
      "processes": []
    }
  ],
  "links": [],' "$(printf '%s\n' "$out" | sed '/gpu_driver/,$d')"

run env HWLOC_SYNTHETIC='package:2 [numa] core:24 pu:2(indexes=core:package)' COLUMNS=40 \
	"$POLLUX" devices --slots 2
is 'devices is no wider than a narrow terminal' '' \
	"$(printf '%s\n' "$out" | sed '/^$/,$d' | grep -E '.{41}')"

for wrong in 1025 -1 x 1.5 '' ' 1' 99999999999999999999; do
	status "--slots '$wrong' is a usage error" 64 "$POLLUX" devices --slots "$wrong"
	like "devices names option and range for --slots '$wrong'" \
		"^pollux: option '--slots N'.* a whole number from 0 to 1024$" "$err"
done
status 'an operand is a usage error' 64 "$POLLUX" devices cpu:0
is 'devices says that it takes no argument' \
	"pollux: devices takes no argument, not 'cpu:0'; see 'pollux devices --help'" "$err"

# This machine, whatever it is.
unset HWLOC_SYNTHETIC
run env COLUMNS=66 "$POLLUX" devices --slots $((2 * $(nproc)))
like 'a narrow table keeps the end of the kind' \
	'^cpu:0 +1  -  .*, 1 core( shared by [0-9]+ slots)?$' "$out"
is 'a narrow table is no wider than the terminal' '' \
	"$(printf '%s\n' "$out" | grep '^cpu:0 ' | awk 'length > 66')"
status 'devices succeeds on this machine' 0 "$POLLUX" devices
like 'this machine has at least one device' '^cpu:0 +1 +- +[0-9]' "$out"

id=$("$POLLUX" submit -- sleep 1000)
"$POLLUX" schedule --slots 1
run "$POLLUX" devices --slots 1
like 'devices names the job that holds a device' "^cpu:0 +[0-9]+ +job $id +" "$out"
run "$POLLUX" devices --slots 1 --json
like 'devices --json names the job that holds a device' "\"job_id\": $id," "$out"
"$POLLUX" cancel "$id"
"$POLLUX" wait "$id" || :
finish
