/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbances of a run in the book: see disturbances_load.h. */
#include "lib/report/disturbances_load.h"

#include "lib/base/xalloc.h"
#include "lib/base/json.h"
#include "lib/document/document.h"
#include "lib/stats/summary.h"

#include <string.h>

int interrupts_in_pt_load(
	struct book *book, int64_t environment, enum interrupts_in_pt *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *value = NULL;
	int r = document_read_environment(book, environment, &document, err);

	if (r < 0)
		return r;
	if (document)
		json_unpack(document, "{s:{s:{s:s}}}", "settings", "kernel_options", "IRQ_TIME_ACCOUNTING",
			&value);
	*ret = !value ? INTERRUPTS_NOT_KNOWN : !strcmp(value, "y") ? INTERRUPTS_NOT_IN_PT : INTERRUPTS_IN_PT;
	return 0;
}

/* The mean PT of its samples, and what their kernel counts as PT. */
static int add_pt(struct book *book, int64_t id, const struct sample *samples, size_t n,
	struct disturbances *found, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	int r = book_get_run(book, id, &run, err);

	for (size_t i = 0; i < n; i++)
		found->pt_ns += (double)samples[i].pt_ns / (double)n;
	return r < 0 ? r : interrupts_in_pt_load(book, run.environment, &found->interrupts, err);
}

int disturbances_load(struct book *book, int64_t run, struct disturbances *ret, struct error *err)
{
	_cleanup_(freep) struct sample_counters *counters = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) int64_t *times = NULL;
	_cleanup_(disturbances_clear) struct disturbances found = {};
	size_t n, n_samples;
	int r;

	r = book_counters(book, run, &counters, &n, err);
	if (r == 0)
		r = book_samples(book, run, &samples, &n_samples, err);
	if (r < 0)
		return r;
	times = xreallocarray(NULL, n_samples + 1, sizeof(*times));
	for (size_t i = 0; i < n_samples; i++)
		times[i] = samples[i].et_ns;
	found = disturbances_find(counters, n, (int64_t)summary_of(times, n_samples).median_ns);
	r = add_pt(book, run, samples, n_samples, &found, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(found);
	return 0;
}
