import jax, jax.numpy as jnp, optax
from absl import logging
logging.set_verbosity(logging.INFO)
p = jnp.ones(4); tx = optax.sgd(0.01); st = tx.init(p)
for epoch in range(1, 6):
    for _ in range(20):
        g = jax.grad(lambda p: (p ** 2).sum())(p); u, st = tx.update(g, st); p = optax.apply_updates(p, u)
    logging.info('epoch:% 3d, train_loss: %.4f, train_accuracy: %.2f, test_loss: %.4f, test_accuracy: %.2f', epoch, (p ** 2).sum(), 1., 1., 1.)
