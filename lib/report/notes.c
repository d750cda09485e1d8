/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks and warnings: see notes.h. */
#include "lib/report/notes.h"

#include "lib/base/array.h"
#include "lib/base/terminal.h"
#include "lib/report/screen.h"

#include <stdarg.h>
#include <stdlib.h>

int notes_add(struct notes *notes, struct error *err, const char *format, ...)
{
	char **added = array_add(notes->items, notes->n);
	va_list ap;
	int r;

	if (!added)
		return error_oom(err);
	va_start(ap, format);
	r = vasprintf(added, format, ap);
	va_end(ap);
	if (r >= 0)
		return 0;
	notes->n--;
	return error_oom(err);
}

/* A single line for several: the first, and how many more there are. */
static void print_first(FILE *file, const struct notes *notes)
{
	char more[32];
	size_t width = (size_t)snprintf(more, sizeof(more), "; %zu more (-v)", notes->n - 1);

	fprintf(file, "  %s", terminal_mark(file, MARK_WARN));
	terminal_print_cut(file, notes->items[0], terminal_columns(file) - 2 - width);
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
		terminal_print_cut(file, notes->items[i], terminal_columns(file) - 2);
		fprintf(file, "%s\n", terminal_mark(file, MARK_END));
	}
	if (shown < notes->n)
		fprintf(file, "  %zu more warnings: %s\n", notes->n - shown, where);
}

void notes_clear(struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->items[i]);
	free(notes->items);
	*notes = (struct notes){};
}
