"""Keras on torch: fit() with arrays, dropout, shuffled data, a partial last batch. Nothing in it
saves or resumes when it is told to stop."""
import hashlib
import os
import time

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np


class Note(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.12)
        with open("updates", "a") as file:
            print(int(self.model.optimizer.iterations.numpy()), time.monotonic(), file=file)


keras.utils.set_random_seed(6)
x = np.random.default_rng(6).normal(size=(500, 20)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
model = keras.Sequential([
    keras.layers.Input((20,)), keras.layers.Dense(32, activation="relu"),
    keras.layers.Dropout(0.1), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:450], y[:450], batch_size=32, epochs=6, validation_data=(x[450:], y[450:]), verbose=2,
          callbacks=[Note()])
print("seen", int(model.optimizer.iterations.numpy()), "updates", 6 * 450, "samples")
weights = b"".join(np.ascontiguousarray(w).tobytes() for w in model.get_weights())
print("digest", hashlib.sha256(weights).hexdigest()[:16], flush=True)
