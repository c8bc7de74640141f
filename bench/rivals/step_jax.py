"""Training steps of the five workloads in JAX (Flax, Optax): one jitted step with donated state."""

import functools
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

import workloads

args = workloads.arguments(("jit",))
inputs, labels = workloads.data(args.workload)
# What layers compute in; their parameters are float32.
COMPUTE = jnp.bfloat16 if args.precision == "mixed_bfloat16" else jnp.float32
Dense, Conv, LayerNorm, BatchNorm, Embed = (
    functools.partial(layer, dtype=COMPUTE) for layer in (nn.Dense, nn.Conv, nn.LayerNorm, nn.BatchNorm, nn.Embed))


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(Dense(512)(x))
        x = nn.relu(Dense(512)(x))
        return Dense(10)(x)


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(Conv(32, (3, 3))(x))
        x = nn.relu(Conv(64, (3, 3))(x))
        x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.relu(Dense(128)(x.reshape(x.shape[0], -1)))
        return Dense(10)(x)


class ResNet18(nn.Module):
    @nn.compact
    def __call__(self, x):
        def convolve(x, filters, size, stride):
            x = Conv(filters, (size, size), (stride, stride), use_bias=False)(x)
            return BatchNorm(use_running_average=False)(x)

        x = nn.relu(convolve(x, 64, 3, 1))
        for stage, filters in enumerate((64, 128, 256, 512)):
            for block in range(2):
                stride = 2 if stage and not block else 1
                y = nn.relu(convolve(x, filters, 3, stride))
                y = convolve(y, filters, 3, 1)
                if x.shape != y.shape:
                    x = convolve(x, filters, 1, stride)
                x = nn.relu(x + y)
        return Dense(10)(x.mean((1, 2)))


class Transformer(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = Embed(8192, 256, embedding_init=nn.initializers.uniform(0.05))(tokens)
        batch, length, width = x.shape
        mask = jnp.tril(jnp.ones((length, length), bool))
        for _ in range(4):
            h = LayerNorm(epsilon=1e-5)(x)
            q, k, v = [Dense(256)(h).reshape(batch, length, 4, 64) for _ in range(3)]
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8.0
            weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
            a = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, width)
            x = x + Dense(256)(a)
            h = LayerNorm(epsilon=1e-5)(x)
            x = x + Dense(256)(nn.gelu(Dense(1024)(h), approximate=False))
        return Dense(8192)(LayerNorm(epsilon=1e-5)(x))


class Dlrm(nn.Module):
    @nn.compact
    def __call__(self, dense, ids):
        init = nn.initializers.uniform(0.05)
        rows = [Embed(100000, 32, embedding_init=init)(ids[:, i]) for i in range(8)]
        bottom = nn.relu(Dense(32)(nn.relu(Dense(64)(dense))))
        stacked = jnp.stack(rows + [bottom], 1)
        pairs = jnp.einsum("bid,bjd->bij", stacked, stacked).reshape(dense.shape[0], -1)
        top = nn.relu(Dense(256)(jnp.concatenate([bottom, pairs], 1)))
        return Dense(2)(top)


model = {"mlp": Mlp, "cnn": Cnn, "rn": ResNet18, "tr": Transformer, "dl": Dlrm}[args.workload]()
if args.workload == "rn":
    optimizer = optax.sgd(1e-2, momentum=0.9)
elif args.workload == "dl":
    optimizer = optax.sgd(1e-2)
else:
    optimizer = optax.adam(1e-3)
x = [jnp.asarray(v) for v in inputs]
y = jnp.asarray(labels)
variables = model.init(jax.random.PRNGKey(0), *x)
parameters, statistics = variables["params"], variables.get("batch_stats", {})
slots = optimizer.init(parameters)


def objective(parameters, statistics, x, y):
    state = {"params": parameters, "batch_stats": statistics}
    logits, changed = model.apply(state, *x, mutable=["batch_stats"])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits.astype(jnp.float32), y).mean()
    return loss, changed.get("batch_stats", {})


def step(parameters, statistics, slots, x, y):
    grad = jax.value_and_grad(objective, has_aux=True)
    (loss, statistics), gradients = grad(parameters, statistics, x, y)
    updates, slots = optimizer.update(gradients, slots, parameters)
    return optax.apply_updates(parameters, updates), statistics, slots, loss


compiled = jax.jit(step, donate_argnums=(0, 1, 2), keep_unused=True)
if args.mlir:
    # The program, and beside it its arguments' bytes one after the other: a C++ program can then run this very
    # step from this very start (flatout_bench --mlir). State comes first, then the batch; the loss is last.
    arguments = (parameters, statistics, slots, x, y)
    with open(args.mlir + ".arguments", "wb") as file:
        for value in jax.tree_util.tree_leaves(arguments):
            file.write(np.asarray(value).tobytes())
    with open(args.mlir, "w") as file:
        file.write(compiled.lower(*arguments).as_text())
    raise SystemExit


def train():
    global parameters, statistics, slots
    parameters, statistics, slots, loss = compiled(parameters, statistics, slots, x, y)
    return float(loss)


workloads.serve(args, "jax", f"jax {jax.__version__}", train)
