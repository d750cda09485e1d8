/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terminals and their colours: see terminal.h. */
#include "lib/base/terminal.h"

#include "lib/base/argv.h"
#include "lib/base/charset.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 60, MOST_WIDTH = 120 };

struct terminal_style terminal_style;

static bool is_on(FILE *file, enum terminal_choice chosen)
{
	const char *term = getenv("TERM");

	if (chosen)
		return chosen == TERMINAL_ON;
	return isatty(charset_fileno(file)) && term && strcmp(term, "dumb");
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

	if (ioctl(charset_fileno(file), TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	if (n == 0 && columns)
		n = strtol(columns, NULL, 10);
	return n > 0 ? (size_t)n : USUAL_WIDTH;
}

size_t terminal_columns(FILE *file)
{
	size_t width = terminal_width(file);

	if (width < LEAST_WIDTH)
		return LEAST_WIDTH;
	return width < MOST_WIDTH ? width : MOST_WIDTH;
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

/* The size of a character that a terminal would act on instead of showing it; 0: it shows it. */
static size_t control_size(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (c[0] < ' ' || c[0] == 0x7f)
		return 1;
	if (c[0] == 0xc2 && c[1] < 0xa0) /* C1: U+009B is the same as ESC [ */
		return 2;
	if (c[0] == 0xd8 && c[1] == 0x9c) /* U+061C */
		return 2;
	if (c[0] != 0xe2)
		return 0;
	/* U+200E, U+200F, U+2028 to U+202E */
	if (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae)))
		return 3;
	/* U+2066 to U+2069 */
	return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9 ? 3 : 0;
}

const char *terminal_text(const char *text)
{
	static char *made[16];
	static size_t next;
	_cleanup_(freep) char *decoded = NULL;
	const char *from = text;
	char **slot, *to;

	while (from && *from >= ' ' && *from < '\x7f')
		from++;
	if (!from || !*from)
		return text;
	slot = &made[next++ % ELEMENTS(made)];
	free(*slot);
	decoded = charset_decode(text);
	*slot = to = text_utf8(decoded);
	for (from = *slot; *from;) {
		size_t size = control_size(from);

		if (size == 0)
			*to++ = *from++;
		else
			*to++ = *from == '\n' || *from == '\t' ? ' ' : '?';
		from += size;
	}
	*to = '\0';
	return *slot;
}

/* Bytes that are no character are shown together, in one column. */
static size_t wrong_bytes(const char *text)
{
	size_t n = 1;

	while (((unsigned char)text[0] & 0x80) && ((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Bytes of the character at `text`, and its columns. */
static size_t character(const char *text, size_t *ret_columns)
{
	mbstate_t state = {};
	wchar_t c;
	size_t left = strnlen(text, MB_LEN_MAX); /* a text may be long */
	size_t n = 0;

	*ret_columns = 1;
	if (charset_converts()) {
		n = text_utf8_size(text);
		if (n > 0)
			*ret_columns = charset_columns(text, n);
		return n > 0 ? n : wrong_bytes(text);
	}
	if (MB_CUR_MAX > 1)
		n = mbrtowc(&c, text, left, &state);
	if (n == 0 || n > left)
		return wrong_bytes(text);
	*ret_columns = wcwidth(c) > 0 ? (size_t)wcwidth(c) : 0;
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

/* "…" is "..." in some locales. */
static size_t ellipsis_width(void)
{
	return terminal_text_width("…");
}

char *terminal_cut(const char *text, size_t columns)
{
	text = terminal_text(text);
	if (terminal_text_width(text) <= columns)
		return xstrdup(text);
	return text_format("%.*s…", (int)terminal_text_fit(text, columns - ellipsis_width()), text);
}

void terminal_print_cut(FILE *file, const char *text, size_t columns)
{
	_cleanup_(freep) char *cut = terminal_cut(text, columns);

	fputs(cut, file);
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

/* "./solver --thr…1e-9": its first and last columns. The caller frees it. */
static char *shorten_middle(const char *text, size_t columns)
{
	size_t width = terminal_text_width(text), own = columns - ellipsis_width(), end = own / 2;

	if (width <= columns)
		return xstrdup(text);
	return text_format("%.*s…%s", (int)terminal_text_fit(text, own - end), text,
		text + terminal_text_fit(text, width - end));
}

/* Bytes of whole characters that all names have in common at their beginnings, or ends. */
static size_t common_bytes(char *const *names, size_t n, bool at_end)
{
	size_t common = strlen(names[0]), length = common;

	for (size_t i = 1; i < n; i++) {
		size_t same = 0, other = strlen(names[i]);

		while (same < common && same < other &&
			names[0][at_end ? length - 1 - same : same] ==
				names[i][at_end ? other - 1 - same : same])
			same++;
		common = same;
	}
	/* not within a character */
	while (common > 0 &&
		((unsigned char)names[0][at_end ? length - common : common] & 0xc0) == 0x80)
		common--;
	return common;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t count_distinct(char *const *texts, size_t n)
{
	_cleanup_(freep) char **sorted = xcalloc(n + 1, sizeof(char *));
	size_t distinct = n > 0;

	memcpy(sorted, texts, n * sizeof(char *));
	qsort(sorted, n, sizeof(char *), compare_texts);
	for (size_t i = 1; i < n; i++)
		distinct += strcmp(sorted[i - 1], sorted[i]) != 0;
	return distinct;
}

/* What the names have in common at their beginnings and ends, in bytes. */
struct common_parts {
	size_t begin, end;
	size_t widest; /* columns of what is between, in the longest name */
};

static size_t end_of_own(const char *name, const struct common_parts *common)
{
	size_t length = strlen(name), most = length - common->begin;

	return length - (common->end < most ? common->end : most);
}

static struct common_parts find_common(char *const *names, size_t n)
{
	struct common_parts common = {
		common_bytes(names, n, false), common_bytes(names, n, true), 0};

	for (size_t i = 0; i < n; i++) {
		size_t width = terminal_bytes_width(
			names[i] + common.begin, end_of_own(names[i], &common) - common.begin);

		common.widest = width > common.widest ? width : common.widest;
	}
	return common;
}

/* Shortens a name. `kept`: how many columns stay of each part that it has in common with others. */
static char *shorten_common(
	const char *name, const struct common_parts *common, size_t columns, size_t kept)
{
	const char *rest = name + end_of_own(name, common);
	_cleanup_(freep) char *own = strndup(
		name + common->begin, (size_t)(rest - name) - common->begin);
	size_t begin_width = terminal_bytes_width(name, common->begin);
	size_t rest_width = terminal_text_width(rest);
	size_t cut = kept + ellipsis_width(), least = ellipsis_width() + 2;
	bool begin_cut = begin_width > cut, rest_cut = rest_width > cut;
	size_t used = (begin_cut ? cut : begin_width) + (rest_cut ? cut : rest_width);
	_cleanup_(freep) char *middle = shorten_middle(
		own ?: "", columns > used + least ? columns - used : least);

	return text_format("%.*s%s%s%s%s",
		(int)(begin_cut ? terminal_text_fit(name, kept) : common->begin), name,
		begin_cut ? "…" : "", middle, rest_cut ? "…" : "",
		rest + (rest_cut ? terminal_text_fit(rest, rest_width - kept) : 0));
}

char **terminal_short_names(const char *const *names, size_t n, size_t columns)
{
	char **shown = xcalloc(n + 1, sizeof(char *));
	_cleanup_(argv_freep) char **whole = xcalloc(n + 1, sizeof(char *));
	struct common_parts common;
	size_t distinct, kept = columns / 4;

	columns = columns < ellipsis_width() + 2 ? ellipsis_width() + 2 : columns;
	for (size_t i = 0; i < n; i++) {
		whole[i] = xstrdup(terminal_text(names[i]));
		shown[i] = shorten_middle(whole[i], columns);
	}
	distinct = count_distinct(whole, n);
	if (n < 2 || count_distinct(shown, n) == distinct)
		return shown;
	common = find_common(whole, n);
	if (common.widest + 2 < columns / 2)
		kept = (columns - common.widest - 2) / 2;
	for (bool last = false; !last && count_distinct(shown, n) < distinct; kept /= 2) {
		last = kept == 0;
		for (size_t i = 0; i < n; i++) {
			free(shown[i]);
			shown[i] = shorten_common(whole[i], &common, columns, kept);
		}
	}
	if (count_distinct(shown, n) == distinct)
		return shown;
	argv_freep(&shown);
	return TAKE(whole);
}

const char *terminal_shown_name(const char *name)
{
	for (size_t i = 0; i < terminal_names.n; i++)
		if (!strcmp(terminal_names.items[i], name))
			return terminal_names.shown[i];
	return terminal_text(name);
}

size_t terminal_print_name(FILE *file, const char *name, size_t columns)
{
	const char *shown = terminal_shown_name(name);
	_cleanup_(freep) char *text = terminal_names.n > 0 ? xstrdup(shown)
							   : shorten_middle(shown, columns);

	fprintf(file, "%s%s%s", terminal_mark(file, MARK_STRONG), text,
		terminal_mark(file, MARK_END));
	return terminal_text_width(text);
}

/* Bytes of the first word; a number keeps the unit that follows it, and a range is one word. */
static size_t word_bytes(const char *text)
{
	static const char to[] = " … ";
	size_t bytes = strcspn(text, " "), to_bytes = strlen(to), unit_bytes;

	if (*text < '0' || *text > '9' || !text[bytes])
		return bytes;
	unit_bytes = strcspn(text + bytes + 1, " ");
	if (strncmp(text + bytes, to, to_bytes) != 0 && unit_bytes > 0 &&
		unit_bytes <= strlen("ms,"))
		bytes += 1 + unit_bytes;
	if (!strncmp(text + bytes, to, to_bytes))
		bytes += to_bytes + word_bytes(text + bytes + to_bytes);
	return bytes;
}

void terminal_wrap(FILE *file, const char *text, size_t at, size_t indent)
{
	size_t width = terminal_width(file) < MOST_WIDTH ? terminal_width(file) : MOST_WIDTH;
	size_t blanks = at > indent; /* before the word: none if it is the first of its line */

	text = terminal_text(text);
	while (*text) {
		size_t bytes = word_bytes(text), columns = terminal_bytes_width(text, bytes);

		if (blanks > 0 && at + blanks + columns > width) {
			fprintf(file, "\n%*s", (int)indent, "");
			at = indent;
			blanks = 0;
		}
		fprintf(file, "%*s%.*s", (int)blanks, "", (int)bytes, text);
		at += blanks + columns;
		text += bytes;
		blanks = strspn(text, " ");
		text += blanks;
	}
	fputc('\n', file);
}

void terminal_say(FILE *file, size_t indent, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	fprintf(file, "%*s", (int)strspn(text, " "), "");
	terminal_wrap(file, text + strspn(text, " "), strspn(text, " "), indent);
}

void terminal_remark(const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	if (terminal_is(stderr))
		terminal_say(stderr, 2, "%s: %s", program_invocation_short_name, text);
	else
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, terminal_text(text));
}

enum { WIDEST_BAR = 30, NARROWEST_BAR = 5 };

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

/* The time that is left, in whole seconds, because it is an estimate; "": not known. */
static const char *progress_left(const struct progress *p, uint64_t done)
{
	double left_ns;

	if (done == 0 || done >= p->total)
		return "";
	left_ns = (double)(p->said_ns - p->started_ns) / (double)done * (double)(p->total - done);
	if (left_ns < 59e9)
		return text_brief("%.0f s", ceil(left_ns / 1e9));
	return text_duration((int64_t)left_ns);
}

/* One line that ends before the last column, because a terminal would wrap there. If space is
 * short, the bar is dropped first, then the end of the label, then the end of the text. */
static void progress_draw(const struct progress *p, uint64_t done, const char *text)
{
	size_t width = terminal_width(stderr) - 1, taken = terminal_text_width(text) + 1;
	const char *label = terminal_text(p->label);
	size_t label_width = terminal_text_width(label), for_label, bar = 0, filled;
	char bytes[WIDEST_BAR + 1];

	if (width > label_width + taken + 3)
		bar = width - label_width - taken - 3;
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
}

void progress_step(struct progress *p, uint64_t done, const char *estimate)
{
	_cleanup_(freep) char *text = NULL;
	const char *left;

	if (!progress_is_due(p, done))
		return;
	if (done > p->total) /* more were needed than expected */
		p->total = done;
	p->tenths_said = (int)(done * 10 / p->total);
	p->said_ns = clock_ns(CLOCK_MONOTONIC);

	/* "3/20, current estimate 128 ms, ETA 2 s" */
	text_append(&text, "", "%" PRIu64 "%s%" PRIu64, done, p->terminal ? "/" : " of ", p->total);
	if (estimate)
		text_append(&text, ", ", "current estimate %s", estimate);
	left = progress_left(p, done);
	if (*left)
		text_append(&text, ", ", "ETA %s", left);
	if (!p->terminal) {
		fprintf(stderr, "%s: %s\n", terminal_text(p->label), text);
		return;
	}
	progress_draw(p, done, text);
	p->drawn = true;
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}
