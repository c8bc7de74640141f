"""How bench/data/run and the contestants talk, and what the pipelines are (standard library only).

A contestant is a process, started with
    --pipeline NAME --data FOLDER --workers N|auto
that builds the pipeline over endless epochs and writes one JSON line, {"ready": true, "version": ...}. Then it
answers each line of its input with one JSON line:
    run S     pulls batches for S seconds and more, to the end of a batch:
              {"records": so many, "seconds": it took}. What waited ready-made before does not count: batches
              are pulled for a while before the clock starts.
    check     one epoch in order: {"records": in it, "sum": of all labels, "mean": of all other values}, so that
              the driver sees that all contestants do the same work.
It ends when its input does.
"""

import argparse
import glob
import json
import os
import sys
import time

WARM_UP = 0.3  # seconds

# What each pipeline gives: batches of so many records.
BATCH = {
    "tfrecord": 32,  # raw records as byte strings, both checksums verified
    "image": 256,    # Example -> image f32 [256, 64, 64, 3] / 255, label i32
    "float": 256,    # Example -> x f32 [256, 256], label i32
    "jpeg": 64,      # file -> random crop (area 0.08 to 1, aspect 3/4 to 4/3), 224x224 bilinear, flip, normalised f32
    "csv": 1024,     # row -> x f32 [1024, 31], label i32
}
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def files(data, pipeline):
    pattern = {"tfrecord": "tfrecord/raw-*", "image": "tfrecord/image-*", "float": "tfrecord/float-*",
               "jpeg": "jpeg/*/*.jpg", "csv": "csv/*.csv"}[pipeline]
    found = sorted(glob.glob(os.path.join(data, pattern)))
    if not found:
        raise SystemExit(f"no {pattern} in {data}: bench/data/make_data makes it")
    return found


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pipeline", required=True, choices=list(BATCH))
    parser.add_argument("--data", required=True)
    parser.add_argument("--workers", default="auto")
    return parser.parse_args()


def say(value):
    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def serve(version, pull, check):
    """pull() takes the next batch and returns its number of records; check() gives the answer to "check"."""
    pull()
    say({"ready": True, "version": version})
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "check":
            say(check())
            continue
        end = time.perf_counter() + WARM_UP
        while time.perf_counter() < end:
            pull()
        records, begin = 0, time.perf_counter()
        end = now = begin
        end += float(words[1])
        while now < end:
            records += pull()
            now = time.perf_counter()
        say({"records": records, "seconds": now - begin})
