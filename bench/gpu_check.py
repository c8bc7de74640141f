"""Planned against measured, for bench/gpu_check.sh (standard library only)."""

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import machine

WORKLOADS = ("mlp", "cnn", "rn", "tr", "dl")
# How much larger the second batch of a workload is: enough to fill a data-centre card better.
LARGER = 16
# A run must have this many steps to say anything of a step's time.
LEAST_STEPS = 50
MOST_STEPS = 20000


class Failed(Exception):
    """One run gave no figures; the message is for the table's foot."""


def cards():
    with open(os.path.join(machine.ROOT, "flatout", "xla", "cards.toml"), "rb") as file:
        return tomllib.load(file)["card"]


def card_of_this_machine():
    """The name of the first GPU's card in cards.toml, or None with the driver's name for it."""
    done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                          capture_output=True, text=True)
    kind = done.stdout.strip().splitlines()[0].strip() if done.stdout.strip() else "no answer"
    for card in cards():
        if kind in card.get("device_kinds", []):
            return card["name"], kind
    return None, kind


class Check:
    def __init__(self, options, card, end):
        self.options = options
        self.card = card
        self.end = end
        self.folder = tempfile.mkdtemp(prefix="flatout-gpu-check-")

    def left(self):
        return self.end - time.monotonic()

    def run(self, arguments, limit):
        """A flatout command's standard output, within `limit` seconds and the time left."""
        limit = min(limit, self.left())
        if limit < 5:
            raise Failed("the time was over before it")
        child = subprocess.Popen([self.options.flatout, *arguments], cwd=machine.ROOT,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 start_new_session=True)
        try:
            out, err = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise Failed(f"flatout {arguments[0]} took longer than {limit:.0f} s") from None
        if child.returncode != 0:
            last = (err.strip() or out.strip()).splitlines()
            raise Failed(f"flatout {arguments[0]} ended with {child.returncode}: "
                         f"{last[0][:300] if last else 'no message'}")
        return out

    def plan(self, run_file, policy, batch):
        out = self.run(["plan", run_file, "--gpu", self.card, "--batch", str(batch), "--precision",
                        policy, "--json"], 120)
        row = json.loads(out)["rows"][0]
        if row["problem"]:
            raise Failed("planning: " + row["problem"].splitlines()[0])
        if not row["fits"]:
            raise Failed("the plan says that it does not fit")
        return row

    def train(self, run_file, policy, batch, steps):
        folder = os.path.join(self.folder, f"{os.path.basename(run_file)}-{policy}-{batch}")
        sets = {"device": self.options.device, "devices": 1, "precision": policy,
                "global_batch": batch, "max_steps": steps, "epochs": 100000, "evaluate_every": 0,
                "evaluate_test": "false"}
        arguments = ["train", run_file, "--run-dir", folder, "--set", "watch.progress=none"]
        for key, value in sets.items():
            arguments += ["--set", f"train.{key}={value}"]
        self.run(arguments, 60 + 4 * self.options.seconds)
        with open(os.path.join(folder, "summary.json")) as file:
            return json.load(file)

    def one(self, workload, policy, larger):
        run_file = f"bench/workloads/{workload}.toml"
        with open(os.path.join(machine.ROOT, run_file), "rb") as file:
            batch = tomllib.load(file)["train"]["global_batch"] * (LARGER if larger else 1)
        row = self.plan(run_file, policy, batch)
        step = row["step_seconds"]["likely"] if row.get("step_seconds") else None
        steps = self.options.seconds / step if step else LEAST_STEPS
        steps = int(min(max(steps, LEAST_STEPS), MOST_STEPS))
        if self.options.device == "cpu":
            steps = 3  # only to try the script
        summary = self.train(run_file, policy, batch, steps)
        return {"workload": workload, "policy": policy, "batch": batch, "plan": row,
                "summary": summary}


def gib(value):
    return "not available" if value is None else f"{value / 2**30:.3f}"


def ms(value):
    return "not available" if value is None else f"{value * 1e3:.3g}"


def percent(value):
    return "not available" if value is None else f"{value * 100:.2g} %"


