/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings in a fingerprint: what can be set on this machine and may affect times. */
#pragma once

#include "lib/host/system/kernel.h"

#include <jansson.h>

/* NULL: no memory. */
json_t *fingerprint_settings(int root_fd, const struct kernel *kernel);
