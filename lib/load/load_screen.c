/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load on the screen: see load_report.h. */
#include "lib/base/terminal.h"
#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/load/load_report.h"
#include "lib/report/screen.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL = 26, NAME_WIDTH = 50 };

static const struct load_unit units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};

const struct load_unit *load_unit_for(double nano)
{
	size_t i = 0;

	while (i + 1 < ELEMENTS(units) && nano * units[i].seconds < 1e9)
		i++;
	return &units[i];
}

int load_rate_decimals(const struct load_rate *rate, const struct load_unit *unit)
{
	const struct summary *s = &rate->summary;
	double step = (s->n > 1 && s->sd_ns > 0 ? s->sd_ns : s->mean_ns / 100) * unit->seconds / 1e9;
	int decimals = step > 0 ? 1 - (int)floor(log10(step)) : 3;

	return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

/* "Label                   text", wrapped. */
static void print_line(FILE *file, const char *label, const char *text)
{
	terminal_wrap(file, text, (size_t)fprintf(file, "  %-*s", LABEL - 2, label), LABEL);
}

char *load_short_text(const char *text, size_t columns)
{
	text = terminal_text(text);
	if (terminal_text_width(text) <= columns)
		return xstrdup(text);
	return text_format("%.*s…", (int)terminal_text_fit(text, columns - 1), text);
}

/* "     edit ×4"; of all work, `all`. */
static void print_label(FILE *file, const struct load_rate *rate, const char *all)
{
	_cleanup_(freep) char *slaves = text_format(" ×%" PRId64, rate->slaves);
	_cleanup_(freep) char *script = NULL;
	size_t width;

	if (!rate->script || !slaves) {
		fprintf(file, "  %-*s", LABEL - 2, all);
		return;
	}
	script = load_short_text(rate->script, LABEL - 6 - terminal_text_width(slaves));
	width = terminal_text_width(script ?: "") + terminal_text_width(slaves);
	fprintf(file, "     %s%s%*s", script ?: "", slaves, (int)(LABEL - 5 - width), "");
}

/* "12.26 ± 0.29 /s   CV 2.4 %   95 % CI 11.90 … 12.62", with so many blanks between; the caller frees it. */
static char *rate_text(const struct load_rate *rate, int blanks)
{
	const struct load_unit *unit = load_unit_for(rate->summary.mean_ns);
	double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns * scale,
	       sd = rate->summary.sd_ns * scale;
	int decimals = load_rate_decimals(rate, unit);
	char cv[TEXT_TIME_SIZE];

	if (rate->summary.n < 2 || mean <= 0)
		return text_format("%.*f /%s", decimals, mean, unit->name);
	return text_format("%.*f ± %.*f /%s%*sCV %s%*s95 %% CI %.*f … %.*f", decimals, mean, decimals, sd,
		unit->name, blanks, "", text_percent(cv, sd / mean), blanks, "", decimals,
		rate->interval.low_ns * scale, decimals, rate->interval.high_ns * scale);
}

static void print_rate(FILE *file, const struct load_rate *rate, const char *all)
{
	_cleanup_(freep) char *text = rate_text(rate, 3);

	for (int blanks = 2; text && blanks > 0 && LABEL + terminal_text_width(text) > terminal_columns(file); blanks--) {
		free(text);
		text = rate_text(rate, blanks);
	}
	print_label(file, rate, all);
	fprintf(file, "%s\n", text ?: "");
}

/* Of all work, by script, and the sum, whose spread is mostly that of the script with the shortest repetitions. */
static void print_rates(FILE *file, const struct load_rates *rates)
{
	const struct load_unit *unit = load_unit_for(rates->sum.summary.mean_ns);

	print_rate(file, &rates->items[0],
		load_rates_in_shares(rates) ? "Rate of work, in shares" : "Rate of work");
	if (!load_rates_in_shares(rates))
		return;
	for (size_t i = 1; i < rates->n; i++)
		print_rate(file, &rates->items[i], NULL);
	fprintf(file, "     %-*s%.*f /%s\n", LABEL - 5, "all repetitions",
		load_rate_decimals(&rates->sum, unit), rates->sum.summary.mean_ns * unit->seconds / 1e9,
		unit->name);
}

static void print_time(FILE *file, const struct load_rates *rates)
{
	const struct summary *time = &rates->time;
	char text[TEXT_PAIR_SIZE], range[TEXT_PAIR_SIZE];

	if (time->n > 1)
		fprintf(file, "  Time to the last        %s   range %s\n",
			text_mean_sd(text, time->mean_ns, time->sd_ns, NULL),
			text_interval(
				range, (double)time->min_ns, (double)time->max_ns, range_step(time), NULL));
	else
		fprintf(file, "  Time to the last        %s\n", text_duration(text, time->min_ns));
}

/* The mean over all slaves and all runs of a member of struct sample_program; negative: unknown. */
static double mean_of(const struct load_report *p, size_t offset)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_parts; i++) {
		int64_t value = *(const int64_t *)((const char *)&p->parts[i] + offset);

		if (value < 0)
			return -1;
		sum += (double)value;
	}
	return p->n_parts ? sum / (double)p->n_parts : -1;
}

