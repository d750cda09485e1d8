/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pinning to a CPU. Whether a program can be is checked before anything is stored or started, by every tool that has a --cpu. */
#pragma once

#include "lib/base/tool.h"

/* 0, or -EINVAL with a sentence: the CPU does not exist or is offline. */
int pinning_check_online(int cpu, int root_fd, struct error *err);
/* Likewise, or a cpuset keeps us from it (that only where root_fd is AT_FDCWD, this machine). */
int pinning_check(int cpu, int root_fd, struct error *err);

/* Pins the calling thread; 0 or -errno. */
int pinning_pin(int cpu);

/* The value of --cpu, into int. */
option_parser pinning_option;
