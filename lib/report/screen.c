/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first screen of a run, and its details: see screen.h. */
#include "lib/report/screen.h"

#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/protocol/disturbances.h"
#include "lib/protocol/names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL_COLUMNS = 18, LINE_SIZE = 512, FIXED_LINES = 5 };

/* Five ticks of a kernel with CONFIG_HZ=250. */
static const double FEW_TICKS_NS = 20e6;

/* A program that was off the CPU for more than this share of its ET gets a remark. */
static const double MOSTLY_ON_CPU = 0.95;

/* PT may contain this much from before the start of ET. */
static const double MOST_OF_A_START_NS = 1e6;

/* Of ET − PT: if other processes used at least this share, they may explain all of it. */
static const double EXPLAINS = 0.8;

static int spaces_to(size_t column, const char *text)
{
	size_t width = terminal_text_width(text);

	return width < column ? (int)(column - width) : 0;
}

/* Three digits, or two if they are approximate. */
static const char *part_text(char buffer[TEXT_TIME_SIZE], double ns, const struct screen *s)
{
	return ns < 1 ? "0" : text_in_unit(buffer, ns, s->approximate ? ns : ns / 10, s->unit);
}

static const char *center_text(char buffer[TEXT_PAIR_SIZE], const struct summary *t, const char *unit)
{
	if (t->n == 0)
		return "no sample is kept";
	text_mean_sd(buffer, t->mean_ns, t->sd_ns, unit);
	if (t->n == 1)
		*strstr(buffer, " ±") = '\0';
	return buffer;
}

static const char *interval_text(char buffer[TEXT_PAIR_SIZE], const struct screen *s)
{
	*buffer = '\0';
	if (isnan(s->interval.low_ns))
		return buffer;
	return text_interval(buffer, s->interval.low_ns, s->interval.high_ns, s->pt.sd_ns, s->unit);
}

/* A label, a figure padded to `columns`, and a remark if it fits. */
static void print_figure(FILE *file, const char *label, const char *figure, size_t columns, const char *more)
{
	bool strong = label[2] == 'P';

	if (LABEL_COLUMNS + columns + 3 + terminal_text_width(more) > terminal_columns(file))
		more = "";
	fprintf(file, "%s%*s%s%s%s", label, spaces_to(LABEL_COLUMNS, label), "",
		strong ? terminal_mark(file, MARK_STRONG) : "", figure,
		strong ? terminal_mark(file, MARK_END) : "");
	if (*more)
		fprintf(file, "%*s   %s", spaces_to(columns, figure), "", more);
	fputc('\n', file);
}

static void print_pt(FILE *file, const struct screen *s, const char *figure, size_t columns)
{
	char cv[TEXT_TIME_SIZE], split[LINE_SIZE], more[2 * LINE_SIZE];
	char user[TEXT_TIME_SIZE], system[TEXT_TIME_SIZE];
	const char *about = s->approximate ? "~" : "";

	/* "[user 118 ms, system 11 ms]", or nothing if the program is too short for times counted in
	 * ticks. */
	*split = '\0';
	if (s->user_ns >= 0 && s->system_ns >= 0 && !(s->approximate && s->pt.mean_ns < FEW_TICKS_NS))
		snprintf(split, LINE_SIZE, "[user %s%s, system %s%s]", about, part_text(user, s->user_ns, s),
			about, part_text(system, s->system_ns, s));
	if (s->pt.n < 2) {
		print_figure(file, "  PT", figure, columns, s->pt.n ? split : "");
		return;
	}
	snprintf(more, sizeof(more), "CV %s%s%s", text_percent(cv, s->pt.relative_error), *split ? "   " : "",
		split);
	if (LABEL_COLUMNS + columns + 3 + terminal_text_width(more) > terminal_columns(file))
		snprintf(more, sizeof(more), "CV %s", cv);
	print_figure(file, "  PT (mean ± σ)", figure, columns, more);
}

double range_step(const struct summary *s)
{
	return fmin(s->sd_ns, (double)s->min_ns / 100);
}

static void print_interval(FILE *file, const struct screen *s, const char *figure, size_t columns)
{
	char range[TEXT_PAIR_SIZE], more[TEXT_PAIR_SIZE + 64];

	if (!*figure)
		return;
	text_interval(range, (double)s->pt.min_ns, (double)s->pt.max_ns, range_step(&s->pt), s->unit);
	snprintf(more, sizeof(more), "range %s", range);
	print_figure(file, s->interval.assumed ? "  95 % CI if iid" : "     95 % CI", figure, columns, more);
}

