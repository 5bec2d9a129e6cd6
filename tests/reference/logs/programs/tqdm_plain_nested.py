import time
from tqdm import tqdm, trange
for e in trange(4):
    for i in tqdm(range(150)): time.sleep(0.01)
