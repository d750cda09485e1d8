/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first screen of a run: see screen.h. */
#include "lib/record/peak_memory.h"
#include "lib/report/screen.h"

#include "lib/base/terminal.h"

enum { LABEL_COLUMNS = 18, LINE_SIZE = 512 };

/* Five ticks of a kernel with CONFIG_HZ=250. */
static const double FEW_TICKS_NS = 20e6;

/* A program that was off the CPU for more than this share of its ET gets a remark. */
static const double MOSTLY_ON_CPU = 0.95;

/* ET differs from PT if it is off by more than this share of PT. */
static const double ET_DIFFERS = 0.05;

/* Samples are so much alike that their mean is doubtful if they count as less than this share of
 * them. */
static const double ALIKE = 0.25;

/* A program that is not pinned is taken to be of one CPU if its PT is more than its ET by less than
 * this. */
static const double MOST_OF_A_START_NS = 1e6;

/* The interval between runs is shown if it is so many times as wide as that of the run. */
static const double MUCH_WIDER = 1.5;

/* Thresholds, as shares of the ET of all samples: for processes that are shown, and for waiting
 * that is explained. */
static const double LEAST_SHOWN = 0.001, WORTH_EXPLAINING = 0.01;
/* Minimum share of ET with known W. */
static const double WAIT_KNOWN = 0.9;
/* Of ET − PT: if other processes used at least this share, they may explain all of it. */
static const double EXPLAINS = 0.8;

static int spaces_to(size_t column, const char *text)
{
	size_t width = terminal_text_width(text);

	return width < column ? (int)(column - width) : 0;
}

/* No mean has more digits than its scatter and, if it is adjusted, the error of that leave it. */
static double mean_step_ns(const struct clock_discarding *c)
{
	return fmax(c->kept.sd_ns, sqrt(c->adjusted.by.variance));
}

static const char *center_text(const struct clock_discarding *c, const char *unit)
{
	const struct summary *t = &c->kept;
	double step_ns = mean_step_ns(c);

	if (t->n == 0)
		return "no sample is kept";
	if (step_ns > t->sd_ns)
		return text_brief("%s%s", text_in_unit(t->mean_ns, step_ns, unit),
			t->n > 1 ? text_brief(" ± %s", text_in_unit(t->sd_ns, t->sd_ns, unit))
				 : "");
	return t->n == 1 ? text_in_unit(t->mean_ns, t->sd_ns, unit)
			 : text_mean_sd(t->mean_ns, t->sd_ns, unit);
}

/* A label, a figure padded to `columns`, and of two remarks the first that fits, if one does. */
static void print_figure(FILE *file, const char *label, const char *figure, size_t columns,
	const char *more, const char *less)
{
	size_t used = LABEL_COLUMNS + columns + 3;
	bool strong = !strncmp(label, "  PT (", strlen("  PT ("));

	if (used + terminal_text_width(more) > terminal_columns(file))
		more = less;
	if (used + terminal_text_width(more) > terminal_columns(file))
		more = "";
	fprintf(file, "%s%*s%s%s%s", label, spaces_to(LABEL_COLUMNS, label), "",
		strong ? terminal_mark(file, MARK_STRONG) : "", figure,
		strong ? terminal_mark(file, MARK_END) : "");
	if (*more)
		fprintf(file, "%*s   %s", spaces_to(columns, figure), "", more);
	fputc('\n', file);
}

double range_step(const struct summary *s)
{
	return fmin(s->sd_ns, (double)s->min_ns / 100);
}

bool screen_pt_includes_start(const struct discarding *d, double least_ns)
{
	double more_ns = d->pt.kept.mean_ns - d->et.kept.mean_ns;

	return more_ns > least_ns && (d->run.cpu >= 0 || more_ns < MOST_OF_A_START_NS);
}

/* "[user 118 ms, system 11 ms]", unless the program is too short for times that are counted in
 * ticks. */
