/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The details of a run, below the first screen: see run_details.h. */
#include "lib/report/run_details.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/report/screen.h"

/* The most samples that are discarded for one kind of reason, and the most other processes, that
 * get a line each. */
enum { MOST_LINES = 10 };

/* In how many samples each daemon was over its limit, the most frequent ones first. */
static void print_over_counts(FILE *file, const struct over_cutoff *over, size_t n)
{
	_cleanup_(screen_clear) struct screen counted = {};
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < n; i++)
		screen_add_reason(&counted, over[i].daemon, over[i].sample);
	screen_sort_reasons(&counted);
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

static void print_beside_neighbours(FILE *file, const struct run_result *r, bool all)
{
	const struct discarding *d = &r->discarding;
	size_t shown = begin_list(d->n_by_neighbour, all);

	for (size_t i = 0, at = 0; i < shown; i++) {
		while (r->samples[at].n < d->by_neighbour[i])
			at++;
		terminal_say(file, 4, "  sample %u: a neighbour in %s of its time; allowed %s",
			d->by_neighbour[i],
			text_percent((double)r->samples[at].neighbour_ppm / PPM),
			text_percent((double)run_neighbour_limit_ppm(&d->run) / PPM));
	}
	end_list(file, d->n_by_neighbour, shown);
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
				"  sample %u: %s %s is more than 2 sd from the mean (papers' "
				"check)",
				r->samples[i].n, name,
				text_precise(
					(double)sample_time_ns(&r->samples[i], et), c->kept.sd_ns));
}

static void print_stages(
	FILE *file, const char *label, const struct clock_discarding *c, const char *unit)
{
	if (c->adjusted.times_ns && c->kept.n > 1)
		terminal_say(file, 4, "  %s as measured: %s, CV %s", label,
			text_mean_sd(c->adjusted.before.mean_ns, c->adjusted.before.sd_ns, unit),
			text_percent(c->adjusted.before.relative_error));
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
				"%s%s", screen_disturbed_about(o), text_duration(o->disturbed_ns))),
			TIME(o->total_ns), TIME(o->max_ns), NUMBER(o->max_sample),
			TEXT(o->profiled ? "yes" : "no"));
	}
	table_print(table, file);
	if (others->n > MOST_LINES)
		fprintf(file, "  and %zu more\n", others->n - MOST_LINES);
}

static void print_disturbances(FILE *file, const struct disturbances *disturbances)
{
	for (size_t i = 0; i < disturbances->n; i++) {
		_cleanup_(freep) char *text = disturbance_description(disturbances, i);

		fputs("  Warning:", file);
		terminal_wrap(file, text, strlen("  Warning:"), 4);
	}
}

/* What was lost, what the program left behind, and what accounting and probes took. */
static void print_observation(FILE *file, const struct run_result *r)
{
	const struct neighbour_time neighbour = run_neighbour_time(r);
	const struct run *run = &r->discarding.run;
	int64_t observer_ns = 0, lost = 0, left_behind = 0, n = 0;
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->samples[i];

		lost = saturate_add(lost, s->lost);
		left_behind += s->left_behind;
		if (s->observer_ns < 0)
			continue;
		observer_ns = saturate_add(observer_ns, s->observer_ns);
		if (s->probe_ns > 0) /* it has a line of its own */
			observer_ns -= s->probe_ns;
		n++;
	}
	if (lost > 0)
		terminal_say(file, 4, "  Warning: %lld records of processes that ended were lost",
			(long long)lost);
	if (left_behind > 0)
		terminal_say(file, 4, "  The program left %lld process%s behind, in all samples",
			(long long)left_behind, left_behind == 1 ? "" : "es");
	if (neighbour.probe_ns > 0) /* of those within samples */
		terminal_say(file, 4,
			"  Probes for a neighbour: %s of CPU time per sample, not in PT",
			text_duration(neighbour.probe_ns / (int64_t)neighbour.n_probed));
	if (n == 0)
		return;
	text = text_format("Accounting: %s, %s of CPU time per sample; PT from %s",
		run->backend ?: "imported", text_duration(observer_ns / n),
		run->pt_source ?: "an import");
	fputs("  ", file);
	terminal_wrap(file, text, 2, 4);
}

void run_details_print(FILE *file, const struct run_result *r, const char *unit, bool all)
{
	const struct discarding *d = &r->discarding;

	print_over_cutoffs(file, d->over, d->n_over, "cutoff", all);
	print_over_cutoffs(file, d->unprofiled, d->n_unprofiled, "unprofiled; allowed", all);
	print_beside_neighbours(file, r, all);
	print_samples(file, d->incomplete, d->n_incomplete,
		"incomplete: records of processes that ended were lost", all);
	print_samples(file, d->by_duet, d->n_by_duet,
		"discarded because of another program of the duet", all);
	print_outliers(file, r, false, all);
	print_outliers(file, r, true, all);
	print_stages(file, "PT", &d->pt, unit);
	print_stages(file, "ET", &d->et, unit);

	print_others_table(file, &d->others);
	print_disturbances(file, &r->disturbances);
	print_observation(file, r);
}
