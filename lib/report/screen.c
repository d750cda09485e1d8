/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first screen of a run, and its details: see screen.h. */
#include "lib/report/screen.h"

#include "lib/report/results.h"

enum { LABEL_COLUMNS = 18, LINE_SIZE = 512 };

/* Five ticks of a kernel with CONFIG_HZ=250. */
static const double FEW_TICKS_NS = 20e6;

/* A program that was off the CPU for more than this share of its ET gets a remark. */
static const double MOSTLY_ON_CPU = 0.95;

/* ET differs from PT by more than this share of it. */
static const double ET_DIFFERS = 0.05;

/* The samples count as less than this share of them. */
static const double ALIKE = 0.25;

/* PT may contain this much from before the start of ET, or from after its end. */
static const double MOST_OF_A_START_NS = 1e6, LEAST_OF_A_START_NS = 2e4;

/* Of ET − PT: if other processes used at least this share, they may explain all of it. */
static const double EXPLAINS = 0.8;

static int spaces_to(size_t column, const char *text)
{
	size_t width = terminal_text_width(text);

	return width < column ? (int)(column - width) : 0;
}

static const char *center_text(const struct summary *t, const char *unit)
{
	if (t->n == 0)
		return "no sample is kept";
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
		more = used + terminal_text_width(less) > terminal_columns(file) ? "" : less;
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

/* Whether PT is more than ET by that much although the program was on one CPU: PT includes the work
 * before exec. */
static bool pt_includes_start(const struct discarding *d, double least_ns)
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
	if (!isnan(s->taken)) /* shorter where there is more to say */
		return text_brief(", %.0f %% taken%s%s", 100 * s->taken,
			held > 0 ? "" : " by others", by_quota);
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
	bool et_line, others_line, range_line;
};

static bool et_differs(const struct discarding *d)
{
	double pt = d->pt.kept.mean_ns, et = d->et.kept.mean_ns;

	return d->run.kind != RUN_DUET && d->et.kept.n > 0 && !(fabs(et - pt) <= ET_DIFFERS * pt);
}

bool screen_shows_et(const struct screen *s)
{
	return et_differs(s->result);
}

/* The samples count as so few that the mean itself is doubtful. */
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
	return !strncmp(note->text, "perf: ", strlen("perf: "));
}

/* The notes that are more than details, without those that were asked for; the caller clears it. */
static struct notes notes_shown(const struct screen *s)
{
	struct notes shown = {};

	for (size_t i = 0; i < s->notes.n; i++)
		if (!screen_note_is_asked(&s->notes.items[i]) &&
			(s->verbose || !screen_note_is_detail(&s->notes.items[i], &s->result->pt)))
			notes_add(&shown, s->notes.items[i].kind, "%s", s->notes.items[i].text);
	return shown;
}

static bool take_line(size_t *left, bool wanted)
{
	if (!wanted || *left == 0)
		return false;
	(*left)--;
	return true;
}

/* Which lines there are: those that are always there, then by what they mean for the reading. A
 * note that may change the reading comes before who disturbed, others after. */
static struct screen_layout layout_of(FILE *file, const struct screen *s, const struct notes *notes)
{
	const struct discarding *d = s->result;
	const struct summary *pt = &d->pt.kept;
	const struct interval *ci = &d->pt.interval;
	size_t n_grave = 0;
	struct screen_layout l = {
		.ci = "", .unit = s->unit ?: text_unit(pt->mean_ns, d->et.kept.mean_ns)};
	size_t left = s->verbose ? SIZE_MAX : SCREEN_LINES - 3; /* name, Kept, PT */