/* Whether PT is more than ET although the program was on one CPU: PT includes the work before exec. */
static bool screen_includes_start(const struct screen *s)
{
	double more_ns = s->pt.mean_ns - s->et.mean_ns;

	return more_ns > 0 && (s->cpu >= 0 || more_ns < MOST_OF_A_START_NS);
}

static void print_times(FILE *file, const struct screen *s)
{
	char pt[TEXT_PAIR_SIZE], interval[TEXT_PAIR_SIZE], et[TEXT_PAIR_SIZE];
	const char *figures[] = {
		center_text(pt, &s->pt, s->unit),
		interval_text(interval, s),
		center_text(et, &s->et, s->unit),
	};
	size_t columns = 0;
	char more[LINE_SIZE], share[32], why[64] = "";

	for (size_t i = 0; i < ELEMENTS(figures); i++)
		if (terminal_text_width(figures[i]) > columns)
			columns = terminal_text_width(figures[i]);
	print_pt(file, s, figures[0], columns);
	print_interval(file, s, figures[1], columns);
	if (s->on_cpu < MOSTLY_ON_CPU && !isnan(s->taken))
		snprintf(why, sizeof(why), ", %.0f %% taken by others", 100 * s->taken);
	else if (s->on_cpu < MOSTLY_ON_CPU && !s->shares && !(s->explained >= EXPLAINS))
		strcpy(why, "; it waits, or is disturbed");
	if (s->on_cpu > 1 && !screen_includes_start(s))
		snprintf(share, sizeof(share), "on %.2g CPUs", s->on_cpu);
	else
		snprintf(share, sizeof(share), "%.0f %% on CPU", 100 * fmin(1, s->on_cpu));
	snprintf(more, sizeof(more), "%s%s", share, why);
	if (LABEL_COLUMNS + columns + 3 + terminal_text_width(more) > terminal_columns(file))
		strcpy(more, share);
	if (*s->inc_units)
		print_figure(file, "  In INC units", s->inc_units, 0, "");
	print_figure(
		file, s->et.n > 1 ? "  ET (mean ± σ)" : "  ET", figures[2], columns, s->et.n ? more : "");
}

/* "backupd #7 #8, outlier #4". The caller frees it. */
static char *reasons_text(const struct screen *s)
{
	char *text = NULL;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);

	for (size_t i = 0; i < s->n_reasons; i++) {
		fprintf(file, "%s%s", i ? ", " : "", terminal_text(s->reasons[i].name));
		for (size_t k = 0; k < s->reasons[i].n; k++)
			fprintf(file, " #%u", s->reasons[i].samples[k]);
	}
	return text_stream_close(file, &text);
}

/* "backupd in 100, outlier in 4, …": as many as fit, and the first in any case. */
static void print_reason_counts(FILE *file, const struct screen *s, size_t columns)
{
	static const char MORE[] = ", …";

	for (size_t i = 0; i < s->n_reasons; i++) {
		char one[LINE_SIZE];
		size_t more = i + 1 < s->n_reasons ? terminal_text_width(MORE) : 0, width;

		snprintf(one, sizeof(one), "%s%s in %zu", i ? ", " : "", terminal_text(s->reasons[i].name),
			s->reasons[i].n);
		width = terminal_text_width(one);
		if (i > 0 && width + more > columns) {
			fputs(MORE, file);
			return;
		}
		fputs(one, file);
		columns -= width;
	}
}

/* Of the first of several reasons, as print_counts shows it. */
static size_t first_width(const struct screen *s)
{
	char count[32];

	return terminal_text_width(terminal_text(s->reasons[0].name)) +
	       (size_t)snprintf(
		       count, sizeof(count), " in %zu%s", s->reasons[0].n, s->n_reasons > 1 ? ", ." : "");
}

