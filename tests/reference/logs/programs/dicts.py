import torch
m = torch.nn.Linear(4, 1); o = torch.optim.SGD(m.parameters(), 0.01)
for step in range(1, 401):
    l = m(torch.randn(8, 4)).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
    if step % 25 == 0: print({'step': step, 'loss': round(l.item(), 4), 'lr': 0.01})
