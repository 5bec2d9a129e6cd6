#!/bin/bash
# sharing - sharing: not built yet.
# shows: two small jobs on the GPU at once, measured interference
# needs: gpu
# limit: 10
# takes: 1
# shellcheck source=../lib.sh
. "$KIT/lib.sh"
skip all 'pollux gives a GPU to one job at a time'