/* "papers' mean: 114.1 ms, without #2 #5", or of how many if the numbers do not fit; nothing if it is the same mean. */
static void papers_text(char buffer[LINE_SIZE], const struct screen *s, size_t columns)
{
	char mean[TEXT_PAIR_SIZE];
	size_t at;

	*buffer = '\0';
	if (s->n_by_two_sd == 0)
		return;
	text_mean_sd(mean, s->papers.mean_ns, s->papers.sd_ns, s->unit);
	*strstr(mean, " ±") = '\0';
	at = (size_t)snprintf(buffer, LINE_SIZE, "papers' mean: %s, without", mean);
	for (size_t i = 0; i < s->n_by_two_sd && at < LINE_SIZE; i++)
		at += (size_t)snprintf(buffer + at, LINE_SIZE - at, " #%u", s->by_two_sd[i]);
	if (terminal_text_width(buffer) > columns)
		snprintf(buffer, LINE_SIZE, "papers' mean of %zu sample%s: %s", s->papers.n,
			s->papers.n == 1 ? "" : "s", mean);
}

/* How many of so many columns the papers' mean may have: half of them, or what all reasons leave. */
static size_t columns_for_papers(const struct screen *s, size_t columns)
{
	_cleanup_(freep) char *text = s->n_reasons > 0 ? reasons_text(s) : NULL;
	size_t taken = text ? strlen("discarded: ; ") + terminal_text_width(text) : 0;

	return taken > columns / 2 ? columns / 2 : columns - taken;
}

static void print_kept(FILE *file, const struct screen *s)
{
	static const char DISCARDED[] = "discarded: ";
	bool few = 2 * s->pt.n < s->n_samples;
	char kept[LINE_SIZE], papers[LINE_SIZE];
	size_t left, wanted;

	snprintf(kept, sizeof(kept), "  Kept %zu of %zu", s->pt.n, s->n_samples);
	fprintf(file, "%s%s%s", few ? terminal_mark(file, MARK_WARN) : "", kept,
		few ? terminal_mark(file, MARK_END) : "");
	left = terminal_columns(file) - terminal_text_width(kept) -
	       (size_t)spaces_to(LABEL_COLUMNS - 2, kept) - 2;
	papers_text(papers, s, columns_for_papers(s, left));
	if (s->n_reasons > 0 && terminal_text_width(papers) + strlen("discarded: ; ") + first_width(s) > left)
		*papers = '\0';
	if (s->n_reasons > 0 || *papers)
		fprintf(file, "%*s", spaces_to(LABEL_COLUMNS - 2, kept) + 2, "");
	wanted = *papers ? terminal_text_width(papers) + 2 : 0;
	if (s->n_reasons > 0) {
		_cleanup_(freep) char *text = reasons_text(s);
		size_t columns = left - wanted - strlen(DISCARDED);

		fputs(DISCARDED, file);
		if (terminal_text_width(text) <= columns)
			fputs(text, file);
		else
			print_reason_counts(file, s, columns);
	}
	fprintf(file, "%s%s\n", s->n_reasons > 0 && *papers ? "; " : "", papers);
}

/* As many names as fit into `columns`. */
static void others_text(char buffer[LINE_SIZE], const struct screen *s, size_t columns)
{
	char one[LINE_SIZE], time[TEXT_TIME_SIZE], label[FAMILY_LABEL_SIZE];
	size_t used = 0, len = 0;

	*buffer = '\0';
	for (size_t i = 0; i < s->n_others; i++) {
		double ns = (double)s->others[i].disturbed_ns;

		name_family_label(label, s->others[i].name, s->others[i].names);
		snprintf(one, sizeof(one), "%s%s %s", i ? ", " : "", terminal_text(label),
			text_precise(time, ns, ns / 10));
		used += terminal_text_width(one);
		if (i > 0 && used > columns)
			return;
		len += strlen(one);
		if (len >= LINE_SIZE)
			return;
		strcat(buffer, one);
	}
}

