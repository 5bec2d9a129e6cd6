import time
from rich.progress import track

for i in track(range(50), description="Training"):
    time.sleep(0.04)