static const char *split_text(const struct screen *s, const char *unit)
{
	const double ns[] = {s->user_ns, s->system_ns};
	const char *about = s->approximate ? "~" : "", *parts[] = {"0", "0"};

	if (isnan(s->user_ns) || isnan(s->system_ns) ||
		(s->approximate && s->result->pt.kept.mean_ns < FEW_TICKS_NS))
		return "";
	for (size_t i = 0; i < ELEMENTS(ns); i++) /* three digits, or two if they are approximate */
		if (ns[i] >= 1)
			parts[i] = text_in_unit(ns[i], s->approximate ? ns[i] : ns[i] / 10, unit);
	return text_brief("[user %s%s, system %s%s]", about, parts[0], about, parts[1]);
}

/* Why the program is not on a CPU all the time; "": it nearly is, or that is not known. */
static const char *waiting_text(const struct screen *s)
{
	double held = s->held.share > HELD_WORTH_NOTING ? s->held.share : 0;
	const char *by_quota = held > 0 ? text_brief(", %.0f %% held back", 100 * held) : "";

	if (s->on_cpu >= MOSTLY_ON_CPU)
		return by_quota;
	if (!isnan(s->taken) && held > 0) /* shorter, because there is more to say */
		return text_brief(", %.0f %% taken%s", 100 * s->taken, by_quota);
	if (!isnan(s->taken))
		return text_brief(", %.0f %% taken by others", 100 * s->taken);
	if (s->on_cpu + held < MOSTLY_ON_CPU && s->result->run.kind != RUN_DUET &&
		!(s->explained >= EXPLAINS))
		return text_brief("%s; it waits, or is disturbed", by_quota);
	return by_quota;
}

/* What there is to say of a screen, and in which unit. */
struct screen_layout {
	const char *unit;    /* one for all times */
	const char *pt, *et; /* means with σ */
	const char *ci;      /* "95 % CI 125.8 … 130.1 ms"; "": not known */
	size_t columns;      /* of the wider figure */
	bool beside;         /* the interval fits beside the mean */
	size_t n_warnings;   /* lines, of the notes that are shown */
	size_t n_hidden;     /* there are so many, and no line for them */
	bool et_line, others_line, neighbour_line, between_line, range_line;
	bool others_with_neighbour; /* both on the line of the others */
};

/* Whether the interval of the run tells too little of what another run would find. */
static bool differs_between_runs(const struct clock_discarding *c)
{
	const struct run_interval *between = &c->between;

	return between->variation.df > 0 &&
	       between->high_ns - between->low_ns >
		       MUCH_WIDER * (c->interval.high_ns - c->interval.low_ns);
}

static bool et_differs(const struct discarding *d)
{
	double pt = d->pt.kept.mean_ns, et = d->et.kept.mean_ns;

	return d->run.kind != RUN_DUET && d->et.kept.n > 0 && !(fabs(et - pt) <= ET_DIFFERS * pt);
}

bool screen_shows_et(const struct screen *s)
{
	return et_differs(s->result);
}

/* Whether the samples count as so few that the mean itself is doubtful. */
static bool alike_changes_reading(const struct interval *i, size_t n)
{
	return n > 1 && i->effective_n < ALIKE * (double)n;
}

bool screen_note_is_detail(const struct note *note, const struct clock_discarding *pt)
{
	return note->kind == NOTE_CORRELATION && !alike_changes_reading(&pt->interval, pt->kept.n);
}

bool screen_note_is_asked(const struct note *note)
{
	return note->kind == NOTE_SHELL || !strncmp(note->text, "perf: ", strlen("perf: "));
}

static bool is_shown(const struct screen *s, const struct note *note)
{
	if (screen_note_is_asked(note))
		return false;
	return s->verbose || !screen_note_is_detail(note, &s->result->pt);
}

/* The notes that are more than details, without those that were asked for; the caller clears it. */
static struct notes notes_shown(const struct screen *s)
{
	struct notes shown = {};

	for (size_t i = 0; i < s->notes.n; i++)
		if (is_shown(s, &s->notes.items[i]))
			notes_add(&shown, s->notes.items[i].kind, "%s", s->notes.items[i].text);
	return shown;
}

/* Takes one of the lines that are left, if it is wanted and there is one. */
static bool reserve_line(size_t *left, bool wanted)
{
	if (!wanted || *left == 0)
		return false;
	(*left)--;
	return true;
}