	l.pt = center_text(pt, l.unit);
	l.et = center_text(&d->et.kept, l.unit);
	for (int brief = 0; !l.beside && brief < 2; brief++) {
		const char *assumed = brief ? " (iid)" : " if iid";

		if (!isnan(ci->low_ns))
			l.ci = text_brief("95 %% CI%s %s", ci->assumed ? assumed : "",
				text_interval(ci->low_ns, ci->high_ns, pt->sd_ns, l.unit));
		l.beside = LABEL_COLUMNS + terminal_text_width(l.pt) + 3 +
				   terminal_text_width(l.ci) <=
			   terminal_columns(file);
	}
	take_line(&left, !l.beside);
	take_line(&left, *s->inc_units != '\0');
	while (n_grave < notes->n && notes->items[n_grave].kind < NOTE_CORRELATION)
		n_grave++;
	l.n_warnings = take_line(&left, n_grave > 0);
	l.et_line = take_line(&left, et_differs(d));
	l.others_line = take_line(&left, s->n_others > 0);
	while (l.n_warnings < notes->n && take_line(&left, true))
		l.n_warnings++;
	l.n_hidden = l.n_warnings > 0 ? 0 : notes->n;
	if (!l.et_line)
		l.et_line = take_line(&left, d->et.kept.n > 0);
	l.range_line = take_line(&left, pt->n > 1);
	l.columns = terminal_text_width(l.pt);
	if (l.et_line && terminal_text_width(l.et) > l.columns)
		l.columns = terminal_text_width(l.et);
	return l;
}

/* ET, then what PT is in other units, and PT: the last line is the answer. */
static void print_times(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	const struct summary *pt = &s->result->pt.kept, *et = &s->result->et.kept;
	const char *cv = pt->n > 1 ? text_brief("CV %s", text_percent(pt->relative_error)) : "";
	const char *split = split_text(s, l->unit), *range;
	const char *share = ""; /* not known */

	if (s->on_cpu > 1 && !pt_includes_start(s->result, 0))
		share = text_brief("on %.2g CPUs", s->on_cpu);
	else if (!isnan(s->on_cpu))
		share = text_brief("%.0f %% on CPU", 100 * fmin(1, s->on_cpu));
	if (l->range_line) {
		range = text_interval(
			(double)pt->min_ns, (double)pt->max_ns, range_step(pt), l->unit);
		print_figure(file, "  PT range", range, terminal_text_width(range),
			text_brief("%s%s%s", cv, *cv && *split ? "   " : "", split), cv);
	}
	if (l->et_line)
		print_figure(file, et->n > 1 ? "  ET (mean ± σ)" : "  ET", l->et, l->columns,
			et->n > 0 ? text_brief("%s%s", share, waiting_text(s)) : "",
			et->n > 0 ? share : "");
	if (*s->inc_units &&
		LABEL_COLUMNS + terminal_text_width(s->inc_units) <= terminal_columns(file))
		print_figure(file, "  In INC units", s->inc_units, 0, "", "");
	else if (*s->inc_units) /* the interval is the last figure: what is between is left out */
		print_figure(file, "  In INC units",
			text_brief("%.*s%s", (int)strcspn(s->inc_units, "C") - 1, s->inc_units,
				strstr(s->inc_units, "95 %") ?: ""),
			0, "", "");
	print_figure(file, pt->n > 1 ? "  PT (mean ± σ)" : "  PT", l->pt, l->columns,
		!l->beside            ? ""
		: pt->n > 1 || *l->ci ? l->ci
				      : split,
		l->beside ? l->ci : "");
	if (!l->beside)
		fprintf(file, "%*s%s\n", LABEL_COLUMNS, "", l->ci);
}

