/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents in and out: see json.h. */
#include "lib/base/json.h"

#include "lib/base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t size)
{
	return xmalloc(size);
}

/* No call of jansson fails for memory. */
static __attribute__((constructor)) void watch_memory(void)
{
	json_set_alloc_funcs(allocate, free);
}

/* A terminal would act on control characters beyond ASCII. */
static size_t ascii_flag(FILE *file)
{
	int fd = fileno(file);

	return fd >= 0 && isatty(fd) ? JSON_ENSURE_ASCII : 0;
}

int json_write(FILE *file, const json_t *json)
{
	if (!json)
		return -1;
	if (json_is_real(json))
		return json_write_real(file, json_real_value(json));
	return json_dumpf(json, file, JSON_ENCODE_ANY | JSON_PRESERVE_ORDER | ascii_flag(file));
}

int json_write_real(FILE *file, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	return fputs(text, file) < 0 ? -1 : 0;
}

int json_write_text(FILE *file, const char *text)
{
	_cleanup_(json_decrefp) json_t *json = NULL;
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	if (text[n]) {
		json = json_string(text);
		return json_write(file, json);
	}
	fputc('"', file);
	fwrite(text, 1, n, file);
	fputc('"', file);
	return 0;
}

void json_write_int(FILE *file, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	fwrite(at, 1, (size_t)(digits + sizeof(digits) - at), file);
}

static int print_indented(const json_t *json, FILE *file, size_t flags, struct error *err)
{
	if (!json)
		return error_oom(err);
	if (json_dumpf(json, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | flags | ascii_flag(file)) < 0 ||
		fputc('\n', file) < 0)
		return error_os(err, -errno, "cannot write a JSON document");
	return 0;
}

int json_print(const json_t *json, FILE *file, struct error *err)
{
	return print_indented(json, file, JSON_REAL_PRECISION(15), err);
}

int json_print_exactly(const json_t *json, FILE *file, struct error *err)
{
	return print_indented(json, file, 0, err);
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
