/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load, read from the book, as an emp-load document, and on the screen: see
 * load_report.h. */
#include "lib/load/load_report.h"

#include "lib/load/page_wait_report.h"
#include "lib/record/profile.h"
#include "lib/report/results.h"
#include "lib/base/terminal.h"
#include "lib/report/screen.h"

/* A run that is no load, or has no result, is an error with a sentence. */
static int read_load_row(
	struct book *book, const struct run *run, struct load_row *ret, struct error *err)
{
	int r;

	if (run->kind != RUN_LOAD)
		return error_say(err, -EINVAL,
			"run %" PRId64 " is not a load: 'emp-analyze %s %" PRId64 "' shows it",
			run->id, run->kind == RUN_JITTER ? "jitter" : "show", run->id);
	r = book_get_load(book, run->id, ret, err);
	if (r == 0)
		return error_say(err, -EINVAL,
			"run %" PRId64
			" was imported without its slaves, so its rate of work is not known",
			run->id);
	if (r > 0 && run->n_samples == 0)
		return error_say(err, -ENODATA,
			"run %" PRId64 " has no result: it ended before its first run", run->id);
	return r < 0 ? r : 0;
}

/* Whether the workers are numbered from 1: the book may be somebody else's. */
static bool workers_are_sound(const struct load_work *w)
{
	for (size_t i = 0; i < w->n_programs; i++)
		if (w->programs[i].n != i + 1)
			return false;
	for (size_t i = 0; i < w->n_parts; i++)
		if (w->parts[i].program > w->n_programs)
			return false;
	return w->n_programs > 0;
}

