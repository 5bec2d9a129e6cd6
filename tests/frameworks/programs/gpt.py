"""A small GPT: AdamW, clipping, two passes an update, batches drawn without a DataLoader."""
import hashlib

import torch
from torch import nn
from torch.nn import functional as F

LAYERS, WIDTH, CONTEXT, VOCABULARY, BATCH, PASSES = 2, 32, 16, 40, 8, 2
max_iters = 50


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, dropout=0.1, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.token.weight

    def forward(self, tokens, targets=None):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        logits = self.head(self.blocks(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


torch.manual_seed(3)
data = torch.randint(VOCABULARY, (5000,))


def get_batch():
    at = torch.randint(len(data) - CONTEXT - 1, (BATCH,))
    rows = torch.stack([data[i:i + CONTEXT + 1] for i in at])
    return rows[:, :-1], rows[:, 1:]


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
samples = 0
iter_num = 0
while True:
    for group in optimizer.param_groups:
        group["lr"] = 1e-3 * min(1, (iter_num + 1) / 10)
    if iter_num % 20 == 0:
        model.eval()
        with torch.no_grad():
            print("iter", iter_num, "loss", round(model(*get_batch())[1].item(), 4))
        model.train()
    for _ in range(PASSES):
        tokens, targets = get_batch()
        _, loss = model(tokens, targets)
        (loss / PASSES).backward()
        samples += len(tokens)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num >= max_iters:
        break
print("seen", iter_num, "updates", samples, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
