#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents of each kind that EMP reads, for the tests beside it."""
HALF = {"program": "INC", "samples": 9, "l_samples": [3]}
PROFILE = {"format": "emp-profile", "version": 1, "name": "lab", "resolution_ns": 1, "made_ns": 10**18, "cpu": 0, "blind_ns": 10**6, "short": HALF,
           "long": HALF, "noise": "noisy", "environment": {"digest": "d"}, "correlation": {"lag1": 0.1, "samples": 9}, "inc_digest": "i",
           "resolving": [{"samples": 10, "interleaved": 0.01, "separate": 0.02, "duet": 0.01}],
           "cutoffs": [{"daemon": "cron", "unit": "cron.service", "short_ns": 9, "long_ns": 9, "period_s": 1, "firm": True, "task_time_s": 1,
                        "below_ns": 9, "atleast_ns": 9, "names": 2, "short_share_ppm": 1, "long_share_ppm": 1}]}
FINGERPRINT = {"format": "emp-fingerprint", "version": 1, "digest": "d", "machine": "m", "volatile": {"host_name": "box"},
               "identity": {"kernel": {"release": "6", "version": "#1"}, "cpu": {"name": "x"}, "system": {"name": "s"}, "memory": {"total_bytes": 9}},
               "settings": {"cpus": {"online": "0-1"}, "aslr": 2, "sysctl": {"kernel.x": "1"}, "disks": [{"name": "sda"}], "list": ["a", "b"]}}
RUN = {"format": "emp-run", "version": 1, "program": "xz", "task_length_s": 1, "resolution_ns": 1, "name": "name", "command": ["xz", "f"],
       "machine": "box", "environment": FINGERPRINT, "profile": "lab", "profile_document": PROFILE, "notes": "audit", "held_back_by": "the quota of x",
       "backend": "bpf", "kind": "measure", "pt_source": "cgroup", "wait_source": "bpf", "cpu": 0, "program_digest": "p", "output_digest": "o",
       "uid": "0" * 32, "state": "done", "name_patterns": "", "started_ns": 10**18, "ended_ns": 2 * 10**18, "unprofiled_share_ppm": 9,
       "measurements": [{"name": "inc_per_second", "value": 1e9, "unit": "1/s", "inc_digest": "i"}], "inc_digest": "i",
       "correlation": {"lag1": 0.1, "samples": 9}, "resume_points": [{"n": 2, "at_ns": 10**18, "why": "cut off", "environment": 5}],
       "environments": [{"id": 5, "machine": "other", "environment": FINGERPRINT, "environment_digest": "e"}],
       "warnings": [{"n": 1, "kind": "noise", "text": "noisy"}, {"n": 2, "kind": "resolution", "text": "resolves"}],
       "samples": [{"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 10**8, "pt_ns": 9 * 10**7, "wait_ns": 10**6, "max_rss_bytes": 4096,
                    "disturbance_counters": {"steal_ns": 10**6, "smis": 1}, "executions": [
                        {"name": "cron", "pt_ns": 10**6, "exe": "/cron", "unit": "cron.service", "pid": 7}]} for n in range(1, 5)]}
COST = {"median": 9, "mean": 9, "sd": 1, "min": 8}
CLOCKS = {"format": "emp-clocks", "version": 1, "made_ns": 1, "cpu": 0, "cycles_per_second": 1e9, "clocksource": "tsc", "allocator": "libc",
          "sources": [{"name": "rdtsc", "cycles": COST}], "missing": [{"name": "x", "why": "none"}], "precision": [], "malloc": [{"size_bytes": 9, "cycles": 5}],
          "malloc_by_source": [{"name": "rdtsc", "cycles": 9, "zero_share": 0}], "tick": {"missing": "needs root"}}
CLOCKS_TICK = {**CLOCKS, "machine": "box", "environment": FINGERPRINT, "precision": [{"primes": 100, "trials": 9, "sd_ns": {"rdtsc": 5}, "sd_all_ns": {}, "mean_ns": {}}],
               "tick": {"period_ns": 4000000, "processes": [{"name": name, "exact_ns": 1, "tick_ns": 2} for name in ("x", "y")]}}
DAEMON = {"sample": 1, "daemon": "cron", "unit": "cron.service", "pt_ns": 9, "cutoff_ns": 5}
RESULT = {"command": "xz f", "mean": 0.1, "stddev": 0.01, "median": 0.1, "user": 0.1, "system": 0, "min": 0.1, "max": 0.1, "times": [0.1, 0.11, 0.12, 0.1],
          "exit_codes": [0, 0, 0, 0], "parameters": {"n": "1"},
          "emp": {"run": 1, "call": "c", "cpu": 0, "pt_ns": [10**8, 10**8 + 9, 10**8 + 5, 10**8], "et_ns": [10**8, 11 * 10**7, 12 * 10**7, 10**8],
                  "start_ns": [n * 10**18 // 1000 for n in range(4)], "by_cutoff": [DAEMON], "by_unprofiled": [], "incomplete": [],
                  "profile": "lab", "profile_noise": "noisy", "profile_blind_ns": 9, "environment": "d", "program_digest": "p", "output_digest": "o",
                  "held_back": {"by": "quota", "unmeasurable": False}}}
MEASURE = {"format": "emp-measure", "version": 1, "results": [RESULT, {**RESULT, "command": "xz g"}]}
MEASURED_DUET = {**MEASURE, "results": [{**result, "emp": {**result["emp"], "by_duet": [4]}} for result in MEASURE["results"]], "duet": {"programs": []}}
HYPERFINE = {"results": [{"command": name, "mean": 0.1, "times": [0.1, 0.2, 0.3], "exit_codes": [0]} for name in ("a", "b")]}
PYPERF = {"version": "1.0", "metadata": {"name": "m", "unit": "second"},
          "benchmarks": [{"metadata": {"name": name}, "runs": [{"metadata": {"calibrate_loops": 2}}, {"values": [0.1, 0.2, 0.3]}]} for name in ("a", "b")]}


def duet():
    """Of two programs, with one sample that only one of them has."""
    runs = []
    for number, name in enumerate(("xz", "gzip"), 1):
        samples = [{"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 2 * 10**8 + n, "pt_ns": 10**8 + n, "executions": []} for n in range(1, 8 - number)]
        runs.append({"format": "emp-run", "version": 1, "run": number, "program": name, "command": [name, "f"], "task_length_s": 0, "resolution_ns": 1,
                     "kind": "duet", "cpu": 0, "backend": "bpf", "pt_source": "cgroup", "duet": {"reference": 1, "frozen": False, "slice_ns": 10**7},
                     "duet_samples": [{"sample": s["n"], "position": number, "repetitions": 10, "together_ns": 10**8} for s in samples],
                     "duet_alone": [{"n": 1, "after": 0, "start_ns": 10**18, "pt_ns": 10**8, "et_ns": 10**8}], "samples": samples})
    return {**runs[0], "duet_runs": [runs[1]]}