static int read_workers(struct book *book, int64_t run, struct load_report *p, struct error *err)
{
	struct load_work *w = &p->work;
	int r = book_rows(book, run, &run_program_table, &w->programs, &w->n_programs, err);

	if (r == 0)
		r = book_rows(book, run, &sample_program_table, &w->parts, &w->n_parts, err);
	if (r == 0)
		r = book_rows(book, run, &load_sample_table, &p->starts, &p->n_starts, err);
	if (r < 0)
		return r;
	w->coordination = p->load.coordination;
	w->file = p->load.file;
	if (!workers_are_sound(w))
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

/* NULL: not known. */
static const struct load_sample *find_start(const struct load_report *p, uint32_t sample)
{
	for (size_t i = 0; i < p->n_starts; i++)
		if (p->starts[i].sample == sample)
			return &p->starts[i];
	return NULL;
}

/* The share of its CPUs' time in which they were idle; NAN: not known. */
static double idle_share(const struct load_sample *start, const struct sample *sample)
{
	double available_ns;

	if (!start || start->idle_ns < 0 || start->cpus < 1 || sample->et_ns <= 0)
		return NAN;
	available_ns = (double)start->cpus * (double)sample->et_ns;
	return fmin((double)start->idle_ns / available_ns, 1);
}

/* What follows from what the book has. */
static void conclude_report(struct load_report *p)
{
	const struct run_result *result = &p->result;
	double idle = 0; /* the sum over the runs that count; NAN if one of them is not known */

	for (size_t i = 0; i < p->n_starts; i++) {
		raise_to(&p->release_ns, p->starts[i].release_ns);
		raise_to(&p->driver_ns, p->starts[i].driver_ns);
	}
	p->kept = xcalloc(result->n_samples + 1, sizeof(*p->kept));
	for (size_t i = 0; i < result->n_samples; i++) {
		const struct sample *sample = &result->samples[i];
		struct load_parts parts = load_parts_of(&p->work, sample->n);

		for (size_t k = 0; k < parts.n; k++)
			raise_to(&p->last_start_ns, parts.items[k].start_ns - sample->start_ns);
		if (result->discarding.out[i])
			continue;
		p->kept[p->n_kept++] = *sample;
		idle += idle_share(find_start(p, sample->n), sample);
	}
	p->idle = p->n_kept > 0 ? idle / (double)p->n_kept : NAN;
	p->rates = load_rates_of(&p->work, NULL, p->kept, p->n_kept);
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		p->page_wait_totals[kind] = page_wait_total_of(
			&p->page_waits, kind, p->kept, p->n_kept);
	page_wait_correlate(p);
}

int load_report_read(struct book *book, int64_t id, struct load_report *ret, struct error *err)
{
	_cleanup_(load_report_clear) struct load_report report = {};
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(run_clear) struct run run = {};
	struct discard_rules rules = {.other_cpus = true};
	struct page_waits *waits = &report.page_waits;
	int r = book_get_run(book, id, &run, err);

	if (r == 0)
		r = read_load_row(book, &run, &report.load, err);

	/* under the cutoffs of the profile that the load was run with, if that is still there */
	if (r == 0 && run.profile &&
		book_get_profile(book, run.profile_id, run.profile, &profile, NULL) == 0)
		rules.profile = &profile;
	profile_for_inc(&profile, run.inc_digest);

	if (r == 0)
		r = run_result_read(book, id, &rules, RESULT_ALL, &report.result, err);
	if (r == 0)
		r = read_workers(book, id, &report, err);
	if (r == 0)
		r = book_rows(book, id, &page_wait_table, &waits->items, &waits->n, err);
	if (r == 0)
		r = book_rows(book, id, &page_wait_bin_table, &waits->bins, &waits->n_bins, err);
	if (r == 0)
		r = book_rows(book, id, &note_table, &report.notes.items, &report.notes.n, err);

	if (r == 0)
		r = document_make_context(
			book, run.environment, run.started_ns, &report.context, err);
	if (r == 0)
		r = book_get_environment(book, run.environment, &report.machine, NULL, NULL, err);
	if (r < 0)
		return r;
	conclude_report(&report);
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
	fields_clear(&load_table, &report->load);
	fields_free(&run_program_table, report->work.programs, report->work.n_programs);
	free(report->work.parts);
	free(report->starts);
	free(report->kept);
	free(report->machine);
	notes_clear(&report->notes);
	json_decref(report->context);
	*report = (struct load_report){};
}

char *load_report_name(const struct load_report *p)
{
	return text_format("run %" PRId64 " (%s)", p->result.discarding.run.id,
		p->result.discarding.run.program);
}

static json_t *rate_json(const struct load_rate *rate)
{
	const struct summary *s = &rate->summary;

	return json_pack("{s:o, s:o, s:o}", "mean", json_real_or_null(summary_mean(s) / 1e9), "sd",
		json_real_or_null(summary_sd(s) / 1e9), "interval",
		json_interval(rate->interval.low_ns / 1e9, rate->interval.high_ns / 1e9));
}

json_t *load_known_json(int64_t value)
{
	return value >= 0 ? json_integer(value) : NULL;
}

static json_t *worker_json(const struct load_work *work, const struct sample_program *part)
{
	return JSON_OBJECT({"slave", json_integer(part->program)},
		{"script", json_text(work->programs[part->program - 1].name)},
		{"repetitions?", load_known_json(part->repetitions)},
		{"pt_ns?", load_known_json(part->pt_ns)}, {"et_ns?", load_known_json(part->et_ns)},
		{"finished_ns?", load_known_json(part->finished_ns)},
		{"user_ns?", load_known_json(part->user_ns)},
		{"system_ns?", load_known_json(part->system_ns)},
		{"wait_ns?", load_known_json(part->wait_ns)},
		{"io_wait_ns?", load_known_json(part->io_wait_ns)},
		{"major_faults?", load_known_json(part->major_faults)},
		{"max_rss_bytes?", load_known_json(part->max_rss_bytes)});
}

/* The workers of a run in the order in which they finished. */
static json_t *finish_order_json(const struct load_parts *parts)
{
	json_t *order = json_array();

	for (size_t i = 0; i < parts->n; i++) {
		size_t before = 0; /* the first to finish first */

		for (size_t k = 0; k < i; k++)
			before += parts->items[k].finished_ns <= parts->items[i].finished_ns;
		json_array_insert_new(order, before, json_integer(parts->items[i].program));
	}
	return order;
}

/* The run k of all, whose rates are `all`. */
static json_t *load_run_json(const struct load_report *p, size_t k, const struct load_rates *all)
{
	struct load_sample unknown;
	const struct sample *sample = &p->result.samples[k];
	struct load_parts parts = load_parts_of(&p->work, sample->n);
	const struct load_sample *found = find_start(p, sample->n), *start = found ?: &unknown;
	json_t *scripts = json_array(), *workers = json_array();
	json_t *idle = found ? json_real_or_null(idle_share(found, sample)) : NULL;
	json_t *spread = NULL, *last_start = NULL, *shares = NULL;
	int64_t first_ns = INT64_MAX, last_ns = 0;

	fields_init(&load_sample_table, &unknown);
	unknown.release_ns = unknown.driver_ns = -1; /* which each row of the book has */
	for (size_t i = 0; i < parts.n; i++) {
		const struct sample_program *part = &parts.items[i];

		first_ns = part->start_ns < first_ns ? part->start_ns : first_ns;
		raise_to(&last_ns, part->start_ns);
		json_array_append_new(workers, worker_json(&p->work, part));
	}
	if (parts.n > 0) {
		spread = load_known_json(last_ns - first_ns);
		last_start = load_known_json(last_ns - sample->start_ns);
	}
	for (size_t i = 1; i < all->n; i++) {
		const struct load_rate *rate = &all->items[i];

		json_array_append_new(scripts, json_pack("{s:s, s:f}", "script", rate->script,
						       "rate_per_s", (double)rate->nano[k] / 1e9));
	}
	if (load_rates_in_shares(all))
		shares = json_real((double)all->items[0].nano[k] / 1e9);

	return JSON_OBJECT({"run", json_integer(sample->n)},
		{"kept", json_boolean(!p->result.discarding.out[k])},
		{"rate_per_s", json_real_or_null((double)all->sum.nano[k] / 1e9)},
		{"time_to_last_ns", json_integer(sample->et_ns)}, {"start_spread_ns?", spread},
		{"last_start_ns?", last_start}, {"release_ns?", load_known_json(start->release_ns)},
		{"driver_ns?", load_known_json(start->driver_ns)},
		{"idle_ns?", load_known_json(start->idle_ns)},
		{"cpus?", load_known_json(start->cpus)}, {"idle_share?", idle},
		{"shares_per_s?", shares}, {"finish_order", finish_order_json(&parts)},
		{"scripts", scripts}, {"slaves", workers});
}

static json_t *scripts_json(const struct load_rates *rates)
{
	json_t *scripts = json_array();

	for (size_t i = 1; i < rates->n; i++) {
		const struct load_rate *rate = &rates->items[i];

		json_array_append_new(
			scripts, json_pack("{s:s, s:o, s:I}", "script", rate->script, "rate_per_s",
					 rate_json(rate), "share", (json_int_t)rate->share));
	}
	return scripts;
}

json_t *load_report_as_json(const struct load_report *p)
{
	const struct run_result *result = &p->result;
	const struct run *run = &result->discarding.run;
	const struct load_rates *rates = &p->rates;
	_cleanup_(load_rates_clear) struct load_rates all = load_rates_of(
		&p->work, NULL, result->samples, result->n_samples);
	json_t *runs = json_array(), *discarding = discarding_as_json(&result->discarding);
	json_t *shares = load_rates_in_shares(rates) ? rate_json(&rates->items[0]) : NULL;

	for (size_t k = 0; k < result->n_samples; k++)
		json_array_append_new(runs, load_run_json(p, k, &all));
	json_object_del(discarding, "run"); /* that is a member of the load */
	return json_document("emp-load",
		JSON_OBJECT({"context?", json_incref(p->context)}, {"run", json_integer(run->id)},
			{"load", json_text(run->program)},
			{"coordination", json_text(coordination_names[p->load.coordination])},
			{"cpus?", json_string(p->load.cpus)}, {"runs", runs},
			{"rate_per_s", rate_json(&rates->sum)}, {"shares_per_s?", shares},
			{"scripts", scripts_json(rates)},
			{"order_changed", json_real_or_null(rates->order_changed)},
			{"idle_share", json_real_or_null(p->idle)},
			{"page_waits", page_wait_report_as_json(p)}, {"discarding", discarding},
			{"warnings", notes_as_json(&p->notes)}));
}

enum { LOAD_LABEL = 26, LOAD_NAME = 50 }; /* columns */

/* "12.26 ± 0.29 /s   CV 2.4 %   95 % CI 11.90 … 12.62", with fewer blanks where the line is
 * narrow, or on two lines. The caller frees it. */
static char *rate_line(const struct load_rate *rate, size_t columns)
{
	const struct load_unit *unit = load_unit_for(rate->summary.mean_ns);
	const char *mean = load_rate_text(rate, unit),
		   *interval = load_rate_interval_text(rate, unit);
	char *text;

	if (rate->summary.n == 0)
		return xstrdup(mean);
	if (!interval)
		return text_format("%s /%s", mean, unit->name);
	for (int blanks = 3;; blanks--) {
		char line[LOAD_LABEL + 2] = "";

		if (blanks == 0) /* the interval has a line of its own */
			snprintf(line, sizeof(line), "\n%*s", LOAD_LABEL, "");
		text = text_format("%s /%s%*sCV %s%*s%s95 %% CI %s", mean, unit->name, blanks ?: 3,
			"", text_percent(rate->summary.sd_ns / rate->summary.mean_ns), blanks, "",
			line, interval);
		if (blanks == 0 || LOAD_LABEL + terminal_text_width(text) <= columns)
			return text;
		free(text);
	}
}

/* "     edit ×4" */
static void print_script_label(FILE *file, const struct load_rate *rate)
{
	_cleanup_(freep) char *workers = text_format(" ×%" PRId64, rate->workers);
	size_t width = terminal_text_width(workers);
	_cleanup_(freep) char *script = terminal_cut(rate->script, LOAD_LABEL - 6 - width);

	width += terminal_text_width(script);
	fprintf(file, "     %s%s%*s", script, workers, (int)(LOAD_LABEL - 5 - width), "");
}

/* `all`: the label of all work. */
static void print_rate(FILE *file, const struct load_rate *rate, const char *all)
{
	_cleanup_(freep) char *text = rate_line(rate, terminal_columns(file));

	if (rate->script)
		print_script_label(file, rate);
	else
		fprintf(file, "  %-*s", LOAD_LABEL - 2, all);
	fprintf(file, "%s\n", text);
}

void load_report_line(FILE *file, const char *label, const char *text)
{
	terminal_wrap(
		file, text, (size_t)fprintf(file, "  %-*s", LOAD_LABEL - 2, label), LOAD_LABEL);
}

static const char *time_to_last_text(const struct summary *time)
{
	const char *range;

	if (time->n == 0)
		return "-";
	if (time->n == 1)
		return text_duration(time->min_ns);
	range = text_interval((double)time->min_ns, (double)time->max_ns, range_step(time), NULL);
	return text_brief("%s   range %s", text_mean_sd(time->mean_ns, time->sd_ns, NULL), range);
}

/* Of all work, by script, and the sum, whose spread is mostly that of the script with the shortest
 * repetitions; and the time to the last worker's end. */
static void print_rates(FILE *file, const struct load_rates *rates)
{
	const struct load_unit *unit = load_unit_for(rates->sum.summary.mean_ns);
	bool in_shares = load_rates_in_shares(rates);

	print_rate(file, &rates->items[0], in_shares ? "Rate of work, in shares" : "Rate of work");
	for (size_t i = 1; in_shares && i < rates->n; i++)
		print_rate(file, &rates->items[i], NULL);
	if (in_shares && rates->time.n > 0)
		fprintf(file, "     %-*s%.*f /%s\n", LOAD_LABEL - 5, "all repetitions",
			load_rate_decimals(&rates->sum, unit),
			rates->sum.summary.mean_ns * unit->seconds / 1e9, unit->name);
	load_report_line(file, "Time to the last", time_to_last_text(&rates->time));
}

/* The mean over all workers and all runs of a member of struct sample_program; negative:
 * unknown. */
static double mean_of_parts(const struct load_work *work, size_t offset)
{
	double sum = 0;

	for (size_t i = 0; i < work->n_parts; i++) {
		int64_t value = *(const int64_t *)((const char *)&work->parts[i] + offset);

		if (value < 0)
			return -1;
		sum += (double)value;
	}
	return work->n_parts ? sum / (double)work->n_parts : -1;
}

static void print_workers(FILE *file, const struct load_work *work)
{
	double pt = mean_of_parts(work, offsetof(struct sample_program, pt_ns));
	double wait = mean_of_parts(work, offsetof(struct sample_program, wait_ns));
	double io = mean_of_parts(work, offsetof(struct sample_program, io_wait_ns));
	double faults = mean_of_parts(work, offsetof(struct sample_program, major_faults));
	_cleanup_(freep) char *text = text_format("PT %s", text_duration((int64_t)pt));

	if (wait >= 0)
		text_append(&text, ", ", "waits for CPU %s", text_duration((int64_t)wait));
	if (io >= 0)
		text_append(&text, ", ", "disk %s", text_duration((int64_t)io));
	if (faults >= 0.05)
		text_append(&text, ", ", "%.1f major page faults", faults);
	load_report_line(file, "A slave's mean", text);
}

static void print_discarded(FILE *file, const struct load_report *p)
{
	const struct discarding *d = &p->result.discarding;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	fputs("discarded:", memory);
	for (size_t i = 0; i < d->n_over; i++)
		fprintf(memory, "%s %s #%" PRIu32, i ? "," : "", terminal_text(d->over[i].daemon),
			d->over[i].sample);
	if (d->n_incomplete)
		fprintf(memory, "%s lost records", d->n_over ? "," : "");
	text_stream_close(memory, &text);
	load_report_line(
		file, text_brief("Kept %zu of %zu runs", p->n_kept, p->result.n_samples), text);
}

static void print_background_processes(FILE *file, const struct daemons *others)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		fprintf(memory, "%s%s %s", i ? ", " : "", terminal_text(others->items[i].name),
			text_duration(others->items[i].total_ns));
	if (others->n > SCREEN_OTHERS)
		fputs(", …", memory);
	text_stream_close(memory, &text);
	load_report_line(file, "Other processes", text);
}

