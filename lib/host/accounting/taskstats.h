/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's struct taskstats as bytes. It grows with the kernel's version, and was changed in the
 * middle for two releases, so it is read by version and length. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TASKSTATS_FORKED = 0x01,    /* in `flags`: no exec since fork (AFORK) */
	TASKSTATS_LAST = 0x20,      /* in `flags`: the last thread of its process (AGROUP) */
	TASKSTATS_MIN_VERSION = 12, /* the first with a thread's process; Linux 5.19 */
};

struct taskstats_fields {
	uint16_t version;
	uint8_t flags;
	uint64_t run_ns;  /* cpu_run_virtual_total: the scheduler's run time */
	uint64_t tick_ns; /* cpu_run_real_total: user + system as accounted */
	uint64_t wait_ns; /* cpu_delay_total: ready to run and not running */
	char comm[16];
	uint32_t pid, tgid, ppid;
	uint64_t exe_device, exe_inode;
};

/* Reads one struct; `version` 0: the version in it. -EBADMSG: too short for its version; -ENOTSUP: older than
 * TASKSTATS_MIN_VERSION. */
int taskstats_read(const void *data, size_t len, unsigned int version, struct taskstats_fields *ret);

/* The content of one message: of a thread, of a whole process, or (at the end of a process that had threads) of
 * both. */
struct taskstats_message {
	bool has_thread, has_process;
	struct taskstats_fields thread, process;
};

/* Reads the attributes of a message, that is what follows its generic netlink header. Errors as above. */
int taskstats_read_message(const void *attributes, size_t len, struct taskstats_message *ret);
