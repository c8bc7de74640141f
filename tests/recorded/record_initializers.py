"""Records initializers.json: what each Keras initializer draws, by definition and as sampled.

Random initializers can't be compared value by value, since each framework has its own generator.
So a case holds the distribution: `mean`, `variance` and, where bounded, `limits` (computed here
from the published definition) together with the sample statistics of one large Keras draw, which
this script checks against the definition.  Deterministic ones hold `value`.
"""

import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np

from common import keras_versions, tensor, write

CASES = []
# Standard deviation of a unit normal cut at two deviations.
CUT = 0.87962566103423978


def fans(shape):
    """Fan in and out as Keras counts them: the last two axes are channels in and out."""
    if len(shape) == 0:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def scaled(shape, scale, mode, distribution):
    fan_in, fan_out = fans(shape)
    n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]
    variance = scale / max(1.0, n)
    if distribution == "uniform":
        limit = math.sqrt(3 * variance)
        return 0.0, variance, [-limit, limit]
    if distribution == "truncated_normal":
        limit = 2 * math.sqrt(variance) / CUT
        return 0.0, variance, [-limit, limit]
    return 0.0, variance, None


NAMED = {
    "GlorotUniform": (1.0, "fan_avg", "uniform"),
    "GlorotNormal": (1.0, "fan_avg", "truncated_normal"),
    "HeUniform": (2.0, "fan_in", "uniform"),
    "HeNormal": (2.0, "fan_in", "truncated_normal"),
    "LecunUniform": (1.0, "fan_in", "uniform"),
    "LecunNormal": (1.0, "fan_in", "truncated_normal"),
}


def random(kind, config, shape):
    if kind in NAMED:
        mean, variance, limits = scaled(shape, *NAMED[kind])
    elif kind == "VarianceScaling":
        mean, variance, limits = scaled(
            shape, config.get("scale", 1.0), config.get("mode", "fan_in"),
            config.get("distribution", "truncated_normal"))
    elif kind == "RandomNormal":
        mean, variance, limits = config.get("mean", 0.0), config.get("stddev", 0.05) ** 2, None
    elif kind == "TruncatedNormal":
        mean, s = config.get("mean", 0.0), config.get("stddev", 0.05)
        variance, limits = (s * CUT) ** 2, [mean - 2 * s, mean + 2 * s]
    elif kind == "RandomUniform":
        low, high = config.get("minval", -0.05), config.get("maxval", 0.05)
        mean, variance, limits = (low + high) / 2, (high - low) ** 2 / 12, [low, high]
    sample = np.asarray(getattr(keras.initializers, kind)(**config, seed=1)(shape))
    count = sample.size
    sigma = math.sqrt(variance)
    assert abs(sample.mean() - mean) < 5 * sigma / math.sqrt(count), (kind, config, shape)
    assert abs(sample.var() / variance - 1) < 5 * math.sqrt(2.0 / count), (kind, config, shape, sample.var(), variance)
    if limits:
        assert sample.min() >= limits[0] - 1e-6 and sample.max() <= limits[1] + 1e-6
    CASES.append({
        "name": f"{kind}_{len(CASES)}", "initializer": kind, "config": config, "shape": list(shape),
        "mean": mean, "variance": variance, "limits": limits,
        "sample": {"count": count, "mean": float(sample.mean()), "variance": float(sample.var()),
                   "min": float(sample.min()), "max": float(sample.max())},
    })


def exact(kind, config, shape):
    value = getattr(keras.initializers, kind)(**config)(shape)
    CASES.append({"name": f"{kind}_{len(CASES)}", "initializer": kind, "config": config, "shape": list(shape),
                  "value": tensor(value)})


def main():
    shapes = [(64, 128), (3, 3, 16, 32), (5, 8, 64), (4096,)]
    for kind in NAMED:
        for shape in shapes:
            random(kind, {}, shape)
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("truncated_normal", "untruncated_normal", "uniform"):
            random("VarianceScaling", {"scale": 0.7, "mode": mode, "distribution": distribution}, (3, 3, 16, 48))
    random("RandomNormal", {}, (64, 128))
    random("RandomNormal", {"mean": 1.0, "stddev": 0.3}, (64, 128))
    random("TruncatedNormal", {}, (64, 128))
    random("TruncatedNormal", {"mean": -1.0, "stddev": 0.3}, (64, 128))
    random("RandomUniform", {}, (64, 128))
    random("RandomUniform", {"minval": 0.5, "maxval": 2.0}, (64, 128))
    exact("Zeros", {}, (2, 3))
    exact("Ones", {}, (2, 3))
    exact("Constant", {"value": 0.25}, (2, 3))
    exact("Identity", {"gain": 2.0}, (3, 4))
    for shape in ((6, 4), (4, 6), (2, 3, 4)):
        rows = math.prod(shape[:-1])
        value = np.asarray(keras.initializers.Orthogonal(gain=1.5, seed=3)(shape)).reshape(rows, shape[-1])
        product = value.T @ value if rows >= shape[-1] else value @ value.T
        assert np.allclose(product, 2.25 * np.eye(len(product)), atol=1e-5)
        CASES.append({
            "name": f"Orthogonal_{len(CASES)}", "initializer": "Orthogonal", "config": {"gain": 1.5},
            "shape": list(shape),
            "property": "flattened to [prod(shape[:-1]), shape[-1]], its shorter side is orthogonal: "
                        "product with its transpose = gain^2 * identity",
        })
    defaults = {}
    for layer, arguments in (("Dense", {"units": 2}), ("Conv2D", {"filters": 2, "kernel_size": 3}),
                             ("Embedding", {"input_dim": 3, "output_dim": 2}), ("LSTM", {"units": 2}),
                             ("GRU", {"units": 2}), ("SimpleRNN", {"units": 2}), ("BatchNormalization", {}),
                             ("LayerNormalization", {}), ("GroupNormalization", {"groups": 1}),
                             ("MultiHeadAttention", {"num_heads": 1, "key_dim": 2}), ("PReLU", {}),
                             ("DepthwiseConv2D", {"kernel_size": 3}),
                             ("SeparableConv2D", {"filters": 2, "kernel_size": 3}),
                             ("Conv2DTranspose", {"filters": 2, "kernel_size": 3})):
        config = getattr(keras.layers, layer)(**arguments).get_config()
        defaults[layer] = {
            k: (v["class_name"] if isinstance(v, dict) else v)
            for k, v in config.items()
            if k.endswith("initializer") or k in ("momentum", "epsilon", "unit_forget_bias", "reset_after")
        }
    write("initializers.json", keras_versions(), CASES, layer_defaults=defaults)


if __name__ == "__main__":
    main()