/* The interval, in the longer form if it fits beside the mean. */
static void choose_interval(struct screen_layout *l, FILE *file, const struct clock_discarding *pt)
{
	const struct interval *ci = &pt->interval;

	for (int brief = 0; !l->beside && brief < 2; brief++) {
		const char *assumed = brief ? " (iid)" : " if iid";

		if (!isnan(ci->low_ns))
			l->ci = text_brief("95 %% CI%s %s", ci->assumed ? assumed : "",
				text_interval(ci->low_ns, ci->high_ns, mean_step_ns(pt), l->unit));
		l->beside = LABEL_COLUMNS + terminal_text_width(l->pt) + 3 +
				    terminal_text_width(l->ci) <=
			    terminal_columns(file);
	}
}

/* How many notes may change how the result is read: they come first. */
static size_t count_grave(const struct notes *notes)
{
	size_t n = 0;

	while (n < notes->n && notes->items[n].kind < NOTE_CORRELATION)
		n++;
	return n;
}

/* Of all screens together. */
static struct neighbour_time neighbour_of_all(const struct screen *const *screens, size_t n)
{
	struct neighbour_time all = {};
	double et_ns = 0, beside_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct neighbour_time *one = &screens[i]->neighbour;
		double ns = screens[i]->result->et.raw.mean_ns * (double)one->n_probed;

		if (one->n_probed == 0)
			continue;
		all.n_probed += one->n_probed;
		all.n_beside += one->n_beside;
		beside_ns += one->share * ns;
		et_ns += ns;
	}
	all.share = beside_ns / et_ns;
	return all;
}

/* Which lines there are: those that are always there, then by what they mean for the reading. A
 * note that may change the reading comes before who disturbed, others after. */
static struct screen_layout layout_of(FILE *file, const struct screen *s, const struct notes *notes)
{
	const struct discarding *d = s->result;
	const struct summary *pt = &d->pt.kept;
	struct screen_layout l = {
		.ci = "", .unit = s->unit ?: text_unit(pt->mean_ns, d->et.kept.mean_ns)};
	size_t left = s->verbose ? SIZE_MAX : SCREEN_LINES - 3; /* name, Kept, PT */
	const bool has_neighbour = s->neighbour.share >= NEIGHBOUR_WORTH_NOTING;
	const bool has_others = s->n_others > 0;

	l.pt = center_text(&d->pt, l.unit);
	l.et = center_text(&d->et, l.unit);
	choose_interval(&l, file, &d->pt);

	reserve_line(&left, !l.beside);
	reserve_line(&left, *s->inc_units != '\0');
	l.n_warnings = reserve_line(&left, count_grave(notes) > 0);
	l.et_line = reserve_line(&left, et_differs(d));
	/* if samples were discarded for it, the neighbour is named there */
	if (d->n_by_neighbour == 0 && !has_others)
		l.neighbour_line = reserve_line(&left, has_neighbour);
	l.others_line = reserve_line(&left, has_others);
	if (!l.neighbour_line)
		l.neighbour_line = reserve_line(&left, has_neighbour);
	l.between_line = d->pt.between.variation.df > 0 &&
			 reserve_line(&left, s->verbose || differs_between_runs(&d->pt));
	l.others_with_neighbour = has_neighbour && !l.neighbour_line && d->n_by_neighbour == 0;
	while (l.n_warnings < notes->n && reserve_line(&left, true))
		l.n_warnings++;
	l.n_hidden = l.n_warnings > 0 ? 0 : notes->n;
	if (!l.et_line)
		l.et_line = reserve_line(&left, d->et.kept.n > 0);
	l.range_line = reserve_line(&left, pt->n > 1);

	l.columns = terminal_text_width(l.pt);
	if (l.et_line && terminal_text_width(l.et) > l.columns)
		l.columns = terminal_text_width(l.et);
	return l;
}

/* "98 % on CPU", "on 3.9 CPUs"; "": not known. */
static const char *on_cpu_text(const struct screen *s)
{
	if (isnan(s->on_cpu))
		return "";
	if (s->on_cpu > 1 && !screen_pt_includes_start(s->result, 0))
		return text_brief("on %.2g CPUs", s->on_cpu);
	return text_brief("%.0f %% on CPU", 100 * fmin(1, s->on_cpu));
}

