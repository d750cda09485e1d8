/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terminals and their colours: see terminal.h. */
#include "lib/base/terminal.h"

#include <limits.h>
#include <math.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 60, MOST_WIDTH = 120 };

struct terminal_style terminal_style;

static bool is_on(FILE *file, enum terminal_choice chosen)
{
	const char *term = getenv("TERM");

	return chosen ? chosen == TERMINAL_ON : isatty(fileno(file)) && term && strcmp(term, "dumb");
}

bool terminal_is(FILE *file)
{
	return is_on(file, terminal_style.interactive);
}

size_t terminal_width(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = 0;

	if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	if (n == 0 && columns)
		n = strtol(columns, NULL, 10);
	return n > 0 ? (size_t)n : USUAL_WIDTH;
}

size_t terminal_columns(FILE *file)
{
	size_t width = terminal_width(file);

	return width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
}

const char *terminal_mark(FILE *file, enum mark mark)
{
	static const char *const marks[] = {
		[MARK_NONE] = "",
		[MARK_GOOD] = "\033[32m",
		[MARK_BAD] = "\033[31m",
		[MARK_WARN] = "\033[33m",
		[MARK_STRONG] = "\033[1m",
		[MARK_FAINT] = "\033[2m",
		[MARK_END] = "\033[0m",
	};
	const char *no_color = getenv("NO_COLOR");
	enum terminal_choice unless_chosen = no_color && *no_color ? TERMINAL_OFF : TERMINAL_AUTO;

	return is_on(file, terminal_style.colour ?: unless_chosen) ? marks[mark] : "";
}

const char *terminal_text(const char *text)
{
	static char *made[16];
	static size_t next;
	const char *from = text;
	char **slot, *to;

	while (from && *from >= ' ' && *from < '\x7f')
		from++;
	if (!from || !*from)
		return text;
	slot = &made[next++ % ELEMENTS(made)];
	free(*slot);
	*slot = to = text_utf8(text);
	for (from = *slot; *from;) {
		const unsigned char *at = (const unsigned char *)from;
		size_t size = 0; /* of a character that a terminal would act on instead of showing it */

		if (*at < ' ' || *at == 0x7f)
			size = 1;
		else if (*at == 0xc2 && at[1] < 0xa0) /* C1: U+009B is the same as ESC [ */
			size = 2;
		else if (*at == 0xd8 && at[1] == 0x9c) /* U+061C */
			size = 2;
		else if (*at == 0xe2 && at[1] == 0x80) /* U+200E, U+200F, U+2028 to U+202E */
			size = at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae) ? 3 : 0;
		else if (*at == 0xe2 && at[1] == 0x81) /* U+2066 to U+2069 */
			size = at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
		*to++ = size == 0 ? *from : *from == '\n' || *from == '\t' ? ' ' : '?';
		from += size ?: 1;
	}
	*to = '\0';
	return *slot;
}

/* Bytes of the character at `text`, and its columns. If the locale is not UTF-8, each character counts as one
 * column. */
