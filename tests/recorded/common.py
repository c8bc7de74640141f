"""Shared by the recording scripts: tensors to JSON, seeded data, compact files.

A tensor is {"dtype": "float32", "shape": [2, 3], "data": [flat, row major]}.  NaN and infinities
are the strings "nan", "inf", "-inf"; booleans are 0 and 1.  A float32 is written as the shortest
decimal that reads back as the same float32, and bfloat16/float16 values as their float32 value.
"""

import json
import math
import os

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


def number(value, dtype):
    """One element as a JSON value."""
    if dtype == "bool":
        return int(bool(value))
    if np.issubdtype(np.dtype(dtype) if dtype != "bfloat16" else np.float32, np.integer):
        return int(value)
    wide = float(value)
    if math.isnan(wide):
        return "nan"
    if math.isinf(wide):
        return "inf" if wide > 0 else "-inf"
    if dtype == "float64":
        result = wide
    else:
        result = float(str(np.float32(wide)))
        assert np.float32(result) == np.float32(wide), wide
    if result == 0 and math.copysign(1, result) > 0:
        return 0
    if result == int(result) and abs(result) < 1e9 and result != 0:
        return int(result)
    return result


def tensor(value):
    """An array (NumPy, TensorFlow, JAX or a Python number) as a tensor of the format above."""
    array = np.asarray(value)
    dtype = str(array.dtype)
    flat = array.reshape(-1)
    return {
        "dtype": dtype,
        "shape": list(array.shape),
        "data": [number(v, dtype) for v in flat],
    }


class Draw:
    """Seeded data; every draw is rounded to three decimals so that the files stay small."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def normal(self, *shape, scale=1.0):
        return np.round(self.random.randn(*shape) * scale, 3).astype(np.float32)

    def uniform(self, low, high, *shape):
        return np.round(self.random.uniform(low, high, shape), 3).astype(np.float32)

    def integers(self, low, high, *shape):
        return self.random.randint(low, high, shape).astype(np.int32)

    def distinct(self, *shape):
        """Values at least 0.01 apart, so that a maximum or an order is never a near tie."""
        count = int(np.prod(shape))
        grid = (self.random.permutation(count) - count / 2) * max(0.02, 4.0 / count)
        return np.round(grid, 3).astype(np.float32).reshape(shape)

    def probabilities(self, *shape):
        values = self.random.uniform(0.05, 1.0, shape)
        values = values / values.sum(-1, keepdims=True)
        return np.round(values, 3).astype(np.float32)


def seed_of(name):
    """A seed that depends on the case's name alone: adding a case leaves the others as they are."""
    total = 7
    for letter in name:
        total = (total * 131 + ord(letter)) % 2147483647
    return total


def write(filename, versions, cases, key="cases", **more):
    """Writes one fixture: a line per case, so that a change of one case is one changed line."""
    path = os.path.join(FOLDER, filename)
    lines = ["{", '"versions":' + json.dumps(versions, sort_keys=True) + ","]
    for name, value in more.items():
        lines.append(json.dumps(name) + ":" + dumps(value) + ",")
    lines.append(json.dumps(key) + ":[")
    lines.append(",\n".join(dumps(case) for case in cases))
    lines.append("]}")
    text = "\n".join(lines) + "\n"
    json.loads(text)
    with open(path, "w") as file:
        file.write(text)
    print(f"{filename}: {len(cases)} cases, {len(text) / 1024:.0f} KB", flush=True)


def dumps(value):
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def keras_versions():
    import sys

    import keras
    import tensorflow as tf

    return {
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "python": ".".join(str(v) for v in sys.version_info[:3]),
    }


def as_tuples(value):
    """JSON lists to the tuples that Keras's constructors take for sizes."""
    if isinstance(value, (list, tuple)):
        return tuple(as_tuples(v) for v in value)
    return value
