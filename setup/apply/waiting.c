/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply and restore wait for: see waiting.h. */
#include "setup/apply/waiting.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/host/process/signals.h"

#include <errno.h>

enum { FIRST_LINE_S = 2, NEXT_LINE_S = 10, TEXT_SIZE = 64 };

int waiting_step(void *data, const char *name, bool active, int64_t waited_ns)
{
	struct waiting *w = data;
	char rest[TEXT_SIZE];

	if (w->interruptible && interrupt_pending())
		return -EINTR;

	const bool terminal = terminal_is(stderr);

	if (waited_ns < FIRST_LINE_S * NS_PER_S) { /* of another unit than before */
		waiting_end(w);
		w->next_ns = FIRST_LINE_S * NS_PER_S;
	}
	if (waited_ns >= w->next_ns) {
		w->next_ns = waited_ns + (terminal ? 1 : NEXT_LINE_S) * NS_PER_S;
		snprintf(rest, sizeof(rest), " to %s: %d s%s", active ? "start" : "stop",
			(int)(waited_ns / NS_PER_S), w->interruptible ? " (^C undoes all)" : "");
		if (terminal) {
			size_t taken = terminal_text_width("waiting for ") + terminal_text_width(rest) + 1,
			       width = terminal_width(stderr);

			/* The name is shortened rather than the line wrapped. */
			fprintf(stderr, "\rwaiting for %.*s%s\033[K",
				(int)terminal_text_fit(name, width > taken ? width - taken : 0), name, rest);
			w->drawn = true;
		} else
			fprintf(stderr, "waiting for %s%s\n", name, rest);
	}
	return 0;
}

void waiting_end(struct waiting *w)
{
	if (w->drawn)
		fprintf(stderr, "\r\033[K");
	w->drawn = false;
}
