"""What the whole-job benchmark's rivals share: Fashion-MNIST, its arguments, the line they print.

The job: the CNN of examples/fashion_mnist/cnn.toml (two 3x3 convolutions of 32 and 64, pooling, dense layers of 128
and 10), batch 64, Adam with a cosine decay from 0.0015 over two epochs of 60,000 shuffled images, then the accuracy on
the 10,000 test images. With --first-step it ends after one step.
"""

import argparse
import gzip
import json
import os
import time

BATCH = 64
EPOCHS = 2
RATE = 0.0015


def arguments(*switches):
    parser = argparse.ArgumentParser()
    parser.add_argument("--first-step", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--started", type=float, default=time.time(), help="time.time() just before this process began")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    for switch in switches:
        parser.add_argument(f"--{switch}", action="store_true")
    return parser.parse_args()


def split(args, name):
    import numpy as np

    def idx(file, header):
        with gzip.open(os.path.join(args.data, file)) as opened:
            return np.frombuffer(opened.read(), np.uint8, offset=header)

    images = idx(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)
    return images, idx(f"{name}-labels-idx1-ubyte.gz", 8)


def tell(args, version, first_step, accuracy=None):
    print(json.dumps({"first_step_s": first_step - args.started, "wall_s": time.time() - args.started,
                      "accuracy": accuracy, "version": version}))
