"""JAX and optax: a compiled update in a loop over epochs."""
import hashlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

x = np.random.default_rng(7).normal(size=(320, 20)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
key = jax.random.PRNGKey(7)
params = {"w1": jax.random.normal(key, (20, 32)) * 0.1, "w2": jax.random.normal(key, (32, 2)) * 0.1}
optimizer = optax.adam(1e-3)
state = optimizer.init(params)


def loss_of(params, a, b):
    logits = jnp.tanh(a @ params["w1"]) @ params["w2"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, b).mean()


@jax.jit
def train_step(params, state, a, b):
    loss, gradients = jax.value_and_grad(loss_of)(params, a, b)
    changes, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, changes), state, loss


updates = 0
for epoch in range(5):
    for i in range(0, 320, 32):
        params, state, loss = train_step(params, state, x[i:i + 32], y[i:i + 32])
        updates += 1
    print("epoch", epoch, "loss", round(float(loss), 4))
print("seen", updates, "updates", updates * 32, "samples")
print("digest", hashlib.sha256(np.asarray(params["w1"]).tobytes()).hexdigest()[:16])
