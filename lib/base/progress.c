/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A progress bar: see progress.h. */
#include "lib/base/progress.h"

#include "lib/base/clock.h"
#include "lib/base/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDEST_BAR = 30, NARROWEST_BAR = 5, LINE_SIZE = 512 };

void progress_begin(struct progress *p, const char *label, uint64_t total, bool quiet)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	*p = (struct progress){
		.label = label,
		.total = quiet ? 0 : total,
		.terminal = terminal_is(stderr),
		.started_ns = now_ns,
		.said_ns = now_ns,
	};
	progress_step(p, 0, NULL);
}

/* "3/20, current estimate 128 ms, ETA 2 s" */
static void progress_text(
	char text[LINE_SIZE], const struct progress *p, uint64_t done, const char *of, const char *estimate)
{
	char left[TEXT_TIME_SIZE] = "";

	if (done > 0 && done < p->total) {
		double left_ns = (double)(p->said_ns - p->started_ns) / (double)done *
				 (double)(p->total - done);

		if (left_ns < 59e9) /* in whole seconds: it is an estimate */
			snprintf(left, TEXT_TIME_SIZE, "%.0f s", ceil(left_ns / 1e9));
		else
			text_duration(left, (int64_t)left_ns);
	}
	snprintf(text, LINE_SIZE, "%" PRIu64 "%s%" PRIu64 "%s%s%s%s", done, of, p->total,
		estimate ? ", current estimate " : "", estimate ?: "", *left ? ", ETA " : "", left);
}

/* One line that ends before the last column, because a terminal would wrap there. If space is short, the bar is
 * dropped first, then the end of the label, then the end of the text. */
static void draw_bar(struct progress *p, uint64_t done, const char *text)
{
	size_t width = terminal_width(stderr) - 1, taken = terminal_text_width(text) + 1, for_label;
	const char *label = terminal_text(p->label);
	size_t label_width = terminal_text_width(label), bar, filled;
	char bytes[WIDEST_BAR + 1];

	bar = width > label_width + taken + 3 ? width - label_width - taken - 3 : 0;
	if (bar > WIDEST_BAR)
		bar = WIDEST_BAR;
	filled = done >= p->total ? bar : (size_t)(done * bar / p->total);
	memset(bytes, '#', filled);
	memset(bytes + filled, '.', bar - filled);
	bytes[bar] = '\0';
	for_label = width > taken ? width - taken : 0;
	fprintf(stderr, "\r%.*s", (int)terminal_text_fit(label, for_label), label);
	if (bar >= NARROWEST_BAR)
		fprintf(stderr, " [%s%s%s]", terminal_mark(stderr, MARK_GOOD), bytes,
			terminal_mark(stderr, MARK_END));
	fprintf(stderr, "%s%.*s\033[K", for_label ? " " : "", (int)terminal_text_fit(text, width), text);
	p->drawn = true;
}

bool progress_is_due(const struct progress *p, uint64_t done)
{
	int64_t since_ns = clock_ns(CLOCK_MONOTONIC) - p->said_ns;

	if (p->total == 0)
		return false;
	if (p->terminal)
		return !p->drawn || done >= p->total || since_ns >= NS_PER_S / 10;
	return (int)(done * 10 / p->total) > p->tenths_said && since_ns >= NS_PER_S;
}

void progress_step(struct progress *p, uint64_t done, const char *estimate)
{
	char text[LINE_SIZE];

	if (!progress_is_due(p, done))
		return;
	if (done > p->total) /* more were needed than expected */
		p->total = done;
	p->tenths_said = (int)(done * 10 / p->total);
	p->said_ns = clock_ns(CLOCK_MONOTONIC);
	progress_text(text, p, done, p->terminal ? "/" : " of ", estimate);
	if (p->terminal)
		draw_bar(p, done, text);
	else
		fprintf(stderr, "%s: %s\n", terminal_text(p->label), text);
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}