char *screen_discards(const struct screen *s, size_t columns)
{
	_cleanup_(freep) char *numbers = NULL;
	char *text = NULL;
	size_t size;
	/* there may be numbers of 200,000 samples */
	FILE *stream = xopen_memstream(&numbers, &size);

	for (size_t i = 0; i < s->n_reasons; i++) {
		fprintf(stream, "%s%s", i ? ", " : "", terminal_text(s->reasons[i].name));
		for (size_t k = 0; k < s->reasons[i].n; k++)
			fprintf(stream, " #%u", s->reasons[i].samples[k]);
	}
	text_stream_close(stream, &numbers);
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

/* "papers' mean: 114.1 ms, without #2 #5", or of how many if the numbers do not fit; nothing if it
 * is the same mean, and, as it is a detail, if it lies within the interval. */
static void papers_text(
	char buffer[LINE_SIZE], const struct screen *s, const char *unit, size_t columns)
{
	const struct clock_discarding *pt = &s->result->pt;
	const char *mean = text_in_unit(pt->papers.mean_ns, pt->papers.sd_ns, unit);
	bool within = pt->papers.mean_ns >= pt->interval.low_ns &&
		      pt->papers.mean_ns <= pt->interval.high_ns;
	size_t at;

	*buffer = '\0';
	if (pt->n_by_two_sd == 0 || (within && !s->verbose))
		return;
	at = (size_t)snprintf(buffer, LINE_SIZE, "papers' mean: %s, without", mean);
	for (size_t i = 0; i < pt->n_by_two_sd && at < LINE_SIZE; i++)
		at += (size_t)snprintf(buffer + at, LINE_SIZE - at, " #%u", pt->by_two_sd[i]);
	if (terminal_text_width(buffer) > columns)
		snprintf(buffer, LINE_SIZE, "papers' mean of %s: %s",
			text_count(pt->papers.n, "sample"), mean);
}

/* The papers' mean has half of the line or what the reasons leave, and nothing if then not even the
 * first reason fits. */
static void print_kept(FILE *file, const struct screen *s, const struct screen_layout *l)
{
	static const char label[] = "discarded: ";
	_cleanup_(freep) char *all = screen_discards(s, SIZE_MAX), *least = screen_discards(s, 0),
			      *text = NULL;
	size_t n_kept = s->result->pt.kept.n, n = s->result->pt.raw.n;
	bool few = 2 * n_kept < n;
	const char *kept = text_brief("  Kept %zu of %zu", n_kept, n);
	int spaces = spaces_to(LABEL_COLUMNS - 2, kept) + 2;
	const char *hidden = !l->n_hidden ? ""
					  : text_brief("   %s (-v)",
						    text_count((int64_t)l->n_hidden, "warning"));
	size_t left = terminal_columns(file) - strlen(kept) - (size_t)spaces - strlen(hidden),
	       wanted;
	size_t before = *all ? strlen(label) : 0,
	       taken = before + terminal_text_width(all) + strlen("; ");
	char papers[LINE_SIZE];

	papers_text(papers, s, l->unit, taken > left / 2 ? left / 2 : left - (*all ? taken : 0));
	wanted = terminal_text_width(papers) + strlen("; ");
	if (*least && wanted + before + terminal_text_width(least) > left)
		*papers = '\0';
	if (!*papers)
		wanted = 0;
	text = screen_discards(s, left - wanted - before);
	fprintf(file, "%s%s%s", few ? terminal_mark(file, MARK_WARN) : "", kept,
		few ? terminal_mark(file, MARK_END) : "");
	if (*text || *papers)
		fprintf(file, "%*s%s%s%s%s", spaces, "", *text ? label : "", text,
			*text && *papers ? "; " : "", papers);
	fprintf(file, "%s\n", hidden);
}

/* "~" where the time is a part of what several daemons took together, who used more CPU time than
 * that. */
static const char *disturbed_about(const struct daemon_statistics *o)
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

/* As many names as fit, what they may explain, and where there is more about them. */
void screen_print_others(FILE *file, const struct screen *const *screens, size_t n)
{
	const struct screen *s = screens[0];
	size_t columns = terminal_columns(file) - LABEL_COLUMNS, used = 0, n_all;
	const char *hint = text_brief("emp-analyze show %" PRId64, s->result->run.id),
		   *explanation = "";
	double percent = n == 1 && !isnan(s->explained) ? 100 * fmin(1, s->explained) : NAN;
	_cleanup_(freep) struct daemon_statistics *all = NULL;

	n_all = gather_others(screens, n, &all);
	if (n_all == 0)
		return;
	if (n > 1)
		qsort(all, n_all, sizeof(*all), by_disturbed);
	fputs("  Disturbed by    ", file);
	for (size_t i = 0; i < n_all && i < SCREEN_OTHERS; i++) {
		const struct daemon_statistics *o = &all[i];
		double ns = (double)o->disturbed_ns;
		char one[LINE_SIZE];

		snprintf(one, sizeof(one), "%s%s%s %s%s", i ? ", " : "", terminal_text(o->name),
			family_size_text(o->names), disturbed_about(o), text_precise(ns, ns / 10));
		if (i > 0 && used + terminal_text_width(one) > columns)
			break;
		used += terminal_text_width(one);
		fputs(one, file);
	}
	if (percent >= 1 && !isnan(s->taken))
		explanation = text_brief(" (%.0f %% of what was taken)", percent);
	else if (percent >= 1)
		explanation = text_brief(" (%s %.0f %% of ET − PT)",
			s->explained >= EXPLAINS ? "may explain" : "at most", percent);
	if (used + terminal_text_width(explanation) <= columns) {
		fputs(explanation, file);
		used += terminal_text_width(explanation);
	}
	if (used + 2 + strlen(hint) <= columns)
		fprintf(file, "%*s", (int)(columns - used), hint);
	fputc('\n', file);
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

void screen_print(FILE *file, const struct screen *s)
{
	const struct discarding *d = s->result;
	_cleanup_(notes_clear) struct notes notes = notes_shown(s);
	const struct screen_layout l = layout_of(file, s, &notes);

	if (s->verbose && *peak_memory_text(&s->memory))
		print_figure(file, "  Peak memory", peak_memory_text(&s->memory), 0, "", "");
	if (s->verbose && *s->mdd) {
		fputs("  ", file);
		terminal_wrap(file, s->mdd, 2, 4);
	}
	if (s->verbose && d->pt.interval.assumed && !isnan(d->pt.interval.low_ns)) {
		fputs("  ", file);
		terminal_wrap(file,
			text_brief(
				"With %zu samples and no calibration, the CI assumes independent "
				"samples (iid)",
				d->pt.kept.n),
			2, 4);
	}
	print_kept(file, s, &l);
	for (size_t i = 0; i < s->notes.n; i++)
		if (screen_note_is_asked(&s->notes.items[i]))
			terminal_say(file, 4, "  %s", s->notes.items[i].text);
	if (s->all_notes || l.n_warnings > 0)
		notes_print(file, &notes, s->all_notes ? ALL_NOTES : l.n_warnings,
			text_brief("emp-analyze show %" PRId64, d->run.id));
	if (l.others_line)
		screen_print_others(file, &s, 1);
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

/* The details, below the first screen. */

/* The most samples that are discarded for one kind of reason, and the most other processes, that
 * get a line each. */
enum { MOST_LINES = 10 };

/* A sample with several executions of one daemon over the cutoff counts once. */
static void add_reason(struct screen *s, const char *name, uint32_t sample)
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

/* In how many samples each daemon was over its limit, the most frequent ones first. */
static void print_over_counts(FILE *file, const struct over_cutoff *over, size_t n)
{
	_cleanup_(screen_clear) struct screen counted = {};
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < n; i++)
		add_reason(&counted, over[i].daemon, over[i].sample);
	qsort(counted.reasons, counted.n_reasons, sizeof(*counted.reasons), by_count);
	for (size_t i = 0; i < counted.n_reasons && i < MOST_LINES; i++)
		text_append(&text, ", ", "%s in %zu%s", counted.reasons[i].name,
			counted.reasons[i].n, i == 0 ? " samples" : "");
	if (counted.n_reasons > MOST_LINES)
		text_append(&text, " ", "and %zu more", counted.n_reasons - MOST_LINES);
	terminal_say(file, 4, "  In all: %s", text);
}

/* The first of a long list; -v: all. Returns how many. */
static size_t begin_list(size_t n, bool all)
{
	return all || n <= MOST_LINES ? n : MOST_LINES;
}

static void end_list(FILE *file, size_t n, size_t shown)
{
	if (shown < n)
		fprintf(file, "  and %zu more (-v lists them)\n", n - shown);
}

static void print_over_cutoffs(
	FILE *file, const struct over_cutoff *over, size_t n, const char *limit, bool all)
{
	size_t shown = begin_list(n, all);

	for (size_t i = 0; i < shown; i++) {
		const struct over_cutoff *o = &over[i];
		_cleanup_(freep) char *unit = o->unit ? text_format(" (%s)", o->unit) : NULL;

		terminal_say(file, 4, "  sample %u: %s%s used %s, %s %s", o->sample, o->daemon,
			unit ?: "", text_duration(o->pt_ns), limit, text_duration(o->cutoff_ns));
	}
	end_list(file, n, shown);
	if (shown < n)
		print_over_counts(file, over, n);
}

static void print_samples(FILE *file, const uint32_t *samples, size_t n, const char *why, bool all)
{
	size_t shown = begin_list(n, all);

	for (size_t i = 0; i < shown; i++)
		terminal_say(file, 4, "  sample %u: %s", samples[i], why);
	end_list(file, n, shown);
}

static void print_outliers(FILE *file, const struct run_result *r, bool et, bool all)
{
	const struct clock_discarding *c = et ? &r->discarding.et : &r->discarding.pt;
	const char *name = et ? "ET" : "PT";

	if (!all && c->n_by_two_sd > MOST_LINES) {
		terminal_say(file, 4,
			"  %zu samples: %s is more than 2 sd from the mean (-v lists them)",
			c->n_by_two_sd, name);
		return;
	}
	for (size_t i = 0; i < r->n_samples; i++)
		if (!c->in_papers[i] && !r->discarding.out[i])
			terminal_say(file, 4,
				"  sample %u: %s %s is more than 2 sd from the mean (papers' check)",
				r->samples[i].n, name,
				text_precise(
					(double)sample_time_ns(&r->samples[i], et), c->kept.sd_ns));
}

static void print_stages(
	FILE *file, const char *label, const struct clock_discarding *c, const char *unit)
{
	if (c->raw.n != c->kept.n && c->raw.n > 1)
		terminal_say(file, 4, "  %s of all samples: %s, CV %s, range %s", label,
			text_mean_sd(c->raw.mean_ns, c->raw.sd_ns, unit),
			text_percent(c->raw.relative_error),
			text_interval((double)c->raw.min_ns, (double)c->raw.max_ns,
				range_step(&c->raw), unit));
	if (c->papers.n != c->kept.n && c->papers.n > 1)
		terminal_say(file, 4, "  %s as in the papers: %s, CV %s", label,
			text_mean_sd(c->papers.mean_ns, c->papers.sd_ns, unit),
			text_percent(c->papers.relative_error));
}

static void print_others_table(FILE *file, const struct daemons *others)
{
	static const struct column columns[] = {
		{"  CPU USED BY"},
		{"UNIT", COLUMN_WRAP},
		{"DISTURBED", COLUMN_NUMBER},
		{"TOTAL", COLUMN_NUMBER},
		{"LONGEST", COLUMN_NUMBER},
		{"SAMPLE", COLUMN_NUMBER},
		{"IN PROFILE"},
		{},
	};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < others->n && i < MOST_LINES; i++) {
		const struct daemon_statistics *o = &others->items[i];
		_cleanup_(freep) char *label = text_format(
			"  %s%s", o->name, family_size_text(o->names));

		table_row(table, columns, TEXT(label), TEXT(o->unit),
			TEXT(text_brief(
				"%s%s", disturbed_about(o), text_duration(o->disturbed_ns))),
			TIME(o->total_ns), TIME(o->max_ns), NUMBER(o->max_sample),
			TEXT(o->profiled ? "yes" : "no"));
	}
	table_print(table, file);
	if (others->n > MOST_LINES)
		fprintf(file, "  and %zu more\n", others->n - MOST_LINES);
}

void run_details_print(FILE *file, const struct run_result *r, const char *unit, bool all)
{
	int64_t observer_ns = 0, lost = 0, left_behind = 0, n = 0;
	const struct discarding *d = &r->discarding;

	print_over_cutoffs(file, d->over, d->n_over, "cutoff", all);
	print_over_cutoffs(file, d->unprofiled, d->n_unprofiled, "unprofiled; allowed", all);
	print_samples(file, d->incomplete, d->n_incomplete,
		"incomplete: records of processes that ended were lost", all);
	print_samples(file, d->by_duet, d->n_by_duet,
		"discarded because of another program of the duet", all);
	print_outliers(file, r, false, all);
	print_outliers(file, r, true, all);
	print_stages(file, "PT", &d->pt, unit);
	print_stages(file, "ET", &d->et, unit);
	print_others_table(file, &d->others);
	for (size_t i = 0; i < r->disturbances.n; i++) {
		_cleanup_(freep) char *text = disturbance_description(&r->disturbances, i);

		fputs("  Warning:", file);
		terminal_wrap(file, text, strlen("  Warning:"), 4);
	}
	for (size_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->samples[i];

		lost = saturate_add(lost, s->lost);
		left_behind += s->left_behind;
		observer_ns = saturate_add(observer_ns, s->observer_ns < 0 ? 0 : s->observer_ns);
		n += s->observer_ns >= 0;
	}
	if (lost > 0)
		terminal_say(file, 4, "  Warning: %lld records of processes that ended were lost",
			(long long)lost);
	if (left_behind > 0)
		terminal_say(file, 4, "  The program left %lld process%s behind, in all samples",
			(long long)left_behind, left_behind == 1 ? "" : "es");
	if (n > 0) {
		_cleanup_(freep) char *text = text_format(
			"Accounting: %s, %s of CPU time per sample; PT from %s",
			d->run.backend ?: "imported", text_duration(observer_ns / n),
			d->run.pt_source ?: "an import");

		fputs("  ", file);
		terminal_wrap(file, text, 2, 4);
	}
}

/* A run's result for the first screen, and the notes on it. */

/* Thresholds, as shares of the ET of all samples: for processes that are shown, and for waiting
 * that is explained. */
static const double LEAST_SHOWN = 0.001, WORTH_EXPLAINING = 0.01;
/* Minimum share of ET with known W. */
static const double WAIT_KNOWN = 0.9;
/* A daemon that discards more of the samples is worth a warning. */
static const double MANY_DISCARDED = 0.05;
/* The share of samples that count. Ten samples alone often seem to be more alike than they are. */
static const double WORTH_NOTING = 0.8, WORTH_NOTING_ALONE = 0.5;

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

struct screen run_screen_fill(const struct run_result *result)
{
	const struct discarding *d = &result->discarding;
	struct screen s = {
		.result = d,
		.user_ns = mean_of_kept(result, offsetof(struct sample, user_ns)),
		.system_ns = mean_of_kept(result, offsetof(struct sample, system_ns)),
		.memory = peak_memory_of(result->samples, d->out, result->n_samples),
		.held = held_time_of(result->samples, result->n_samples),
	};
	double et = 0, pt = 0, wait = 0, known_et = 0, taken;

	for (size_t i = 0; i < result->n_samples; i++) {
		const struct sample *sample = &result->samples[i];
		int64_t wait_ns = sample_wait_ns(sample);

		if (!sample_is_whole(sample))
			continue;
		et += (double)sample->et_ns;
		pt += (double)sample->pt_ns;
		wait += wait_ns < 0 ? 0 : (double)wait_ns;
		known_et += wait_ns < 0 ? 0 : (double)sample->et_ns;
	}
	while (s.n_others < d->others.n && s.n_others < SCREEN_OTHERS &&
		(double)d->others.items[s.n_others].disturbed_ns > LEAST_SHOWN * et)
		s.n_others++;
	s.on_cpu = et > 0 ? pt / et : NAN;
	s.taken = et > 0 && known_et >= WAIT_KNOWN * et ? wait / known_et : NAN;
	taken = isnan(s.taken) ? et - pt - (double)s.held.ns : s.taken * et;
	s.explained = taken > WORTH_EXPLAINING * et && s.n_others > 0
			      ? (double)d->disturbed_ns / taken
			      : NAN;
	for (size_t i = 0; i < d->n_over; i++)
		add_reason(&s, d->over[i].daemon, d->over[i].sample);
	for (size_t i = 0; i < d->n_unprofiled; i++)
		add_reason(&s, d->unprofiled[i].daemon, d->unprofiled[i].sample);
	if (s.n_reasons > 0)
		qsort(s.reasons, s.n_reasons, sizeof(*s.reasons), by_count);
	for (size_t i = 0; i < d->n_incomplete; i++)
		add_reason(&s, "lost records", d->incomplete[i]);
	for (size_t i = 0; i < d->n_by_duet; i++)
		add_reason(&s, "another program", d->by_duet[i]);
	return s;
}

void run_screen_note_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n)
{
	const struct clock_discarding *worst = NULL;
	double count;
	bool whole;

	for (size_t i = 0; i < n; i++) {
		const struct interval *interval = &programs[i]->interval;
		double least = interval->calibrated ? WORTH_NOTING : WORTH_NOTING_ALONE;

		if (programs[i]->kept.n > 0 &&
			interval->effective_n <= least * (double)programs[i]->kept.n &&
			(!worst || interval->lag1 > worst->interval.lag1))
			worst = programs[i];
	}
	count = worst ? worst->interval.effective_n : 0;
	whole = count >= 10; /* 9.4, 130 */
	if (worst)
		notes_add(notes, NOTE_CORRELATION,
			"Neighbouring samples %s alike (correlation %s%.2f): %zu count as %.*g in %s",
			worst->interval.calibrated ? "are" : "seem", n > 1 ? "≤ " : "",
			worst->interval.lag1, worst->kept.n, whole ? 9 : 2,
			whole ? round(count) : count, n > 1 ? "CIs" : "the CI");
}

