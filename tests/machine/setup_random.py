#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A random sequence of apply, apply --for, somebody else's changes, CPUs that go and come, kills and restores, on made-up CPUs.

A second tree of the same CPUs is the model: it sees what somebody else does, and emp-setup never touches it. When all is
restored, both must hold the same, with turbo and without it. While a command of --for runs, what it needs holds, unless
somebody else has changed or restored it. Usage: setup_random.py EMP-SETUP FILES SEED DRIVER
"""
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

setup, files, seed, driver = sys.argv[1:]
rng = random.Random(int(seed))
SYS = "/sys/devices/system/cpu"
temporary = tempfile.mkdtemp()
model_files, model = temporary + "/files", temporary + "/model"
shutil.copytree(files, model_files, symlinks=True)
os.mkdir(model)
fake = subprocess.Popen([os.path.join(os.path.dirname(setup), "../tests/machine/fake_cpu"), model_files, model])
while not os.path.ismount(model):
    assert fake.poll() is None, "fake_cpu has ended"
    time.sleep(0.02)

IDS = ["freq.governor", "freq.min", "turbo.intel", "turbo.boost", "turbo.policy", "pstate.pct", "epb"]
WANTED = {"freq.governor": ("cpufreq/policy0/scaling_governor", "performance"),
          "epb": ("cpu0/power/energy_perf_bias", "0"),
          "turbo.intel": ("intel_pstate/no_turbo", "1"), "turbo.boost": ("cpufreq/boost", "0")}
half_restored = False  # a killed restore has left some values as before, and what we set may be anybody's now
running = {}  # commands of --for: their directory, and what they need
log = []


def read(root, name):
    try:
        with open(f"{root}/{name}") as f:
            return f.read().strip()
    except OSError as e:
        return str(e.errno)


def write(root, name, value):
    try:
        with open(f"{root}/{name}", "w") as f:
            f.write(value)
        return True
    except OSError:
        return False


def journal():
    """The entries of emp-setup's journal: of each file below SYS."""
    try:
        with open("/var/lib/emp-setup/journal") as f:
            lines = [json.loads(line.split(" ", 2)[2]) for line in f]
    except OSError:
        return {}
    entries = {line["entry"]: line for line in lines if "entry" in line}
    for line in lines:
        if "mark" in line:
            entries[line["mark"]].update(line)
    return {e["name"][len(SYS) + 1:]: e for e in entries.values() if e["name"].startswith(SYS)}


def applied():
    """What emp-setup sets: the value of each file."""
    return {name: e["want"] for name, e in journal().items() if e["want"]}


def limits_to_give_back():
    """The upper limits of before that a restore sets again, although a driver drops them when somebody switches turbo: those
    that are recorded, and that it does not leave alone."""
    return {f"{model_files}/{name}/.max": open(f"{model_files}/{name}/.max").read()
            for name, e in journal().items() if e.get("owners") != "" and e.get("limits", 0) & 5 == 1 and
            os.path.exists(f"{files}/.boost_resets") and os.path.exists(f"{model_files}/{name}/.max")}


def number(path):
    try:
        with open(path) as f:
            return int(f.read())
    except (OSError, ValueError):
        return 0


def no_turbo_hides_limits():
    """Whether a limit is above what can be had without turbo: the kernel does not show it then, whoever looks."""
    return any(number(f"{policy}/.base_khz") < number(f"{policy}/.max") < number(f"{policy}/cpuinfo_max_freq") or
               number(f"{policy}/.base_khz") < number(f"{policy}/.min")
               for policy in glob.glob(f"{model_files}/cpufreq/policy*"))


