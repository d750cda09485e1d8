/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load, read from the book, as an emp-load document, and on the screen: see load_report.h. */
#include "lib/load/load_report.h"

#include "lib/base/ini_file.h"
#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/book.h"
#include "lib/document/document.h"
#include "lib/report/results.h"
#include "lib/report/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static int read_workers(struct book *book, int64_t run, struct load_report *p, struct error *err)
{
	bool sound;
	int r = book_rows(book, run, &run_program_table, &p->programs, &p->n_programs, err);

	if (r == 0)
		r = book_rows(book, run, &sample_program_table, &p->parts, &p->n_parts, err);
	if (r == 0)
		r = book_rows(book, run, &load_sample_table, &p->starts, &p->n_starts, err);
	if (r < 0)
		return r;
	/* the book may be somebody else's */
	sound = p->n_programs > 0;
	for (size_t i = 0; i < p->n_programs; i++)
		sound &= p->programs[i].n == i + 1;
	for (size_t i = 0; i < p->n_parts; i++)
		sound &= p->parts[i].program <= p->n_programs;
	if (!sound)
		return error_say(err, -EBADMSG,
			"the slaves of run %" PRId64
			" are not numbered from 1; restore an intact copy of the lab book",
			run);
	return 0;
}

static void raise_to(int64_t *most, int64_t value)
{
	if (value > *most)
		*most = value;
}

/* The share of its CPUs' time in which they were idle; NAN: not known. */
static double idle_share(const struct load_sample *start, const struct sample *sample)
{
	return start->idle_ns < 0 || start->cpus < 1 || sample->et_ns <= 0
		       ? NAN
		       : fmin((double)start->idle_ns / ((double)start->cpus * (double)sample->et_ns), 1);
}

struct load_rates load_report_rates(const struct load_report *p, const struct sample *samples,
	size_t n_samples, const struct load_rates *shares_of)
{
	const struct load_work work = {p->load.coordination, p->programs, p->n_programs, p->parts, p->n_parts,
		p->load.file, shares_of};

	return load_rates_of(&work, samples, n_samples);
}

int load_report_read(struct book *book, int64_t id, struct load_report *ret, struct error *err)
{
	_cleanup_(load_report_clear) struct load_report report = {};
	_cleanup_(run_clear) struct run run = {};
	int r = book_get_run(book, id, &run, err);
	size_t at = 0, n = 0;
	double idle = 0;

	if (r == 0) {
		if (run.kind != RUN_LOAD) {
			r = error_say(err, -EINVAL,
				"run %" PRId64 " is not a load: 'emp-analyze %s %" PRId64 "' shows it",
				run.id, run.kind == RUN_JITTER ? "jitter" : "show", run.id);
		} else {
			r = book_get_load(book, run.id, &report.load, err);
			if (r == 0) {
				r = error_say(err, -EINVAL,
					"run %" PRId64
					" was imported without its slaves, so its rate of work is not known",
					run.id);
			} else if (r > 0 && run.n_samples == 0)
				r = error_say(err, -ENODATA,
					"run %" PRId64 " has no result: it ended before its first run",
					run.id);
			else
				r = r < 0 ? r : 0;
		}
	}
	if (r == 0) {
		_cleanup_(profile_clear) struct profile profile = {};
		bool profiled = run.profile &&
				book_get_profile(book, run.profile, &profile, &(struct error){}) == 0;
		const struct discard_rules rules = {
			.profile = profiled ? &profile : NULL, .other_cpus = true};

		/* Without the samples in which a daemon passed its cutoff in the profile that the load was
		 * run with, if that is still there. */
		r = run_result_read(book, run.id, &rules, &report.result, err);
	}
	if (r == 0)
		r = read_workers(book, id, &report, err);
	if (r == 0)
		r = book_page_waits(book, id, &report.page_waits, err);
	if (r == 0)
		r = book_rows(book, id, &note_table, &report.notes.items, &report.notes.n, err);
	if (r == 0)
		r = document_make_context(book, run.environment, run.started_ns, &report.context, err);
	if (r < 0)
		return r;

	const struct run_result *result = &report.result;

	for (size_t i = 0; i < report.n_starts; i++) {
		raise_to(&report.release_ns, report.starts[i].release_ns);
		raise_to(&report.driver_ns, report.starts[i].driver_ns);
	}
	for (size_t i = 0; i < report.n_parts; i++) {
		while (at < result->n_samples && result->samples[at].n < report.parts[i].sample)
			at++;
		if (at < result->n_samples && result->samples[at].n == report.parts[i].sample)
			raise_to(&report.last_start_ns,
				report.parts[i].start_ns - result->samples[at].start_ns);
	}
	/* The runs that count, and the mean of their idle shares: NAN if one of them is not known. */
	report.kept = xcalloc(result->n_samples + 1, sizeof(*report.kept));
	for (size_t i = 0; i < result->n_samples; i++)
		if (!result->discarding.out[i])
			report.kept[report.n_kept++] = result->samples[i];
	for (size_t i = 0; i < report.n_starts && n < report.n_kept; i++)
		if (report.starts[i].sample == report.kept[n].n)
			idle += idle_share(&report.starts[i], &report.kept[n++]);
	report.idle = n > 0 && n == report.n_kept ? idle / (double)n : NAN;
	report.rates = load_report_rates(&report, report.kept, report.n_kept, NULL);
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		report.page_wait_totals[kind] = page_wait_total_of(
			&report.page_waits, kind, report.kept, report.n_kept);
	page_wait_correlate(&report);
	*ret = TAKE_STRUCT(report);
	return 0;
}

