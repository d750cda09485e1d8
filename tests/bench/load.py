#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How repeatable a coordinated load is. Run as root:

    tests/bench/load.py BUILD [--rounds 10] [--load profiles/loads/mason.ini] [--times 4]

First Mason's Figure II in kind: the same load in each of its coordinations, in turn, and how much the runs of each differ. Then the same work as
a shell script that starts all slaves in the background and waits for them, timed by hyperfine in the same rounds. The standard deviations are
shares of the mean; the last column is the ratio to that of the constant load. --times N multiplies the repetitions of each script by N."""
import argparse, json, os, re, shlex, subprocess, sys, tempfile
from statistics import mean, stdev

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--rounds", type=int, default=10)
parser.add_argument("--load", default=os.path.join(os.path.dirname(__file__), "../../profiles/loads/mason.ini"))
parser.add_argument("--times", type=int, default=1)
args = parser.parse_args()
tool = os.path.join(os.path.abspath(args.build), "measure/emp-load")
tmp = tempfile.TemporaryDirectory()
out = os.path.join(tmp.name, "out.json")
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")

def longer():
    """The load with more repetitions, in a file of the same name."""
    path = os.path.join(tmp.name, os.path.basename(args.load))
    with open(args.load) as file, open(path, "w") as copy:
        copy.write(re.sub(r"(?m)^(repetitions\s*=\s*)(\d+)", lambda m: m[1] + str(args.times * int(m[2])), file.read()))
    return path

def script_of(lines):
    """One slave's script in the shell: each repetition does the steps in order."""
    setup, teardown, repetitions, steps = "true", "true", 1, []
    for name, value in lines:
        if name == "setup": setup = value
        elif name == "teardown": teardown = value
        elif name == "repetitions": repetitions = int(value)
        elif name in ("command", "shell"): steps.append(f"{{ {value}; }} </dev/null >/dev/null 2>&1")
        elif name == "think": steps.append(f"sleep {float(value.split()[-1].rstrip('ms')) / 1000}")
        elif name == "flush": steps.append("cat flush >/dev/null")
    body = "\n".join(steps)
    return f"cd $(mktemp -d -p $DIR); {setup}\nhead -c 64M /dev/zero >flush\nfor i in $(seq {repetitions}); do\n{body}\ndone\n{teardown}\n"

def shell_load():
    """A line is name = value; a section is a script."""
    sections, current = {}, None
    for line in open(load):
        line = line.strip()
        if not line or line[0] in ";#": continue
        if line[0] == "[": current = sections.setdefault(line[1:-1], []); continue
        current.append([part.strip() for part in line.split("=", 1)])
    text = "#!/bin/bash\nexport DIR=$(mktemp -d)\n"
    for name, lines in sections.items():
        if name == "load": continue
        for _ in range(int(dict(map(tuple, lines)).get("slaves", 1))):
            text += f"(\n{script_of(lines)}) &\n"
    path = os.path.join(tmp.name, "load.sh")
    open(path, "w").write(text + "wait\nrm -rf $DIR\n")
    return path

def emp(coordination):
    subprocess.run([tool, "run", "-q", "-w", "0", "-r", "1", "--coordination", coordination, "--export-json", out, load],
                   check=True, stdout=subprocess.DEVNULL)
    d = json.load(open(out))
    run = d["runs"][0]
    return run["time_to_last_ns"] / 1e9, run.get("shares_per_s", run["rate_per_s"])

def hyperfine(script):
    subprocess.run(["hyperfine", "-N", "-r", "1", "--export-json", out, f"bash {shlex.quote(script)}"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return json.load(open(out))["results"][0]["mean"]

load = longer()
script = shell_load()
rows = {name: [] for name in ("before", "no-teardown", "constant-load", "shell script, hyperfine")}
rates = {name: [] for name in rows}
for round in range(args.rounds + 1):
    for name in rows:
        time, rate = (hyperfine(script), None) if "shell" in name else emp(name)
        if round:  # the first warms up
            rows[name].append(time)
            rates[name].append(rate or 1 / time)
spread = lambda values: stdev(values) / mean(values)
least = spread(rates["constant-load"])
print(f"{'STAGE':26}{'RUNS':>5}{'HIGH':>10}{'LOW':>10}{'MEAN':>10}{'SD OF TIME':>12}{'SD OF RATE':>12}{'RATIO':>8}")
for name, times in rows.items():
    print(f"{name:26}{len(times):5}{max(times):9.2f}s{min(times):9.2f}s{mean(times):9.2f}s{100 * spread(times):10.1f} %{100 * spread(rates[name]):10.1f} %"
          f"{spread(rates[name]) / least:8.2f}")
