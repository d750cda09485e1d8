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