#define MEAN(report, member) mean_of(report, offsetof(struct sample_program, member))

static void write_slaves(FILE *file, const struct load_report *p)
{
	double wait = MEAN(p, wait_ns), io = MEAN(p, io_wait_ns), faults = MEAN(p, major_faults);
	char text[TEXT_TIME_SIZE];

	fprintf(file, "PT %s", text_duration(text, (int64_t)MEAN(p, pt_ns)));
	if (wait >= 0)
		fprintf(file, ", waits for CPU %s", text_duration(text, (int64_t)wait));
	if (io >= 0)
		fprintf(file, ", disk %s", text_duration(text, (int64_t)io));
	if (faults >= 0.05)
		fprintf(file, ", %.1f major page faults", faults);
}

/* A line whose text is written to a stream in memory. */
typedef void write_text(FILE *text, const struct load_report *report);

static int print_written(
	FILE *file, const char *label, write_text *write_it, const struct load_report *p, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	write_it(memory, p);
	text_stream_close(memory, &text);
	print_line(file, label, text);
	return 0;
}

static void write_others(FILE *file, const struct load_report *p)
{
	const struct daemons *others = &p->result.discarding.others;
	char time[TEXT_TIME_SIZE];

	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		fprintf(file, "%s%s %s", i ? ", " : "", terminal_text(others->items[i].name),
			text_duration(time, others->items[i].total_ns));
	if (others->n > SCREEN_OTHERS)
		fputs(", …", file);
}

static void write_discarded(FILE *file, const struct load_report *p)
{
	const struct discarding *d = &p->result.discarding;

	fputs("discarded:", file);
	for (size_t i = 0; i < d->n_over; i++)
		fprintf(file, "%s %s #%" PRIu32, i ? "," : "", terminal_text(d->over[i].daemon),
			d->over[i].sample);
	if (d->n_incomplete)
		fprintf(file, "%s lost records", d->n_over ? "," : "");
}

static int print_discarded(FILE *file, const struct load_report *p, struct error *err)
{
	char label[64];

	if (p->n_kept == p->result.n_samples)
		return 0;
	snprintf(label, sizeof(label), "Kept %zu of %zu runs", p->n_kept, p->result.n_samples);
	return print_written(file, label, write_discarded, p, err);
}

static void write_title(FILE *file, const struct load_report *p)
{
	size_t n = p->result.n_samples;

	fprintf(file, "%zu run%s, %s, %zu slave%s on %s%s (run %" PRId64 " of the book)", n, n == 1 ? "" : "s",
		coordination_names[p->load.coordination], p->n_programs, p->n_programs == 1 ? "" : "s",
		p->load.cpus ? "CPUs " : "all CPUs", p->load.cpus ? terminal_text(p->load.cpus) : "",
		p->result.discarding.run.id);
}

static int print_title(FILE *file, const struct load_report *p, struct error *err)
{
	_cleanup_(freep) char *name = load_short_text(p->result.discarding.run.program, NAME_WIDTH), *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	write_title(memory, p);
	text_stream_close(memory, &text);
	fprintf(file, "%s%s%s:", terminal_mark(file, MARK_STRONG), name, terminal_mark(file, MARK_END));
	terminal_wrap(file, text, terminal_text_width(name) + 1, 0);
	return 0;
}

static void write_coordination(FILE *file, const struct load_report *p)
{
	char released[TEXT_TIME_SIZE], last[TEXT_TIME_SIZE], driver[TEXT_TIME_SIZE];

	fprintf(file, "%s, last ran at %s, driver's PT %s", text_duration(released, p->release_ns),
		text_duration(last, p->last_start_ns), text_duration(driver, p->driver_ns));
}

static int print_coordination(FILE *file, const struct load_report *p, struct error *err)
{
	int r = print_written(file, "Released within", write_coordination, p, err);

	if (p->rates.order_changed > 0)
		fprintf(file,
			"  Order of finishing      differs from the run before in %.0f %% of the runs\n",
			100 * p->rates.order_changed);
	return r;
}

int load_report_print(FILE *file, const struct load_report *p, int64_t page_wait_bin_ns, struct error *err)
{
	char idle[TEXT_TIME_SIZE];
	int r = print_title(file, p, err);

	if (r < 0 || p->n_kept == 0)
		return r < 0 ? r : print_discarded(file, p, err);
	print_rates(file, &p->rates);
	print_time(file, &p->rates);
	r = print_written(file, "A slave's mean", write_slaves, p, err);
	if (!isnan(p->idle))
		fprintf(file, "  CPUs idle               %s\n", text_percent(idle, p->idle));
	if (r == 0)
		r = print_discarded(file, p, err);
	if (r == 0 && p->result.discarding.others.n > 0)
		r = print_written(file, "Other processes", write_others, p, err);
	if (r == 0)
		r = print_coordination(file, p, err);
	if (r == 0)
		page_wait_report_print(
			file, &p->page_wait_report, page_wait_bin_ns, terminal_text(p->load.no_page_waits));
	if (r == 0)
		notes_print_all(file, &p->notes);
	return r;
}
