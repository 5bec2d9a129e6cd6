"""Keras on torch with BackupAndRestore. Each update appends its number and time to
the file "updates"."""
import os
import time

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np


class Note(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.1)
        with open("updates", "a") as file:
            print(int(self.model.optimizer.iterations.numpy()), time.monotonic(), file=file)


x = np.random.default_rng(6).normal(size=(400, 20)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
model = keras.Sequential([keras.layers.Input((20,)), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
backup = keras.callbacks.BackupAndRestore(os.environ["POLLUX_CHECKPOINT_DIR"])
model.fit(x, y, batch_size=20, epochs=5, callbacks=[backup, Note()])
