/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several programs as rows: see program_rows.h. */
#include "lib/report/program_rows.h"

#include "lib/base/table.h"
#include "lib/report/comparison_report.h"

/* Widths: of names that can just be told apart, of names that are easy to read, and of the words
 * beside a name in "  is 1.18 times slower than NAME in elapsed time". */
enum { LEAST_NAME = 8, FAIR_NAME = 16, BESIDE_A_NAME = 46, HEADING_SIZE = 24 };

/* Times that differ by more are shown each in a unit of its own. */
static const double ONE_UNIT = 1000;

enum row_column {
	ROW_RUN,
	ROW_NAME,
	ROW_PT,
	ROW_INTERVAL,
	ROW_ET,
	ROW_PT_RATIO,
	ROW_PT_VERDICT,
	ROW_ET_RATIO,
	ROW_ET_VERDICT,
	ROW_KEPT,
	ROW_REASONS,
	N_ROW_COLUMNS
};

/* The order in which columns are left out, after the reasons: the first N_FOR_FAIR_NAMES so that
 * names are easy to read, the others so that names can be told apart. */
static const enum row_column left_out_first[] = {
	ROW_ET_VERDICT, ROW_ET_RATIO, ROW_INTERVAL, ROW_RUN, ROW_KEPT, ROW_ET};
enum { N_FOR_FAIR_NAMES = 2 };

struct rows_layout {
	const char *unit; /* NULL: each time has its own */
	bool all_iid;     /* all intervals assume independent samples: the heading says so */
	char headings[N_ROW_COLUMNS][HEADING_SIZE];
	bool wanted[N_ROW_COLUMNS], shown[N_ROW_COLUMNS];
	size_t widths[N_ROW_COLUMNS]; /* of the reasons, their least width */
	size_t names, reasons;        /* the widths of these two columns */
};

static const char *unit_of_all(const struct program_row *rows, size_t n, const char *wanted)
{
	double least = INFINITY, most = 0;
	const char *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct discarding *d = rows[i].screen->result;

		if (d->pt.kept.n == 0)
			continue;
		first = first ?: text_unit(d->pt.kept.mean_ns, d->et.kept.mean_ns);
		least = fmin(least, d->pt.kept.mean_ns);
		most = fmax(most, d->pt.kept.mean_ns);
	}
	if (wanted)
		return wanted;
	return most <= ONE_UNIT * least ? first : NULL;
}

static const char *mean_cell(const struct summary *s, const char *unit)
{
	if (s->n == 0)
		return NULL;
	if (s->n == 1 && unit)
		return text_number_in_unit(s->mean_ns, 0, unit);
	if (s->n == 1)
		return text_precise(s->mean_ns, 0);
	if (!unit)
		return text_mean_sd(s->mean_ns, s->sd_ns, NULL);
	return text_brief("%s ± %s", text_number_in_unit(s->mean_ns, s->sd_ns, unit),
		text_number_in_unit(s->sd_ns, s->sd_ns, unit));
}

static bool has_interval(const struct discarding *d)
{
	return d->pt.kept.n > 0 && !isnan(d->pt.interval.low_ns);
}

static const char *interval_cell(const struct discarding *d, const struct rows_layout *l)
{
	const struct interval *i = &d->pt.interval;
	double step = d->pt.kept.sd_ns;
	const char *text;

	if (!has_interval(d))
		return NULL;
	if (l->unit)
		text = text_brief("%s … %s", text_number_in_unit(i->low_ns, step, l->unit),
			text_number_in_unit(i->high_ns, step, l->unit));
	else
		text = text_interval(i->low_ns, i->high_ns, step, NULL);
	return i->assumed && !l->all_iid ? text_brief("%s (iid)", text) : text;
}

static struct cell verdict_cell(const struct comparison *c)
{
	enum mark mark = MARK_NONE;

	if (!c)
		return TEXT(NULL);
	if (comparison_verdict(c) == COMPARISON_FASTER)
		mark = MARK_GOOD;
	else if (comparison_verdict(c) == COMPARISON_SLOWER)
		mark = MARK_BAD;
	return TEXT(comparison_verdict_text(c), .mark = mark);
}

