/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-or-later */
/* What the service shows to its clients: for each CPU, the thread that runs there, if it is one of
 * the client's user (in the client's PID namespace). The BPF program of the service writes it,
 * clients only read it.
 *
 * A map of threads would need an entry for each; this needs none for threads that do not run, whose
 * times the kernel has exactly. */
#pragma once

#if !defined(__bpf__)
#include <stdint.h>
typedef uint32_t slot_u32;
typedef uint64_t slot_u64;
#else
typedef __u32 slot_u32;
typedef __u64 slot_u64;
#endif

struct slot {
	slot_u32 seq; /* odd while the rest is being written */
	slot_u32 tid; /* 0: no thread of the user runs here */
	slot_u32 pid;
	slot_u32 unused;
	slot_u64 since_ns; /* when it got this CPU, by CLOCK_MONOTONIC */
	slot_u64 run_ns;   /* its CPU time then */
	slot_u64 switches; /* how often it had left a CPU until then */
	slot_u64 pad[3];   /* a slot is a cache line */
};
