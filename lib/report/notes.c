/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks and warnings: see notes.h. */
#include "lib/report/notes.h"

#include "lib/base/array.h"
#include "lib/base/terminal.h"
#include "lib/report/screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int notes_add(struct notes *notes, enum note_kind kind, struct error *err, const char *format, ...)
{
	size_t at = notes->n;
	char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	if (r < 0 || !array_add(notes->items, notes->n)) {
		free(r < 0 ? NULL : text);
		return error_oom(err);
	}
	while (at > 0 && notes->items[at - 1].kind > kind)
		at--;
	memmove(&notes->items[at + 1], &notes->items[at], (notes->n - 1 - at) * sizeof(*notes->items));
	notes->items[at] = (struct note){.kind = kind, .text = text};
	for (size_t i = 0; i < notes->n; i++)
		notes->items[i].n = (uint32_t)i + 1;
	return 0;
}

int notes_add_all(struct notes *notes, const struct notes *others, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < others->n; i++)
		r = notes_add(notes, others->items[i].kind, err, "%s", others->items[i].text);
	return r;
}

/* A single line for several: the first, and how many more there are. */
static void print_first(FILE *file, const struct notes *notes)
{
	char more[32];
	size_t width = (size_t)snprintf(more, sizeof(more), "; %zu more (-v)", notes->n - 1);

	fprintf(file, "  %s", terminal_mark(file, MARK_WARN));
	terminal_print_cut(file, notes->items[0].text, terminal_columns(file) - 2 - width);
	fprintf(file, "%s%s\n", more, terminal_mark(file, MARK_END));
}

void notes_print(FILE *file, const struct notes *notes, size_t most, const char *where)
{
	size_t shown = notes->n <= most ? notes->n : most - 1;

	if (most == 1 && notes->n > 1) {
		print_first(file, notes);
		return;
	}
	for (size_t i = 0; i < shown; i++) {
		fprintf(file, "  %s", terminal_mark(file, MARK_WARN));
		terminal_print_cut(file, notes->items[i].text, terminal_columns(file) - 2);
		fprintf(file, "%s\n", terminal_mark(file, MARK_END));
	}
	if (shown < notes->n)
		fprintf(file, "  %zu more warnings: %s\n", notes->n - shown, where);
}

void notes_print_all(FILE *file, const struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		fprintf(file, "  %s", terminal_mark(file, MARK_WARN));
		terminal_wrap(file, notes->items[i].text, 2, 4);
		fputs(terminal_mark(file, MARK_END), file);
	}
}

json_t *notes_as_json(const struct notes *notes)
{
	json_t *array = json_array();

	for (size_t i = 0; i < notes->n; i++)
		json_array_append_new(array,
			json_pack("{s:s, s:s}", "kind", note_kind_names[notes->items[i].kind], "text",
				notes->items[i].text));
	return array;
}

void notes_clear(struct notes *notes)
{
	fields_free(&note_table, notes->items, notes->n);
	*notes = (struct notes){};
}
