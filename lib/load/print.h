/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a load would do: `emp-load check`. */
#pragma once

#include "lib/load/load_file.h"

#include <stdio.h>

void load_print(FILE *file, const struct load *load);
