/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far long work is: see progress.h. */
#include "lib/base/progress.h"

#include "lib/base/clock.h"
#include "lib/base/terminal.h"

#include <inttypes.h>
#include <stdio.h>

enum { BAR_WIDTH = 30 };

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
	progress_step(p, 0);
}

static void draw_bar(struct progress *p, uint64_t done, const char *left)
{
	char bar[BAR_WIDTH + 1];

	for (int i = 0; i < BAR_WIDTH; i++)
		bar[i] = (uint64_t)i * p->total < done * BAR_WIDTH ? '#' : '.';
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r%s [%s] %" PRIu64 "/%" PRIu64 "%s%s\033[K", p->label, bar, done, p->total,
		*left ? ", left: " : "", left);
	p->drawn = true;
}

void progress_step(struct progress *p, uint64_t done)
{
	char left[TEXT_TIME_SIZE] = "";
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int tenths;

	if (p->total == 0)
		return;
	if (done > p->total) /* more were needed than was thought */
		p->total = done;
	tenths = (int)(done * 10 / p->total);
	if (done > 0 && done < p->total)
		text_duration(left, (int64_t)((double)(now_ns - p->started_ns) / (double)done *
					      (double)(p->total - done)));
	if (p->terminal) {
		if (p->drawn && done < p->total && now_ns - p->said_ns < NS_PER_S / 10)
			return;
		p->said_ns = now_ns;
		draw_bar(p, done, left);
		return;
	}
	if (tenths <= p->tenths_said || now_ns - p->said_ns < NS_PER_S)
		return;
	p->tenths_said = tenths;
	p->said_ns = now_ns;
	fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 "%s%s\n", p->label, done, p->total,
		*left ? ", left: " : "", left);
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}
