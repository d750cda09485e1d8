/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs as the kernel writes them: lists ("0-3,8"), which text_parse_cpu_list reads, and
 * masks ("f", "ff,ffffffff"). */
#pragma once

#include "lib/base/base.h"

#include <sched.h>

/* What the kernel has a file of for each CPU, and for all of them. */
#define SYS_CPU "/sys/devices/system/cpu/"

/* NULL is an empty list. */
bool cpu_list_has(const char *list, int cpu);

/* The list, as the kernel would write it; the caller frees it. */
char *cpu_list_text(const int *cpus, size_t n);

/* The threads of the core that the CPU is one of, this one among them; none where the kernel does
 * not say. The caller frees the array. */
void cpu_core_threads(int root_fd, int cpu, int **ret, size_t *ret_n);

/* Bytes of the second or first level's cache for data, if only this core's threads use it; -1:
 * neither is known. The third level is not asked: a virtual machine does not see who shares it. */
int64_t cpu_own_cache(int root_fd, int cpu);

/* The same without this CPU. */
void cpu_siblings(int cpu, int **ret, size_t *ret_n);

/* All CPUs of two lists, as the kernel would write them; the caller frees it. NULL: they are no
 * such text. */
char *cpu_list_join(const char *list, const char *other);

/* A list without these CPUs; "" if nothing remains. The caller frees it. NULL: it is no such
 * text. */
char *cpu_list_without(const char *list, const int *cpus, size_t n);

/* A mask as long as this one: of these CPUs, or of those of `mask` without these; likewise. */
char *cpu_mask(const char *mask, const int *cpus, size_t n, bool without);
