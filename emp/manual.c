/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMP's manual pages as text: see manual.h. */
#include "emp/manual.h"

#include "lib/base/input.h"
#include "lib/host/process/subprocess.h"

void manual_clear(struct manual *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->passages[i].page);
		free(m->passages[i].section);
		free(m->passages[i].text);
	}
	free(m->passages);
	*m = (struct manual){};
}

/* A page while it is read. */
struct page_reader {
	struct manual *into;
	const char *page;
	char *section;
	char *text;   /* of the passage that grows; NULL: it has not begun */
	bool literal; /* each line is a passage */
	bool table;   /* each row is one */
	bool in_row;
	size_t heading; /* the length of the first cell of the row; 0: that has not ended */
	bool defines;   /* the passage that grows is the text of the one before it */
};

/* What an escape stands for, which begins after the backslash at *at; *at is moved to its last
 * character. "\0": nothing. */
static char unescape_one(const char **at)
{
	const char *escape = *at, *end;

	switch (*escape) {
	case 'f': /* a font: \fB */
		*at += escape[1] != '\0';
		return '\0';
	case '(': /* a special character: \(aq, \(bu */
		*at += strlen(escape) > 2 ? 2 : 0;
		return strncmp(escape, "(aq", 3) ? '*' : '\'';
	case '*': /* a string: \*(Aq */
		*at += strlen(escape) > 3 ? 3 : 0;
		return '\'';
	case 'h': /* a movement: \h'-04' */
		end = escape[1] == '\'' ? strchr(escape + 2, '\'') : NULL;
		*at = end ?: escape;
		return '\0';
	case '&':
		return '\0';
	case 'e':
		return '\\';
	default:
		return *escape;
	}
}

/* In place. */
static void unescape(char *line)
{
	char *to = line;

	for (const char *at = line; *at; at++) {
		char c = *at;

		if (c == '\\' && at[1]) {
			at++;
			c = unescape_one(&at);
		}
		if (c)
			*to++ = c;
	}
	*to = '\0';
}

/* The passage is complete. */
static void end_passage(struct page_reader *r, size_t heading)
{
	struct passage *last = r->into->n ? &r->into->passages[r->into->n - 1] : NULL;

	if (!r->text)
		return;
	if (r->defines && last && last->heading && last->heading == strlen(last->text)) {
		text_append(&last->text, "", ": %s", r->text);
		free(TAKE(r->text));
	} else {
		*array_add(r->into->passages, r->into->n) = (struct passage){
			xstrdup(r->page), text_copy(r->section), TAKE(r->text), heading};
	}
	r->defines = false;
}

/* ".SH NAME", ".RS 4" and others. */
static void take_request(struct page_reader *r, char *line)
{
	/* what stands before an indented paragraph is what that is about */
	if (!strncmp(line, ".RS", 3) && !r->literal && r->text) {
		end_passage(r, strlen(r->text));
		r->defines = true;
		return;
	}
	end_passage(r, 0);
	if (!strncmp(line, ".SH ", 4) || !strncmp(line, ".SS ", 4)) {
		free(r->section);
		r->section = xstrdup(line + 4);
		unescape(r->section);
		r->defines = false;
	} else if (!strcmp(line, ".nf") || !strcmp(line, ".fi")) {
		r->literal = line[1] == 'n';
	} else if (!strcmp(line, ".TS") || !strcmp(line, ".TE")) {
		r->table = line[2] == 'S';
	}
}

/* A line of a table: "T{", text, "T}" and a tab before the next cell, or "T}" at the end of a row;
 * the lines before the first cell say how it looks. */
static void take_table_line(struct page_reader *r, char *line)
{
	if (!strcmp(line, "T}")) {
		end_passage(r, r->heading ?: strlen(r->text ?: ""));
		r->in_row = false;
	} else if (!strcmp(line, "T{")) {
		r->in_row = true;
		r->heading = 0;
	} else if (!strncmp(line, "T}", 2)) {
		r->heading = r->heading ?: strlen(r->text ?: "");
		text_append(&r->text, "", "  ");
	} else if (r->in_row) {
		size_t n = strlen(r->text ?: "");

		unescape(line);
		text_append(&r->text, n > 0 && r->text[n - 1] != ' ' ? " " : "", "%s", line);
	}
}

void manual_parse(struct manual *into, const char *page, char *roff)
{
	struct page_reader r = {.into = into, .page = page};
	char *line;

	while ((line = strsep(&roff, "\n"))) {
		if (!*line || !strncmp(line, ".\\\"", 3) || *line == '\'')
			continue;
		if (*line == '.') {
			take_request(&r, line);
		} else if (r.table) {
			take_table_line(&r, line);
		} else {
			unescape(line);
			text_append(&r.text, " ", "%s", line);
			if (r.literal)
				end_passage(&r, 0);
		}
	}
	end_passage(&r, 0);
	free(r.section);
}

/* All of a file, which may be packed with gzip; the caller frees it. NULL: it cannot be read. */
static char *page_read(const char *path)
{
	enum { MOST = 16 << 20, STEP = 1 << 16 };
	_cleanup_(input_freep) struct input *input = NULL;
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	ssize_t got = 1;

	if (access(path, R_OK) < 0 || input_open(&input, path, NULL) < 0)
		return NULL;
	while (got > 0 && n < MOST) {
		text = xrealloc(text, n + STEP + 1);
		got = input_read(input, text + n, STEP, NULL);
		n += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		return NULL;
	text[n] = '\0';
	return TAKE(text);
}

/* "emp-measure.1" of the build tree, beside the installed program, or where it was to be
 * installed. */
static char *find_page(const char *file)
{
	const char *number = strrchr(file, '.') + 1;
	const char *folder = text_brief("share/man/man%s", number);
	const char *installed = text_brief("%s/man%s", EMP_MAN_DIR, number);
	char *paths[] = {suite_path("man", NULL, file), suite_path(folder, installed, file),
		suite_path(folder, installed, text_brief("%s.gz", file))};
	char *text = NULL;

	for (size_t i = 0; i < ELEMENTS(paths); i++) {
		text = text ?: page_read(paths[i]);
		free(paths[i]);
	}
	return text;
}

int manual_read(struct manual *ret, struct error *err)
{
	static const char *const files[] = {EMP_PAGES};

	*ret = (struct manual){};
	for (size_t i = 0; i < ELEMENTS(files); i++) {
		_cleanup_(freep) char *roff = find_page(files[i]);
		const char *dot = strrchr(files[i], '.');

		if (roff)
			manual_parse(ret,
				text_brief("%.*s(%s)", (int)(dot - files[i]), files[i], dot + 1),
				roff);
	}
	if (ret->n == 0)
		return error_say(err, -ENOENT, "the manual pages are not in %s", EMP_MAN_DIR);
	return 0;
}
