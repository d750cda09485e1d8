/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See patience.h. */
#include "lib/run/patience.h"

#include "lib/base/terminal.h"
#include "lib/host/process/signals.h"

static bool go_on(const char *sentence, void *data)
{
	if (sentence)
		fprintf(stderr, "%s%s (^C ends the run)\n", terminal_is(stderr) ? "\r\033[K" : "",
			terminal_text(sentence));
	return !interrupt_pending();
}

void patience_begin(struct book *book)
{
	book_on_wait(book, go_on, NULL);
}