static void print_range(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	const struct summary *pt = &s->result->pt.kept;
	const char *cv = pt->n > 1 ? text_brief("CV %s", text_percent(pt->relative_error)) : "";
	const char *split = split_text(s, l->unit), *range;

	range = text_interval((double)pt->min_ns, (double)pt->max_ns, range_step(pt), l->unit);
	print_figure(file, "  PT range", range, terminal_text_width(range),
		text_brief("%s%s%s", cv, *cv && *split ? "   " : "", split), cv);
}

/* No mean without a neighbour passes for one that was measured. */
static const char *mean_label(const struct clock_discarding *c, bool et)
{
	if (c->adjusted.times_ns)
		return et ? "  ET (adjusted)" : "  PT (adjusted)";
	if (c->kept.n > 1)
		return et ? "  ET (mean ± σ)" : "  PT (mean ± σ)";
	return et ? "  ET" : "  PT";
}

static void print_et(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	const struct summary *et = &s->result->et.kept;
	const char *label = mean_label(&s->result->et, true);
	const char *share = et->n > 0 ? on_cpu_text(s) : "", *more = "";

	if (et->n > 0)
		more = text_brief("%s%s", share, waiting_text(s));
	print_figure(file, label, l->et, l->columns, more, share);
}

/* If the line is too long, only the mean and its interval stay. */
static void print_inc_units(FILE *file, const char *units)
{
	size_t mean = strcspn(units, "C"); /* "471.2 ± 1.3   CV 0.3 %   95 % CI …" */

	if (LABEL_COLUMNS + terminal_text_width(units) > terminal_columns(file))
		units = text_brief("%.*s%s", (int)mean - 1, units, strstr(units, "95 %") ?: "");
	print_figure(file, "  In INC units", units, 0, "", "");
}

static void print_pt(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	const struct summary *pt = &s->result->pt.kept;
	const char *label = mean_label(&s->result->pt, false);
	const char *more = "", *less = "";

	if (l->beside) {
		less = l->ci;
		more = pt->n > 1 || *l->ci ? l->ci : split_text(s, l->unit);
	}
	print_figure(file, label, l->pt, l->columns, more, less);
	if (!l->beside)
		fprintf(file, "%*s%s\n", LABEL_COLUMNS, "", l->ci);
}

static void print_between(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	const struct run_interval *between = &s->result->pt.between;
	const struct run_variation *v = &between->variation;
	double step_ns = (between->high_ns - between->low_ns) / 4;
	const char *ci = text_brief(
		"95 %% CI %s", text_interval(between->low_ns, between->high_ns, step_ns, l->unit));
	const char *runs = text_brief(
		"%zu %s runs", v->n_runs, s->by_all_runs ? "other" : "earlier");

	print_figure(file, "  Between runs", ci, terminal_text_width(ci),
		text_brief("%s vary by %s", runs, text_percent(v->sd)), runs);
}

/* ET, then what PT is in other units, and PT: the last line is the answer. */
static void print_times(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	if (l->range_line)
		print_range(file, s, l);
	if (l->et_line)
		print_et(file, s, l);
	if (*s->inc_units)
		print_inc_units(file, s->inc_units);
	if (l->between_line)
		print_between(file, s, l);
	print_pt(file, s, l);
}

/* "backupd #7 #8, outlier #4". The caller frees it. */
static char *discards_with_numbers(const struct screen *s)
{
	char *text = NULL;
	size_t size;
	/* there may be numbers of 200,000 samples */
	FILE *stream = xopen_memstream(&text, &size);

	for (size_t i = 0; i < s->n_reasons; i++) {
		fprintf(stream, "%s%s", i ? ", " : "", terminal_text(s->reasons[i].name));
		for (size_t k = 0; k < s->reasons[i].n; k++)
			fprintf(stream, " #%u", s->reasons[i].samples[k]);
	}
	text_stream_close(stream, &text);
	return text;
}

