#!/bin/bash
# resident - programs that save nothing take turns on one card, their memory staying there.
# shows: three PyTorch jobs are suspended and go on; each result is right; the card holds all three
# needs: gpu torch
# limit: 240
# takes: 100
# shellcheck source=../lib.sh
. "$KIT/lib.sh"

# A program that knows nothing of pollux: it fills a part of the card and computes on it, and ends
# with a checksum of all that it has there.
cat >resident.py <<'END'
import os
import sys
import time

import torch

mib, steps, seed = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
device = os.environ.get("GPU_KIT_DEVICE", "cuda")
if device == "cpu":
    torch.set_num_threads(1)
    with open(os.path.join(os.environ["GPU_KIT_STANDIN_HELD"], str(os.getpid())), "w") as file:
        file.write(sys.argv[1])  # MiB that the stand-in for the driver is to count
x = torch.arange(mib * 2**18, device=device, dtype=torch.int32) + seed
begun_s = time.monotonic()
for step in range(steps):
    for _ in range(20):
        x = x * 1664525 + 1013904223
    if step % 10 == 9:
        x[0].item()
        print(f"step {step + 1}/{steps}", flush=True)
print("computed", time.monotonic() - begun_s, "s")
print("RESULT", int(x.sum(dtype=torch.int64).item()))
END
total=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | head -n 1)
# Three of them, each with a copy while it computes, and the context of CUDA.
# On a stand-in the processor computes: there a few MiB last as long.
largest=$(quick 4000 4)
mib=$(((total * 8 / 100) < largest ? total * 8 / 100 : largest))
needs=$((2 * mib + 1200))
# As many steps as take some seconds: the first ones start CUDA.
"$PYTHON" resident.py "$mib" 40 1 >tried
steps=$(quick "$(awk '/^computed/ { print 10 * int(5 * 40 / $2 / 10) + 10 }' tried)" 100)
"$PYTHON" resident.py "$mib" "${steps:-100}" 1 >alone.1
alone_s=$(sed -n 's/^computed \(.*\) s$/\1/p' alone.1)
for seed in 2 3; do "$PYTHON" resident.py "$mib" "$steps" $seed >alone.$seed & done
wait

POLLUX_SLICE=$(quick 5s 2s)
export POLLUX_POLICY=las POLLUX_SLICE
for seed in 1 2 3; do
	"$POLLUX" submit -q --no-torch --gpu-memory "${needs}M" -- "$PYTHON" "$PWD/resident.py" \
		"$mib" "${steps:-100}" $seed
done
"$POLLUX" schedule --watch 1 >watch.log 2>&1 &
watcher=$!
most=0
until "$POLLUX" wait --timeout 1 1 2 3 >/dev/null 2>&1; do
	used=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -n 1)
	[ "$used" -le "$most" ] || most=$used
	[ "$SECONDS" -lt $((STEP_SECONDS - 15)) ] || break
done
kill $watcher
"$POLLUX" status --all
"$POLLUX" status 1
for seed in 1 2 3; do
	[ "$(grep '^RESULT' "$POLLUX_DIR/logs/$seed.log")" = "$(grep '^RESULT' alone.$seed)" ]
	check "result-$seed" $? status 'v == 0'
done
turns=$("$POLLUX" status --json 1 2 3 | grep -c '"kind": "resumed"')
check returns "$turns" suspensions 'v >= 1'
check runs "$("$POLLUX" status --json 1 2 3 | grep -c '"number": 1,')" runs 'v >= 3'
check most-on-the-card "$most" MiB "v >= 2 * $mib"
ok alone "$alone_s" "s, $steps steps of $mib MiB"