/* What the ends of the program do to its times. Returns how many processes were left behind. */
static int64_t note_ends(struct notes *notes, const struct run_result *result)
{
	size_t n_leaving = 0, n_late = 0, n = result->n_samples;
	int64_t left_behind = 0, late_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *sample = &result->samples[i];
		bool late = sample_is_late(sample);

		n_leaving += sample->left_behind > 0;
		left_behind += sample->left_behind;
		n_late += late;
		if (late && sample->et_late_ns > late_ns)
			late_ns = sample->et_late_ns;
	}
	if (left_behind > 0)
		notes_add(notes, NOTE_PROGRAM,
			"%" PRId64 " process%s left behind in %zu of %zu samples: in PT, not in ET",
			left_behind, left_behind == 1 ? "" : "es", n_leaving, n);
	if (n_late > 0)
		notes_add(notes, NOTE_PROGRAM,
			"ET is up to %s too long in %zu of %zu samples: the end was seen late",
			text_duration(late_ns), n_late, n);
	return left_behind;
}

/* "/docker/4f2a1b6c8d0e…": ids of containers have 64 digits. The caller frees it. */
static char *shorten_ids(const char *groups)
{
	enum { LONG = 24, KEPT = 12 };
	char *text = xstrdup("");

	while (*groups) {
		size_t n = strcspn(groups, "/; "), separators;

		text_append(&text, "", "%.*s%s", (int)(n > LONG ? KEPT : n), groups,
			n > LONG ? "…" : "");
		groups += n;
		separators = strspn(groups, "/; ");
		text_append(&text, "", "%.*s", (int)separators, groups);
		groups += separators;
	}
	return text;
}

