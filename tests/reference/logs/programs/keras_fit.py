# keras_fit.py VERBOSE EPOCHS [BACKUP_DIR]: a whole fit() and evaluate() of Keras on torch.
# STOP_AFTER=N: ends after so many epochs, as if killed; BackupAndRestore then continues.
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

verbose, epochs = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
x = rng.normal(size=(6000, 16)).astype("float32")
y = rng.integers(0, 2, 6000)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])


class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if os.environ.get("STOP_AFTER") == str(epoch + 1):
            os._exit(1)


callbacks = [keras.callbacks.BackupAndRestore(sys.argv[3])] if len(sys.argv) > 3 else []
model.fit(x, y, batch_size=64, epochs=epochs, validation_split=0.1, verbose=verbose,
          callbacks=callbacks + [Stop()])
model.evaluate(x, y, verbose=verbose)
