/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sizes of runs, that is, how long INC runs and how often: as text, and by name. */
#pragma once

#include "lib/base/tool.h"

/* "128x800" */
struct size {
	int64_t length_ns;
	int count;
};

struct preset {
	const char *name;
	struct size short_size, long_size;
};

extern const struct preset *const preset_default; /* the papers' */

option_parser preset_option;      /* into const struct preset * */
option_parser preset_size_option; /* into struct size */
