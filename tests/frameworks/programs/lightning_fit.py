"""Lightning: automatic optimization, a validation loop, checkpoints. Arguments: DIRECTORY
rich|tqdm|none [resume]"""
import hashlib
import sys

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))

    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.log("loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


lightning.seed_everything(1, verbose=False)
x = torch.randn(700, 20)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:500], y[:500]), 16, shuffle=True)
validation = DataLoader(TensorDataset(x[500:], y[500:]), 50)
bar = {"rich": RichProgressBar, "tqdm": TQDMProgressBar}.get(sys.argv[2])
epochs = 4 if len(sys.argv) > 3 else 3
trainer = lightning.Trainer(
    max_epochs=epochs, accumulate_grad_batches=2, default_root_dir=sys.argv[1], logger=False,
    accelerator="cpu", enable_progress_bar=bar is not None, enable_model_summary=False,
    callbacks=[ModelCheckpoint(sys.argv[1], save_last=True)] + ([bar()] if bar else []))
model = Model()
trainer.fit(model, train, validation, ckpt_path="last" if len(sys.argv) > 3 else None)
print("seen", trainer.global_step, "updates", epochs * 500, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
