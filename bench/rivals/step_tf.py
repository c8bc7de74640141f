"""Training steps of the five workloads in Keras on TensorFlow, as a graph or compiled by XLA."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import tensorflow as tf
from keras import layers as L
from keras import ops

import workloads

args = workloads.arguments(("graph", "xla"))
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)
keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy(args.precision)
inputs, labels = workloads.data(args.workload)


def mlp():
    return keras.Sequential([keras.Input((784,)), L.Dense(512, "relu"), L.Dense(512, "relu"), L.Dense(10)])


def cnn():
    return keras.Sequential([
        keras.Input((28, 28, 1)),
        L.Conv2D(32, 3, padding="same", activation="relu"),
        L.Conv2D(64, 3, padding="same", activation="relu"),
        L.MaxPooling2D(),
        L.Flatten(),
        L.Dense(128, "relu"),
        L.Dense(10),
    ])


def resnet18():
    def convolve(x, filters, size, stride):
        x = L.Conv2D(filters, size, stride, "same", use_bias=False)(x)
        return L.BatchNormalization()(x)

    image = keras.Input((32, 32, 3))
    x = L.ReLU()(convolve(image, 64, 3, 1))
    for stage, filters in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = L.ReLU()(convolve(x, filters, 3, stride))
            y = convolve(y, filters, 3, 1)
            if x.shape != y.shape:
                x = convolve(x, filters, 1, stride)
            x = L.ReLU()(L.Add()([x, y]))
    return keras.Model(image, L.Dense(10)(L.GlobalAveragePooling2D()(x)))


def transformer():
    tokens = keras.Input((128,), dtype="int32")
    x = L.Embedding(8192, 256)(tokens)
    for _ in range(4):
        h = L.LayerNormalization(epsilon=1e-5)(x)
        x = x + L.MultiHeadAttention(4, 64)(h, h, use_causal_mask=True)
        h = L.LayerNormalization(epsilon=1e-5)(x)
        x = x + L.Dense(256)(L.Dense(1024, "gelu")(h))
    return keras.Model(tokens, L.Dense(8192)(L.LayerNormalization(epsilon=1e-5)(x)))


def dlrm():
    dense, ids = keras.Input((13,)), keras.Input((8,), dtype="int32")
    rows = [L.Embedding(100000, 32)(ids[:, i]) for i in range(8)]
    bottom = L.Dense(32, "relu")(L.Dense(64, "relu")(dense))
    stacked = ops.stack(rows + [bottom], 1)
    pairs = ops.reshape(ops.matmul(stacked, ops.transpose(stacked, (0, 2, 1))), (-1, 81))
    top = L.Dense(256, "relu")(L.Concatenate()([bottom, pairs]))
    return keras.Model([dense, ids], L.Dense(2)(top))


model = {"mlp": mlp, "cnn": cnn, "rn": resnet18, "tr": transformer, "dl": dlrm}[args.workload]()
if args.workload == "rn":
    optimizer = keras.optimizers.SGD(1e-2, momentum=0.9)
elif args.workload == "dl":
    optimizer = keras.optimizers.SGD(1e-2)
else:
    optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
x = [tf.constant(v) for v in inputs]
x = x[0] if len(x) == 1 else x
y = tf.constant(labels)


@tf.function(jit_compile=args.mode == "xla")
def train(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, tf.cast(model(x, training=True), tf.float32))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


workloads.serve(args, "tf", f"tensorflow {tf.__version__} keras {keras.__version__}",
                lambda: float(train(x, y).numpy()))
