# lightning_fit.py EPOCHS tqdm|rich: a fit() of Lightning with validation; continues at ck/last.ckpt.
import os
import sys
import time

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar, TQDMProgressBar
from torch.utils.data import DataLoader, TensorDataset


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(),
                                       torch.nn.Linear(32, 2))

    def training_step(self, batch, i):
        time.sleep(float(os.environ.get("SLEEP", "0.1")))
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, i):
        self.log("val_loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


torch.manual_seed(0)
data = TensorDataset(torch.randn(512, 16), torch.randint(0, 2, (512,)))
bar = TQDMProgressBar() if sys.argv[2] == "tqdm" else RichProgressBar()
trainer = L.Trainer(max_epochs=int(sys.argv[1]), logger=False,
                    callbacks=[bar, ModelCheckpoint(dirpath="ck", save_last=True)])
trainer.fit(Model(), DataLoader(data, 32, shuffle=True), DataLoader(data, 64),
            ckpt_path="last" if os.path.exists("ck/last.ckpt") else None)
