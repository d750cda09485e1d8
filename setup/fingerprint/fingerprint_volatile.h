/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volatile part of a fingerprint: what changes by itself or with every package. */
#pragma once

#include "lib/host/system/machine.h"

#include <jansson.h>

/* NULL: no memory. */
json_t *fingerprint_volatile(int root_fd, const struct machine *machine);