def can_be_told(name, value):
    """Whether somebody else's change can be told from none, or from ours. It cannot if it sets what apply does, itself or in the
    files that the kernel changes along with it; and a percent that no turbo lowers may as well have been set. Drivers that make the
    highest frequency a request when turbo is switched leave that of a CPU which is offline, and which nobody has asked for."""
    ours = applied()
    resets = os.path.exists(f"{files}/.boost_resets")
    if resets and (name == "cpufreq/boost" and read(SYS, "cpu3/online") == "0" or
                   name == "cpu3/online" and "cpufreq/boost" in ours):
        return False
    if resets and name == "cpufreq/boost" and read(model, name) == value and glob.glob(f"{model_files}/cpufreq/policy*/.max"):
        return False  # they switch what we had switched, and the driver drops their limit
    if (name, value) in (("intel_pstate/no_turbo", "1"), ("cpufreq/boost", "0")) and no_turbo_hides_limits():
        return False
    if name.endswith("scaling_max_freq") and int(read(model, name.replace("max", "min"))) > int(value):
        return False  # it would hide a lower limit of theirs, as it hides one of ours
    return not (half_restored or read(SYS, name) == value or ours.get(name) == value or
                (name == "intel_pstate/no_turbo" and "intel_pstate/min_perf_pct" in ours) or
                (name == "cpufreq/boost" and value == "0" and "cpufreq/policy0/boost" in ours))


def set_request(request, asked):
    """Sets what fake_cpu keeps of a limit; who writes the governor has the limits read again."""
    with open(request, "w") as f:
        f.write(asked)
    tree, root = (files, SYS) if request.startswith(files + "/") else (model_files, model)
    governor = f"{os.path.dirname(request)[len(tree) + 1:]}/scaling_governor"
    write(root, governor, read(root, governor))


def others(name, value):
    """Somebody else's change."""
    before, request = read(SYS, name), f"{files}/{os.path.dirname(name)}/.{name[-8:-5]}"  # .min or .max
    asked = open(request).read() if os.path.exists(request) else ""  # what fake_cpu keeps of a limit
    limit = name.endswith(("min_freq", "max_freq"))
    if not os.path.exists(f"{SYS}/{name}") or not can_be_told(name, value) or not write(SYS, name, value):
        return
    if read(SYS, name) == before or (limit and read(SYS, name) != value):  # what turbo, percents or the other limit hide of it
        set_request(request, asked)
        return
    kept = limits_to_give_back() if name == "cpufreq/boost" else {}
    write(model, name, value)
    for request, asked in kept.items():
        set_request(request, asked)
    if value == "userspace":  # and the speed, which would begin with the limit of now
        speed = name.replace("governor", "setspeed")
        write(model, speed, read(SYS, speed))
    log.append(f"others: {name} = {value}")
    for needs in running.values():  # the kernel may have changed other files with it
        needs["ids"] = []


def refused(verb):
    """The status 1 of a restore that the kernel refuses: while turbo is off for all policies, it cannot be on for one."""
    return 1 if verb == "restore" and driver == "amd-pstate" and read(SYS, "cpufreq/boost") == "0" else 0


def emp(*arguments):
    done = subprocess.run([setup, *arguments], capture_output=True, text=True)
    log.append(f"{done.returncode} <- {' '.join(arguments)}\n" + "".join(
        f"        {line}\n" for line in (done.stdout + done.stderr).splitlines()))
    assert done.returncode in (0, 2, refused(arguments[0]), -9 if "--kill-after" in arguments else 0), log[-1]
    return done.returncode


def some_ids():
    return rng.sample(IDS, rng.randint(1, len(IDS)))


def begin():
    place = tempfile.mkdtemp(dir=temporary)
    ids = some_ids()
    process = subprocess.Popen(
        [setup, "apply", "--only", ",".join(ids), "--for", "--", "sh", "-c",
         f"touch {place}/ready; until [ -e {place}/go ]; do sleep 0.02; done"],
        stdout=open(place + "/said", "w"), stderr=subprocess.STDOUT)
    while not os.path.exists(place + "/ready"):
        assert process.poll() is None, open(place + "/said").read()
        time.sleep(0.01)
    running[process] = {"place": place, "ids": ids}
    log.append(f"--for {process.pid} begins: {','.join(ids)}")