void load_report_clear(struct load_report *report)
{
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		page_wait_total_clear(&report->page_wait_totals[kind]);
	page_waits_clear(&report->page_waits);
	load_rates_clear(&report->rates);
	run_result_clear(&report->result);
	load_row_clear(&report->load);
	fields_free(&run_program_table, report->programs, report->n_programs);
	free(report->parts);
	free(report->starts);
	free(report->kept);
	notes_clear(&report->notes);
	json_decref(report->context);
	*report = (struct load_report){};
}

static json_t *rate_json(const struct load_rate *rate)
{
	const struct summary *s = &rate->summary;

	return json_pack("{s:o, s:o, s:o}", "mean", json_real_or_null(s->n > 0 ? s->mean_ns / 1e9 : NAN),
		"sd", json_real_or_null(s->n > 1 ? s->sd_ns / 1e9 : NAN), "interval",
		json_interval(rate->interval.low_ns / 1e9, rate->interval.high_ns / 1e9));
}

static void set_known(json_t *object, const char *name, int64_t value)
{
	if (value >= 0)
		json_object_set_new(object, name, json_integer(value));
}

/* The run k of all, whose rates are `all`. */
static json_t *load_run_json(const struct load_report *p, size_t k, const struct load_sample *start,
	const struct sample_program *parts, size_t n, const struct load_rates *all)
{
	const struct sample *sample = &p->result.samples[k];
	json_t *order = json_array(), *scripts = json_array(), *workers = json_array(), *worker;
	json_t *object = json_pack("{s:I, s:b, s:f, s:I}", "run", (json_int_t)sample->n, "kept",
		!p->result.discarding.out[k], "rate_per_s", (double)all->sum.nano[k] / 1e9, "time_to_last_ns",
		(json_int_t)sample->et_ns);
	int64_t first_ns = INT64_MAX, last_ns = 0;

	/* parts[n]: of one run. start NULL: not known. */
	for (size_t i = 0; i < n; i++) {
		first_ns = parts[i].start_ns < first_ns ? parts[i].start_ns : first_ns;
		raise_to(&last_ns, parts[i].start_ns);
	}
	if (n > 0) {
		set_known(object, "start_spread_ns", last_ns - first_ns);
		set_known(object, "last_start_ns", last_ns - sample->start_ns);
	}
	if (start) {
		set_known(object, "release_ns", start->release_ns);
		set_known(object, "driver_ns", start->driver_ns);
		set_known(object, "idle_ns", start->idle_ns);
		set_known(object, "cpus", start->cpus);
		json_object_set_new(object, "idle_share", json_real_or_null(idle_share(start, sample)));
	}
	if (load_rates_in_shares(all))
		json_object_set_new(object, "shares_per_s", json_real((double)all->items[0].nano[k] / 1e9));
	for (size_t i = 0; i < n; i++) {
		size_t before = 0; /* the first to finish first */

		for (size_t j = 0; j < i; j++)
			before += parts[j].finished_ns <= parts[i].finished_ns;
		json_array_insert_new(order, before, json_integer(parts[i].program));
		worker = json_pack("{s:I, s:s}", "slave", (json_int_t)parts[i].program, "script",
			p->programs[parts[i].program - 1].name);
		set_known(worker, "repetitions", parts[i].repetitions);
		set_known(worker, "pt_ns", parts[i].pt_ns);
		set_known(worker, "et_ns", parts[i].et_ns);
		set_known(worker, "finished_ns", parts[i].finished_ns);
		set_known(worker, "user_ns", parts[i].user_ns);
		set_known(worker, "system_ns", parts[i].system_ns);
		set_known(worker, "wait_ns", parts[i].wait_ns);
		set_known(worker, "io_wait_ns", parts[i].io_wait_ns);
		set_known(worker, "major_faults", parts[i].major_faults);
		set_known(worker, "max_rss_bytes", parts[i].max_rss_bytes);
		json_array_append_new(workers, worker);
	}
	for (size_t i = 1; i < all->n; i++)
		json_array_append_new(scripts, json_pack("{s:s, s:f}", "script", all->items[i].script,
						       "rate_per_s", (double)all->items[i].nano[k] / 1e9));
	json_object_set_new(object, "finish_order", order);
	json_object_set_new(object, "scripts", scripts);
	json_object_set_new(object, "slaves", workers);
	return object;
}

