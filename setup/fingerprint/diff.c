/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares fingerprints: see diff.h. */
#include "setup/fingerprint/diff.h"

#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/protocol/environment_validity.h"
#include "setup/fingerprint/fingerprint.h"
#include "setup/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char *demand_words(enum validity demand)
{
	static const char *const words[] = {[VALIDITY_HOLDS] = "no",
		[VALIDITY_REPEAT_SHORT] = "to the short run",
		[VALIDITY_REPEAT_ALL] = "to all"};

	return words[demand];
}

int diff_now(json_t **ret, struct error *err)
{
	_cleanup_(fingerprint_clear) struct fingerprint fingerprint = {};
	int r = fingerprint_take(&fingerprint, AT_FDCWD, err);

	if (r < 0)
		return r;
	*ret = fingerprint_json(&fingerprint);
	return *ret ? 0 : error_oom(err);
}

/* A fingerprint document: "now", or a file that "fingerprint --json" wrote. */
static int read_document(json_t **ret, const char *name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *format;
	int r;

	if (!strcmp(name, "now"))
		return diff_now(ret, err);
	r = json_read(&document, name, err);
	if (r < 0)
		return r;
	format = json_string_value(json_object_get(document, "format"));
	if (!format || strcmp(format, "emp-fingerprint") != 0)
		return error_say(err, -EINVAL,
			"%s is not a fingerprint; 'emp-setup fingerprint --json' prints one", name);
	*ret = TAKE(document);
	return 0;
}

json_t *diff_json(const struct differences *d)
{
	json_t *array = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct difference_rule *rule = difference_rule(&d->items[i]);

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "part",
				       d->items[i].identity ? "identity" : "settings", "what",
				       d->items[i].what, "before", d->items[i].before, "now", d->items[i].now,
				       "matters", demand_words(rule->demand), "why", rule->why));
	}
	return array;
}

int diff_print(const struct differences *d, struct error *err)
{
	static const struct column columns[] = {{"WHAT", COLUMN_WRAP}, {"BEFORE", COLUMN_WRAP},
		{"NOW", COLUMN_WRAP}, {"MATTERS", COLUMN_WRAP}, {"WHY", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < d->n; i++) {
		const struct difference_rule *rule = difference_rule(&d->items[i]);

		table_row(table);
		table_cell(table, "%s", d->items[i].what);
		table_cell(table, "%s", d->items[i].before);
		table_cell(table, "%s", d->items[i].now);
		table_cell(table, "%s", demand_words(rule->demand));
		table_cell(table, "%s", rule->why);
	}
	return table_print(table, stdout, err);
}

int diff_files(const char *before_name, const char *now_name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL, *document = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	int r = read_document(&before, before_name, err);

	if (r == 0)
		r = read_document(&now, now_name, err);
	if (r == 0)
		r = environment_diff(before, now, &differences, err);
	if (r < 0)
		return r;
	if (options.json) {
		document = json_pack("{s:s, s:i, s:o}", "format", "emp-differences", "version", 1,
			"differences", diff_json(&differences));
		r = json_print(document, stdout, err);
	} else if (differences.n == 0)
		printf("Identity and settings are the same.\n");
	else
		r = diff_print(&differences, err);
	if (r < 0)
		return r;
	return differences.n ? STATUS_NOT_FIT : STATUS_DONE;
}
