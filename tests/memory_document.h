/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents in memory: imported, exported, and without what differs in each book. */
#pragma once

#include "lib/document/document.h"

#include <string.h>
#include <sys/mman.h>

/* Removes the members of these names, at any depth; NULL ends them. */
static inline void drop_members(json_t *json, const char *const names[])
{
	const char *name;
	json_t *value;
	size_t i;

	for (i = 0; json_is_object(json) && names[i]; i++)
		json_object_del(json, names[i]);
	json_object_foreach (json, name, value)
		drop_members(value, names);
	json_array_foreach (json, i, value)
		drop_members(value, names);
}

/* Imports bytes as a file. */
static inline int import_bytes(
	struct book *book, const void *text, size_t size, int64_t *ret, struct error *err)
{
	_cleanup_(document_stream_freep) struct document_stream *stream = NULL;
	_cleanup_(closep) int fd = memfd_create("document", 0);
	char path[64];
	int r;

	if (write(fd, text, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = document_stream_open(&stream, path, err);
	return r < 0 ? r : document_import(book, stream, ret, err);
}

static inline int import_document(
	struct book *book, const json_t *document, int64_t *ret, struct error *err)
{
	_cleanup_(freep) char *text = json_dumps(document, JSON_ENCODE_ANY);

	return import_bytes(book, text, strlen(text), ret, err);
}

static inline int export_document(struct book *book, int64_t run, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int r = document_export_run(book, run, &(struct document_parts){}, file, err);

	fclose(file);
	*ret = r < 0 ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (r == 0 && !*ret) {
		fprintf(stderr, "not JSON: %s\n", text);
		abort();
	}
	return r;
}
