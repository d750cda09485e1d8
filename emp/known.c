/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs and options of the other tools: see known.h. */
#include "emp/known.h"

#include "lib/base/base.h"

#include "emp/tables.h"

const struct known_tool *known_tool_find(const char *name)
{
	if (!strncmp(name, "emp-", 4))
		name += 4;
	for (const struct known_tool *tool = known_tools; tool->name; tool++)
		if (!strcmp(tool->name + 4, name))
			return tool;
	return NULL;
}
