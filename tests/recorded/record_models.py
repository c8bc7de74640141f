"""Records models.json: whole small models, from Keras: weights, output, gradients and ten losses.

`layers` lists {"name", "class", "config", "inputs", "call"} in call order; `inputs` names earlier
layers or "input".  The loss is the mean sparse categorical cross-entropy from logits.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from common import Draw, as_tuples, keras_versions, seed_of, tensor, write

CASES = []


def chain(*rows):
    """A sequential list: each layer takes the one before."""
    result, before = [], "input"
    for name, kind, config in rows:
        result.append({"name": name, "class": kind, "config": config, "inputs": [before], "call": {}})
        before = name
    return result


def build(graph, shape, dtype):
    source = keras.Input(shape, dtype=dtype, name="input")
    values = {"input": source}
    for row in graph:
        if row["class"] == "Bidirectional":
            config = dict(row["config"])
            inner = config.pop("layer")
            layer = layers.Bidirectional(getattr(layers, inner["class_name"])(**inner["config"]),
                                         name=row["name"], **config)
        else:
            layer = getattr(layers, row["class"])(name=row["name"],
                                                  **{k: as_tuples(v) for k, v in row["config"].items()})
        inputs = [values[n] for n in row["inputs"]]
        if row["class"] == "MultiHeadAttention":
            values[row["name"]] = layer(*inputs, **row["call"])
        elif len(inputs) > 1:
            values[row["name"]] = layer(inputs)
        else:
            values[row["name"]] = layer(inputs[0])
    return keras.Model(source, values[graph[-1]["name"]])


def record(name, graph, x, classes, scale, y_shape=None):
    draw = Draw(seed_of(name))
    y = draw.integers(0, classes, *(y_shape or (x.shape[0],)))
    optimizers = {
        "sgd": ("SGD", {"learning_rate": 0.05, "momentum": 0.9}),
        "adam": ("Adam", {"learning_rate": 0.01}),
    }
    start = None
    entry = {"name": name, "layers": graph, "input_shape": list(x.shape[1:]), "x": tensor(x), "y": tensor(y),
             "loss": {"class": "SparseCategoricalCrossentropy", "config": {"from_logits": True}}}
    for tag, (kind, config) in optimizers.items():
        keras.backend.clear_session()
        model = build(graph, x.shape[1:], str(x.dtype))
        if start is None:
            start = []
            for weight in model.weights:
                leaf = weight.path.split("/")[-1]
                if leaf in ("gamma", "moving_variance"):
                    start.append(draw.uniform(0.5, 1.5, *weight.shape))
                else:
                    start.append(draw.normal(*weight.shape, scale=scale))
        for weight, value in zip(model.weights, start):
            weight.assign(value)
        names = [w.path for w in model.weights]
        assert len(set(names)) == len(names)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer = getattr(keras.optimizers, kind)(**config)
        optimizer.build(model.trainable_variables)
        losses = []
        if tag == "sgd":
            entry["weights"] = [
                {"name": n, "trainable": any(w is t for t in model.trainable_variables), "value": tensor(v)}
                for n, w, v in zip(names, model.weights, start)
            ]
            entry["inference_output"] = tensor(model(x, training=False))
        for step in range(10):
            with tf.GradientTape() as tape:
                value = loss(y, model(x, training=True))
            gradients = tape.gradient(value, [v.value for v in model.trainable_variables])
            gradients = [tf.convert_to_tensor(g) for g in gradients]
            if step == 0 and tag == "sgd":
                entry["first_gradients"] = {
                    v.path: tensor(g) for v, g in zip(model.trainable_variables, gradients)
                }
            optimizer.apply(gradients)
            losses.append(tensor(value)["data"][0])
        entry[tag] = {
            "optimizer": kind, "config": config, "losses": losses,
            # A key's bias shifts all scores of a query alike, so its gradient is rounding noise, which
            # Adam scales to full steps: such weights have no value to compare.
            "final_weights": {w.path: tensor(w.numpy()) for w in model.weights
                              if not w.path.endswith("key/bias")},
        }
        print(f"  models: {name} {tag} loss {losses[0]:.4f} -> {losses[-1]:.4f}", flush=True)
        assert losses[-1] < losses[0]
    CASES.append(entry)


def main():
    draw = Draw(61)
    record("mlp", chain(
        ("flatten", "Flatten", {}),
        ("hidden", "Dense", {"units": 6, "activation": "relu"}),
        ("hidden_2", "Dense", {"units": 5, "activation": "tanh"}),
        ("head", "Dense", {"units": 4}),
    ), draw.normal(6, 3, 2), 4, 0.4)
    record("cnn", chain(
        ("conv", "Conv2D", {"filters": 3, "kernel_size": 3, "padding": "same", "use_bias": False}),
        ("bn", "BatchNormalization", {"momentum": 0.9}),
        ("relu", "ReLU", {}),
        ("pool", "MaxPooling2D", {"pool_size": 2}),
        ("conv_2", "Conv2D", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same",
                              "activation": "relu"}),
        ("pool_2", "GlobalAveragePooling2D", {}),
        ("head", "Dense", {"units": 3}),
    ), draw.normal(4, 6, 6, 2), 3, 0.4)

    transformer = [
        {"name": "embedding", "class": "Embedding", "config": {"input_dim": 9, "output_dim": 8},
         "inputs": ["input"], "call": {}},
    ]
    before = "embedding"
    for block in (1, 2):
        b = f"block{block}_"
        transformer += [
            {"name": b + "norm", "class": "LayerNormalization", "config": {"epsilon": 1e-5}, "inputs": [before],
             "call": {}},
            {"name": b + "attention", "class": "MultiHeadAttention", "config": {"num_heads": 2, "key_dim": 4},
             "inputs": [b + "norm", b + "norm"], "call": {"use_causal_mask": True}},
            {"name": b + "add", "class": "Add", "config": {}, "inputs": [before, b + "attention"], "call": {}},
            {"name": b + "norm_2", "class": "LayerNormalization", "config": {"epsilon": 1e-5},
             "inputs": [b + "add"], "call": {}},
            {"name": b + "wide", "class": "Dense", "config": {"units": 12, "activation": "gelu"},
             "inputs": [b + "norm_2"], "call": {}},
            {"name": b + "narrow", "class": "Dense", "config": {"units": 8}, "inputs": [b + "wide"], "call": {}},
            {"name": b + "add_2", "class": "Add", "config": {}, "inputs": [b + "add", b + "narrow"], "call": {}},
        ]
        before = b + "add_2"
    transformer += [
        {"name": "norm", "class": "LayerNormalization", "config": {}, "inputs": [before], "call": {}},
        {"name": "head", "class": "Dense", "config": {"units": 9}, "inputs": ["norm"], "call": {}},
    ]
    record("transformer", transformer, draw.integers(0, 9, 3, 5), 9, 0.3, y_shape=(3, 5))
    record("lstm", chain(
        ("embedding", "Embedding", {"input_dim": 8, "output_dim": 4}),
        ("bidirectional", "Bidirectional", {"layer": {"class_name": "LSTM", "config":
                                                      {"units": 3, "return_sequences": True, "name": "lstm"}}}),
        ("gru", "GRU", {"units": 4}),
        ("head", "Dense", {"units": 3}),
    ), draw.integers(0, 8, 4, 6), 3, 0.5)
    write("models.json", keras_versions(), CASES)


if __name__ == "__main__":
    main()
