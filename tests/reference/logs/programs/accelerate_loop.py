import torch, time
from accelerate import Accelerator
from tqdm.auto import tqdm
a = Accelerator(gradient_accumulation_steps=2, cpu=True)
m = torch.nn.Linear(16, 2); o = torch.optim.AdamW(m.parameters()); d = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(1600, 16), torch.randint(0, 2, (1600,))), 8)
m, o, d = a.prepare(m, o, d)
bar = tqdm(range(3 * 100), disable=not a.is_local_main_process)
for epoch in range(3):
    for x, y in d:
        with a.accumulate(m):
            l = torch.nn.functional.cross_entropy(m(x), y); a.backward(l); o.step(); o.zero_grad()
        if a.sync_gradients: bar.update(1); time.sleep(0.02)
    for i in tqdm(range(20), leave=False): time.sleep(0.01)
    print(f"epoch {epoch}: perplexity: 3.2")
