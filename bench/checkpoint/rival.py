#!/usr/bin/env python3
"""One rival's way of saving a state of --mib MiB in 100 float32 tensors, --repeats times after one for warming up.

Prints one JSON line: for each repeat, seconds for which the caller stood still ("blocked") and until everything was
written and synced ("whole"). Asynchronous ways return before they have written; what they do not sync themselves is
synced with fsync before the clock stops, as ours does. Runs in that rival's environment (bench/README.md).
"""

import argparse
import json
import os
import shutil
import time

TENSORS = 100


def sync_tree(folder):
    for root, _, files in os.walk(folder):
        for name in [*files, "."]:
            handle = os.open(os.path.join(root, name), os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)


def torch_state(mib):
    import torch

    return {f"tensor{i}": torch.rand(mib * 2**20 // TENSORS // 4) for i in range(TENSORS)}


def torch_save(mib, folder):
    import torch

    state = torch_state(mib)

    def save():
        torch.save(state, os.path.join(folder, "state.pt"))
        return lambda: None

    return torch.__version__, save


def dcp_async(mib, folder):
    import torch
    import torch.distributed as dist
    from torch.distributed.checkpoint import async_save

    state = torch_state(mib)
    # async_save wants a process group; one process is one.
    dist.init_process_group("gloo", init_method=f"file://{folder}.rendezvous", rank=0, world_size=1)

    def save():
        future = async_save(state, checkpoint_id=os.path.join(folder, "dcp"))
        return future.result

    return torch.__version__, save


def keras_backup(mib, folder):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import keras
    import numpy as np

    # A third of the state is weights, two thirds Adam's moments; BackupAndRestore saves them within the step.
    rows = mib * 2**20 // 3 // TENSORS // 4 // 256
    model = keras.Sequential([keras.Input((rows,))] + [keras.layers.Dense(256 if i % 2 == 0 else rows, use_bias=False)
                                                      for i in range(TENSORS)])
    model.compile(optimizer="adam", loss="mse")
    model.optimizer.build(model.trainable_variables)
    callback = keras.callbacks.BackupAndRestore(folder, save_freq=1, delete_checkpoint=False)
    callback.set_model(model)
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    step = [0]

    def save():
        callback.on_train_batch_end(step[0], logs={"loss": np.float32(1)})
        step[0] += 1
        return lambda: None

    return keras.__version__, save


def orbax(mib, folder):
    import jax
    import orbax.checkpoint as ocp

    state = {f"tensor{i}": jax.random.uniform(jax.random.key(i), (mib * 2**20 // TENSORS // 4,))
             for i in range(TENSORS)}
    jax.block_until_ready(state)
    checkpointer = ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())

    def save():
        checkpointer.save(os.path.join(folder, "state"), args=ocp.args.StandardSave(state))
        return checkpointer.wait_until_finished

    return ocp.__version__, save


WAYS = {"torch.save": torch_save, "dcp-async": dcp_async, "keras-backup": keras_backup, "orbax-async": orbax}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    folder = os.path.join(os.path.abspath(options.folder), f"rival-{os.getpid()}")
    os.makedirs(folder)
    try:
        version, save = WAYS[options.way](options.mib, folder)
        result = {"way": options.way, "version": version, "mib": options.mib, "blocked": [], "whole": []}
        for repeat in range(options.repeats + 1):
            if repeat > 0 and options.way != "keras-backup":
                for name in os.listdir(folder):
                    path = os.path.join(folder, name)
                    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
            os.sync()
            begin = time.perf_counter()
            finish = save()
            blocked = time.perf_counter() - begin
            finish()
            sync_tree(folder)
            if repeat > 0:
                result["blocked"].append(blocked)
                result["whole"].append(time.perf_counter() - begin)
        print(json.dumps(result))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.exists(folder + ".rendezvous"):
            os.remove(folder + ".rendezvous")


if __name__ == "__main__":
    main()