void screen_print(FILE *file, const struct screen *of)
{
	struct screen in_unit = *of; /* one for all times of the program */
	const struct screen *s = &in_unit;
	size_t lines = FIXED_LINES - (s->pt.n < 2) + (*s->inc_units != '\0') + (s->n_others > 0);
	bool resolving = *s->resolving && lines + 1 + (s->notes.n > 0) <= SCREEN_LINES;
	size_t left = SCREEN_LINES - lines - resolving;
	char where[64];
	char right[64];
	char names[LINE_SIZE], explanation[64], hint[64];
	size_t used;

	in_unit.unit = of->unit ?: text_unit(of->pt.mean_ns, of->et.mean_ns);

	size_t columns, width = terminal_text_width(terminal_text(s->name));

	snprintf(right, sizeof(right), "run %lld", (long long)s->run);
	if (s->cpu >= 0)
		snprintf(right, sizeof(right), "run %lld, CPU %d", (long long)s->run, s->cpu);
	columns = terminal_columns(file) - strlen(right) - 2;
	terminal_print_name(file, s->name, columns);
	fprintf(file, "%*s  %s\n", width < columns ? (int)(columns - width) : 0, "", right);
	print_times(file, s);
	if (s->memory.n > 0 && s->notes.n < left) {
		char memory[PEAK_MEMORY_TEXT_SIZE];

		print_figure(file, "  Peak memory", peak_memory_text(memory, &s->memory), 0, "");
		left--;
	}
	print_kept(file, s);

	const size_t disturbers_columns = terminal_columns(file) - LABEL_COLUMNS;

	if (s->n_others != 0) {
		others_text(names, s, disturbers_columns);
		*explanation = '\0';
		if (s->explained >= 0.01 && !isnan(s->taken))
			snprintf(
				explanation, 64, " (%.0f %% of what was taken)", 100 * fmin(1, s->explained));
		else if (s->explained >= 0.01)
			snprintf(explanation, 64, " (%s %.0f %% of ET − PT)",
				s->explained >= EXPLAINS ? "may explain" : "at most",
				100 * fmin(1, s->explained));
		if (terminal_text_width(names) + terminal_text_width(explanation) > disturbers_columns)
			*explanation = '\0';
		snprintf(hint, sizeof(hint), "emp-analyze show %lld", (long long)s->run);
		used = terminal_text_width(names) + terminal_text_width(explanation);
		fprintf(file, "  Disturbed by    %s%s", names, explanation);
		if (used + 2 + strlen(hint) <= disturbers_columns)
			fprintf(file, "%*s%s", (int)(disturbers_columns - used - strlen(hint)), "", hint);
		fputc('\n', file);
	}
	if (resolving)
		fprintf(file, "  %s\n", s->resolving);
	snprintf(where, sizeof(where), "emp-analyze show %lld", (long long)s->run);
	if (s->all_notes)
		notes_print_all(file, &s->notes);
	else
		notes_print(file, &s->notes, left, where);
	if (s->notes.n < left && s->interval.assumed && !isnan(s->interval.low_ns))
		fprintf(file,
			"  With %zu samples and no calibration, the CI assumes independent samples (iid)\n",
			s->pt.n);
}

void screen_clear(struct screen *s)
{
	for (size_t i = 0; i < s->n_reasons; i++)
		free(s->reasons[i].samples);
	free(s->reasons);
	notes_clear(&s->notes);
	*s = (struct screen){};
}

/* The most samples discarded for their times alone, and the most other processes, that get a line each. */
enum { MOST_LINES = 10 };

static void print_over_cutoff(FILE *file, const struct over_cutoff *o, const char *limit)
{
	char pt[TEXT_TIME_SIZE], cutoff[TEXT_TIME_SIZE];

	fprintf(file, "  sample %u: %s%s%s%s used %s, %s %s\n", o->sample, terminal_text(o->daemon),
		o->unit ? " (" : "", terminal_text(o->unit) ?: "", o->unit ? ")" : "",
		text_duration(pt, o->pt_ns), limit, text_duration(cutoff, o->cutoff_ns));
}

static void print_outliers(FILE *file, const struct run_result *r, bool et)
{
	const struct clock_discarding *c = et ? &r->discarding.et : &r->discarding.pt;
	const char *name = et ? "ET" : "PT";
	char time[TEXT_TIME_SIZE];

	for (size_t i = 0; i < r->n_samples && c->n_by_two_sd <= MOST_LINES; i++)
		if (!c->in_papers[i] && !r->discarding.out[i])
			fprintf(file, "  sample %u: %s %s is more than 2 sd from the mean%s\n",
				r->samples[i].n, name,
				text_precise(time, (double)(et ? r->samples[i].et_ns : r->samples[i].pt_ns),
					c->kept.sd_ns),
				" (papers' check)");
	if (c->n_by_two_sd > MOST_LINES)
		fprintf(file, "  %zu samples: %s is more than 2 sd from the mean (--json lists them)\n",
			c->n_by_two_sd, name);
}

