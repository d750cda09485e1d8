/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine and its settings as a document. It has three parts: the identity, which a cutoff
 * profile is bound to; the settings, whose differences explain different times; and the volatile
 * rest, which is only recorded. One digest covers the first two: it changes only when somebody
 * changes the machine, and is the same for root and for others. */
#pragma once

#include "lib/base/json.h"

/* {"format": "emp-fingerprint", …}. With a root_fd other than AT_FDCWD only files below it are
 * read, and systemd is not asked. */
int fingerprint_take(json_t **ret, int root_fd, struct error *err);
