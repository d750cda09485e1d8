#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests of the suites machine and cli of a build directory one after the other, as meson does, on a slow machine (ten times the
time limits): one line for each, with what a test that did not run has missed; the output of those that failed; the counts at the end.

Usage: one_by_one.py BUILD [NAME...]. In the order of the names; without names: all."""
import json, os, platform, signal, subprocess, sys, tempfile, time

SLOWER = 10


def run(test):
    environment = {**os.environ, "MALLOC_PERTURB_": "1", "EMP_TIMEOUT_MULTIPLIER": str(SLOWER), **test["env"]}
    with tempfile.TemporaryFile("w+", errors="replace") as out:  # no pipe, which what a test leaves behind would keep open
        process = subprocess.Popen(test["cmd"], env=environment, cwd=test["workdir"], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(timeout=SLOWER * (test["timeout"] or 30))
        except subprocess.TimeoutExpired:
            status = f"not ended after {SLOWER * (test['timeout'] or 30)} s"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        return status, out.read() + (status if isinstance(status, str) else "")


def wanted(test, names):
    return any(s.endswith((":machine", ":cli")) for s in test["suite"]) and (not names or test["name"] in names)


build, *names = sys.argv[1:]
with open(f"{build}/meson-info/intro-tests.json") as file:
    tests = [t for t in json.load(file) if wanted(t, names)]
tests.sort(key=lambda t: names.index(t["name"]) if names else 0)
unknown = set(names) - {t["name"] for t in tests}
if unknown or not tests:
    sys.exit(f"no such test: {', '.join(sorted(unknown))}")
counts = {"ok": 0, "SKIP": 0, "FAIL": 0}
for test in tests:
    begin = time.monotonic()
    status, out = run(test)
    result = {0: "ok", 77: "SKIP"}.get(status, "FAIL")
    counts[result] += 1
    lines = out.strip().splitlines() or [""]
    print(f"{result:4}  {test['name']:22} {time.monotonic() - begin:4.0f} s  {lines[-1] if result == 'SKIP' else ''}".rstrip(), flush=True)
    if result == "FAIL":
        print(*(f"      {line}" for line in lines[-60:]), sep="\n", flush=True)
print(f"Linux {platform.release()}: {counts['ok']} ok, {counts['SKIP']} not run, {counts['FAIL']} failed")
sys.exit(counts["FAIL"] > 0)