static void print_stages(FILE *file, const char *label, const struct clock_discarding *c, const char *unit)
{
	char mean[TEXT_PAIR_SIZE], range[TEXT_PAIR_SIZE], cv[TEXT_TIME_SIZE];

	if (c->raw.n != c->kept.n && c->raw.n > 1)
		fprintf(file, "  %s of all samples: %s, CV %s, range %s\n", label,
			text_mean_sd(mean, c->raw.mean_ns, c->raw.sd_ns, unit),
			text_percent(cv, c->raw.relative_error),
			text_interval(range, (double)c->raw.min_ns, (double)c->raw.max_ns, 0, unit));
	if (c->papers.n != c->kept.n && c->papers.n > 1)
		fprintf(file, "  %s as in the papers: %s, CV %s\n", label,
			text_mean_sd(mean, c->papers.mean_ns, c->papers.sd_ns, unit),
			text_percent(cv, c->papers.relative_error));
}

void run_details_print(FILE *file, const struct run_result *r, const char *unit)
{
	const struct discarding *d = &r->discarding;
	char time[TEXT_TIME_SIZE];

	for (size_t i = 0; i < d->n_over; i++)
		print_over_cutoff(file, &d->over[i], "cutoff");
	for (size_t i = 0; i < d->n_unprofiled; i++)
		print_over_cutoff(file, &d->unprofiled[i], "unprofiled; allowed");
	for (size_t i = 0; i < d->n_incomplete; i++)
		fprintf(file, "  sample %u: incomplete: records of processes that ended were lost\n",
			d->incomplete[i]);
	print_outliers(file, r, false);
	print_outliers(file, r, true);
	print_stages(file, "PT", &r->discarding.pt, unit);
	print_stages(file, "ET", &r->discarding.et, unit);
	if (r->discarding.others.n > 0) {
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

		for (size_t i = 0; i < r->discarding.others.n && i < MOST_LINES; i++) {
			const struct daemon_statistics *o = &r->discarding.others.items[i];
			char label[FAMILY_LABEL_SIZE];

			table_row(table);
			table_cell(table, "  %s", name_family_label(label, o->name, o->names));
			table_cell_text(table, o->unit ?: "-");
			table_cell_duration(table, o->disturbed_ns);
			table_cell_duration(table, o->total_ns);
			table_cell_duration(table, o->max_ns);
			table_cell(table, "%u", o->max_sample);
			table_cell_text(table, o->profiled ? "yes" : "no");
		}
		table_print(table, file);
		if (r->discarding.others.n > MOST_LINES)
			fprintf(file, "  and %zu more\n", r->discarding.others.n - MOST_LINES);
	}
	for (size_t i = 0; i < r->disturbances.n; i++) {
		_cleanup_(freep) char *text = disturbance_description(
			&r->disturbances, &r->disturbances.items[i]);

		fputs("  Warning:", file);
		terminal_wrap(file, text, strlen("  Warning:"), 4);
	}

	int64_t observer_ns = 0, lost = 0, left_behind = 0, n = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		lost = saturate_add(lost, r->samples[i].lost);
		left_behind += r->samples[i].left_behind;
		if (r->samples[i].observer_ns < 0)
			continue;
		observer_ns = saturate_add(observer_ns, r->samples[i].observer_ns);
		n++;
	}
	if (lost > 0)
		fprintf(file, "  Warning: %lld records of processes that ended were lost\n", (long long)lost);
	if (left_behind > 0)
		fprintf(file, "  The program left %lld process%s behind, in all samples\n",
			(long long)left_behind, left_behind == 1 ? "" : "es");
	if (n > 0)
		fprintf(file, "  Accounting: %s, %s of CPU time per sample; PT from %s\n",
			terminal_text(r->discarding.run.backend) ?: "imported",
			text_duration(time, observer_ns / n),
			terminal_text(r->discarding.run.pt_source) ?: "an import");
}

/* A run's result for the first screen, and the notes on it. */

/* Thresholds, as shares of the ET of all samples: for processes that are shown, and for waiting that is explained. */
static const double LEAST_SHOWN = 0.001, WORTH_EXPLAINING = 0.01;
/* Minimum share of ET with known W. */
static const double WAIT_KNOWN = 0.9;
/* A daemon that discards more of the samples is worth a warning. */
static const double MANY_DISCARDED = 0.05;
/* The share of samples that count. Ten samples alone often seem to be more alike than they are. */
static const double WORTH_NOTING = 0.8, WORTH_NOTING_ALONE = 0.5;

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

