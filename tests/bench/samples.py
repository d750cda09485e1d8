#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a whole sample costs, with snapshots, counters and the book. Run as root:

    tests/bench/samples.py BUILD [--rounds 20] [--processes 100] [--cpu 0]

First what one call costs that takes one sample of `true`: its wall time, and the CPU time of all its processes, beside those of starting `true` and
waiting for it (plain.c). Then the elapsed time of `true` by each tool (the median), and the time from one start of `true` to the next (the wall
time of 100 more samples, so that a tool's own start and end do not count), beside those of plain.c in the same minute: of tools that run on any CPU, of tools that
are bound to one CPU with `true`, and of emp-measure on any CPU with `true` on one. Then the observer's CPU time in a sample, with so many
processes on the machine, compared with that of only starting the program and waiting for it. Medians over the rounds; ratios are of figures of one round.
Last how much longer than its own work each tool says that a program takes which notes when it began and, as its last act, when it ended:
the start (exec, loader), the end (the kernel releases the memory), and how late the tool sees it; alone, and beside busy loops."""
import argparse, array, json, os, resource, signal, sqlite3, subprocess, sys, tempfile, time
from statistics import median

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--processes", type=int, default=100)
parser.add_argument("--cpu", type=int, default=0)
args = parser.parse_args()
build = os.path.abspath(args.build)
tmp = tempfile.TemporaryDirectory(dir=build)
book, out = (os.path.join(tmp.name, name) for name in ("book.db", "out.json"))
null = subprocess.DEVNULL
FEW, MANY = 10, 110

def path(name):
    return os.path.join(build, name)

def emp(backend, n, *program, options=()):
    return [path("measure/emp-measure"), "--ignore-lock", "--db", book, "--accounting", backend, *options, "-r", str(n), "--export-json", out, "--", *program]

def hyperfine(n):
    return ["hyperfine", "-N", "-r", str(n), "--export-json", out, "true"]

def plain(n):
    return [path("tests/bench/plain"), str(n), "true"]

def wall(command):
    """Its wall time, and what it printed."""
    start = time.perf_counter()
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=null, text=True).stdout
    return time.perf_counter() - start, printed

bound = ["taskset", "-c", str(args.cpu)]
here = ("--cpu", str(args.cpu))
# Each by its name: the one that it is compared with, and its command.
tools = {"plain": ("plain", plain), "hyperfine -N": ("plain", hyperfine)}
for backend in "none", "bpf", "taskstats":
    tools[f"emp-measure, {backend}"] = "plain", lambda n, b=backend: emp(b, n, "true")
on = f"plain, on CPU {args.cpu}"
tools[on] = on, lambda n: bound + plain(n)
tools[f"hyperfine -N, on CPU {args.cpu}"] = on, lambda n: bound + hyperfine(n)
for backend in "none", "bpf":
    tools[f"emp-measure, {backend}, on CPU {args.cpu}"] = on, lambda n, b=backend: bound + emp(b, n, "true", options=here)
for backend in "none", "bpf":
    tools[f"emp-measure, {backend}, --cpu {args.cpu}"] = on, lambda n, b=backend: emp(b, n, "true", options=here)
    tools[f"emp-measure, {backend}, no probes"] = on, lambda n, b=backend: emp(b, n, "true", options=(*here, "--probe", "off"))

def print_times():
    starts, times = {name: [] for name in tools}, {name: [] for name in tools}
    for _ in range(args.rounds):
        for name, (_, tool) in tools.items():
            few, _ = wall(tool(FEW))
            many, printed = wall(tool(MANY))
            starts[name].append((many - few) / (MANY - FEW))
            times[name].append(int(printed.split()[1]) / 1e9 if "plain" in name else json.load(open(out))["results"][0]["median"])
    print(f"{'RUNS OF TRUE':28}{'ITS TIME':>12}{'TO PLAIN':>12}{'START TO START':>18}{'TO PLAIN':>12}")
    for name, (first, _) in tools.items():
        # Ratios round by round: the machine's speed changes from one to the next.
        ratio = lambda of: median(a / b for a, b in zip(of[name], of[first]))
        print(f"{name:28}{median(times[name]) * 1e6:9.0f} us{ratio(times):12.2f}{median(starts[name]) * 1e6:15.0f} us{ratio(starts):12.2f}")

def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken, _ = wall(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def print_calls():
    calls = {"plain": plain(1), "hyperfine -N": hyperfine(2)} # hyperfine takes two at least
    for backend in "none", "bpf":
        calls[f"emp-measure, {backend}"] = emp(backend, 1, "true")
        calls[f"emp-measure, {backend}, --cpu {args.cpu}"] = emp(backend, 1, "true", options=here)
    costs = {name: [] for name in calls}
    for _ in range(args.rounds):
        for name, command in calls.items():
            costs[name].append(cpu(command))
    print(f"{'ONE CALL (-r 1 true)':28}{'WALL':>12}{'TO PLAIN':>12}{'CPU TIME':>12}{'TO PLAIN':>12}")
    for name, cost in costs.items():
        ratio = lambda i: median(a[i] / b[i] for a, b in zip(cost, costs["plain"]))
        wall_ms, cpu_ms = (median(c[i] for c in cost) * 1e3 for i in (0, 1))
        print(f"{name:28}{wall_ms:9.1f} ms{ratio(0):12.1f}{cpu_ms:9.1f} ms{ratio(1):12.1f}")

def observer_us(backend, n, program):
    subprocess.run(emp(backend, n, *program), check=True, stdout=null, stderr=null)
    db = sqlite3.connect(book)
    rows = db.execute("SELECT observer_ns FROM sample WHERE run = (SELECT max(id) FROM run)").fetchall()
    db.close()
    return median(row[0] for row in rows) / 1000

def plain_us(n, program):
    return int(subprocess.check_output([path("tests/bench/plain"), str(n), *program], stderr=null).split()[0]) / 1000

def print_cost():
    missing = args.processes - sum(name.isdigit() for name in os.listdir("/proc"))
    sleepers = [subprocess.Popen(["sleep", "infinity"]) for _ in range(missing)]
    programs = ["true"], ["sleep", "0.1"], [path("calibrate/emp-inc"), "--iterations", "100000000"]
    try:
        print(f"{'A SAMPLE OF':16}{'PLAIN':>12}{'OBSERVER':>12}{'ON TOP':>12}{'TO PLAIN':>12}   ({args.processes} processes)")
        for program in programs:
            plain, observer = [], []
            for _ in range(max(args.rounds // 4, 1)):
                plain.append(plain_us(20, program))
                observer.append(observer_us("bpf", 20, program))
            p, o = median(plain), median(observer)
            name = " ".join([os.path.basename(program[0])] + program[1:])[:15]
            print(f"{name:16}{p:9.0f} us{o:9.0f} us{o - p:9.0f} us{o / p:12.1f}")
    finally:
        for sleeper in sleepers:
            sleeper.send_signal(signal.SIGKILL)
            sleeper.wait()

def beyond_us(tool, marks):
    """How much more than the program's own time each time is."""
    subprocess.run(tool, check=True, stdout=null, stderr=null, env={**os.environ, "EMP_MARKS": marks})
    own = array.array("q", open(marks, "rb").read())
    own = [end - begin for begin, end in zip(own[::2], own[1::2])]
    os.unlink(marks)
    result = json.load(open(out))["results"][0]
    times = [ns / 1e9 for ns in result["emp"]["et_ns"]] if "emp" in result else result["times"]
    return [time * 1e6 - mark / 1e3 for time, mark in zip(times, own[-len(times):])] # without warm-ups

def print_ends():
    burn = [path("tests/machine/burn"), "--mark", "3"]
    cpus = sorted(os.sched_getaffinity(0))
    n = 30
    pinned = ["taskset", "-c", str(cpus[-1])]
    tools = {"hyperfine -N": ["hyperfine", "-N", "-r", str(n), "--export-json", out, " ".join(burn)],
             "hyperfine -N, taskset": ["hyperfine", "-N", "-r", str(n), "--export-json", out, " ".join(pinned + burn)]}
    for backend in "bpf", "taskstats", "none":
        for options in (), ("--cpu", str(cpus[-1])):
            tools[" ".join(("emp-measure,", backend, *options))] = emp(backend, n, *burn, options=options)
    print(f"{'ET BEYOND THE WORK':32}{'LOOPS':>12}{'MEDIAN':>12}{'95 %':>12}{'MOST':>12}")
    for loops in [], cpus[:1], cpus:
        for name, tool in tools.items():
            burning = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for cpu in loops]
            try:
                beyond = sorted(beyond_us(tool, os.path.join(tmp.name, "marks")))
            finally:
                for loop in burning:
                    loop.kill()
                    loop.wait()
            where = "on CPU " + ",".join(map(str, loops)) if loops else "none"
            print(f"{name:32}{where:>12}{median(beyond):9.0f} us{beyond[int(0.95 * len(beyond))]:9.0f} us{beyond[-1]:9.0f} us")

print_calls()
print()
print_times()
print()
print_cost()
print()
print_ends()
