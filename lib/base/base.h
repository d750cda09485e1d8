/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nearly every file of the tools needs: the usual headers of the C library, and EMP's errors,
 * memory, numbers, text and files. A header that needs any of them includes this one, and its own
 * .c file then has it too. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/base/number.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