/* Means of the samples kept; -1 if one of them is not known. */
static double mean_of_kept(const struct run_result *r, size_t offset)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		int64_t ns = *(const int64_t *)((const char *)&r->samples[i] + offset);

		if (r->discarding.out[i])
			continue;
		if (ns < 0)
			return -1;
		sum += (double)ns;
		n++;
	}
	return n > 0 ? sum / (double)n : -1;
}

struct screen run_screen_fill(const struct run_result *result)
{
	const struct discarding *d = &result->discarding;
	struct screen s = {
		.run = d->run.id,
		.cpu = d->run.cpu,
		.pt = d->pt.kept,
		.et = d->et.kept,
		.interval = d->pt.interval,
		.papers = d->pt.papers,
		.by_two_sd = d->pt.by_two_sd,
		.n_by_two_sd = d->pt.n_by_two_sd,
		.user_ns = mean_of_kept(result, offsetof(struct sample, user_ns)),
		.system_ns = mean_of_kept(result, offsetof(struct sample, system_ns)),
		.memory = peak_memory_of(result->samples, d->out, result->n_samples),
		.n_samples = result->n_samples,
		.shares = d->run.kind == RUN_DUET,
	};
	const struct daemons *others = &result->discarding.others;
	double et = 0, pt = 0, wait = 0, known_et = 0, taken;

	/* How much time each of the others can have taken from the program. */
	for (size_t i = 0; i < result->n_samples; i++) {
		int64_t wait_ns = sample_wait_ns(&result->samples[i]);

		et += (double)result->samples[i].et_ns;
		pt += (double)result->samples[i].pt_ns;
		if (wait_ns < 0)
			continue;
		wait += (double)wait_ns;
		known_et += (double)result->samples[i].et_ns;
	}
	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		if ((double)others->items[i].disturbed_ns > LEAST_SHOWN * et)
			s.others[s.n_others++] = (struct screen_other){
				others->items[i].name, others->items[i].disturbed_ns, others->items[i].names};
	s.on_cpu = et > 0 ? pt / et : 0;
	s.taken = et > 0 && known_et >= WAIT_KNOWN * et ? wait / known_et : NAN;
	taken = isnan(s.taken) ? et - pt : s.taken * et;
	s.explained = taken > WORTH_EXPLAINING * et && s.n_others > 0
			      ? (double)result->discarding.disturbed_ns / taken
			      : NAN;
	for (size_t i = 0; i < d->n_over; i++)
		add_reason(&s, d->over[i].daemon, d->over[i].sample);
	for (size_t i = 0; i < d->n_unprofiled; i++)
		add_reason(&s, d->unprofiled[i].daemon, d->unprofiled[i].sample);
	if (s.n_reasons > 0)
		qsort(s.reasons, s.n_reasons, sizeof(*s.reasons), by_count);
	for (size_t i = 0; i < d->n_incomplete; i++)
		add_reason(&s, "lost records", d->incomplete[i]);
	return s;
}

void run_screen_note_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n)
{
	const struct clock_discarding *worst = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct interval *interval = &programs[i]->interval;
		double least = interval->calibrated ? WORTH_NOTING : WORTH_NOTING_ALONE;

		if (programs[i]->kept.n > 0 && interval->effective_n <= least * (double)programs[i]->kept.n &&
			(!worst || interval->lag1 > worst->interval.lag1))
			worst = programs[i];
	}
	if (worst)
		notes_add(notes, NOTE_CORRELATION,
			"Neighbouring samples %s alike (correlation %s%.2f): %zu count as %.2g in %s",
			worst->interval.calibrated ? "are" : "seem", n > 1 ? "≤ " : "", worst->interval.lag1,
			worst->kept.n, worst->interval.effective_n, n > 1 ? "CIs" : "the CI");
}

