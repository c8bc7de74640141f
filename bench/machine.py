"""Facts about this machine and small statistics, for bench/run and bench/fit (standard library only)."""

import datetime
import os
import platform
import statistics
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def venvs():
    """The folder that holds the rivals' environments .venv-tf, .venv-torch and .venv-jax."""
    return os.environ.get("FLATOUT_VENVS", ROOT)


def python_of(name):
    """The interpreter of a rival's environment, or None where it is not there."""
    path = os.path.join(venvs(), f".venv-{name}", "bin", "python")
    return path if os.access(path, os.X_OK) else None


def load():
    return round(os.getloadavg()[0], 2)


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def memory_gib():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def commit():
    def git(*args):
        done = subprocess.run(["git", "-C", ROOT, *args], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    head = git("rev-parse", "--short=10", "HEAD")
    return (head or "unknown") + ("+changes" if git("status", "--porcelain", "-uno") else "")


def facts():
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gib": memory_gib(),
        "system": f"{platform.system()} {platform.release()}",
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit(),
        "load_before": load(),
    }


def print_facts(machine, threads):
    print(f"machine   {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
          f"{machine['system']}")
    print(f"date      {machine['date']}, commit {machine['commit']}, {threads} threads")
    busy = "  (busy: the figures will not be reliable)" if machine["load_before"] > 0.5 else ""
    print(f"load      {machine['load_before']} before{busy}", flush=True)


def summary(values):
    """Median, least, greatest, and the spread: the middle half's width in percent of the median."""
    values = sorted(values)
    median = statistics.median(values)
    if len(values) >= 4:
        quarters = statistics.quantiles(values, n=4, method="inclusive")
        spread = (quarters[2] - quarters[0]) / median * 100
    else:
        spread = (values[-1] - values[0]) / median * 100
    return {"median": median, "min": values[0], "max": values[-1], "spread_percent": spread, "repeats": len(values)}


def print_table(header, rows):
    """Columns as wide as their widest cell; the first is flush left, the others flush right."""
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for number, row in enumerate(cells):
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
        if number == 0:
            print("  ".join("-" * w for w in widths))


def allow_cpus(threads):
    """A preexec function that keeps a child on the first `threads` allowed CPUs, for every contestant alike."""
    allowed = sorted(os.sched_getaffinity(0))
    chosen = set(allowed[:threads])
    return lambda: os.sched_setaffinity(0, chosen)