char *screen_discards(const struct screen *s, size_t columns)
{
	_cleanup_(freep) char *numbers = discards_with_numbers(s);
	char *text = NULL;

	if (terminal_text_width(numbers) <= columns)
		return TAKE(numbers);
	for (size_t i = 0; i < s->n_reasons; i++) {
		size_t more = i + 1 < s->n_reasons ? terminal_text_width(", …") : 0;
		_cleanup_(freep) char *before = text_copy(text);

		text_append(&text, ", ", "%s in %zu", terminal_text(s->reasons[i].name),
			s->reasons[i].n);
		if (i > 0 && terminal_text_width(text) + more > columns) {
			free(text);
			return text_format("%s, …", before);
		}
	}
	return text;
}

/* Another mean is a detail if it lies within the interval. */
static bool is_within_interval(const struct clock_discarding *clock, const struct summary *other)
{
	return other->mean_ns >= clock->interval.low_ns &&
	       other->mean_ns <= clock->interval.high_ns;
}

/* "mean of all 20: 141.3 ms", where samples were discarded because of a neighbour and that made a
 * difference; else "papers' mean: 114.1 ms, without #2 #5", or of how many if the numbers do not
 * fit. Nothing if it is the same mean, and, as it is a detail, if it lies within the interval. */
static void other_mean_text(
	char buffer[LINE_SIZE], const struct screen *s, const char *unit, size_t columns)
{
	const struct clock_discarding *pt = &s->result->pt;
	const char *mean = text_in_unit(pt->papers.mean_ns, pt->papers.sd_ns, unit);
	bool within = is_within_interval(pt, &pt->papers);
	size_t at;

	*buffer = '\0';
	if (s->result->n_by_neighbour > 0 && pt->kept.n > 0 && !is_within_interval(pt, &pt->raw)) {
		snprintf(buffer, LINE_SIZE, "mean of all %zu: %s", pt->raw.n,
			text_in_unit(pt->raw.mean_ns, pt->raw.sd_ns, unit));
		return;
	}
	if (pt->n_by_two_sd == 0 || (within && !s->verbose))
		return;
	at = (size_t)snprintf(buffer, LINE_SIZE, "papers' mean: %s, without", mean);
	for (size_t i = 0; i < pt->n_by_two_sd && at < LINE_SIZE; i++)
		at += (size_t)snprintf(buffer + at, LINE_SIZE - at, " #%u", pt->by_two_sd[i]);
	if (terminal_text_width(buffer) > columns)
		snprintf(buffer, LINE_SIZE, "papers' mean of %s: %s",
			text_count(pt->papers.n, "sample"), mean);
}

/* How many columns another mean may have: half of `left`, or what the reasons leave of it. */
static size_t other_mean_columns(const char *reasons, size_t label, size_t left)
{
	size_t used = *reasons ? label + terminal_text_width(reasons) + strlen("; ") : 0;

	return used > left / 2 ? left / 2 : left - used;
}

/* Beside how many samples are kept: why others are not, and another mean, which is left out if not
 * even the first reason has room beside it. */
static void print_kept(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	static const char label[] = "discarded: ";
	_cleanup_(freep) char *all = screen_discards(s, SIZE_MAX), *least = screen_discards(s, 0),
			      *reasons = NULL;
	size_t n_kept = s->result->pt.kept.n, n = s->result->pt.raw.n;
	const char *kept = text_brief("  Kept %zu of %zu", n_kept, n), *hidden = "";
	int spaces = spaces_to(LABEL_COLUMNS - 2, kept) + 2;
	bool few = 2 * n_kept < n;
	size_t label_width = *all ? strlen(label) : 0, other_width, left;
	char other[LINE_SIZE];

	if (l->n_hidden)
		hidden = text_brief("   %s (-v)", text_count((int64_t)l->n_hidden, "warning"));
	left = terminal_columns(file) - strlen(kept) - (size_t)spaces - strlen(hidden);
	if (*least && label_width + terminal_text_width(least) > left && spaces > 2) {
		left += (size_t)spaces - 2; /* out of line, but whole */
		spaces = 2;
	}

	other_mean_text(other, s, l->unit, other_mean_columns(all, label_width, left));
	other_width = terminal_text_width(other) + strlen("; ");
	if (*least && other_width + label_width + terminal_text_width(least) > left)
		*other = '\0';
	if (!*other)
		other_width = 0;
	reasons = screen_discards(s, left - other_width - label_width);

	fprintf(file, "%s%s%s", few ? terminal_mark(file, MARK_WARN) : "", kept,
		few ? terminal_mark(file, MARK_END) : "");
	if (*reasons || *other)
		fprintf(file, "%*s%s%s%s%s", spaces, "", *reasons ? label : "", reasons,
			*reasons && *other ? "; " : "", other);
	fprintf(file, "%s\n", hidden);
}

