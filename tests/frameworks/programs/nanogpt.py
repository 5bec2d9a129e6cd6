"""A script in the manner of nanoGPT: settings as globals, batches from a memory map, saves its
checkpoint and goes on from it with --init_from=resume. Arguments: OUT_DIR MAX_ITERS [resume]"""
import hashlib
import os
import sys

import numpy as np
import torch
from torch import nn

out_dir, max_iters = sys.argv[1], int(sys.argv[2])
init_from = "resume" if len(sys.argv) > 3 else "scratch"
eval_interval = 20
batch_size, block_size, gradient_accumulation_steps = 6, 12, 2
os.makedirs(out_dir, exist_ok=True)
torch.manual_seed(1337)
data = np.arange(4000, dtype=np.uint16) * 7 % 50


def get_batch():
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy(data[i:i + block_size].astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy(data[i + 1:i + 1 + block_size].astype(np.int64)) for i in ix])
    return x, y


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(50, 24)
        self.lstm = nn.GRU(24, 24, batch_first=True)
        self.head = nn.Linear(24, 50)

    def forward(self, x, y):
        logits = self.head(self.lstm(self.wte(x))[0])
        return logits, nn.functional.cross_entropy(logits.view(-1, 50), y.view(-1))


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
iter_num, best_val_loss = 0, 1e9
if init_from == "resume":
    checkpoint = torch.load(os.path.join(out_dir, "ckpt.pt"))
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    iter_num = checkpoint["iter_num"]
    torch.set_rng_state(checkpoint["rng"])
X, Y = get_batch()
while True:
    if iter_num % eval_interval == 0 and iter_num > 0:
        model.eval()
        with torch.no_grad():
            print(f"step {iter_num}: train loss {model(X, Y)[1].item():.4f}")
        model.train()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "iter_num": iter_num, "rng": torch.get_rng_state()},
                   os.path.join(out_dir, "ckpt.pt"))
    for micro_step in range(gradient_accumulation_steps):
        logits, loss = model(X, Y)
        loss = loss / gradient_accumulation_steps
        X, Y = get_batch()
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break
print("seen", iter_num, "updates", iter_num * batch_size * gradient_accumulation_steps, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