/* That control groups held the program back: throttled by a quota, stopped or delayed. */
static void note_held_back(struct notes *notes, const struct run *run, const struct held_time *held)
{
	_cleanup_(freep) char *by = shorten_ids(run->held_back_by ?: "a control group");

	if (held->share > HELD_WORTH_NOTING)
		notes_add(notes, held->share > HELD_TOO_LONG ? NOTE_UNMEASURABLE : NOTE_PROGRAM,
			"%s: held back by %s: %s (%s)",
			held->share > HELD_TOO_LONG ? "Unmeasurable" : "Warning", by,
			text_duration(held->ns), text_percent(held->share));
	else if (held->ns == 0 && run->held_back_by)
		notes_add(notes, NOTE_PROGRAM,
			"Warning: held back by %s; the kernel does not say how long", by);
}

void run_notes_add(
	struct notes *notes, const struct run_result *result, const struct profile *profile)
{
	static const uint32_t CHANGE_SPEED = 1 << COUNTER_THROTTLES | 1 << COUNTER_SWAPPED_IN |
					     1 << COUNTER_SWAPPED_OUT | 1 << COUNTER_SUSPENDED |
					     1 << COUNTER_INTERRUPTS;
	_cleanup_(screen_clear) struct screen s = run_screen_fill(result);
	const struct disturbances *all = &result->disturbances;
	const struct discarding *d = &result->discarding;
	const struct screen_reason *most = d->n_over + d->n_unprofiled > 0 ? &s.reasons[0] : NULL;
	double more_ns = d->pt.kept.mean_ns - d->et.kept.mean_ns;
	_cleanup_(freep) char *noise = NULL;
	char here[32] = "is not pinned";
	struct impossible_pt impossible;
	size_t failures = 0;

