"""Records precision.json: the models of models.json under Keras's dtype policies, and its loss scale.

`cases`: one per model and policy, with the weights and the data of models.json. The last layer has
dtype float32, as Keras's guide on mixed precision asks for; ours computes so without being told.
"""

import copy
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf

from common import FOLDER, keras_versions, tensor, write
from record_models import build

POLICIES = ("mixed_bfloat16", "mixed_float16", "bfloat16", "float16")


def array(recorded):
    return np.array(recorded["data"], dtype=recorded["dtype"]).reshape(recorded["shape"])


def without_orthogonal(row):
    """TensorFlow has no QR in bfloat16; the weights are replaced anyway."""
    config = row["config"]
    if row["class"] in ("LSTM", "GRU", "SimpleRNN"):
        config["recurrent_initializer"] = "glorot_uniform"
    elif row["class"] == "Bidirectional":
        config["layer"]["config"]["recurrent_initializer"] = "glorot_uniform"


def model_case(recorded, policy):
    graph = copy.deepcopy(recorded["layers"])
    for row in graph:
        without_orthogonal(row)
    graph[-1]["config"]["dtype"] = "float32"
    keras.backend.clear_session()
    keras.config.set_dtype_policy(policy)
    x = array(recorded["x"])
    model = build(graph, x.shape[1:], str(x.dtype))
    keras.config.set_dtype_policy("float32")
    for weight, entry in zip(model.weights, recorded["weights"]):
        assert weight.path == entry["name"], (weight.path, entry["name"])
        weight.assign(array(entry["value"]))
    output = model(x, training=False)
    return {
        "model": recorded["name"],
        "policy": policy,
        "compute_dtypes": {layer.name: layer.compute_dtype for layer in model.layers
                           if not isinstance(layer, keras.layers.InputLayer)},
        "variable_dtypes": {weight.path: str(weight.dtype) for weight in model.weights},
        "output": tensor(output),
    }


def loss_scale_case():
    """Ten updates, some of whose gradients are not finite: the scale and the variable after each."""
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(learning_rate=0.5), initial_scale=8.0, dynamic_growth_steps=3)
    variable = keras.Variable(np.array([1.0, -2.0], dtype="float32"), name="v")
    optimizer.build([variable])
    start = tensor(variable.numpy())
    finite = [True, True, True, True, False, False, True, True, True, False]
    gradients, scales, values, steps = [], [], [], []
    for i, ok in enumerate(finite):
        gradient = np.array([0.25 * (i + 1), -0.5], dtype="float32")
        # What a loss multiplied by the scale would give.
        scaled = gradient * np.float32(optimizer.dynamic_scale.numpy())
        if not ok:
            scaled[i % 2] = np.inf if i % 2 else np.nan
        gradients.append(tensor(scaled))
        optimizer.apply([tf.constant(scaled)], [variable])
        scales.append(float(optimizer.dynamic_scale.numpy()))
        values.append(tensor(variable.numpy()))
        steps.append(int(optimizer.inner_optimizer.iterations.numpy()))
    return {"learning_rate": 0.5, "initial": 8.0, "growth_steps": 3, "start": start,
            "gradients": gradients, "scales": scales, "values": values, "steps": steps}


def main():
    with open(os.path.join(FOLDER, "models.json")) as file:
        models = json.load(file)["cases"]
    cases = [model_case(one, policy) for one in models for policy in POLICIES]
    write("precision.json", keras_versions(), cases, loss_scale=loss_scale_case())


if __name__ == "__main__":
    main()