def line(result):
    plan, summary, batch = result["plan"], result["summary"], result["batch"]
    memory = summary.get("memory") or {}
    peak = memory.get("peak_bytes")
    planned = plan["memory"]["bytes"]
    ceiling = summary.get("ceiling_samples_per_second")
    alone = batch / ceiling if ceiling else None
    rate = summary.get("samples_per_second")
    real = batch / rate if rate else None
    seconds = plan.get("step_seconds")
    estimate = "not known"
    if seconds:
        estimate = f"{ms(seconds['likely'])} ({ms(seconds['low'])}-{ms(seconds['high'])})"
    within = "not known"
    if seconds and alone:
        within = "yes" if seconds["low"] <= alone <= seconds["high"] else "**no**"
    cells = [
        result["workload"], result["policy"], str(batch), gib(planned),
        gib(memory.get("planned_bytes")), gib(peak),
        f"{(planned / peak - 1) * 100:+.1f} %" if peak else "not available",
        estimate, ms(alone), within, ms(real),
        percent((plan.get("mfu") or {}).get("likely")), percent(summary.get("mfu")),
        percent(summary.get("full")),
    ]
    return "| " + " | ".join(cells) + " |"


HEADER = ["workload", "policy", "batch", "planned without the card, GiB", "planned on the card, GiB",
          "peak, GiB", "off by", "planned step, ms", "step of the device alone, ms", "in range",
          "step in training, ms", "planned MFU", "MFU", "full"]


def report(options, card, kind, results, failures):
    facts = machine.facts()
    title = "Dry run on CPU: the script, not a measurement" if options.device == "cpu" else f"{card}: planned against measured"
    lines = [f"# {title}", "",
             f"{kind}; {facts['processor']}, {facts['cores']} cores; {facts['date']}; commit "
             f"{facts['commit']}; load before {facts['load_before']}.",
             f"Made by bench/gpu_check.sh; {options.seconds} s of training each; MFU of the dense peak "
             "of the policy's dtype.", "",
             "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += [line(result) for result in results]
    if failures:
        lines += ["", "No figures:", ""] + [f"- {failure}" for failure in failures]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flatout", required=True)
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--minutes", type=int, required=True)
    parser.add_argument("--card")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--out")
    options = parser.parse_args()
    workloads = options.workloads.split(",")
    for name in workloads:
        if name not in WORKLOADS:
            parser.error(f"unknown workload {name}; known are {', '.join(WORKLOADS)}")

    if options.device == "cpu":
        card, kind = "cpu", "the CPU of this machine"
    elif options.card:
        card, kind = options.card, options.card
    else:
        card, kind = card_of_this_machine()
        if card is None:
            sys.exit(f"gpu_check: no card in flatout/xla/cards.toml is called \"{kind}\"; say with "
                     f"--card which it is: {', '.join(c['name'] for c in cards())}")

    # What matters most comes first: the time may be over before the rest.
    policies = ("float32", "mixed_bfloat16")
    parts = [(w, p, False) for p in reversed(policies) for w in workloads]
    parts += [(w, policies[1], True) for w in workloads]
    if options.device == "cpu":
        parts = [(w, "float32", False) for w in workloads]
    check = Check(options, card, time.monotonic() + options.minutes * 60 - 15)
    results, failures = [], []
    for workload, policy, larger in parts:
        name = f"{workload}, {policy}{', larger batch' if larger else ''}"
        print(f"{name} ({check.left():.0f} s left)", file=sys.stderr, flush=True)
        try:
            results.append(check.one(workload, policy, larger))
        except Failed as failure:
            failures.append(f"{name}: {failure}")
            print(f"  {failure}", file=sys.stderr)
        except (OSError, ValueError, KeyError) as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            print(f"  {failures[-1]}", file=sys.stderr)
    shutil.rmtree(check.folder, ignore_errors=True)

    text = report(options, card, kind, results, failures)
    out = options.out
    if out is None and options.device == "cuda":
        out = os.path.join(machine.ROOT, "docs", "measurements",
                           f"{card}-{datetime.date.today().isoformat()}.md")
    if out is None:
        print(text, end="")
    else:
        os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
        with open(out, "w") as file:
            file.write(text)
        print(f"written: {out}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
