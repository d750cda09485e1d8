/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may disturb a run and is not a setting: load, swap, tracers, a package manager at work, power. What cannot be read is
 * NULL or -1. */
#pragma once

#include "lib/host/system/leftovers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A limit on the power of a part of the processor (RAPL), in microwatts. */
struct power_limit {
	char *zone; /* "package-0" */
	int64_t limit_uw, most_uw;
};

struct system_state {
	char *load;          /* /proc/loadavg */
	char *clocksource;   /* the counter that the kernel's clock reads */
	char *smt;           /* "on", "off", "notsupported"…, or how many threads a core runs */
	int64_t smt_active;  /* 1: some core runs two threads or more, 0: none, -1: not known */
	char *swaps;         /* /proc/swaps without its first line; "" if there are none */
	char *tracer;        /* the current tracer */
	char *events;        /* the kernel's trace events: "0" none, "X" some, "1" all are enabled */
	char *recording;     /* the private instances of the trace that record; NULL: none */
	int tracer_error;    /* why these are not known, negative */
	char *programs;      /* BPF programs that run at the kernel's events, as bpf_programs_list has them */
	int64_t n_programs;  /* -errno: not known */
	int64_t audit_rules; /* of system calls and files; -errno: not known */
	char *preemption;    /* the kernel's mode: "none voluntary (full)" */
	int64_t base_slice_ns;
	char *irq_time;            /* CONFIG_IRQ_TIME_ACCOUNTING: "y" or "n" */
	int64_t mains;             /* 1 plugged in, 0 on battery, -1 not known */
	int64_t idle_states;       /* of CPU 0, polling included */
	int64_t throttles;         /* of all CPUs since the machine was started */
	struct power_limit *power; /* the sustained limits that are in force and lower than they can be */
	size_t n_power;
	size_t n_power_zones; /* whose limit and most are known */
	const char *locked; /* the lock of a package manager at work; NULL: none */
	int lock_error;     /* why that is not known, negative */
	bool shutdown;      /* is scheduled */
	struct leftovers leftovers; /* of EMP's processes that were killed */
};

/* With a root_fd other than AT_FDCWD the kernel is not asked for BPF programs and audit rules (-ENOSYS). */
void system_state_read(struct system_state *ret, int root_fd);
void system_state_clear(struct system_state *state);
