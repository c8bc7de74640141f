"""Records optimizers.json and schedules.json from Keras."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf

from common import Draw, as_tuples, keras_versions, tensor, write

OPTIMIZERS = []
SCHEDULES = []
STEPS = 10
SHAPES = {"dense/kernel": (3, 4), "dense/bias": (4,), "norm/gamma": (3,)}


def with_schedule(config):
    """A schedule in `learning_rate` is {"class_name", "config"}, as Keras serialises it."""
    config = dict(config)
    rate = config.get("learning_rate")
    if isinstance(rate, dict):
        config["learning_rate"] = getattr(keras.optimizers.schedules, rate["class_name"])(**rate["config"])
    return config


def optimizer(name, kind, config, exclude=None, scale=1.0):
    """Ten updates of three variables with given gradients; weights after each."""
    draw = Draw(51)
    initial = {n: draw.normal(*s) for n, s in SHAPES.items()}
    draw = Draw(52)
    gradients = [[draw.normal(*s, scale=scale) for s in SHAPES.values()] for _ in range(STEPS)]
    if kind == "LossScale":
        raise ValueError(kind)
    variables = []
    for n, value in initial.items():
        variable = keras.Variable(value, name=n.split("/")[1])
        variables.append(variable)
    engine = getattr(keras.optimizers, kind)(**with_schedule(config))
    if exclude:
        engine.exclude_from_weight_decay(var_names=exclude)
    engine.build(variables)
    values, averages, rates = [], [], []
    for step in range(STEPS):
        rates.append(float(np.float32(engine.learning_rate)))
        engine.apply([tf.constant(g) for g in gradients[step]])
        values.append([v.numpy().copy() for v in variables])
        if config.get("use_ema"):
            averages.append([v.numpy().copy() for v in engine._model_variables_moving_average])
    entry = {
        "name": name,
        "optimizer": kind,
        "config": config,
        "variables": [{"name": n, "initial": tensor(v)} for n, v in initial.items()],
        "gradients": [[tensor(g) for g in step] for step in gradients],
        "values": [[tensor(v) for v in step] for step in values],
        "learning_rates": [tensor(np.float32(r))["data"][0] for r in rates],
    }
    if exclude:
        entry["exclude_from_weight_decay"] = exclude
    if averages:
        entry["ema"] = [[tensor(v) for v in step] for step in averages]
        engine.finalize_variable_values(variables)
        entry["finalized"] = [tensor(v.numpy()) for v in variables]
    for step in values:
        for value in step:
            assert np.isfinite(value).all(), name
    OPTIMIZERS.append(entry)


def optimizers():
    o = optimizer
    o("sgd_default", "SGD", {})
    o("sgd", "SGD", {"learning_rate": 0.1})
    o("sgd_momentum", "SGD", {"learning_rate": 0.1, "momentum": 0.9})
    o("sgd_nesterov", "SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True})
    o("sgd_weight_decay", "SGD", {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.05})
    o("adam_default", "Adam", {})
    o("adam", "Adam", {"learning_rate": 0.05, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-5})
    o("adam_amsgrad", "Adam", {"learning_rate": 0.05, "amsgrad": True})
    o("adam_weight_decay", "Adam", {"learning_rate": 0.05, "weight_decay": 0.1})
    o("adamw_default", "AdamW", {})
    o("adamw", "AdamW", {"learning_rate": 0.05, "weight_decay": 0.1})
    o("adamw_exclude", "AdamW", {"learning_rate": 0.05, "weight_decay": 0.1}, exclude=["bias", "gamma"])
    o("rmsprop_default", "RMSprop", {})
    o("rmsprop", "RMSprop", {"learning_rate": 0.05, "rho": 0.8, "epsilon": 1e-5})
    o("rmsprop_momentum", "RMSprop", {"learning_rate": 0.05, "momentum": 0.9})
    o("rmsprop_centered", "RMSprop", {"learning_rate": 0.05, "centered": True})
    o("rmsprop_centered_momentum", "RMSprop", {"learning_rate": 0.05, "centered": True, "momentum": 0.5})
    o("adagrad_default", "Adagrad", {})
    o("adagrad", "Adagrad", {"learning_rate": 0.1, "initial_accumulator_value": 0.5, "epsilon": 1e-5})
    o("adadelta_default", "Adadelta", {})
    o("adadelta", "Adadelta", {"learning_rate": 1.0, "rho": 0.9})
    o("adamax_default", "Adamax", {})
    o("adamax", "Adamax", {"learning_rate": 0.05})
    o("nadam_default", "Nadam", {})
    o("nadam", "Nadam", {"learning_rate": 0.05})
    o("adafactor_default", "Adafactor", {})
    o("adafactor_absolute", "Adafactor", {"learning_rate": 0.05, "relative_step": False})
    o("adafactor_clip", "Adafactor", {"learning_rate": 0.05, "clip_threshold": 0.5, "beta_2_decay": -0.6},
      scale=3.0)
    o("adafactor_weight_decay", "Adafactor", {"learning_rate": 0.05, "weight_decay": 0.1})
    o("lamb_default", "Lamb", {})
    o("lamb", "Lamb", {"learning_rate": 0.05, "weight_decay": 0.1})
    o("lion_default", "Lion", {})
    o("lion", "Lion", {"learning_rate": 0.02, "beta_1": 0.8, "beta_2": 0.9, "weight_decay": 0.1})
    o("ftrl_default", "Ftrl", {})
    o("ftrl", "Ftrl", {"learning_rate": 0.1, "l1_regularization_strength": 0.01,
                       "l2_regularization_strength": 0.02, "beta": 0.1})
    o("sgd_clipnorm", "SGD", {"learning_rate": 0.1, "clipnorm": 1.0}, scale=2.0)
    o("sgd_global_clipnorm", "SGD", {"learning_rate": 0.1, "global_clipnorm": 1.0}, scale=2.0)
    o("sgd_clipvalue", "SGD", {"learning_rate": 0.1, "clipvalue": 0.5}, scale=2.0)
    o("sgd_global_clipnorm_inactive", "SGD", {"learning_rate": 0.1, "global_clipnorm": 100.0})
    o("adam_global_clipnorm", "Adam", {"learning_rate": 0.05, "global_clipnorm": 0.5}, scale=2.0)
    o("adam_clipnorm", "Adam", {"learning_rate": 0.05, "clipnorm": 0.5}, scale=2.0)
    o("sgd_ema", "SGD", {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.9})
    o("sgd_ema_overwrite", "SGD",
      {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 4})
    o("adam_ema", "Adam", {"learning_rate": 0.05, "use_ema": True, "ema_momentum": 0.8})
    o("sgd_accumulate", "SGD", {"learning_rate": 0.1, "momentum": 0.9, "gradient_accumulation_steps": 3})
    rates = {
        "cosine": ("CosineDecay", {"initial_learning_rate": 0.0, "decay_steps": 6, "warmup_target": 0.1,
                                   "warmup_steps": 3, "alpha": 0.1}),
        "exponential": ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5}),
        "piecewise": ("PiecewiseConstantDecay", {"boundaries": [2, 5], "values": [0.1, 0.05, 0.01]}),
    }
    for tag, (kind, config) in rates.items():
        rate = {"class_name": kind, "config": config}
        o(f"sgd_{tag}", "SGD", {"learning_rate": rate, "momentum": 0.9})
        o(f"adamw_{tag}", "AdamW", {"learning_rate": rate, "weight_decay": 0.1})
    if hasattr(keras.optimizers, "Muon"):
        print("  note: Keras also has Muon; not recorded")


def schedule(name, kind, config, steps):
    function = getattr(keras.optimizers.schedules, kind)(**config)
    values = [np.float32(np.asarray(function(s))) for s in steps]
    SCHEDULES.append({
        "name": name,
        "schedule": kind,
        "config": config,
        "steps": list(steps),
        "values": [tensor(v)["data"][0] for v in values],
    })


def schedules():
    every = list(range(0, 14)) + [19, 20, 21, 25, 30, 40, 50, 100]
    s = schedule
    s("cosine", "CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 20}, every)
    s("cosine_alpha", "CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 20, "alpha": 0.2}, every)
    s("cosine_warmup", "CosineDecay", {"initial_learning_rate": 0.01, "decay_steps": 20, "alpha": 0.05,
                                       "warmup_target": 0.1, "warmup_steps": 5}, every)
    s("cosine_restarts", "CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 7}, every)
    s("cosine_restarts_args", "CosineDecayRestarts",
      {"initial_learning_rate": 0.1, "first_decay_steps": 7, "t_mul": 1.5, "m_mul": 0.7, "alpha": 0.1}, every)
    s("cosine_restarts_t1", "CosineDecayRestarts",
      {"initial_learning_rate": 0.1, "first_decay_steps": 7, "t_mul": 1.0, "m_mul": 0.9}, every)
    s("exponential", "ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9}, every)
    s("exponential_staircase", "ExponentialDecay",
      {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5, "staircase": True}, every)
    s("piecewise", "PiecewiseConstantDecay", {"boundaries": [3, 10, 25], "values": [0.1, 0.05, 0.01, 0.001]}, every)
    s("polynomial", "PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 20}, every)
    s("polynomial_power", "PolynomialDecay",
      {"initial_learning_rate": 0.1, "decay_steps": 20, "end_learning_rate": 0.01, "power": 2.0}, every)
    s("polynomial_cycle", "PolynomialDecay",
      {"initial_learning_rate": 0.1, "decay_steps": 10, "end_learning_rate": 0.01, "power": 0.5, "cycle": True},
      every)
    s("inverse_time", "InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5}, every)
    s("inverse_time_staircase", "InverseTimeDecay",
      {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5, "staircase": True}, every)


def callbacks():
    """ReduceLROnPlateau and EarlyStopping against made-up sequences of a monitored value."""
    entries = []
    losses = [1.0, 0.9, 0.905, 0.9, 0.89995, 0.91, 0.85, 0.86, 0.87, 0.88, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86]
    scores = [0.5, 0.6, 0.59, 0.6, 0.61, 0.61, 0.6, 0.6, 0.7, 0.7, 0.7, 0.7, 0.7]

    def model(rate):
        result = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        result.compile(keras.optimizers.SGD(rate), "mse")
        return result

    for name, config, key, values in (
        ("plateau_default_patience2", {"patience": 2}, "val_loss", losses),
        ("plateau_factor", {"factor": 0.5, "patience": 1, "cooldown": 2, "min_lr": 0.02}, "val_loss", losses),
        ("plateau_min_delta", {"factor": 0.5, "patience": 3, "min_delta": 0.06}, "val_loss", losses),
        ("plateau_max", {"monitor": "val_accuracy", "mode": "max", "factor": 0.2, "patience": 2},
         "val_accuracy", scores),
        ("plateau_auto_accuracy", {"monitor": "val_accuracy", "factor": 0.2, "patience": 2, "mode": "max",
                                   "cooldown": 1}, "val_accuracy", scores),
    ):
        callback = keras.callbacks.ReduceLROnPlateau(**config)
        net = model(0.1)
        callback.set_model(net)
        callback.on_train_begin()
        rates = []
        for epoch, value in enumerate(values):
            callback.on_epoch_end(epoch, {key: value})
            rates.append(tensor(np.float32(net.optimizer.learning_rate))["data"][0])
        entries.append({"name": name, "callback": "ReduceLROnPlateau", "config": config,
                        "initial_learning_rate": 0.1, "monitored": values, "learning_rates": rates})
    for name, config, key, values in (
        ("early_stopping", {"patience": 2}, "val_loss", losses),
        ("early_stopping_min_delta", {"patience": 3, "min_delta": 0.06}, "val_loss", losses),
        ("early_stopping_start", {"patience": 1, "start_from_epoch": 4}, "val_loss", losses),
        ("early_stopping_baseline", {"patience": 2, "baseline": 0.5}, "val_loss", losses),
        ("early_stopping_max", {"monitor": "val_accuracy", "mode": "max", "patience": 3}, "val_accuracy", scores),
    ):
        callback = keras.callbacks.EarlyStopping(**config)
        net = model(0.1)
        net.stop_training = False
        callback.set_model(net)
        callback.on_train_begin()
        stopped = None
        for epoch, value in enumerate(values):
            callback.on_epoch_end(epoch, {key: value})
            if net.stop_training:
                stopped = epoch
                break
        entries.append({"name": name, "callback": "EarlyStopping", "config": config, "monitored": values,
                        "stopped_epoch": stopped, "best_epoch": int(callback.best_epoch)})
    return entries


def main():
    optimizers()
    write("optimizers.json", keras_versions(), OPTIMIZERS)
    schedules()
    write("schedules.json", keras_versions(), SCHEDULES, callbacks=callbacks())


if __name__ == "__main__":
    main()