json_t *load_report_as_json(const struct load_report *p)
{
	const struct run *run = &p->result.discarding.run;
	const struct load_rates *rates = &p->rates;
	const struct run_result *result = &p->result;
	_cleanup_(load_rates_clear) struct load_rates all = load_report_rates(
		p, result->samples, result->n_samples, NULL);
	const struct sample_program *part = p->parts, *parts_end = p->parts + p->n_parts;
	const struct load_sample *start = p->starts, *starts_end = p->starts + p->n_starts;
	json_t *scripts = json_array(), *runs = json_array(),
	       *discarding = discarding_as_json(&result->discarding);

	/* The rows of the book are in the order of samples. */
	for (size_t k = 0; k < result->n_samples; k++) {
		uint32_t sample = result->samples[k].n;
		size_t n = 0;

		while (start < starts_end && start->sample < sample)
			start++;
		while (part < parts_end && part->sample < sample)
			part++;
		while (part + n < parts_end && part[n].sample == sample)
			n++;
		json_array_append_new(runs,
			load_run_json(p, k, start < starts_end && start->sample == sample ? start : NULL,
				part, n, &all));
		part += n;
	}
	for (size_t i = 1; i < rates->n; i++)
		json_array_append_new(scripts,
			json_pack("{s:s, s:o, s:I}", "script", rates->items[i].script, "rate_per_s",
				rate_json(&rates->items[i]), "share", (json_int_t)rates->items[i].share));
	json_object_del(discarding, "run"); /* that is a member of the load */
	return json_pack(
		"{s:s, s:i, s:O*, s:I, s:s, s:s, s:s*, s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:o}",
		"format", "emp-load", "version", 1, "context", p->context, "run", (json_int_t)run->id, "load",
		run->program, "coordination", coordination_names[p->load.coordination], "cpus", p->load.cpus,
		"runs", runs, "rate_per_s", rate_json(&rates->sum), "shares_per_s",
		load_rates_in_shares(rates) ? rate_json(&rates->items[0]) : NULL, "scripts", scripts,
		"order_changed", json_real_or_null(rates->order_changed), "idle_share",
		json_real_or_null(p->idle), "page_waits", page_wait_report_as_json(p), "discarding",
		discarding, "warnings", notes_as_json(&p->notes));
}

enum { LOAD_LABEL = 26, LOAD_NAME = 50 }; /* columns */

char *load_short_text(const char *text, size_t columns)
{
	text = terminal_text(text);
	if (terminal_text_width(text) <= columns)
		return xstrdup(text);
	return text_format("%.*s…", (int)terminal_text_fit(text, columns - 1), text);
}

