/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF programs that are loaded and run at events of the kernel: scheduler, system calls, functions, perf events.
 * Those that filter packets or devices run only where a program uses these. */
#pragma once

#include <stddef.h>

/* Their names ("name (kind)") with ", " between, without those of EMP's own accounting; the caller frees it. *ret_n
 * is how many there are. -EPERM for ordinary users; -errno without a sentence. */
int bpf_programs_list(char **ret, size_t *ret_n);
