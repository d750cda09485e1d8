/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether this kernel and this process have what the accounting needs, and what is missing. One function gathers
 * the facts; pure functions judge them. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct accounting_support {
	uint64_t capabilities; /* effective, one bit each */
	bool initial_user_namespace, initial_pid_namespace;
	bool has_btf;
	bool lockdown; /* confidentiality: BPF programs may not read kernel memory */
	int kernel_major, kernel_minor;
};

void accounting_support_read(struct accounting_support *ret, int root_fd);

/* 0, or -EPERM, -ENOTSUP with a sentence that says what is missing. */
int accounting_support_has_bpf(const struct accounting_support *support, struct error *err);
int accounting_support_has_taskstats(const struct accounting_support *support, struct error *err);

/* What both miss, in a few words: "needs root or file capabilities". */
const char *accounting_support_missing(const struct accounting_support *support);
