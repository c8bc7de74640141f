"""The whole job in JAX with Flax and Optax (job.py), one jitted step with donated state, its compile cache on."""

import os
import tempfile

import job

args = job.arguments()
os.environ["JAX_PLATFORMS"] = "cpu"

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

jax.config.update("jax_compilation_cache_dir", os.path.join(tempfile.gettempdir(), "flatout-bench-jax-cache"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
version = f"jax {jax.__version__}"


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x.astype(jnp.float32) / 255
        x = nn.relu(nn.Conv(32, (3, 3))(x))
        x = nn.relu(nn.Conv(64, (3, 3))(x))
        x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Dense(128)(x.reshape(x.shape[0], -1)))
        return nn.Dense(10)(x)


images, labels = job.split(args, "train")
labels = labels.astype(np.int32)
steps = job.EPOCHS * -(-len(images) // job.BATCH)
model = Cnn()
optimizer = optax.adam(optax.cosine_decay_schedule(job.RATE, steps))
parameters = jax.jit(model.init)(jax.random.PRNGKey(0), jnp.zeros((1, 28, 28, 1)))["params"]
slots = optimizer.init(parameters)


def step(parameters, slots, x, y):
    def objective(parameters):
        logits = model.apply({"params": parameters}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, gradients = jax.value_and_grad(objective)(parameters)
    updates, slots = optimizer.update(gradients, slots)
    return optax.apply_updates(parameters, updates), slots, loss


step = jax.jit(step, donate_argnums=(0, 1))
random = np.random.default_rng(0)
first = None
for epoch in range(job.EPOCHS):
    order = random.permutation(len(images))
    for begin in range(0, len(images), job.BATCH):
        rows = order[begin:begin + job.BATCH]
        parameters, slots, loss = step(parameters, slots, images[rows], labels[rows])
        if first is None:
            loss.block_until_ready()
            first = time.time()
            if args.first_step:
                job.tell(args, version, first)
                raise SystemExit(0)
predict = jax.jit(lambda parameters, x: model.apply({"params": parameters}, x).argmax(1))
x, y = job.split(args, "t10k")
right = sum(int((np.asarray(predict(parameters, x[i:i + 1000])) == y[i:i + 1000]).sum()) for i in range(0, len(x), 1000))
job.tell(args, version, first, right / len(x))
