/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-setup's verbs: see options.h. */
#include "setup/options.h"

struct options options = {
	.isolate = -1, .cpu = -1, .within_ns = 86400 * NS_PER_S, .root_fd = AT_FDCWD};
