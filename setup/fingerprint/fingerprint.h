/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine and its settings, in three parts: the identity, which a cutoff profile is bound to; the settings,
 * whose differences explain different times; and the volatile rest, which is only recorded. One digest covers the
 * first two: it changes only when somebody changes the machine, and is the same for root and for others. */
#pragma once

#include "lib/base/base.h"

#include <jansson.h>

/* {"format": "emp-fingerprint", …}. With a root_fd other than AT_FDCWD only files below it are read, and systemd is not asked. */
int fingerprint_take(json_t **ret, int root_fd, struct error *err);

/* Compares two documents, each in a file that "fingerprint --json" wrote, or "now". A status of tool.h. */
int fingerprint_diff(const char *before_name, const char *now_name, struct error *err);
