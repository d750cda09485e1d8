/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the result of a load: see load_report.h. */
#include "lib/load/load_report.h"

#include "lib/base/xalloc.h"
#include "lib/load/book_load.h"
#include "lib/book/book.h"
#include "lib/document/document.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

static int read_load(struct book *book, const struct run *run, struct load_row *ret, struct error *err)
{
	int r;

	if (run->kind != RUN_LOAD)
		return error_say(err, -EINVAL,
			"run %" PRId64 " is not a load: 'emp-analyze %s %" PRId64 "' shows it", run->id,
			run->kind == RUN_JITTER ? "jitter" : "show", run->id);
	r = book_get_load(book, run->id, ret, err);
	if (r == 0)
		return error_say(err, -EINVAL,
			"run %" PRId64 " was imported without its slaves, so its rate of work is not known",
			run->id);
	if (r > 0 && run->n_samples == 0)
		return error_say(err, -ENODATA,
			"run %" PRId64 " has no result: it ended before its first run", run->id);
	return r < 0 ? r : 0;
}

/* The samples, without those in which a daemon passed its cutoff in the profile that the load was run with, if that is
 * still there. */
static int read_samples(struct book *book, const struct run *run, struct run_result *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	bool profiled = run->profile &&
			book_get_profile(book, run->profile, &profile, &(struct error){}) == 0;
	const struct discard_rules rules = {.profile = profiled ? &profile : NULL, .other_cpus = true};

	return run_result_read(book, run->id, &rules, ret, err);
}

/* The book may be somebody else's. */
static int check_slaves(const struct load_report *p, int64_t run, struct error *err)
{
	bool sound = p->n_programs > 0;

	for (size_t i = 0; i < p->n_programs; i++)
		sound &= p->programs[i].n == i + 1;
	for (size_t i = 0; i < p->n_parts; i++)
		sound &= p->parts[i].program <= p->n_programs;
	if (sound)
		return 0;
	return error_say(err, -EBADMSG,
		"the slaves of run %" PRId64
		" are not numbered from 1; restore an intact copy of the lab book",
		run);
}

static int read_slaves(struct book *book, int64_t run, struct load_report *p, struct error *err)
{
	int r = book_programs(book, run, &p->programs, &p->n_programs, err);

	if (r == 0)
		r = book_sample_programs(book, run, &p->parts, &p->n_parts, err);
	return r < 0 ? r : check_slaves(p, run, err);
}

static void raise_to(int64_t *most, int64_t value)
{
	if (value > *most)
		*most = value;
}

static int read_starts(struct book *book, int64_t run, struct load_report *p, struct error *err)
{
	const struct run_result *result = &p->result;
	int r = book_load_samples(book, run, &p->starts, &p->n_starts, err);
	size_t at = 0;

	for (size_t i = 0; i < p->n_starts; i++) {
		raise_to(&p->release_ns, p->starts[i].release_ns);
		raise_to(&p->driver_ns, p->starts[i].driver_ns);
	}
	for (size_t i = 0; i < p->n_parts; i++) {
		while (at < result->n_samples && result->samples[at].n < p->parts[i].sample)
			at++;
		if (at < result->n_samples && result->samples[at].n == p->parts[i].sample)
			raise_to(&p->last_start_ns, p->parts[i].start_ns - result->samples[at].start_ns);
	}
	return r;
}

double load_idle_share(const struct load_sample *start, const struct sample *sample)
{
	return start->idle_ns < 0 || start->cpus < 1 || sample->et_ns <= 0
		       ? NAN
		       : fmin((double)start->idle_ns / ((double)start->cpus * (double)sample->et_ns), 1);
}

/* The mean of the runs that count: NAN if one of them is not known. */
static double mean_idle_share(const struct load_report *p)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n_starts && n < p->n_kept; i++)
		if (p->starts[i].sample == p->kept[n].n)
			sum += load_idle_share(&p->starts[i], &p->kept[n++]);
	return n > 0 && n == p->n_kept ? sum / (double)n : NAN;
}

static int keep(struct load_report *p, struct error *err)
{
	const struct run_result *r = &p->result;

	p->kept = xcalloc(r->n_samples + 1, sizeof(*p->kept));
	for (size_t i = 0; i < r->n_samples; i++)
		if (!r->discarding.out[i])
			p->kept[p->n_kept++] = r->samples[i];
	p->idle = mean_idle_share(p);
	return 0;
}

int load_report_rates(const struct load_report *p, const struct sample *samples, size_t n_samples,
	const struct load_rates *shares_of, struct load_rates *ret, struct error *err)
{
	const struct load_work work = {p->load.coordination, p->programs, p->n_programs, p->parts, p->n_parts,
		p->load.file, shares_of};

	return load_rates_of(ret, &work, samples, n_samples, err);
}

static int read_page_waits(struct book *book, int64_t run, struct load_report *p, struct error *err)
{
	struct page_wait_runs runs;
	int r;

	p->page_waits = xcalloc(1, sizeof(*p->page_waits));
	r = book_page_waits(book, run, p->page_waits, err);
	runs = (struct page_wait_runs){
		p->page_waits, p->kept, p->rates.items[0].nano, p->n_kept, p->parts, p->n_parts};
	return r < 0 ? r : page_wait_report_of(&p->page_wait_report, &runs, err);
}

int load_report_read(struct book *book, int64_t id, struct load_report *ret, struct error *err)
{
	_cleanup_(load_report_clear) struct load_report report = {};
	_cleanup_(run_clear) struct run run = {};
	int r = book_get_run(book, id, &run, err);

	if (r == 0)
		r = read_load(book, &run, &report.load, err);
	if (r == 0)
		r = read_samples(book, &run, &report.result, err);
	if (r == 0)
		r = read_slaves(book, id, &report, err);
	if (r == 0)
		r = read_starts(book, id, &report, err);
	if (r == 0)
		r = keep(&report, err);
	if (r == 0)
		r = load_report_rates(&report, report.kept, report.n_kept, NULL, &report.rates, err);
	if (r == 0)
		r = read_page_waits(book, id, &report, err);
	if (r == 0)
		r = book_notes(book, id, &report.notes.items, &report.notes.n, err);
	if (r == 0)
		r = document_make_context(book, run.environment, run.started_ns, &report.context, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(report);
	return 0;
}

void load_report_clear(struct load_report *report)
{
	page_wait_report_clear(&report->page_wait_report);
	if (report->page_waits)
		page_waits_clear(report->page_waits);
	free(report->page_waits);
	load_rates_clear(&report->rates);
	run_result_clear(&report->result);
	load_row_clear(&report->load);
	run_programs_free(report->programs, report->n_programs);
	free(report->parts);
	free(report->starts);
	free(report->kept);
	notes_clear(&report->notes);
	json_decref(report->context);
	*report = (struct load_report){};
}