def end(kill):
    if not running:
        return
    process = rng.choice(list(running))
    place = running.pop(process)["place"]
    if kill:
        process.kill()
    open(place + "/go", "w").close()
    status = process.wait()
    log.append(f"--for {process.pid} {'is killed' if kill else f'ends with {status}'}\n" + "".join(
        f"        {line}" for line in open(place + "/said")))
    assert kill or status in (0, refused("restore")), log[-1]


def restore(*options):
    global half_restored
    status = emp("restore", *options)
    for needs in running.values():
        needs["ids"] = []
    half_restored = status == -9
    return status


def needs_hold():
    for process, needs in running.items():
        for name in needs["ids"]:
            path, value = WANTED.get(name, (None, None))
            if path and os.path.exists(f"{SYS}/{path}"):
                assert read(SYS, path) == value, f"--for {process.pid}: {path} is {read(SYS, path)}"


def turbo(root, on):
    for name, value in ("intel_pstate/no_turbo", "0" if on else "1"), ("cpufreq/boost", "1" if on else "0"):
        if os.path.exists(f"{root}/{name}"):
            write(root, name, value)


def contents(root, tree):
    return {path[len(tree):]: read(root, path[len(tree) + 1:]) for path in glob.glob(tree + "/**", recursive=True)
            if os.path.isfile(path) and not os.path.islink(path)}


def compare(what):
    here, there = contents(SYS, files), contents(model, model_files)
    different = [f"{name}: {here.get(name)}, not {there.get(name)}" for name in sorted({*here, *there})
                 if here.get(name) != there.get(name)]
    assert not different, f"{what}:\n" + "\n".join(different)


def step():
    policy = f"cpufreq/policy{rng.randint(0, 3)}"
    governors = read(SYS, policy + "/scaling_available_governors").split()
    highest = int(read(SYS, "cpufreq/policy0/cpuinfo_max_freq"))
    kind = rng.choice(["apply", "apply", "for", "for", "end", "end", "kill", "restore", "killed apply", "killed restore",
                       "turbo", "turbo", "limit", "lower limit", "governor", "epb", "hotplug"])
    if kind == "apply":
        emp("apply", "--only", ",".join(some_ids()))
    elif kind == "for":
        begin()
    elif kind in ("end", "kill"):
        end(kind == "kill")
    elif kind == "restore":
        restore()
    elif kind == "killed apply":
        emp("apply", "--only", ",".join(some_ids()), "--kill-after", str(rng.randint(1, 40)))
    elif kind == "killed restore":
        restore("--kill-after", str(rng.randint(1, 40)))
    elif kind == "turbo":
        name = rng.choice(["intel_pstate/no_turbo", "cpufreq/boost"])
        others(name, rng.choice("01"))
    elif kind == "limit":
        others(policy + "/scaling_max_freq", str(highest * rng.randint(50, 90) // 100))
    elif kind == "lower limit":
        others(policy + "/scaling_min_freq", str(highest * rng.randint(20, 90) // 100))
    elif kind == "governor" and governors:
        others(policy + "/scaling_governor", rng.choice(governors))
    elif kind == "epb":
        others("cpu1/power/energy_perf_bias", rng.choice("4678"))
    elif kind == "hotplug":
        others("cpu3/online", rng.choice("01"))
    needs_hold()


try:
    for _ in range(rng.randint(4, 14)):
        step()
    while running:
        end(False)
    restore()
    others("cpu3/online", "1")
    if restore() == 1:
        others("cpufreq/boost", "1")
        restore()
    restore("--forget")  # what others have changed stays
    assert read("/var/lib", "emp-setup/journal") == "2", "a journal is left"
    compare("all is restored")
    for on in (True, False):
        for root in (SYS, model):
            turbo(root, on)
        compare("turbo is switched " + ("on" if on else "off"))
except AssertionError as e:
    print(f"{driver}, seed {seed}: {e}\n\n" + "\n".join(log))
    sys.exit(1)
finally:
    for process in running:
        process.kill()
        open(running[process]["place"] + "/go", "w").close()
    subprocess.run(["umount", "-l", model])
    fake.wait()
    shutil.rmtree(temporary)
