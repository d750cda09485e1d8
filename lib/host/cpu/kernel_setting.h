/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A setting of the kernel that is a file in /sys or /proc/sys: found by pattern, read, written with one
 * write(2), as the kernel wants it. What to write where is not known here. */
#pragma once

#include <stddef.h>

enum kernel_setting_kind {
	SETTING_PLAIN,     /* the file holds the value */
	SETTING_BRACKETED, /* the file holds all values, the chosen one in brackets: "always [never]" */
	SETTING_LIMITS, /* a directory of cpufreq, the value "MIN MAX" in kHz: two files that bound each other */
};

/* The files below root_fd that fit a pattern ("/sys/devices/system/cpu/cpu[0-9]" followed by a star), in the
 * order of the numbers in their names: *ret_n paths that the caller frees with the array. -ENOMEM. */
int kernel_setting_expand(int root_fd, const char *pattern, char ***ret, size_t *ret_n);

/* Writes for the running machine where write(2) on one file is not the whole story. */
typedef int kernel_setting_writer(const char *path, const char *value);

struct kernel_setting {
	int root_fd;
	const char *path;
	enum kernel_setting_kind kind;
	kernel_setting_writer *write; /* NULL, or root_fd is a captured machine: we do it ourselves */
};

/* -errno without a sentence: what it means depends on the setting. */
int kernel_setting_read(const struct kernel_setting *knob, char **ret);

/* The value with its unit, where the file leaves that out; the caller frees it. NULL for NULL. */
char *kernel_setting_description(enum kernel_setting_kind kind, const char *value);

/* What the kernel made of it. */
enum kernel_setting_outcome {
	SETTING_CHANGED,
	SETTING_ALREADY, /* it was so before, nothing was written */
	SETTING_ABSENT,
	SETTING_REFUSED, /* `error` tells */
	SETTING_CLAMPED, /* accepted, and something else came of it */
};

struct kernel_setting_result {
	enum kernel_setting_outcome outcome;
	int error;  /* negative errno of what was refused */
	char *held; /* the value afterwards; NULL if it could not be read */
};

/* Brings a setting to `value` and reads back what came of it. The caller frees ret->held. */
void kernel_setting_set(
	const struct kernel_setting *knob, const char *value, struct kernel_setting_result *ret);
