#!/bin/sh
# devices.t - pollux devices: slots, settings, tables and JSON. Machines are described to hwloc.
. "$(dirname "$0")/tap.sh"
HWLOC_SYNTHETIC='package:2 [numa] core:2 pu:2'
export HWLOC_SYNTHETIC
unset POLLUX_SLOTS POLLUX_SLICE POLLUX_POLICY COLUMNS

status 'devices succeeds' 0 "$POLLUX" devices
table=$(printf '%s\n' "$out" | sed '/^$/,$d')
is 'one slot per physical core' 'ID     CORES  HELD BY  BOUND TO  KIND
cpu:0      1  -        0-1       CPU, 1 core
cpu:1      1  -        2-3       CPU, 1 core
cpu:2      1  -        4-5       CPU, 1 core
cpu:3      1  -        6-7       CPU, 1 core' "$table"
like 'why there are no GPUs' "^GPUs: POLLUX_NVML is 'none'$" "$out"
like 'and what there is of CUDA' '^CUDA: ([0-9]+\.[0-9]|cannot (open|use) CUDA: )' "$out"
is 'nothing on stderr' '' "$err"
status 'no store is made' 2 ls "$POLLUX_DIR"

status '--slots 2' 0 "$POLLUX" devices --slots 2
is 'divides the cores' 'ID     CORES  HELD BY  BOUND TO  KIND
cpu:0      2  -        0-3       CPU, 2 cores
cpu:1      2  -        4-7       CPU, 2 cores' "$(printf '%s\n' "$out" | sed '/^$/,$d')"
status '--slots 5' 0 "$POLLUX" devices --slots 5
like 'more slots than cores share' '^cpu:0 +1  -  +0-1 +CPU, 1 core shared by 2 slots$' "$out"

mkdir -p "$POLLUX_DIR"
echo 'slots = 2' >"$POLLUX_DIR/config"
run "$POLLUX" devices
is 'the file divides the cores' 3 "$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
run env POLLUX_SLOTS=3 "$POLLUX" devices
is 'the environment is stronger' 4 "$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
run env POLLUX_SLOTS=3 "$POLLUX" devices -s 1
is 'the option is strongest' 2 "$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
run env POLLUX_SLOTS=3 "$POLLUX" devices -s 0
is '0 is one per physical core' 5 "$(printf '%s\n' "$out" | sed '/^$/,$d' | wc -l)"
echo 'slots = many' >"$POLLUX_DIR/config"
status 'a wrong file is a configuration error' 78 "$POLLUX" devices
is 'named with its line' \
	"pollux: bad setting 'slots' in '$POLLUX_DIR/config' line 1: 'many' is not \
a whole number from 0 to 1024 (0: one per physical core), or two sizes such as 2x1,1x2" "$err"
status 'which an option does not need' 0 "$POLLUX" devices --slots 1
rm "$POLLUX_DIR/config"
status 'a wrong variable is a configuration error' 78 env POLLUX_SLOTS=-1 "$POLLUX" devices

status 'JSON' 0 "$POLLUX" devices --slots 1 --json
is 'in full' '{
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
      "processes": []
    }
  ],
  "links": [],' "$(printf '%s\n' "$out" | sed '/gpu_driver/,$d')"

run env HWLOC_SYNTHETIC='package:2 [numa] core:24 pu:2(indexes=core:package)' COLUMNS=40 \
	"$POLLUX" devices --slots 2
is 'a narrow terminal is not overrun' '' "$(printf '%s\n' "$out" | sed '/^$/,$d' | grep -E '.{41}')"

for wrong in 1025 -1 x 1.5 '' ' 1' 99999999999999999999; do
	status "--slots '$wrong' is a usage error" 64 "$POLLUX" devices --slots "$wrong"
	like 'that names option and range' \
		"^pollux: option '--slots N'.* a whole number from 0 to 1024$" "$err"
done
status 'an operand is a usage error' 64 "$POLLUX" devices cpu:0
is 'and named' "pollux: devices takes no argument, not 'cpu:0'; see 'pollux devices --help'" "$err"

# This machine, whatever it is.
unset HWLOC_SYNTHETIC
run env COLUMNS=66 "$POLLUX" devices --slots $((2 * $(nproc)))
like 'in a narrow table the end of the kind stays' \
	'^cpu:0 +1  -  .*, 1 core( shared by [0-9]+ slots)?$' "$out"
is 'which is no wider' '' "$(printf '%s\n' "$out" | grep '^cpu:0 ' | awk 'length > 66')"
status 'devices of this machine' 0 "$POLLUX" devices
like 'there is one at least' '^cpu:0 +1 +- +[0-9]' "$out"

id=$("$POLLUX" submit -- sleep 1000)
"$POLLUX" schedule --slots 1
run "$POLLUX" devices --slots 1
like 'the job that holds it is named' "^cpu:0 +[0-9]+ +job $id +" "$out"
run "$POLLUX" devices --slots 1 --json
like 'in JSON too' "\"job_id\": $id," "$out"
"$POLLUX" cancel "$id"
"$POLLUX" wait "$id" || :
finish
