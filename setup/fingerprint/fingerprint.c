/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine's fingerprint: see fingerprint.h. */
#include "setup/fingerprint/fingerprint.h"

#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <string.h>

json_t *fingerprint_file(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = NULL;

	if (text_read_file(root_fd, path, &text) < 0)
		return json_null();
	return json_string(text) ?: json_null(); /* not UTF-8 */
}

/* Sorted members without blanks: equal content gives equal bytes. */
static int make_digest(struct fingerprint *f, struct error *err)
{
	_cleanup_(json_decrefp)
		json_t *both = json_pack("{s:O, s:O}", "identity", f->identity, "settings", f->settings);
	_cleanup_(freep) char *text = both ? json_dumps(both, JSON_SORT_KEYS | JSON_COMPACT) : NULL;

	if (!text)
		return error_oom(err);
	digest_of(text, strlen(text), f->digest);
	return 0;
}

int fingerprint_take(struct fingerprint *ret, int root_fd, struct error *err)
{
	_cleanup_(fingerprint_clear) struct fingerprint f = {};
	_cleanup_(machine_clear) struct machine machine = {};
	_cleanup_(kernel_clear) struct kernel kernel = {};
	int r;

	machine_read(&machine, root_fd);
	r = kernel_read(&kernel, root_fd, err);
	if (r < 0)
		return r;
	snprintf(f.machine, sizeof(f.machine), "%s", *machine.id ? machine.id : "unknown");
	f.identity = fingerprint_identity(root_fd, &machine, &kernel);
	f.settings = fingerprint_settings(root_fd, &kernel);
	f.rest = fingerprint_volatile(root_fd, &machine);
	if (!f.identity || !f.settings || !f.rest)
		return error_oom(err);
	r = make_digest(&f, err);
	if (r < 0)
		return r;
	*ret = f;
	f = (struct fingerprint){};
	return 0;
}

void fingerprint_clear(struct fingerprint *f)
{
	json_decref(f->identity);
	json_decref(f->settings);
	json_decref(f->rest);
	*f = (struct fingerprint){};
}

json_t *fingerprint_json(const struct fingerprint *f)
{
	return json_pack("{s:s, s:i, s:s, s:s, s:O, s:O, s:O}", "format", "emp-fingerprint", "version", 1,
		"digest", f->digest, "machine", f->machine, "identity", f->identity, "settings", f->settings,
		"volatile", f->rest);
}

/* What is printed of a value; the caller frees it. */
static char *value_text(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_length(value) ? json_string_value(value) : "\"\"");
	return json_is_null(value) ? strdup("-")
				   : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
}

/* One entry per value, named by the objects it is in: "cpu.name". */
static void print_part(FILE *file, const char *prefix, const json_t *part)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)part, key, value) {
		_cleanup_(freep) char *name = text_format("%s%s%s", prefix, *prefix ? "." : "", key);
		_cleanup_(freep) char *text = NULL;

		if (json_is_object(value) && json_object_size(value) > 0) {
			print_part(file, name ?: key, value);
			continue;
		}
		text = value_text(value);
		terminal_wrap(file, text ?: "?", (size_t)fprintf(file, "  %-36s", name ?: key), 4);
	}
}

void fingerprint_print(const struct fingerprint *f, FILE *file)
{
	fprintf(file, "Digest %s\nof identity and settings; a profile is bound to the identity.\n",
		f->digest);
	fprintf(file, "\nIdentity\n");
	print_part(file, "", f->identity);
	fprintf(file, "\nSettings\n");
	print_part(file, "", f->settings);
	fprintf(file, "\nVolatile (not part of the digest)\n");
	print_part(file, "", f->rest);
	fprintf(file, "\n\"-\" means that this machine does not have it or does not report it.\n");
}
