#!/bin/bash
# programs - the programs start on this machine, with the libraries that came along, and do a job.
# shows: the programs run here at all; on the processor
# needs: data
# limit: 60
# takes: 3
# shellcheck source=../lib.sh
. "$KIT/lib.sh"

version=$("$POLLUX" --version)
check pollux-starts "${version##* }" version 'v != ""'
"$TRAIN" --help >help.txt
check trainer-starts $? status 'v == 0'

# A job on one slot of the processor, wherever there is a GPU.
export POLLUX_SLOTS=1
id=$("$POLLUX" submit --quiet -b 100 --samples 20000 -- "$TRAIN" --data "$FASHION_MNIST" \
	--device cpu --subset 5000 --hidden 32 --samples 20000) || fail submit - status
"$POLLUX" schedule
"$POLLUX" wait --timeout 40 "$id"
check job-on-the-processor $? status 'v == 0'
"$POLLUX" log "$id"
samples=$("$POLLUX" log "$id" | sed -n 's/^done samples \([0-9]*\) .*/\1/p')
check its-samples "${samples:-none}" samples 'v == 20000'