void run_notes_add(struct notes *notes, const struct run_result *result, const struct profile *profile)
{
	_cleanup_(screen_clear) struct screen s = run_screen_fill(result);
	double more_ns = s.pt.mean_ns - s.et.mean_ns;
	char more[TEXT_TIME_SIZE];
	static const uint32_t CHANGE_SPEED = 1 << COUNTER_THROTTLES | 1 << COUNTER_SWAPPED_IN |
					     1 << COUNTER_SWAPPED_OUT | 1 << COUNTER_SUSPENDED |
					     1 << COUNTER_INTERRUPTS;
	_cleanup_(freep) struct impossible_pt *found = NULL;
	const struct discarding *d = &result->discarding;
	const struct screen_reason *most = d->n_over + d->n_unprofiled > 0 ? &s.reasons[0] : NULL;
	char pt[TEXT_TIME_SIZE], limit[TEXT_TIME_SIZE];
	size_t failures = 0, n;

	/* Samples in which the program failed, samples with an impossible PT, of which the first is
	 * described, and samples that were discarded. */
	for (size_t i = 0; i < result->n_samples; i++)
		failures += result->samples[i].exit_status > 0;
	if (failures > 0)
		notes_add(notes, NOTE_PROGRAM, "Warning: the program failed in %zu of %zu samples", failures,
			result->n_samples);
	if (2 * d->pt.kept.n < result->n_samples)
		notes_add(notes, NOTE_FEW,
			"Warning: few samples kept; take more (-r), or try 'emp-setup apply'");
	n = impossible_pt_find(
		&d->run, result->samples, result->n_samples, result->counters, result->n_counters, &found);
	if (n > 0)
		notes_add(notes, NOTE_PROGRAM,
			found[0].pt_ns > found[0].limit_ns
				? "Warning: impossible PT in %zu of %zu samples (%u: %s, ET %s)"
				: "Warning: impossible PT in %zu of %zu samples (%u: %s, others ≥ %s)",
			n, result->n_samples, found[0].sample, text_duration(pt, found[0].pt_ns),
			text_duration(limit, found[0].limit_ns));
	if (most && most->n >= 2 && (double)most->n > MANY_DISCARDED * (double)result->n_samples)
		notes_add(notes, NOTE_FEW,
			"Warning: %s discards %zu of %zu samples (emp-analyze daemons %" PRId64 ")",
			most->name, most->n, result->n_samples, d->run.id);
	if (profile) {
		char here[32] = "is not pinned";

		if (noise_marked(profile->blind_ns, profile->noise)) {
			_cleanup_(freep) char *text = noise_text(
				profile->name, profile->blind_ns, profile->noise);

			notes_add(notes, NOTE_NOISE, "%s", text);
		}
		if (profile->cpu >= 0 && profile->cpu != result->discarding.run.cpu) {
			if (result->discarding.run.cpu >= 0)
				snprintf(here, sizeof(here), "is on CPU %d", result->discarding.run.cpu);
			notes_add(notes, NOTE_PROFILE,
				"Warning: profile '%s' was made on CPU %d, this run %s", profile->name,
				profile->cpu, here);
		}
	}

	/* Disturbances that change the program's own time. */
	const struct disturbances *all = &result->disturbances;

	for (size_t i = 0; i < all->n; i++) {
		_cleanup_(freep) char *text = NULL;

		if (!(CHANGE_SPEED >> all->items[i].which & 1))
			continue;
		text = disturbance_description(all, &all->items[i]);
		notes_add(notes, NOTE_NOISE, "Warning: %s", text);
	}
	if (result->discarding.run.kind != RUN_LOAD && s.pt.n > 0 && screen_includes_start(&s))
		notes_add(notes, NOTE_OTHER,
			"PT is %s more than ET: it includes the work to start the program",
			text_precise(more, more_ns, more_ns / 10));
	run_screen_note_correlation(notes, (const struct clock_discarding *[]){&result->discarding.pt}, 1);
}

int run_notes_load(struct book *book, const struct run_result *result, const struct profile *profile,
	bool today, struct notes *ret, char ret_resolving[RESOLVING_TEXT_SIZE], struct error *err)
{
	const struct run *run = &result->discarding.run;
	struct note *last;
	int r = today ? 0 : book_notes(book, run->id, &ret->items, &ret->n, err);

	*ret_resolving = '\0';
	if (r < 0)
		return r;
	last = ret->n > 0 ? &ret->items[ret->n - 1] : NULL;
	if (last && last->kind == NOTE_RESOLUTION) { /* what the machine could resolve is shown elsewhere */
		snprintf(ret_resolving, RESOLVING_TEXT_SIZE, "%s", last->text);
		fields_clear(&note_table, last);
		ret->n--;
	}
	if (last)
		return 0;
	run_notes_add(ret, result, profile);
	r = profile ? profile_changes_note(ret, book, profile, run->environment, err) : 0;
	return r < 0 ? r
		     : resolving_text(book, run->environment, profile, result->n_samples, ret_resolving, err);
}
