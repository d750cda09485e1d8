/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine of a run: see run_machine.h. */
#include "lib/report/run_machine.h"

#include "lib/base/json.h"
#include "lib/document/document.h"

#include <string.h>

int run_is_from(struct book *book, const struct run *run, const char *machine, bool *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *there;
	int r = document_read_environment(book, run->environment, &document, err);

	if (r < 0)
		return r;
	there = json_string_value(json_object_get(json_object_get(document, "identity"), "machine"));
	*ret = there && !strcmp(there, machine);
	return 0;
}
