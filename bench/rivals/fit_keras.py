"""Keras fit() on Fashion-MNIST: samples per second by epoch and the time to the first step.

Prints one line {"first_step_s", "samples_per_second": [per epoch], "val_accuracy", "version"}.
"""

import argparse
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=("mlp", "cnn"), required=True)
parser.add_argument("--jit", action="store_true", help="jit_compile=True")
parser.add_argument("--steps-per-execution", type=int, default=1)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--started", type=float, default=time.time(), help="time.time() just before this process began")
parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
args = parser.parse_args()

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import gzip
import json

import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

BATCH = 128
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)
keras.utils.set_random_seed(0)


def idx(name, header):
    with gzip.open(os.path.join(args.data, name)) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def split(name):
    images = idx(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)
    return images, idx(f"{name}-labels-idx1-ubyte.gz", 8)


images, labels = split("train")
body = [L.Flatten(), L.Dense(512, "relu"), L.Dense(512, "relu")]
if args.model == "cnn":
    body = [L.Conv2D(32, 3, padding="same", activation="relu"), L.Conv2D(64, 3, padding="same", activation="relu"),
            L.MaxPooling2D(), L.Flatten(), L.Dense(128, "relu")]
model = keras.Sequential([keras.Input((28, 28, 1)), L.Rescaling(1 / 255), *body, L.Dense(10)])
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"], jit_compile=args.jit, steps_per_execution=args.steps_per_execution)


class Clock(keras.callbacks.Callback):
    """Training time alone: from an epoch's begin to its last training batch, validation left out."""

    def __init__(self):
        super().__init__()
        self.first_step = None
        self.rates = []

    def on_epoch_begin(self, epoch, logs=None):
        self.begin = self.last = time.time()

    def on_train_batch_end(self, batch, logs=None):
        self.last = time.time()
        if self.first_step is None:
            self.first_step = self.last - args.started

    def on_epoch_end(self, epoch, logs=None):
        self.rates.append(round(len(images) / (self.last - self.begin), 1))


clock = Clock()
train = (tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images)).batch(BATCH)
         .prefetch(tf.data.AUTOTUNE))
test = tf.data.Dataset.from_tensor_slices(split("t10k")).batch(1000).prefetch(tf.data.AUTOTUNE)
history = model.fit(train, epochs=args.epochs, verbose=0, callbacks=[clock], validation_data=test)
print(json.dumps({
    "first_step_s": round(clock.first_step, 3),
    "samples_per_second": clock.rates,
    "val_accuracy": round(float(history.history["val_accuracy"][-1]), 4),
    "version": f"tensorflow {tf.__version__} keras {keras.__version__}",
}))
