/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a process without memory: see xalloc.h. */
#include "lib/base/xalloc.h"

#include <errno.h>
#include <unistd.h>

_Noreturn void xalloc_fail(void)
{
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	_exit(1); /* at any moment, as if it were killed */
}
