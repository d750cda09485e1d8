/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A setting of the kernel that is a file in /sys or /proc/sys: found by pattern, read, written with one
 * write(2), as the kernel wants it. What to write where is not known here. */
#pragma once

#include <stddef.h>

enum knob_kind {
	KNOB_PLAIN,     /* the file holds the value */
	KNOB_BRACKETED, /* the file holds all values, the chosen one in brackets: "always [never]" */
	KNOB_LIMITS, /* a directory of cpufreq, the value "MIN MAX" in kHz: two files that bound each other */
};

/* The files below root_fd that fit a pattern ("/sys/devices/system/cpu/cpu[0-9]" followed by a star), in the
 * order of the numbers in their names: *ret_n paths that the caller frees with the array. -ENOMEM. */
int knob_expand(int root_fd, const char *pattern, char ***ret, size_t *ret_n);

/* Writes for the running machine where write(2) on one file is not the whole story. */
typedef int knob_writer(const char *path, const char *value);

struct knob {
	int root_fd;
	const char *path;
	enum knob_kind kind;
	knob_writer *write; /* NULL, or root_fd is a captured machine: we do it ourselves */
};

/* -errno without a sentence: what it means depends on the setting. */
int knob_read(const struct knob *knob, char **ret);

/* The value with its unit, where the file leaves that out; the caller frees it. NULL for NULL. */
char *knob_words(enum knob_kind kind, const char *value);

/* What the kernel made of it. */
enum knob_outcome {
	KNOB_CHANGED,
	KNOB_ALREADY, /* it was so before, nothing was written */
	KNOB_ABSENT,
	KNOB_REFUSED, /* `error` tells */
	KNOB_CLAMPED, /* accepted, and something else came of it */
};

struct knob_result {
	enum knob_outcome outcome;
	int error;  /* negative errno of what was refused */
	char *held; /* the value afterwards; NULL if it could not be read */
};

/* Brings a setting to `value` and reads back what came of it. The caller frees ret->held. */
void knob_set(const struct knob *knob, const char *value, struct knob_result *ret);
