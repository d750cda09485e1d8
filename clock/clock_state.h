/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service and its BPF program share, besides the slots. */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

/* Who may see a slot: a user, in a PID namespace. */
struct user {
	__u32 uid;
	__u32 pid_namespace; /* its inode; 0: nobody */
};

enum { TIMED_EACH = 64 };

struct cpu_state {
	struct user shown_to; /* who sees the thread that runs there */
	__u64 switches;
	__u64 timed, timed_ns; /* of these, each 64th */
};
