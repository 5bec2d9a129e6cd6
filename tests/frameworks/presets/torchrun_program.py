"""Data-parallel training by torchrun on processors, which saves when it is asked to stop. The first
process appends the number and time of each update to the file "updates"."""
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
path = os.path.join(os.environ["POLLUX_CHECKPOINT_DIR"], "state.pt")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
first = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    first = saved["step"]
asked = torch.zeros(1)
signal.signal(signal.SIGTERM, lambda number, frame: asked.fill_(1))
for step in range(first + 1, 101):
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.1)
    stop = asked.clone()
    dist.all_reduce(stop)
    if rank == 0:
        with open("updates", "a") as file:
            print(step, time.monotonic(), file=file)
        print("step %d/100 loss %.4f" % (step, loss.item()), flush=True)
        if stop > 0:
            torch.save({"model": model.state_dict(), "step": step}, path)
    if stop > 0:
        sys.exit(0)
dist.destroy_process_group()