	note_held_back(notes, &d->run, &s.held);
	for (size_t i = 0; i < result->n_samples; i++)
		failures += result->samples[i].exit_status > 0;
	if (failures > 0)
		notes_add(notes, NOTE_PROGRAM, "Warning: the program failed in %zu of %zu samples",
			failures, result->n_samples);
	if (2 * d->pt.kept.n < result->n_samples)
		notes_add(notes, NOTE_FEW,
			"Warning: few samples kept; take more (-r), or try 'emp-setup apply'");
	impossible = impossible_pt_find(
		&d->run, result->samples, result->n_samples, result->counters, result->n_counters);
	if (impossible.n > 0) /* the first is described */
		notes_add(notes, NOTE_PROGRAM,
			"Warning: impossible PT in %zu of %zu samples (%u: %s, %s %s)",
			impossible.n, result->n_samples, impossible.sample,
			text_duration(impossible.pt_ns),
			impossible.pt_ns > impossible.limit_ns ? "ET" : "others ≥",
			text_duration(impossible.limit_ns));
	if (most && most->n >= 2 && (double)most->n > MANY_DISCARDED * (double)result->n_samples)
		notes_add(notes, NOTE_FEW,
			"Warning: %s discards %zu of %zu samples (emp-analyze daemons %" PRId64 ")",
			most->name, most->n, result->n_samples, d->run.id);
	noise = profile ? noise_text(profile->name, &profile->mark) : NULL;
	if (noise)
		notes_add(notes, NOTE_NOISE, "%s", noise);
	if (profile && profile->cpu >= 0 && profile->cpu != d->run.cpu) {
		if (d->run.cpu >= 0)
			snprintf(here, sizeof(here), "is on CPU %d", d->run.cpu);
		notes_add(notes, NOTE_PROFILE,
			"Warning: profile '%s' was made on CPU %d, this run %s", profile->name,
			profile->cpu, here);
	}
	/* disturbances that change the program's own time */
	for (size_t i = 0; i < all->n; i++)
		if (CHANGE_SPEED >> all->items[i].which & 1) {
			_cleanup_(freep) char *text = disturbance_description(all, i);

			notes_add(notes, NOTE_NOISE, "Warning: %s", text);
		}
	if (note_ends(notes, result) == 0 && d->run.kind != RUN_LOAD && d->pt.kept.n > 0 &&
		pt_includes_start(d, LEAST_OF_A_START_NS))
		notes_add(notes, NOTE_OTHER,
			"PT is %s more than ET: it includes the work to start the program",
			text_precise(more_ns, more_ns / 10));
	run_screen_note_correlation(notes, (const struct clock_discarding *[]){&d->pt}, 1);
}

int run_notes_load(struct book *book, const struct run_result *result,
	const struct profile *profile, bool today, struct notes *ret, char ret_mdd[MDD_TEXT_SIZE],
	struct error *err)
{
	const struct run *run = &result->discarding.run;
	struct note *last;
	int r = today ? 0 : book_rows(book, run->id, &note_table, &ret->items, &ret->n, err);

	*ret_mdd = '\0';
	if (r < 0)
		return r;
	if (ret->n > 0) {
		last = &ret->items[ret->n - 1];
		if (last->kind == NOTE_RESOLUTION) { /* it is shown elsewhere */
			snprintf(ret_mdd, MDD_TEXT_SIZE, "%s", last->text);
			fields_clear(&note_table, last);
			ret->n--;
		}
		return 0;
	}
	run_notes_add(ret, result, profile);
	r = profile ? profile_changes_note(ret, book, profile, run->environment, NULL, err) : 0;
	if (r == 0 && profile && profile->other_inc)
		notes_add(ret, NOTE_PROFILE,
			"Profile '%s' is of another INC than this run: only its cutoffs are used",
			profile->name);
	return r < 0 ? r : mdd_text(book, run, profile, result->n_samples, ret_mdd, err);
}
