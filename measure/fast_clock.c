/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libemp-clock for the programs: see fast_clock.h. */
#include "measure/fast_clock.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/subprocess.h"

#include <string.h>

#define PRELOAD "LD_PRELOAD="

static const char *present_preload(void)
{
	for (char **variable = privilege_environment(); *variable; variable++)
		if (!strncmp(*variable, PRELOAD, strlen(PRELOAD)))
			return *variable + strlen(PRELOAD);
	return "";
}

int fast_clock_init(struct error *err)
{
	_cleanup_(freep) char *library = NULL;
	const char *present = present_preload();
	static char *assignment; /* the environment points to it */
	int r = suite_library_find("libemp-clock-preload.so", &library, err);

	if (r < 0)
		return r;
	assignment = text_format(PRELOAD "%s%s%s", present, *present ? ":" : "", library);
	privilege_environment_put(assignment);
	return 0;
}
