/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of a run as an option. Apart from the options, because fuzz_numbers tries it alone. */
#pragma once

#include "lib/base/tool.h"

/* How long INC runs, and how often: "128x800" */
struct size {
	int64_t length_ns;
	int count;
};

option_parser size_option; /* into struct size */