/* The cell of any column but ROW_REASONS. Its text is valid as that of text_brief. */
static struct cell row_cell(
	const struct program_row *row, enum row_column column, const struct rows_layout *l)
{
	const struct discarding *d = row->screen->result;

	switch (column) {
	case ROW_RUN:
		return TEXT(text_brief("%" PRId64, d->run.id));
	case ROW_NAME:
		return TEXT(terminal_shown_name(row->name), .mark = MARK_STRONG);
	case ROW_PT:
		return TEXT(mean_cell(&d->pt.kept, l->unit));
	case ROW_INTERVAL:
		return TEXT(interval_cell(d, l));
	case ROW_ET:
		return TEXT(mean_cell(&d->et.kept, l->unit));
	case ROW_PT_RATIO:
		return TEXT(row->pt ? comparison_ratio_text(row->pt) : NULL);
	case ROW_PT_VERDICT:
		return verdict_cell(row->pt);
	case ROW_ET_RATIO:
		return TEXT(row->et ? comparison_ratio_text(row->et) : NULL);
	case ROW_ET_VERDICT:
		return verdict_cell(row->et);
	case ROW_KEPT:
		return TEXT(text_brief("%zu/%zu", d->pt.kept.n, d->pt.raw.n));
	case ROW_REASONS: /* add_reasons */
	case N_ROW_COLUMNS:
		break;
	}
	return TEXT(NULL);
}

/* The cell of ROW_REASONS, whose text may be of any length. */
static void add_reasons(struct table *table, const struct screen *s, size_t columns)
{
	_cleanup_(freep) char *reasons = screen_discards(s, columns);

	table_add(table, TEXT(*reasons ? reasons : NULL));
}

static size_t cell_width(
	const struct program_row *row, enum row_column column, const struct rows_layout *l)
{
	_cleanup_(freep) char *reasons = NULL;
	const char *text;

	if (column == ROW_REASONS)
		text = reasons = screen_discards(row->screen, 0);
	else if (column == ROW_NAME)
		text = terminal_text(row->name);
	else
		text = row_cell(row, column, l).text;
	return text && *text ? terminal_text_width(text) : 1;
}

/* The width of what is shown beside names and reasons, with the blanks between all columns. */
static size_t width_beside(const struct rows_layout *l, size_t gap)
{
	size_t width = 0;

	for (size_t k = 0; k < N_ROW_COLUMNS; k++)
		if (l->shown[k])
			width += gap + (k == ROW_NAME || k == ROW_REASONS ? 0 : l->widths[k]);
	return width - gap;
}

static bool rows_fit(const struct rows_layout *l, size_t names, size_t width)
{
	size_t reasons = l->shown[ROW_REASONS] ? l->widths[ROW_REASONS] : 0;

	return width_beside(l, 1) + names + reasons <= width;
}

/* Leaves out the columns that do not fit beside names of these widths. */
static void leave_out_columns(struct rows_layout *l, size_t fair, size_t least, size_t width)
{
	size_t k;

	if (!rows_fit(l, fair, width))
		l->shown[ROW_REASONS] = false;
	for (k = 0; k < ELEMENTS(left_out_first); k++)
		if (!rows_fit(l, k < N_FOR_FAIR_NAMES ? fair : least, width))
			l->shown[left_out_first[k]] = false;

	/* Some fit after all, because a wider one is left out. */
	while (k-- > 0) {
		enum row_column column = left_out_first[k];

		l->shown[column] = l->wanted[column];
		if (!rows_fit(l, k < N_FOR_FAIR_NAMES ? fair : least, width))
			l->shown[column] = false;
	}
}