/* "12.26 ± 0.29 /s   CV 2.4 %   95 % CI 11.90 … 12.62", with so many blanks between; the caller frees it. */
static char *rate_text(const struct load_rate *rate, int blanks)
{
	const struct load_unit *unit = load_unit_for(rate->summary.mean_ns);
	double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns * scale,
	       sd = rate->summary.sd_ns * scale;
	int decimals = load_rate_decimals(rate, unit);

	if (rate->summary.n < 2 || mean <= 0)
		return text_format("%.*f /%s", decimals, mean, unit->name);
	return text_format("%.*f ± %.*f /%s%*sCV %s%*s95 %% CI %.*f … %.*f", decimals, mean, decimals, sd,
		unit->name, blanks, "", text_percent(sd / mean), blanks, "", decimals,
		rate->interval.low_ns * scale, decimals, rate->interval.high_ns * scale);
}

static void print_rate(FILE *file, const struct load_rate *rate, const char *all)
{
	_cleanup_(freep) char *text = rate_text(rate, 3);
	_cleanup_(freep) char *script = NULL;

	for (int blanks = 2; blanks > 0 && LOAD_LABEL + terminal_text_width(text) > terminal_columns(file);
		blanks--) {
		free(text);
		text = rate_text(rate, blanks);
	}

	/* "     edit ×4"; of all work, `all`. */
	_cleanup_(freep) char *workers = text_format(" ×%" PRId64, rate->slaves);
	size_t width = terminal_text_width(workers);

	if (!rate->script) {
		fprintf(file, "  %-*s", LOAD_LABEL - 2, all);
	} else {
		script = load_short_text(rate->script, LOAD_LABEL - 6 - width);
		width += terminal_text_width(script);
		fprintf(file, "     %s%s%*s", script, workers, (int)(LOAD_LABEL - 5 - width), "");
	}
	fprintf(file, "%s\n", text);
}

/* A line whose text is written to a stream in memory; it is wrapped. */
typedef void write_text(FILE *text, const struct load_report *report);

static void print_wrapped(FILE *file, const char *label, write_text *write_it, const struct load_report *p)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	write_it(memory, p);
	text_stream_close(memory, &text);
	terminal_wrap(file, text, (size_t)fprintf(file, "  %-*s", LOAD_LABEL - 2, label), LOAD_LABEL);
}

/* The mean over all workers and all runs of a member of struct sample_program; negative: unknown. */
static double mean_of_parts(const struct load_report *p, size_t offset)
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

#define MEAN(report, member) mean_of_parts(report, offsetof(struct sample_program, member))

static void write_workers(FILE *file, const struct load_report *p)
{
	double wait = MEAN(p, wait_ns), io = MEAN(p, io_wait_ns), faults = MEAN(p, major_faults);

	fprintf(file, "PT %s", text_duration((int64_t)MEAN(p, pt_ns)));
	if (wait >= 0)
		fprintf(file, ", waits for CPU %s", text_duration((int64_t)wait));
	if (io >= 0)
		fprintf(file, ", disk %s", text_duration((int64_t)io));
	if (faults >= 0.05)
		fprintf(file, ", %.1f major page faults", faults);
}