const char *screen_disturbed_about(const struct daemon_statistics *o)
{
	return (double)o->disturbed_most_ns > 1.05 * (double)o->disturbed_ns ? "~" : "";
}

/* Of all screens, by name. Returns how many there are. */
static size_t gather_others(
	const struct screen *const *screens, size_t n, struct daemon_statistics **ret)
{
	struct daemon_statistics *all = NULL;
	size_t n_all = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < screens[i]->n_others; k++) {
			const struct daemon_statistics *o = &screens[i]->result->others.items[k];
			struct daemon_statistics *of = NULL;

			for (size_t j = 0; !of && j < n_all; j++)
				if (!strcmp(all[j].name, o->name))
					of = &all[j];
			if (!of) {
				*array_add(all, n_all) = *o;
				continue;
			}
			of->names = o->names > of->names ? o->names : of->names;
			of->disturbed_ns = saturate_add(of->disturbed_ns, o->disturbed_ns);
			of->disturbed_most_ns = saturate_add(
				of->disturbed_most_ns, o->disturbed_most_ns);
		}
	*ret = all;
	return n_all;
}

static int by_disturbed(const void *x, const void *y)
{
	const struct daemon_statistics *a = x, *b = y;

	return (a->disturbed_ns < b->disturbed_ns) - (a->disturbed_ns > b->disturbed_ns);
}

/* What the background processes explain of one program; "": nothing, or not known. */
static const char *explanation_text(const struct screen *s)
{
	double percent = 100 * fmin(1, s->explained);

	if (isnan(s->explained) || percent < 1)
		return "";
	if (!isnan(s->taken))
		return text_brief(" (%.0f %% of what was taken)", percent);
	return text_brief(" (%s %.0f %% of ET − PT)",
		s->explained >= EXPLAINS ? "may explain" : "at most", percent);
}

/* As many names as fit. Returns their width. */
static size_t print_names(
	FILE *file, const struct daemon_statistics *others, size_t n, size_t columns)
{
	size_t used = 0;

	for (size_t i = 0; i < n && i < SCREEN_OTHERS; i++) {
		const struct daemon_statistics *o = &others[i];
		double ns = (double)o->disturbed_ns;
		char one[LINE_SIZE];

		snprintf(one, sizeof(one), "%s%s%s %s%s", i ? ", " : "", terminal_text(o->name),
			family_size_text(o->names), screen_disturbed_about(o),
			text_precise(ns, ns / 10));
		if (i > 0 && used + terminal_text_width(one) > columns)
			break;
		used += terminal_text_width(one);
		fputs(one, file);
	}
	return used;
}

/* Prints a part of a line, if it still fits, and counts its width. */
static void print_if_it_fits(FILE *file, const char *text, size_t *used, size_t columns)
{
	size_t width = terminal_text_width(text);

	if (*used + width > columns)
		return;
	fputs(text, file);
	*used += width;
}

/* Who disturbed, what they may explain, `more`, and where there is more about them. */
static void print_others(
	FILE *file, const struct screen *const *screens, size_t n, const char *more)
{
	size_t columns = terminal_columns(file) - LABEL_COLUMNS, used, n_all;
	const char *hint = text_brief("emp-analyze show %" PRId64, screens[0]->result->run.id);
	_cleanup_(freep) struct daemon_statistics *all = NULL;

	n_all = gather_others(screens, n, &all);
	if (n_all == 0)
		return;
	if (n > 1)
		qsort(all, n_all, sizeof(*all), by_disturbed);
	fputs("  Disturbed by    ", file);
	used = print_names(file, all, n_all, columns - terminal_text_width(more));
	print_if_it_fits(file, n == 1 ? explanation_text(screens[0]) : "", &used,
		columns - terminal_text_width(more));
	print_if_it_fits(file, more, &used, columns);
	if (used + 2 + strlen(hint) <= columns)
		fprintf(file, "%*s", (int)(columns - used), hint);
	fputc('\n', file);
}