/* Which columns are shown, and how wide names and reasons may be. */
static void fit_columns(struct rows_layout *l, FILE *file)
{
	size_t width = terminal_width(file), longest = l->widths[ROW_NAME];
	size_t least = longest < LEAST_NAME ? longest : LEAST_NAME;
	size_t fair = longest < FAIR_NAME ? longest : FAIR_NAME;
	size_t reasons, gap, used, most;

	leave_out_columns(l, fair, least, width);
	reasons = l->shown[ROW_REASONS] ? l->widths[ROW_REASONS] : 0;
	gap = width_beside(l, 2) + fair + reasons <= width ? 2 : 1;
	used = reasons + width_beside(l, gap);

	l->names = used + least < width ? width - used : least;
	most = terminal_columns(file) - BESIDE_A_NAME;
	if (l->names > most)
		l->names = most > least ? most : least;

	longest = longest < l->names ? longest : l->names;
	l->reasons = reasons;
	if (used + longest < width)
		l->reasons += width - used - longest;
}

static void make_headings(struct rows_layout *l)
{
	static const char *const names[] = {"RUN", "COMMAND", "PT", "95 % CI", "ET", "RATIO",
		"VERDICT", "RATIO", "VERDICT", "KEPT", "DISCARDED"};
	bool both = l->wanted[ROW_PT_RATIO] && l->wanted[ROW_ET_RATIO];

	for (size_t k = 0; k < N_ROW_COLUMNS; k++)
		snprintf(l->headings[k], HEADING_SIZE, "%s", names[k]);
	for (size_t k = ROW_PT; k <= ROW_ET; k += ROW_ET - ROW_PT)
		snprintf(l->headings[k], HEADING_SIZE, l->unit ? "%s [%s] ± σ" : "%s%s ± σ",
			names[k], l->unit ?: "");
	if (l->all_iid)
		snprintf(l->headings[ROW_INTERVAL], HEADING_SIZE, "95 %% CI if iid");
	if (both) {
		snprintf(l->headings[ROW_PT_RATIO], HEADING_SIZE, "PT RATIO");
		snprintf(l->headings[ROW_ET_RATIO], HEADING_SIZE, "ET RATIO");
		snprintf(l->headings[ROW_ET_VERDICT], HEADING_SIZE, "ET VERDICT");
	}
}

static struct rows_layout rows_layout_make(
	FILE *file, const struct program_row *rows, size_t n, const char *unit)
{
	struct rows_layout l = {.unit = unit_of_all(rows, n, unit), .all_iid = true};

	l.wanted[ROW_RUN] = l.wanted[ROW_NAME] = l.wanted[ROW_PT] = l.wanted[ROW_KEPT] = true;
	for (size_t i = 0; i < n; i++) {
		const struct discarding *d = rows[i].screen->result;

		l.wanted[ROW_INTERVAL] |= has_interval(d);
		l.all_iid &= !has_interval(d) || d->pt.interval.assumed;
		l.wanted[ROW_ET] |= screen_shows_et(rows[i].screen);
		l.wanted[ROW_PT_RATIO] |= rows[i].pt != NULL;
		l.wanted[ROW_ET_RATIO] |= rows[i].et != NULL;
		l.wanted[ROW_REASONS] |= rows[i].screen->n_reasons > 0;
	}
	l.wanted[ROW_PT_VERDICT] = l.wanted[ROW_PT_RATIO];
	l.wanted[ROW_ET_VERDICT] = l.wanted[ROW_ET_RATIO];
	make_headings(&l);
	for (size_t k = 0; k < N_ROW_COLUMNS; k++) {
		l.widths[k] = terminal_text_width(l.headings[k]);
		l.shown[k] = l.wanted[k];
		for (size_t i = 0; i < n && l.wanted[k]; i++) {
			size_t width = cell_width(&rows[i], k, &l);

			l.widths[k] = width > l.widths[k] ? width : l.widths[k];
		}
	}
	fit_columns(&l, file);
	return l;
}

size_t program_rows_name_columns(
	FILE *file, const struct program_row *rows, size_t n, const char *unit)
{
	return rows_layout_make(file, rows, n, unit).names;
}

