"""The whole job in Keras on TensorFlow (job.py)."""

import os

import job

args = job.arguments("jit")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import sys
import time

import keras
import tensorflow as tf
from keras import layers as L

tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)
keras.utils.set_random_seed(0)
version = f"tensorflow {tf.__version__} keras {keras.__version__}"

images, labels = job.split(args, "train")
model = keras.Sequential([keras.Input((28, 28, 1)), L.Rescaling(1 / 255),
                          L.Conv2D(32, 3, padding="same", activation="relu"),
                          L.Conv2D(64, 3, padding="same", activation="relu"), L.MaxPooling2D(), L.Flatten(),
                          L.Dense(128, "relu"), L.Dense(10)])
steps = job.EPOCHS * -(-len(images) // job.BATCH)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(job.RATE, steps)),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], jit_compile=args.jit)


class FirstStep(keras.callbacks.Callback):
    at = None

    def on_train_batch_end(self, batch, logs=None):
        if self.at is None:
            self.at = time.time()
            if args.first_step:
                job.tell(args, version, self.at)
                sys.stdout.flush()
                os._exit(0)


clock = FirstStep()
train = (tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images)).batch(job.BATCH)
         .prefetch(tf.data.AUTOTUNE))
model.fit(train, epochs=job.EPOCHS, verbose=0, callbacks=[clock])
test = tf.data.Dataset.from_tensor_slices(job.split(args, "t10k")).batch(1000).prefetch(tf.data.AUTOTUNE)
accuracy = model.evaluate(test, verbose=0, return_dict=True)["accuracy"]
job.tell(args, version, clock.at, float(accuracy))
