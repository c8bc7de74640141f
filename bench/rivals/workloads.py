"""What the rivals' step scripts share: the five workloads' data, the arguments and the protocol.

A script is started with --workload and --mode, builds its model, runs three warm-up steps, prints one
line {"ready", "version", "first_step_s"} and then answers each line of its input, a number of steps N, with one line
{"workload", "rival", "mode", "version", "ms_per_step": [N numbers], "loss": [...]}.  Each step is
timed from the call until its loss is on the host.  The first answer's `loss` begins with the warm-up
steps, so that it starts at the first step of training.  With --steps N it answers once and ends.
"""

import argparse
import json
import sys
import time

import numpy as np

NAMES = ("mlp", "cnn", "rn", "tr", "dl")
WARM_UP = 3


def data(name):
    """Inputs (a tuple of arrays, images channels-last) and labels, the same for every rival."""
    r = np.random.RandomState(0)
    if name == "mlp":
        return (r.randn(128, 784).astype(np.float32),), r.randint(0, 10, 128).astype(np.int32)
    if name == "cnn":
        return (r.randn(64, 28, 28, 1).astype(np.float32),), r.randint(0, 10, 64).astype(np.int32)
    if name == "rn":
        return (r.randn(32, 32, 32, 3).astype(np.float32),), r.randint(0, 10, 32).astype(np.int32)
    if name == "tr":
        tokens = r.randint(0, 8192, (8, 129)).astype(np.int32)
        return (tokens[:, :-1],), tokens[:, 1:].copy()
    if name == "dl":
        dense = r.randn(1024, 13).astype(np.float32)
        ids = r.randint(0, 100000, (1024, 8)).astype(np.int32)
        return (dense, ids), r.randint(0, 2, 1024).astype(np.int32)
    raise SystemExit(f"unknown workload '{name}'; known: {', '.join(NAMES)}")


def arguments(modes):
    parser = argparse.ArgumentParser()
    parser.add_argument("--workload", required=True, choices=NAMES)
    parser.add_argument("--mode", default=modes[0], choices=modes)
    parser.add_argument("--precision", default="float32", choices=("float32", "mixed_bfloat16"),
                        help="mixed_bfloat16: variables float32, computing in bfloat16, the loss in float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, help="answer once with this many steps, then end")
    parser.add_argument("--mlir", help="(jax) write the step's StableHLO to FILE, its arguments to FILE.arguments, and end")
    return parser.parse_args()


def serve(args, rival, version, step):
    """Runs `step` (no arguments, returns the loss as a float) as the module comment says."""
    begin = time.perf_counter()
    losses = [step()]
    first = time.perf_counter() - begin
    losses += [step() for _ in range(WARM_UP - 1)]

    def answer(count):
        nonlocal losses
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            losses.append(step())
            times.append(round((time.perf_counter() - begin) * 1e3, 4))
        say({"workload": args.workload, "rival": rival, "mode": args.mode, "version": version,
             "ms_per_step": times, "loss": [round(v, 5) for v in losses]})
        losses = []

    if args.steps:
        answer(args.steps)
        return
    say({"ready": True, "version": version, "first_step_s": round(first, 3)})
    for line in sys.stdin:
        if line.strip():
            answer(int(line))


def say(value):
    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")
    sys.stdout.flush()