/* "office.ini: 5 runs, constant-load, 3 slaves on all CPUs (run 13 of the book)" */
static void print_load_title(FILE *file, const struct load_report *p)
{
	const struct run *run = &p->result.discarding.run;
	_cleanup_(freep) char *name = terminal_cut(run->program, LOAD_NAME);
	_cleanup_(freep) char *text = text_format("%s, %s, %s on ",
		text_count(p->result.n_samples, "run"), coordination_names[p->load.coordination],
		text_count(p->work.n_programs, "slave"));

	if (p->load.cpus)
		text_append(&text, "", "CPUs %s", terminal_text(p->load.cpus));
	else
		text_append(&text, "", "all CPUs");
	text_append(&text, " ", "(run %" PRId64 " of the book)", run->id);

	fprintf(file, "%s%s%s:", terminal_mark(file, MARK_STRONG), name,
		terminal_mark(file, MARK_END));
	terminal_wrap(file, text, terminal_text_width(name) + 1, 0);
}

static void print_coordination(FILE *file, const struct load_report *p)
{
	load_report_line(file, "Released within",
		text_brief("%s, last ran at %s, driver's PT %s", text_duration(p->release_ns),
			text_duration(p->last_start_ns), text_duration(p->driver_ns)));
	if (p->rates.order_changed > 0)
		load_report_line(file, "Order of finishing",
			text_brief("differs from the run before in %.0f %% of the runs",
				100 * p->rates.order_changed));
}

void load_report_print(FILE *file, const struct load_report *p, int64_t page_wait_bin_ns)
{
	print_load_title(file, p);
	if (p->n_kept > 0) {
		print_rates(file, &p->rates);
		print_workers(file, &p->work);
		if (!isnan(p->idle))
			fprintf(file, "  CPUs idle               %s\n", text_percent(p->idle));
	}
	if (p->n_kept < p->result.n_samples)
		print_discarded(file, p);
	if (p->n_kept > 0) {
		if (p->result.discarding.others.n > 0)
			print_background_processes(file, &p->result.discarding.others);
		print_coordination(file, p);
		page_wait_report_print(file, p, page_wait_bin_ns);
	}
	notes_print(file, &p->notes, ALL_NOTES, NULL);
}