void screen_print_others(FILE *file, const struct screen *const *screens, size_t n)
{
	print_others(file, screens, n, "");
}

void screen_print_neighbour(FILE *file, const struct screen *const *screens, size_t n)
{
	const struct neighbour_time time = neighbour_of_all(screens, n);
	const char *where = " on the core's other thread", *share;

	if (!(time.share >= NEIGHBOUR_WORTH_NOTING))
		return;
	share = text_brief(" in %.0f %% of the time (%s)", 100 * time.share,
		time.n_beside == 0 ? "in no sample above the limit"
				   : text_brief("%zu of %s", time.n_beside,
					     text_count((int64_t)time.n_probed, "sample")));
	if (strlen("  Neighbour") + strlen(where) + strlen(share) > terminal_columns(file))
		where = "";
	fprintf(file, "  Neighbour%s%s\n", where, share);
}

void screen_print_name(FILE *file, const struct screen *s)
{
	const struct run *of = &s->result->run;
	const char *run = text_brief("run %" PRId64, of->id);
	const char *right = of->cpu < 0 ? run : text_brief("%s, CPU %d", run, of->cpu);
	size_t columns = terminal_columns(file) - strlen(right) - 2;
	size_t width = terminal_print_name(file, s->name, columns);

	fprintf(file, "%*s  %s\n", width < columns ? (int)(columns - width) : 0, "", right);
}

/* Where it is no line of its own. */
static void print_faint_neighbour(FILE *file, const struct neighbour_time *time)
{
	const char *probed = text_count((int64_t)time->n_probed, "sample");

	if (time->share > 0)
		fprintf(file, "  Neighbour in %s of the time (%s)\n", text_percent(time->share),
			probed);
	else
		fprintf(file, "  No neighbour seen on the core's other thread (%s)\n", probed);
}

/* Lines that only -v shows. */
static void print_verbose(FILE *file, const struct screen *s)
{
	const struct clock_discarding *pt = &s->result->pt;

	if (*peak_memory_text(&s->memory))
		print_figure(file, "  Peak memory", peak_memory_text(&s->memory), 0, "", "");
	if (s->neighbour.n_probed > 0 && s->neighbour.share < NEIGHBOUR_WORTH_NOTING)
		print_faint_neighbour(file, &s->neighbour);
	if (*s->mdd) {
		fputs("  ", file);
		terminal_wrap(file, s->mdd, 2, 4);
	}
	if (discarding_may_have_between(s->result) && !(pt->between.variation.df > 0))
		terminal_say(file, 4,
			"  How far separate runs differ is not known: 3 earlier runs of this "
			"command would tell");
	if (pt->interval.assumed && !isnan(pt->interval.low_ns)) {
		fputs("  ", file);
		terminal_wrap(file,
			text_brief(
				"With %zu samples and no calibration, the CI assumes independent "
				"samples (iid)",
				pt->kept.n),
			2, 4);
	}
}

void screen_print(FILE *file, const struct screen *s)
{
	_cleanup_(notes_clear) struct notes notes = notes_shown(s);
	const struct screen_layout l = layout_of(file, s, &notes);

	if (s->verbose)
		print_verbose(file, s);
	print_kept(file, s, &l);
	for (size_t i = 0; i < s->notes.n; i++)
		if (screen_note_is_asked(&s->notes.items[i]))
			terminal_say(file, 4, "  %s", s->notes.items[i].text);
	if (s->all_notes || l.n_warnings > 0)
		notes_print(file, &notes, s->all_notes ? ALL_NOTES : l.n_warnings,
			text_brief("emp-analyze show %" PRId64, s->result->run.id));
	if (l.neighbour_line)
		screen_print_neighbour(file, &s, 1);
	if (l.others_line)
		print_others(file, &s, 1,
			l.others_with_neighbour ? text_brief("; neighbour %.0f %% of the time",
							  100 * s->neighbour.share)
						: "");
	print_times(file, s, &l);
}

