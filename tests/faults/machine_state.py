# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tool of EMP could leave changed on a machine: settings that nobody owns, and what a process of a given id has made."""
import glob, json, os, re, subprocess

CPU = "/sys/devices/system/cpu"
KNOBS = [f"{CPU}/{path}" for path in ("smt/control", "isolated", "nohz_full", "intel_pstate/*", "cpufreq/**", "cpu*/online", "cpu*/power/*bias",
                                      "cpu*/cpuidle/state*/disable")] + [
    "/sys/kernel/mm/ksm/run", "/sys/kernel/mm/transparent_hugepage/**", "/sys/module/*/parameters/*", "/sys/firmware/acpi/platform_profile",
    "/proc/irq/*/smp_affinity*", "/proc/irq/default_smp_affinity", "/sys/devices/system/clocksource/*/current_clocksource",
    "/sys/fs/cgroup/cgroup.subtree_control", "/sys/fs/cgroup/*/cgroup.subtree_control"]
# Counters and draws of the kernel, which change by themselves.
COUNTERS = re.compile("random/|/(dentry|inode)-(state|nr)|inode-nr|file-nr|aio-nr|ns_last_pid|pty/nr|/stat_refresh|uuid|nf_conntrack_count|"
                      "kernel/(seccomp|tainted)|khugepaged/(full_scans|pages_collapsed)|vm/drop_caches|vm/compact_memory|scaling_cur_freq|cpuinfo_cur_freq|time_in_state|total_trans|/stats/|page_reporting|usbhid")
TRACING = """mount | grep -q ' on /sys/kernel/tracing ' || mount -t tracefs nodev /sys/kernel/tracing || exit 0
cd /sys/kernel/tracing
for f in tracing_on current_tracer set_event kprobe_events uprobe_events buffer_size_kb trace_clock instances/*; do
	case $f in instances/*) [ ! -d "$f" ] || echo "$f" ;; *) echo "$f = $(tr '\\n' ' ' <"$f")" ;; esac
done"""


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return None


def tracing():
    done = subprocess.run(["unshare", "-m", "sh", "-c", TRACING], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return [line for line in lines if not line.startswith("instances/")], [line for line in lines if line.startswith("instances/")]


def affinities():
    for path in glob.glob("/proc/[0-9]*"):
        status, stat = read(f"{path}/status"), read(f"{path}/stat")
        if status and stat and b"Cpus_allowed_list" in status:
            started = stat.rsplit(b")", 1)[1].split()[19].decode()
            yield f"affinity of {path[6:]} ({started})", re.search(rb"Cpus_allowed_list:\s*(.*)", status).group(1)


def bpf_objects():
    """Those that no living process holds."""
    held = set()
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path).startswith("anon_inode:bpf"):
                held.update(re.findall(r"(prog|map|link)_id:\s*(\d+)", (read(path.replace("/fd/", "/fdinfo/")) or b"").decode()))
        except OSError:
            pass
    for kind in "prog", "map", "link":
        done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True)
        for entry in json.loads(done.stdout or "[]") if done.returncode == 0 else []:
            if (kind, str(entry["id"])) not in held:
                yield f"BPF {kind} {entry['id']}", entry.get("name", "")


def snapshot():
    """The settings that nobody owns: name and value."""
    state = {}
    for pattern in ["/proc/sys/**"] + KNOBS:
        for path in glob.glob(pattern, recursive=True):
            if not COUNTERS.search(path) and os.path.isfile(path):
                state[path] = read(path)
    with open("/proc/self/mountinfo") as mounts:
        state.update({f"mount {line.split()[4]}": line.split(" - ")[1].split()[0] for line in mounts})
    state.update(affinities())
    state.update(bpf_objects())
    state.update({f"tracefs {line.split(' = ')[0]}": line for line in tracing()[0]})
    return state


def differences(before, after):
    """A process or a BPF object may have ended, or be new, or have lost its owner: those of the job are judged by its id."""
    own = re.compile("affinity of ")
    return sorted(name for name in before.keys() | after.keys()
                  if before.get(name) != after.get(name) and not (own.match(name) and (name not in before or name not in after))
                  and not (name.startswith("BPF") and name not in after))


def traces_of(pid):
    return [line for line in tracing()[1] if f"-{pid}-" in line]


def made_by(pid, mark, place):
    """What a process has left: processes that have its mark in their environment, cgroups and traces of its id, and temporary files."""
    left = traces_of(pid)
    left += glob.glob(f"/sys/fs/cgroup/**/emp-*-{pid}-*", recursive=True)
    for path in glob.glob("/proc/[0-9]*/environ"):
        if (mark.encode() in (read_all(path) or b"")):
            left.append(f"process {path.split('/')[2]}: {(read(path.replace('environ', 'cmdline')) or b'').replace(bytes(1), b' ').decode(errors='replace')}")
    return left + [f"{place}/{name}" for name in os.listdir(place)]


def read_all(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
