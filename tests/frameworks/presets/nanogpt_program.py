"""A program with nanoGPT's options and lines: --out_dir=, --init_from=, --max_iters=; saves at
evaluations. Each update appends its number and time to the file "updates"."""
import os
import sys
import time

import torch

settings = {"out_dir": "out", "init_from": "scratch", "max_iters": "100"}
settings.update(word[2:].split("=", 1) for word in sys.argv[1:])
path = os.path.join(settings["out_dir"], "ckpt.pt")
os.makedirs(settings["out_dir"], exist_ok=True)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters())
iter_num = 0
if settings["init_from"] == "resume":
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    iter_num = saved["iter_num"]
while iter_num < int(settings["max_iters"]):
    begin = time.time()
    if iter_num % 20 == 0 and iter_num > 0:
        print("step %d: train loss 1.0000, val loss 1.0000" % iter_num)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "iter_num": iter_num}, path + ".tmp")
        os.rename(path + ".tmp", path)
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.1)
    iter_num += 1
    with open("updates", "a") as file:
        print(iter_num, time.monotonic(), file=file)
    print("iter %d: loss %.4f, time %.2fms, mfu -100.00%%"
          % (iter_num, loss.item(), 1e3 * (time.time() - begin)), flush=True)
