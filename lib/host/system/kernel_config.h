/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of the running kernel: tick, accounting and preemption decide what can be measured. */
#pragma once

/* The configuration of `release` below root_fd as text, from /boot, /lib/modules or /proc/config.gz, the
 * first that exists; the caller frees it. -ENOENT: nowhere. */
int kernel_config_read(char **ret, int root_fd, const char *release);

/* The value of an option ("CONFIG_HZ"): "y", "m", a number, a text with its quotes; "n" if it is not set.
 * The caller frees it. NULL: no memory. */
char *kernel_config_get(const char *config, const char *option);
