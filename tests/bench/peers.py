#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Relative error (sd / mean) of EMP's process time beside what other tools report, for four compute-bound programs on one CPU: quiet, and
with a daemon on that CPU that takes 100 ms every 2 s. All tools take their samples in turn, in the same minutes. Run as root:

    tests/bench/peers.py BUILD [--samples 10] [--rounds 3] [--cpu N]

A tool that is not installed is left out. The numbers are the median over the rounds; ratios are to EMP's, after discards:
above 1, the other tool's error is greater."""
import argparse, json, os, random, shutil, subprocess, sys, tempfile
from statistics import mean, median, stdev

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--cpu", type=int, default=os.cpu_count() - 1)
args = parser.parse_args()
build, cpu, n = os.path.abspath(args.build), args.cpu, args.samples
tmp = tempfile.TemporaryDirectory()
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")
null = subprocess.DEVNULL

def path(name):
    return os.path.join(build, name)

def relative(values):
    return stdev(values) / mean(values)

def run(command, **more):
    return subprocess.run(command, check=True, stdout=null, stderr=null, **more)

def pinned(command):
    return ["taskset", "-c", str(cpu)] + command

def emp(command):
    out = os.path.join(tmp.name, "emp.json")
    status = subprocess.run([path("measure/emp-measure"), "-q", "-w", "0", "-r", str(n), "--cpu", str(cpu), "--profile", "peers",
                             "--style", "none", "--export-json", out, "--"] + command, stdout=null).returncode
    assert status in (0, 3), f"emp-measure: {status}"
    r = json.load(open(out))["results"][0]["emp"]
    return {"EMP, PT after discards": r["pt"]["relative_error"], "EMP, PT of all samples": r["pt"]["raw"]["relative_error"]}

def hyperfine(command):
    wall, user_system = [], []
    for _ in range(n):                      # its JSON has user and system as means only: one run each
        out = os.path.join(tmp.name, "hyperfine.json")
        run(pinned(["hyperfine", "-N", "-r", "1", "--export-json", out, " ".join(command)]))
        r = json.load(open(out))["results"][0]
        wall.append(r["mean"])
        user_system.append(r["user"] + r["system"])
    return {"hyperfine, wall": relative(wall), "hyperfine, user + system": relative(user_system)}

def perf(command):
    errors = []
    out = subprocess.run(["perf", "stat", "-x;", "-e", "task-clock", "-r", str(n)] + pinned(command), check=True, stdout=null,
                         stderr=subprocess.PIPE, text=True).stderr
    for line in out.splitlines():
        fields = line.split(";")
        if len(fields) > 3 and "task-clock" in fields[2]:
            errors.append(float(fields[3].rstrip("%")) / 100 * n ** 0.5)   # perf prints the error of the mean
    return {"perf stat -r, task-clock": errors[0]}

def wait4(command):
    wall, cpu_time = [], []
    for _ in range(n):
        import time
        start = time.monotonic()
        pid = os.posix_spawnp("taskset", pinned(command), os.environ, file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        ru = os.wait4(pid, 0)[2]
        wall.append(time.monotonic() - start)
        cpu_time.append(ru.ru_utime + ru.ru_stime)
    return {"wait4, user + system": relative(cpu_time)}

tools = [emp, wait4]
if shutil.which("hyperfine"):
    tools.append(hyperfine)
if shutil.which("perf"):
    tools.append(perf)

data = os.path.join(tmp.name, "data")
rng = random.Random(1)
with open(data, "w") as f:
    for _ in range(120000):
        f.write(f"{rng.getrandbits(40):x} {rng.choice(['sample', 'cutoff', 'daemon'])}\n")
os.environ["LC_ALL"] = "C"
run([path("calibrate/emp-calibrate"), "constant", "--cpu", str(cpu)])
programs = {
    "INC0.2": [path("calibrate/inc"), "0.2"],
    "xz": ["xz", "-4", "-k", "-c", data],
    "sort": ["sort", "--parallel=1", "-S", "64M", data],
    "matrix": [path("tests/bench/matrix"), "360"],
}

def noise():
    return subprocess.Popen(pinned([path("tests/bench/noisy"), "100", "2000"]))

print("calibrating beside the noisy daemon ...", file=sys.stderr)
daemon = noise()
try:
    run([path("calibrate/emp-calibrate"), "-q", "run", "--short", "0.1x200", "--long", "2x8", "--cpu", str(cpu), "--save", "peers",
         "--anyway", "--force"])
finally:
    daemon.kill()
    daemon.wait()

for condition in ("quiet", "with the noisy daemon"):
    daemon = noise() if condition != "quiet" else None
    try:
        results = {}
        for name, command in programs.items():
            for _ in range(args.rounds):
                random.shuffle(tools)
                for tool in tools:
                    for label, error in tool(command).items():
                        results.setdefault(label, {}).setdefault(name, []).append(error)
    finally:
        if daemon:
            daemon.kill()
            daemon.wait()
    best = {name: median(errors) for name, errors in results["EMP, PT after discards"].items()}
    print(f"\n{condition}: relative error, and its ratio to EMP's")
    print(f"{'':28}" + "".join(f"{name:>20}" for name in programs))
    for label in sorted(results, key=lambda l: mean(median(results[l][p]) / best[p] for p in programs)):
        cells = [median(results[label][p]) for p in programs]
        print(f"{label:28}" + "".join(f"{e:>12.2e} {e / best[p]:>6.2f}x" for e, p in zip(cells, programs)))