void screen_clear(struct screen *s)
{
	for (size_t i = 0; i < s->n_reasons; i++)
		free(s->reasons[i].samples);
	free(s->reasons);
	notes_clear(&s->notes);
	*s = (struct screen){};
}

void screen_add_reason(struct screen *s, const char *name, uint32_t sample)
{
	struct screen_reason *reason = NULL;

	for (size_t i = 0; !reason && i < s->n_reasons; i++)
		if (!strcmp(s->reasons[i].name, name))
			reason = &s->reasons[i];
	if (!reason) {
		reason = array_add(s->reasons, s->n_reasons);
		reason->name = name;
	}
	if (reason->n == 0 || reason->samples[reason->n - 1] != sample)
		*array_add(reason->samples, reason->n) = sample;
}

/* By number of samples, then by the first sample. */
static int by_count(const void *x, const void *y)
{
	const struct screen_reason *a = x, *b = y;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->samples[0] > b->samples[0]) - (a->samples[0] < b->samples[0]);
}

void screen_sort_reasons(struct screen *s)
{
	if (s->n_reasons > 0)
		qsort(s->reasons, s->n_reasons, sizeof(*s->reasons), by_count);
}

double mean_of_kept(const struct run_result *r, size_t offset)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		int64_t ns = *(const int64_t *)((const char *)&r->samples[i] + offset);

		if (r->discarding.out[i])
			continue;
		if (ns < 0)
			return NAN;
		sum += (double)ns;
		n++;
	}
	return n > 0 ? sum / (double)n : NAN;
}

/* Fills in how the time of all samples that are whole was spent. */
static void fill_shares(struct screen *s, const struct run_result *result)
{
	const struct discarding *d = s->result;
	double et = 0, pt = 0, wait = 0, known_et = 0, taken;

	for (size_t i = 0; i < result->n_samples; i++) {
		const struct sample *sample = &result->samples[i];
		int64_t wait_ns = sample_wait_ns(sample);

		if (!sample_is_whole(sample))
			continue;
		et += (double)sample->et_ns;
		pt += (double)sample->pt_ns;
		if (wait_ns < 0)
			continue;
		wait += (double)wait_ns;
		known_et += (double)sample->et_ns;
	}
	s->on_cpu = et > 0 ? pt / et : NAN;
	s->taken = et > 0 && known_et >= WAIT_KNOWN * et ? wait / known_et : NAN;

	while (s->n_others < d->others.n && s->n_others < SCREEN_OTHERS &&
		(double)d->others.items[s->n_others].disturbed_ns > LEAST_SHOWN * et)
		s->n_others++;
	taken = isnan(s->taken) ? et - pt - (double)s->held.ns : s->taken * et;
	s->explained = NAN;
	if (s->n_others > 0 && taken > WORTH_EXPLAINING * et)
		s->explained = (double)d->disturbed_ns / taken;
}

struct screen run_screen_fill(const struct run_result *result)
{
	const struct discarding *d = &result->discarding;
	struct screen s = {
		.result = d,
		.user_ns = mean_of_kept(result, offsetof(struct sample, user_ns)),
		.system_ns = mean_of_kept(result, offsetof(struct sample, system_ns)),
		.memory = peak_memory_of(result->samples, d->out, result->n_samples),
		.held = held_time_of(result->samples, result->n_samples),
		.neighbour = run_neighbour_time(result),
	};

	fill_shares(&s, result);
	for (size_t i = 0; i < d->n_over; i++)
		screen_add_reason(&s, d->over[i].daemon, d->over[i].sample);
	for (size_t i = 0; i < d->n_unprofiled; i++)
		screen_add_reason(&s, d->unprofiled[i].daemon, d->unprofiled[i].sample);
	for (size_t i = 0; i < d->n_by_neighbour; i++)
		screen_add_reason(&s, NEIGHBOUR_REASON, d->by_neighbour[i]);
	screen_sort_reasons(&s);
	for (size_t i = 0; i < d->n_incomplete; i++)
		screen_add_reason(&s, "lost records", d->incomplete[i]);
	for (size_t i = 0; i < d->n_by_duet; i++)
		screen_add_reason(&s, "another program", d->by_duet[i]);
	return s;
}
