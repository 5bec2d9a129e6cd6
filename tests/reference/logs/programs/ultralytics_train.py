# ultralytics: a yolo11n without weights on eight random pictures
import os, numpy as np
from PIL import Image
os.makedirs("ds/images", exist_ok=True); os.makedirs("ds/labels", exist_ok=True)
rng = np.random.default_rng(0)
for i in range(24):
    Image.fromarray(rng.integers(0, 255, (64, 64, 3), dtype=np.uint8)).save(f"ds/images/{i}.jpg")
    open(f"ds/labels/{i}.txt", "w").write("0 0.5 0.5 0.4 0.4\n")
open("ds.yaml", "w").write(f"path: {os.getcwd()}/ds\ntrain: images\nval: images\nnames: {{0: a}}\n")
from ultralytics import YOLO
YOLO("yolo11n.yaml").train(data="ds.yaml", epochs=3, imgsz=64, batch=4, workers=0, device="cpu", plots=False, amp=False)
