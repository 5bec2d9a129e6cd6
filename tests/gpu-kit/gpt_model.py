"""gpt_model.py - the network of gpt.py and plain.py, and its made-up data."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.n_heads = width // 64
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (
            y.view(b, t, self.n_heads, -1).transpose(1, 2)
            for y in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.tokens = nn.Embedding(o.vocabulary, o.width)
        self.places = nn.Embedding(o.context, o.width)
        self.blocks = nn.ModuleList(Block(o.width) for _ in range(o.layers))
        self.norm = nn.LayerNorm(o.width)

    def forward(self, x, targets):
        h = self.tokens(x) + self.places.weight
        for block in self.blocks:
            h = block(h)
        logits = self.norm(h) @ self.tokens.weight.T
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def made_up(first, n, o, device):
    """n samples from number first on: sequences with a rule that can be learnt, and some noise."""
    i = torch.arange(first, first + n, device=device).view(-1, 1)
    t = torch.arange(o.context + 1, device=device).view(1, -1)
    x = (i * 7919 + t * (1 + i % 13)) % o.vocabulary
    noise = (i * 104729 + t * 15485863) % 101 < 10
    return torch.where(noise, (x * 31 + t) % o.vocabulary, x)
