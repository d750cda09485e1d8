/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine and its settings, in three parts: the identity, which a cutoff profile is bound to; the settings,
 * whose differences explain different times; and the volatile rest, which is only recorded. One digest covers the
 * first two: it changes only when somebody changes the machine, and is the same for root and for others. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/system/digest.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/machine.h"

#include <jansson.h>

struct fingerprint {
	char machine[33]; /* "unknown" where the system has no machine id */
	char digest[DIGEST_SIZE];
	json_t *identity, *settings, *rest;
};

/* With a root_fd other than AT_FDCWD only files below it are read, and systemd is not asked. */
int fingerprint_take(struct fingerprint *ret, int root_fd, struct error *err);
void fingerprint_clear(struct fingerprint *fingerprint);

/* {"format": "emp-fingerprint", …}; NULL: no memory. The caller drops it. */
json_t *fingerprint_json(const struct fingerprint *fingerprint);

/* Compares two documents, each in a file that "fingerprint --json" wrote, or "now". A status of tool.h. */
int fingerprint_diff(const char *before_name, const char *now_name, struct error *err);

/* The parts; NULL: no memory. Identity: processor, memory, firmware, kernel, system. Settings: what can be set on
 * this machine and may affect times. Volatile: what changes by itself or with every package. */
json_t *fingerprint_identity(int root_fd, const struct machine *machine, const struct kernel *kernel);
json_t *fingerprint_settings(int root_fd, const struct kernel *kernel);
json_t *fingerprint_volatile(int root_fd, const struct machine *machine);

/* The text of a file of the kernel below root_fd, null where it cannot be read. */
json_t *fingerprint_file(int root_fd, const char *path);
