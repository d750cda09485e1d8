/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The identity in a fingerprint: processor, memory, firmware, kernel, system. */
#pragma once

#include "lib/host/system/kernel.h"
#include "lib/host/system/machine.h"

#include <jansson.h>

/* NULL: no memory. */
json_t *fingerprint_identity(int root_fd, const struct machine *machine, const struct kernel *kernel);
