/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's file system of traces. What EMP records in it is in lib/jitter/trace.h. */
#pragma once

/* A descriptor of its directory. Where it is not mounted, this mounts it without a path: other
 * processes do not see it, and the kernel removes the mount with the last descriptor. -errno
 * without a sentence; -ENOENT: the kernel has none. */
int tracefs_open(void);

/* The instances that record something, EMP's and others', as "a, b"; NULL: none. The caller frees
 * it. */
char *tracefs_recording(int tracing_fd);
