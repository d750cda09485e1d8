/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See waiting.h. */
#include "setup/apply/waiting.h"

#include "lib/base/terminal.h"
#include "lib/host/process/signals.h"

static struct {
	const char *on_interrupt;
	bool drawn;
	int64_t next_ns; /* when the next line is due */
} waiting;

void waiting_end(void)
{
	if (waiting.drawn)
		fprintf(stderr, "\r\033[K");
	waiting.drawn = false;
}

enum { FIRST_LINE_S = 2, NEXT_LINE_S = 10, TEXT_SIZE = 64 };

static int waiting_step(void *data, const char *name, bool active, int64_t waited_ns)
{
	const bool terminal = terminal_is(stderr);
	char rest[TEXT_SIZE];
	size_t taken, width;

	if (waiting.on_interrupt && interrupt_pending())
		return -EINTR;
	if (waited_ns < FIRST_LINE_S * NS_PER_S) { /* of another unit than before */
		waiting_end();
		waiting.next_ns = FIRST_LINE_S * NS_PER_S;
	}
	if (waited_ns < waiting.next_ns)
		return 0;
	waiting.next_ns = waited_ns + (terminal ? 1 : NEXT_LINE_S) * NS_PER_S;
	snprintf(rest, sizeof(rest), " to %s: %d s%s%s%s", active ? "start" : "stop",
		(int)(waited_ns / NS_PER_S), waiting.on_interrupt ? " (^C " : "",
		waiting.on_interrupt ?: "", waiting.on_interrupt ? ")" : "");
	if (!terminal) {
		fprintf(stderr, "waiting for %s%s\n", name, rest);
		return 0;
	}
	taken = terminal_text_width("waiting for ") + terminal_text_width(rest) + 1;
	width = terminal_width(stderr);
	/* The name is shortened rather than the line wrapped. */
	fprintf(stderr, "\rwaiting for %.*s%s\033[K",
		(int)terminal_text_fit(name, width > taken ? width - taken : 0), name, rest);
	waiting.drawn = true;
	return 0;
}

void waiting_begin(struct units *units, const char *on_interrupt)
{
	waiting.on_interrupt = on_interrupt;
	units_set_waiting(units, waiting_step, NULL);
}
