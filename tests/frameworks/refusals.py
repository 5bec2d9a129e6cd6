"""What the helper's option resume refuses, with the real packages. See small.py.

Each program runs without the helper and with it. A refused one ends with the same output, is told
in HELPER, and nothing of it is saved.
"""

import os
import sys
import tempfile

import small
from small import REAL, test

KERAS = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras, numpy as np
keras.utils.set_random_seed(6)
x = np.random.default_rng(6).normal(size=(64, 4)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
def fit(callbacks):
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=16, epochs=2, verbose=0, callbacks=callbacks)
    print([float(np.sum(w)) for w in model.get_weights()])
"""
TRAINER = """
import torch
from torch import nn
from transformers import PrinterCallback, Trainer, TrainingArguments
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
    def forward(self, x):
        return {"loss": (x @ self.weight).square().mean()}
rows = [{"x": torch.randn(4)} for _ in range(32)]
def fit(directory):
    arguments = TrainingArguments(directory, num_train_epochs=2, report_to=[], use_cpu=True,
                                  per_device_train_batch_size=8, disable_tqdm=True,
                                  save_strategy="no", logging_strategy="no")
    model = Model()
    trainer = Trainer(model, arguments, train_dataset=rows)
    trainer.remove_callback(PrinterCallback)  # it prints times
    trainer.train()
    print(model.weight.sum().item())
fit("a"), fit("b")
"""
LIGHTNING = """
import logging
import lightning, torch
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
    def training_step(self, batch, index):
        return (batch @ self.weight).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
lightning.seed_everything(1, verbose=False)
data = torch.utils.data.DataLoader(torch.randn(32, 4), 8, shuffle=True)
def fit():
    model = Model()
    lightning.Trainer(max_epochs=2, logger=False, accelerator="cpu", enable_progress_bar=False,
                      enable_model_summary=False, enable_checkpointing=False).fit(model, data)
    print(model.weight.sum().item())
fit(), fit()
"""


def has(start, package):
    return start("", helper=None, whole="import " + package, KERAS_BACKEND="torch").run.status == 0


def run(start, program, directory, helper="on,resume"):
    return start("", helper, whole=program, directory=directory,
                 POLLUX_CHECKPOINT_DIR=os.path.join(directory, "kept"))


def refused(start, package, program, why):
    """True if the helper refuses to resume the program, also in its next run."""
    if not has(start, package):
        return True
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "kept"))
        plain = run(start, program, directory, None)
        runs = [run(start, program, directory) for _ in range(2)]
        saved = [n for n in os.listdir(os.path.join(directory, "kept"))
                 if n == "keras-backup" or n.endswith(".ckpt")]
    for result in runs:
        if result.out != plain.out or result.run.status or "no resume: " + why not in result.told:
            return plain, result
        if result.run.last("RESUMES") not in (None, "0"):
            return result
    return not saved or (saved, *runs)


@test("Trainer: several trainings in one process", REAL)
def several_of_trainer(start):
    return refused(start, "transformers", TRAINER, "the program trains several times")


@test("Lightning: several trainings in one process", REAL)
def several_of_lightning(start):
    return refused(start, "lightning", LIGHTNING, "the program trains several times")


@test("Keras: several trainings in one process", REAL)
def several_of_keras(start):
    return refused(start, "keras", KERAS + "fit([]), fit([])", "the program trains several times")


@test("Keras: callbacks with a state that is not saved", REAL)
def callbacks_of_keras(start):
    results = [refused(start, "keras", KERAS + "fit([keras.callbacks.%s(monitor='loss')])" % name,
                       name + " keeps a state that is not saved")
               for name in ("EarlyStopping", "ReduceLROnPlateau")]
    return results == [True, True] or next(r for r in results if r is not True)


if __name__ == "__main__":
    sys.exit(small.main())
