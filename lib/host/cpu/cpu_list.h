/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs as the kernel writes them: lists ("0-3,8") and masks ("f", "ff,ffffffff"); and how long they were idle.
 * text_parse_cpu_list reads the former. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL is an empty list. */
bool cpu_list_has(const char *list, int cpu);

/* The list, as the kernel would write it; the caller frees it. */
char *cpu_list_text(const int *cpus, size_t n);

/* All CPUs of two lists, as the kernel would write them; the caller frees it. NULL: they are no such text. */
char *cpu_list_join(const char *list, const char *other);

/* A list or a mask without these CPUs; "" or zeros if nothing remains. The caller frees it. NULL: it is no such text. */
char *cpu_list_without(const char *list, const int *cpus, size_t n);
char *cpu_mask_without(const char *mask, const int *cpus, size_t n);

/* A mask as long as this one with these CPUs; likewise. */
char *cpu_mask_of(const char *mask, const int *cpus, size_t n);

/* How long these CPUs have been idle since boot (/proc/stat), all together, whether or not a disk was awaited meanwhile; in ticks
 * of 10 ms. *ret_n: how many of them are online. -1: not known. root_fd as in lib/base/path_read.h. */
int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n);
