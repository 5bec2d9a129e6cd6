"""A LightningCLI program. Each update appends its number and time to the file "updates"."""
import time

import lightning
import torch
from lightning.pytorch.cli import LightningCLI
from torch.utils.data import DataLoader, TensorDataset


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(20, 2)

    def training_step(self, batch, index):
        time.sleep(0.1)
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def on_train_batch_end(self, outputs, batch, index):
        with open("updates", "a") as file:
            print(self.trainer.global_step, time.monotonic(), file=file)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class Data(lightning.LightningDataModule):
    def train_dataloader(self):
        x = torch.randn(400, 20)
        return DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), 20)


LightningCLI(Model, Data, save_config_callback=None)
