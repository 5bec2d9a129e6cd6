import time
from tqdm import tqdm, trange
for e in trange(3, desc="Epochs"):
    for i in tqdm(range(120), desc=f"Epoch {e + 1}/3", leave=False): time.sleep(0.01)
    for i in tqdm(range(30), desc="Validation", leave=False): time.sleep(0.01)
