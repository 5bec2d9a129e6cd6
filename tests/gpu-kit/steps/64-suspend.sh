#!/bin/bash
# suspend - suspend in place: not built yet.
# shows: seconds per GiB both ways, step times before and after, kills in each state
# needs: gpu
# limit: 10
# takes: 1
# shellcheck source=../lib.sh
. "$KIT/lib.sh"
skip all 'pollux does not use cuCheckpointProcess* yet'
