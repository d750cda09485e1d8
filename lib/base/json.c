/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents in and out: see json.h. */
#include "lib/base/json.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool out_of_memory;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	out_of_memory |= !memory;
	return memory;
}

/* Documents are built by many calls of jansson, each of which may fail; it is checked once, when they are printed. */
static __attribute__((constructor)) void watch_memory(void)
{
	json_set_alloc_funcs(allocate, free);
}

int json_print(const json_t *json, FILE *file, struct error *err)
{
	/* a terminal would act on control characters beyond ASCII */
	size_t ascii = isatty(fileno(file)) ? JSON_ENSURE_ASCII : 0;

	if (!json || out_of_memory)
		return error_oom(err);
	if (json_dumpf(json, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15) | ascii) <
			0 ||
		fputc('\n', file) < 0)
		return error_os(err, -errno, "cannot write a JSON document");
	return 0;
}

int json_print_document(const char *format, json_t *members, struct error *err)
{
	_cleanup_(json_decrefp) json_t *owned = members;
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i}", "format", format, "version", 1);

	if (!members || json_object_update(document, members) < 0)
		return error_oom(err);
	return json_print(document, stdout, err);
}

json_t *json_real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_interval(double low, double high)
{
	return isfinite(low) && isfinite(high) ? json_pack("[f, f]", low, high) : json_null();
}

int json_read(json_t **ret, const char *path, struct error *err)
{
	_cleanup_(fclosep) FILE *file = NULL;
	json_error_t e;
	json_t *json;

	if (strcmp(path, "-")) {
		file = fopen(path, "re");
		if (!file)
			return error_os(err, -errno, "cannot open '%s'", path);
	}
	json = json_loadf(file ?: stdin, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return error_say(err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", path, e.line,
			e.column, e.text);
	*ret = json;
	return 0;
}
