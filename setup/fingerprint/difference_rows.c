/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See difference_rows.h. */
#include "setup/fingerprint/difference_rows.h"

/* What is to be repeated. */
static const char *const demands[] = {
	[VALIDITY_HOLDS] = "no",
	[VALIDITY_REPEAT_SHORT] = "to the short run",
	[VALIDITY_REPEAT_ALL] = "to all",
};

struct differences fingerprint_compare(
	const json_t *before, const json_t *now, struct table **ret_list)
{
	static const struct column columns[] = {{NULL, COLUMN_TEXT, "part"},
		{"WHAT", COLUMN_WRAP, "what"}, {"BEFORE", COLUMN_WRAP, "before"},
		{"NOW", COLUMN_WRAP, "now"}, {"MATTERS", COLUMN_WRAP, "matters"},
		{"WHY", COLUMN_WRAP, "why"}, {}};
	struct differences differences = environment_diff(before, now);

	*ret_list = table_new(columns);
	for (size_t i = 0; i < differences.n; i++) {
		const struct difference *d = &differences.items[i];
		const struct difference_rule *rule = difference_rule(d);

		table_row(*ret_list, columns, TEXT(d->identity ? "identity" : "settings"),
			TEXT(d->what), TEXT(d->before), TEXT(d->now), TEXT(demands[rule->demand]),
			TEXT(rule->why));
	}
	return differences;
}
