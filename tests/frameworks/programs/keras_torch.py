"""Keras on torch: fit() with arrays, validation data and a partial last batch."""
import hashlib
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

keras.utils.set_random_seed(6)
x = np.random.default_rng(6).normal(size=(500, 20)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
model = keras.Sequential([
    keras.layers.Input((20,)), keras.layers.Dense(32, activation="relu"),
    keras.layers.Dropout(0.1), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:450], y[:450], batch_size=32, epochs=3, validation_data=(x[450:], y[450:]), verbose=2)
print("seen", int(model.optimizer.iterations.numpy()), "updates", 3 * 450, "samples")
weights = b"".join(np.ascontiguousarray(w).tobytes() for w in model.get_weights())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
