#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""With libemp-clock-preload.so in LD_PRELOAD: what C functions report agrees with the kernel's own system calls, and never goes backwards."""
import ctypes, os, platform, resource, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
CLOCK_GETTIME = {"x86_64": 228, "aarch64": 113}[platform.machine()]
AHEAD = 110e-6  # see emp-clock(3)


class Timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def kernel(clock):
    now = Timespec()
    libc.syscall(CLOCK_GETTIME, clock, ctypes.byref(now))
    return now.s + now.ns / 1e9


def usage(who):
    now = resource.getrusage(who)
    return now.ru_utime + now.ru_stime


def check(name, clock, read, slack):
    last = 0.0
    for _ in range(20000):
        before, value, after = kernel(clock), read(), kernel(clock)
        if not (before - 1e-6 - slack <= value <= after + AHEAD + slack and value >= last):
            sys.exit(f"{name}: {value} is not between {before} and {after}, or before {last}")
        last = value


def parts_go_forward():
    user = system = 0.0
    for i in range(5000):
        now = resource.getrusage(resource.RUSAGE_SELF)
        if now.ru_utime < user or now.ru_stime < system:
            sys.exit(f"user or system time goes backwards: {now.ru_utime} {user} {now.ru_stime} {system}")
        user, system = now.ru_utime, now.ru_stime
        if i % 10 == 0:
            os.stat("/")


def faults_are_counted():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    memory = bytearray(64 << 20)
    time.sleep(0.001)
    if resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 31:  # pages of 2 MB at most
        sys.exit(f"the page faults of {len(memory)} bytes are missing")


def all_of_it():
    check("thread_time", time.CLOCK_THREAD_CPUTIME_ID, time.thread_time, 0)
    check("process_time", time.CLOCK_PROCESS_CPUTIME_ID, time.process_time, 0)
    check("RUSAGE_THREAD", time.CLOCK_THREAD_CPUTIME_ID, lambda: usage(resource.RUSAGE_THREAD), 1e-6)
    check("RUSAGE_SELF", time.CLOCK_PROCESS_CPUTIME_ID, lambda: usage(resource.RUSAGE_SELF), 1e-6)
    parts_go_forward()
    faults_are_counted()


if "libemp-clock-preload.so" not in open("/proc/self/maps").read():
    sys.exit("libemp-clock-preload.so is not loaded")
all_of_it()
if os.fork() == 0:
    all_of_it()
    os._exit(0)
if os.wait()[1]:
    sys.exit("in a forked child")
thread = threading.Thread(target=check, args=("thread_time", time.CLOCK_THREAD_CPUTIME_ID, time.thread_time, 0))
thread.start()
check("RUSAGE_THREAD", time.CLOCK_THREAD_CPUTIME_ID, lambda: usage(resource.RUSAGE_THREAD), 1e-6)
thread.join()
print("the kernel agrees")
