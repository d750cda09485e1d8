/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pinning to a CPU, which every tool that has a --cpu checks before anything is stored or started;
 * and the isolated partition that emp-setup makes: a group of cgroup v2 whose CPUs no other task
 * uses. Programs come into it only by being started or put there. It has nothing to do with SMT:
 * its CPUs should be all threads of a core. */
#pragma once

#include "lib/base/tool.h"

#include <pthread.h>
#include <sched.h>

/* 0, or -EINVAL with a sentence: the CPU does not exist or is offline. */
int pinning_check_online(int cpu, int root_fd, struct error *err);
/* Likewise, or a cpuset keeps us from it (that only where root_fd is AT_FDCWD, this machine). */
int pinning_check(int cpu, int root_fd, struct error *err);

/* Pins the calling thread; 0 or -errno. */
int pinning_pin(int cpu);

/* A thread on these CPUs (NULL: on any) that no signal goes to. A real-time task gets its CPU at
 * once; an ordinary user's may have to wait. 0 or -errno. */
int pinning_thread(pthread_t *ret, const cpu_set_t *cpus, void *(*run)(void *), void *data);

/* The value of --cpu, into int. */
option_parser pinning_option;

/* The partition's directory, whether it exists or not; the caller frees it. NULL: no cgroup v2 is
 * mounted. */
char *partition_directory(int root_fd);

/* Its CPUs ("1,3"), "none" if there is no partition, or "member" if it isolates nothing; the caller
 * frees it. -errno without a sentence, like the others. */
int partition_read(int root_fd, const char *directory, char **ret);
/* Makes it with these CPUs, changes them, or removes it ("none"). -EBUSY: programs are in it;
 * -EINVAL: the kernel does not isolate these CPUs. */
int partition_write(const char *directory, const char *cpus);

/* Whether the partition has the CPU. */
bool partition_has(int root_fd, int cpu);
