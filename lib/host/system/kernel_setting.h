/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A setting of the kernel that is a file in /sys or /proc/sys: found by pattern, read, written with
 * one write(2), as the kernel wants it. */
#pragma once

#include "lib/base/base.h"

enum kernel_setting_kind {
	SETTING_PLAIN, /* the file holds the value */
	/* the file holds all values, the chosen one in brackets: "always [never]" */
	SETTING_BRACKETED,
	/* a directory of cpufreq, the value "MIN MAX" in kHz: two files that bound each other */
	SETTING_LIMITS,
	SETTING_PARTITION, /* a directory: pinning.h */
	/* cgroup.subtree_control, of which only this controller counts: "+cpuset" or "-cpuset" */
	SETTING_CPUSET,
};

/* Writes what takes more than a write(2) to one file: cpupower.h. -errno. */
typedef int kernel_setting_writer(const char *path, const char *value);

/* For /proc/irq/N/smp_affinity_list, the CPUs that handle an interrupt. -ENODEV: the kernel does
 * not let anybody move it. */
kernel_setting_writer interrupt_write_list;

struct kernel_setting {
	int root_fd;
	const char *path;
	enum kernel_setting_kind kind;
	kernel_setting_writer *write; /* NULL: write(2). SETTING_LIMITS needs one */
};

/* -errno without a sentence. */
int kernel_setting_read(const struct kernel_setting *setting, char **ret);

/* The value, or it with its unit as a text_brief() where the file leaves that out. NULL for
 * NULL. */
const char *kernel_setting_description(enum kernel_setting_kind kind, const char *value);

/* What became of a request. */
enum kernel_setting_outcome {
	SETTING_CHANGED,
	SETTING_ALREADY, /* nothing was written */
	SETTING_ABSENT,
	SETTING_OFFLINE, /* nothing was written: the CPUs that it is for are offline */
	SETTING_REFUSED, /* see `error` */
	SETTING_CLAMPED, /* accepted, but the kernel set another value */
};

struct kernel_setting_result {
	enum kernel_setting_outcome outcome;
	int error;  /* negative errno of a refusal */
	char *held; /* the value afterwards; NULL if it could not be read */
};

/* Sets `value` and reads the result back. The caller frees its `held`. */
struct kernel_setting_result kernel_setting_set(
	const struct kernel_setting *setting, const char *value);
