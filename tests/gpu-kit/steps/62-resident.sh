#!/bin/bash
# resident - resident suspend: not built yet.
# shows: three PyTorch jobs that save nothing take turns, their memory staying on the card
# needs: gpu
# limit: 10
# takes: 1
# shellcheck source=../lib.sh
. "$KIT/lib.sh"
skip all 'pollux does not suspend jobs by SIGSTOP yet'
