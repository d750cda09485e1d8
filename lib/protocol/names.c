/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under which name a process counts: see names.h. */
#include "lib/protocol/names.h"

#include <fnmatch.h>
#include <stddef.h>

const struct name_pattern names_default[] = {
	{"kworker/R-*", NULL}, /* rescuers keep the name of their queue */
	{"kworker/u*", "kworker/u"},
	{"kworker/*", "kworker"},
	{},
};

const char *name_group(const struct name_pattern *patterns, const char *comm)
{
	for (const struct name_pattern *p = patterns; p->pattern; p++)
		if (fnmatch(p->pattern, comm, 0) == 0)
			return p->group ?: comm;
	return comm;
}