static void write_background_processes(FILE *file, const struct load_report *p)
{
	const struct daemons *others = &p->result.discarding.others;

	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		fprintf(file, "%s%s %s", i ? ", " : "", terminal_text(others->items[i].name),
			text_duration(others->items[i].total_ns));
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

static void write_coordination(FILE *file, const struct load_report *p)
{
	fprintf(file, "%s, last ran at %s, driver's PT %s", text_duration(p->release_ns),
		text_duration(p->last_start_ns), text_duration(p->driver_ns));
}

void load_report_print(FILE *file, const struct load_report *p, int64_t page_wait_bin_ns)
{
	char kept[64];

	snprintf(kept, sizeof(kept), "Kept %zu of %zu runs", p->n_kept, p->result.n_samples);

	size_t n = p->result.n_samples;
	_cleanup_(freep) char *name = load_short_text(p->result.discarding.run.program, LOAD_NAME);
	_cleanup_(freep) char *text = text_format("%zu run%s, %s, %zu slave%s on %s%s (run %" PRId64
						  " of the book)",
		n, n == 1 ? "" : "s", coordination_names[p->load.coordination], p->n_programs,
		p->n_programs == 1 ? "" : "s", p->load.cpus ? "CPUs " : "all CPUs",
		p->load.cpus ? terminal_text(p->load.cpus) : "", p->result.discarding.run.id);

	fprintf(file, "%s%s%s:", terminal_mark(file, MARK_STRONG), name, terminal_mark(file, MARK_END));
	terminal_wrap(file, text, terminal_text_width(name) + 1, 0);
	if (p->n_kept > 0) {
		const struct load_unit *unit = load_unit_for(p->rates.sum.summary.mean_ns);
		const struct summary *time = &p->rates.time;
		bool in_shares = load_rates_in_shares(&p->rates);

		/* Of all work, by script, and the sum, whose spread is mostly that of the script with the
		 * shortest repetitions; and the time to the last worker's end. */
		print_rate(file, &p->rates.items[0], in_shares ? "Rate of work, in shares" : "Rate of work");
		for (size_t i = 1; in_shares && i < p->rates.n; i++)
			print_rate(file, &p->rates.items[i], NULL);
		if (in_shares)
			fprintf(file, "     %-*s%.*f /%s\n", LOAD_LABEL - 5, "all repetitions",
				load_rate_decimals(&p->rates.sum, unit),
				p->rates.sum.summary.mean_ns * unit->seconds / 1e9, unit->name);
		if (time->n > 1)
			fprintf(file, "  Time to the last        %s   range %s\n",
				text_mean_sd(time->mean_ns, time->sd_ns, NULL),
				text_interval(
					(double)time->min_ns, (double)time->max_ns, range_step(time), NULL));
		else
			fprintf(file, "  Time to the last        %s\n", text_duration(time->min_ns));
		print_wrapped(file, "A slave's mean", write_workers, p);
		if (!isnan(p->idle))
			fprintf(file, "  CPUs idle               %s\n", text_percent(p->idle));
	}
	if (p->n_kept < p->result.n_samples)
		print_wrapped(file, kept, write_discarded, p);
	if (p->n_kept == 0)
		return;
	if (p->result.discarding.others.n > 0)
		print_wrapped(file, "Other processes", write_background_processes, p);
	print_wrapped(file, "Released within", write_coordination, p);
	if (p->rates.order_changed > 0)
		fprintf(file,
			"  Order of finishing      differs from the run before in %.0f %% of the runs\n",
			100 * p->rates.order_changed);
	page_wait_report_print(file, p, page_wait_bin_ns);
	notes_print_all(file, &p->notes);
}

/* The rate of work. */

/* Beyond what a machine can do: the book may be somebody else's. */
static const double MOST_A_SECOND = 1e9;

/* What the workers did in one run. */
struct run_parts {
	const struct sample *sample;
	const struct sample_program *items;
	size_t n;
};

static struct run_parts find_run_parts(const struct sample *sample, const struct load_work *work)
{
	struct run_parts parts = {.sample = sample, .items = work->parts};
	const struct sample_program *end = work->parts + work->n_parts;

	while (parts.items < end && parts.items->sample < sample->n)
		parts.items++;
	while (parts.items + parts.n < end && parts.items[parts.n].sample == sample->n)
		parts.n++;
	return parts;
}

double load_rate_of_slave(
	enum coordination coordination, const struct sample *sample, const struct sample_program *part)
{
	int64_t ns = coordination == LOAD_CONSTANT ? part->et_ns : sample->et_ns;

	return ns > 0 && part->repetitions > 0 ? (double)part->repetitions * (double)NS_PER_S / (double)ns
					       : 0;
}

/* Repetitions in 10^9 s. script NULL: all. */
static int64_t rate_of_script(const struct load_work *work, const struct run_parts *parts, const char *script)
{
	double sum = 0;

	for (size_t i = 0; i < parts->n; i++) {
		uint32_t program = parts->items[i].program;

		if (program <= work->n_programs &&
			(!script || !strcmp(work->programs[program - 1].name, script)))
			sum += load_rate_of_slave(work->coordination, parts->sample, &parts->items[i]);
	}
	return (int64_t)(1e9 * fmin(sum, MOST_A_SECOND));
}

struct load_rate *load_rates_find(const struct load_rates *rates, const char *script)
{
	for (size_t i = 1; i < rates->n; i++)
		if (!strcmp(rates->items[i].script, script))
			return &rates->items[i];
	return NULL;
}

bool load_rates_in_shares(const struct load_rates *rates)
{
	return rates->n > 2;
}

/* A line of the load's file; the book may be somebody else's, so that it may say anything. */
static int take_repetitions(const struct ini_line *line, void *data, struct error *err)
{
	struct load_rate *rate = load_rates_find(data, line->section);
	int64_t n;

	if (rate && !strcmp(line->name, "repetitions") &&
		text_parse_int(line->value, line->name, 1, 10000, &n, err) == 0)
		rate->share = n * rate->slaves;
	return 0;
}

/* The rate of all work in shares is the geometric mean of the scripts' rates: SPEC's mean of ratios, which does not depend on the
 * unit of any of them. It is 0 if a script has done nothing. */
static void fill_rate(struct load_rates *rates, struct load_rate *rate, const struct load_work *work,
	const struct sample *samples)
{
	bool in_shares = rate == rates->items && load_rates_in_shares(rates);
	size_t n = rates->n_runs;

	rate->nano = xcalloc(n + 1, sizeof(*rate->nano));
	for (size_t i = 0; i < n; i++) {
		struct run_parts parts = find_run_parts(&samples[i], work);
		double logs = 0;

		if (!in_shares) {
			rate->nano[i] = rate_of_script(work, &parts, rate->script);
			continue;
		}
		for (size_t k = 1; k < rates->n; k++) {
			const struct load_rate *its = &rates->items[k];
			const struct load_rate *of = work->shares_of
							     ? load_rates_find(work->shares_of, its->script)
							     : NULL;

			logs += log((double)rate_of_script(work, &parts, its->script) /
				    (double)(of ?: its)->share);
		}
		rate->nano[i] = (int64_t)exp(logs / (double)(rates->n - 1));
	}
	rate->summary = summary_of(rate->nano, n);
	rate->interval = interval_of_mean(rate->nano, n, 0.95, NULL);
}

struct load_rates load_rates_of(const struct load_work *work, const struct sample *samples, size_t n_samples)
{
	struct load_rates rates = {.n_runs = n_samples};
	_cleanup_(freep) int64_t *times = xcalloc(n_samples + 1, sizeof(*times));
	size_t changed = 0;
	struct load_rate *all = array_add(rates.items, rates.n);

	all->slaves = rates.sum.slaves = (int64_t)work->n_programs;
	for (size_t i = 0; i < work->n_programs; i++) {
		const char *script = work->programs[i].name;
		struct load_rate *rate = load_rates_find(&rates, script);

		if (!rate) {
			rate = array_add(rates.items, rates.n);
			rate->script = script;
		}
		rate->share = ++rate->slaves;
	}
	ini_each_line(work->file, "", take_repetitions, &rates, &(struct error){});
	for (size_t k = 0; k < rates.n; k++)
		fill_rate(&rates, &rates.items[k], work, samples);
	fill_rate(&rates, &rates.sum, work, samples);
	for (size_t i = 0; i < n_samples; i++)
		times[i] = samples[i].et_ns;
	rates.time = summary_of(times, n_samples);
	rates.interval = interval_of_mean(times, n_samples, 0.95, NULL);
	for (size_t i = 1; i < n_samples; i++) {
		struct run_parts before = find_run_parts(&samples[i - 1], work);
		struct run_parts now = find_run_parts(&samples[i], work);
		const struct sample_program *a = before.items, *b = now.items;
		bool same = true;

		for (size_t k = 1; k < before.n && k < now.n; k++)
			for (size_t j = 0; j < k; j++)
				same &= (a[k].finished_ns < a[j].finished_ns) ==
					(b[k].finished_ns < b[j].finished_ns);
		changed += !same;
	}
	rates.order_changed = n_samples > 1 ? (double)changed / (double)(n_samples - 1) : NAN;
	return rates;
}

void load_rates_clear(struct load_rates *rates)
{
	for (size_t i = 0; i < rates->n; i++)
		free(rates->items[i].nano);
	free(rates->items);
	free(rates->sum.nano);
	*rates = (struct load_rates){};
}

const struct load_unit *load_unit_for(double nano)
{
	static const struct load_unit units[] = {
		{"s", "second", 1}, {"min", "minute", 60}, {"h", "hour", 3600}};
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