static size_t character(const char *text, size_t *ret_columns)
{
	mbstate_t state = {};
	wchar_t c;
	size_t left = strnlen(text, MB_LEN_MAX); /* a text may be long */
	size_t n = MB_CUR_MAX > 1 ? mbrtowc(&c, text, left, &state) : SIZE_MAX;

	if (n > 0 && n <= left) {
		*ret_columns = wcwidth(c) > 0 ? (size_t)wcwidth(c) : 0;
		return n;
	}
	*ret_columns = 1;
	n = 1;
	while (((unsigned char)text[0] & 0x80) && ((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

size_t terminal_text_fit(const char *text, size_t columns)
{
	size_t bytes = 0, used = 0, more;

	while (text[bytes]) {
		size_t n = character(text + bytes, &more);

		if (used + more > columns)
			break;
		used += more;
		bytes += n;
	}
	return bytes;
}

void terminal_print_cut(FILE *file, const char *text, size_t columns)
{
	text = terminal_text(text);
	if (terminal_text_width(text) <= columns)
		fputs(text, file);
	else
		fprintf(file, "%.*s…", (int)terminal_text_fit(text, columns - 1), text);
}

size_t terminal_bytes_width(const char *text, size_t bytes)
{
	size_t width = 0, more, at = 0;

	while (at < bytes) {
		at += character(text + at, &more);
		width += more;
	}
	return width;
}

struct terminal_names terminal_names;

/* Where the end of `name` that stays begins, if it is shortened to its first bytes and so many columns at its end. */
static const char *tail_of(const char *name, size_t columns)
{
	return name + terminal_text_fit(name, terminal_text_width(name) - columns);
}

void terminal_print_name(FILE *file, const char *name, size_t columns)
{
	const char *text = terminal_text(name), *other;
	size_t end = (columns - 1) / 2, begin = terminal_text_fit(text, columns - 1 - end);
	bool whole = terminal_text_width(text) <= columns;

	for (size_t i = 0; !whole && i < terminal_names.n; i++) {
		other = terminal_text(terminal_names.items[i]);
		whole = strcmp(other, text) && terminal_text_width(other) > columns &&
			!strncmp(other, text, begin) && !strcmp(tail_of(other, end), tail_of(text, end));
	}
	fputs(terminal_mark(file, MARK_STRONG), file);
	if (whole)
		fputs(text, file);
	else
		fprintf(file, "%.*s…%s", (int)begin, text, tail_of(text, end));
	fputs(terminal_mark(file, MARK_END), file);
}

void terminal_wrap(FILE *file, const char *text, size_t at, size_t indent)
{
	size_t width = terminal_width(file) < MOST_WIDTH ? terminal_width(file) : MOST_WIDTH;
	bool first = at <= indent; /* in its line */

	text = terminal_text(text);
	while (*text) {
		size_t bytes = strcspn(text, " "), columns = terminal_bytes_width(text, bytes);

		if (!first && at + 1 + columns > width) {
			fprintf(file, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(file, "%s%.*s", first ? "" : " ", (int)bytes, text);
		at += columns + !first;
		first = false;
		text += bytes + strspn(text + bytes, " ");
	}
	fputc('\n', file);
}

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
	const char *left = "";
	char text[LINE_SIZE];
	double left_ns;

	if (!progress_is_due(p, done))
		return;
	if (done > p->total) /* more were needed than expected */
		p->total = done;
	p->tenths_said = (int)(done * 10 / p->total);
	p->said_ns = clock_ns(CLOCK_MONOTONIC);
	if (done > 0 && done < p->total) {
		left_ns = (double)(p->said_ns - p->started_ns) / (double)done * (double)(p->total - done);
		/* in whole seconds: it is an estimate */
		left = left_ns < 59e9 ? text_brief("%.0f s", ceil(left_ns / 1e9))
				      : text_duration((int64_t)left_ns);
	}
	/* "3/20, current estimate 128 ms, ETA 2 s" */
	snprintf(text, LINE_SIZE, "%" PRIu64 "%s%" PRIu64 "%s%s%s%s", done, p->terminal ? "/" : " of ",
		p->total, estimate ? ", current estimate " : "", estimate ?: "", *left ? ", ETA " : "", left);
	if (p->terminal) {
		size_t width = terminal_width(stderr) - 1, taken = terminal_text_width(text) + 1, for_label;
		const char *label = terminal_text(p->label);
		size_t label_width = terminal_text_width(label), bar, filled;
		char bytes[WIDEST_BAR + 1];

		/* One line that ends before the last column, because a terminal would wrap there. If space
		 * is short, the bar is dropped first, then the end of the label, then the end of the text. */
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
		fprintf(stderr, "%s%.*s\033[K", for_label ? " " : "", (int)terminal_text_fit(text, width),
			text);
		p->drawn = true;
	} else
		fprintf(stderr, "%s: %s\n", terminal_text(p->label), text);
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}
