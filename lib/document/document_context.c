/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The context of documents: see document_context.h. */
#include "lib/document/document_context.h"

#include "lib/document/document_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Members of a fingerprint. */
static const struct {
	const char *name, *path[3];
} members[] = {
	{"host_name", {"volatile", "host_name"}},
	{"system", {"identity", "system", "name"}},
	{"kernel", {"identity", "kernel", "release"}},
	{"cpu_model", {"identity", "cpu", "name"}},
	{"cpus", {"settings", "cpus", "online"}},
};

int document_read_environment(struct book *book, int64_t environment, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t wrong;
	int r = environment > 0 ? book_get_environment(book, environment, NULL, &text, err) : 0;

	if (r < 0)
		return r;
	*ret = text ? json_loads(text, JSON_DECODE_ANY, &wrong) : NULL;
	if (text && !*ret)
		return error_say(err, -EBADMSG, "environment %" PRId64 " of the lab book cannot be read: %s",
			environment, *wrong.text ? wrong.text : strerror(ENOMEM));
	return 0;
}

int document_make_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *fingerprint = NULL, *context = json_object();
	int r = document_read_environment(book, environment, &fingerprint, err);

	if (r < 0)
		return r;
	if (when_ns > 0)
		document_add_moment(context, "date", when_ns);
	for (size_t i = 0; i < ELEMENTS(members); i++) {
		json_t *value = fingerprint;

		for (size_t k = 0; k < ELEMENTS(members[i].path) && members[i].path[k]; k++)
			value = json_object_get(value, members[i].path[k]);
		if (json_is_string(value) && json_object_set(context, members[i].name, value) < 0)
			return error_oom(err);
	}
	if (json_object_set_new(context, "emp_version", json_string(EMP_VERSION)) < 0)
		return error_oom(err);
	*ret = TAKE(context);
	return 0;
}