/* The one for more samples first, then by name. */
static int compare_reasons(const void *a, const void *b)
{
	const struct screen_reason *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The reasons of all programs, each once. The caller frees them; returns how many. */
static size_t gather_reasons(const struct program_row *rows, size_t n, struct screen_reason **ret)
{
	struct screen_reason *all = NULL;
	size_t n_all = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < rows[i].screen->n_reasons; k++) {
			const struct screen_reason *reason = &rows[i].screen->reasons[k];
			size_t at = 0;

			while (at < n_all && strcmp(all[at].name, reason->name) != 0)
				at++;
			if (at == n_all)
				*array_add(all, n_all) = (struct screen_reason){
					.name = reason->name};
			all[at].n += reason->n;
		}
	*ret = all;
	return n_all;
}

/* "  Discarded       backupd in 12, cron in 3, …": of all programs, as many as fit into the
 * line. */
static void print_reasons_of_all(FILE *file, const struct program_row *rows, size_t n)
{
	static const char label[] = "  Discarded       ";
	_cleanup_(freep) struct screen_reason *all = NULL;
	_cleanup_(freep) char *text = NULL;
	size_t n_all = gather_reasons(rows, n, &all);

	qsort(all, n_all, sizeof(*all), compare_reasons);
	for (size_t i = 0; i < n_all; i++) {
		_cleanup_(freep) char *name = text_format("%s in %zu", all[i].name, all[i].n);
		size_t width = strlen(label) + terminal_text_width(name) + strlen(", ");

		if (i + 1 < n_all)
			width += strlen(", ") + 1; /* for "…" */
		if (i > 0 && terminal_text_width(text) + width > terminal_width(file)) {
			text_append(&text, ", ", "…");
			break;
		}
		text_append(&text, ", ", "%s", name);
	}
	fputs(label, file);
	terminal_wrap(file, text, strlen(label), strlen(label));
}

/* A name for a column that does not depend on what its heading has room for. */
static const char *column_name(const struct rows_layout *l, enum row_column column)
{
	switch (column) {
	case ROW_INTERVAL:
		return "95 % CI";
	case ROW_ET:
		return "ET";
	default:
		return l->headings[column];
	}
}

static void print_hidden_columns(FILE *file, const struct rows_layout *l)
{
	_cleanup_(freep) char *names = NULL;

	for (size_t k = 0; k < ROW_REASONS; k++)
		if (l->wanted[k] && !l->shown[k])
			text_append(&names, ", ", "%s", column_name(l, k));
	if (!names)
		return;
	fputs("  ", file);
	terminal_wrap(
		file, text_brief("Not in %zu columns: %s (-v)", terminal_width(file), names), 2, 4);
}

static enum column_kind row_column_kind(enum row_column column)
{
	switch (column) {
	case ROW_NAME:
	case ROW_REASONS:
		return COLUMN_WRAP;
	case ROW_PT_VERDICT:
	case ROW_ET_VERDICT:
		return COLUMN_TEXT;
	default:
		return COLUMN_NUMBER;
	}
}

void program_rows_print(FILE *file, const struct program_row *rows, size_t n, const char *unit)
{
	struct rows_layout l = rows_layout_make(file, rows, n, unit);
	struct column columns[N_ROW_COLUMNS + 1] = {};
	_cleanup_(table_freep) struct table *table = NULL;
	size_t n_columns = 0;

	for (size_t k = 0; k < N_ROW_COLUMNS; k++)
		if (l.shown[k])
			columns[n_columns++] = (struct column){l.headings[k], row_column_kind(k)};
	table = table_new(columns);
	for (size_t i = 0; i < n; i++) {
		table_begin_row(table);
		for (size_t k = 0; k < N_ROW_COLUMNS; k++)
			if (l.shown[k] && k == ROW_REASONS)
				add_reasons(table, rows[i].screen, l.reasons);
			else if (l.shown[k])
				table_add(table, row_cell(&rows[i], k, &l));
	}
	table_print(table, file);

	if (l.wanted[ROW_REASONS] && !l.shown[ROW_REASONS])
		print_reasons_of_all(file, rows, n);
	print_hidden_columns(file, &l);
}
