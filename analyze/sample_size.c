/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze sample-size: how many samples would have been enough (EMP, Tables XX to XXIV). */
#include "analyze/analyze.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/protocol/sample_size.h"
#include "lib/base/listing.h"
#include "lib/report/noise_load.h"
#include "lib/report/results_json.h"

#include <inttypes.h>

const struct option_row sample_size_options[] = {
	{0, "profile", "NAME", "the profile of cutoffs (default: only the 2-sd check)", NULL,
		&analyze_options.profile},
	{},
};

static const struct listing_column columns[] = {
	{"FIRST", "n", COLUMN_NUMBER},
	{"BY CUTOFF", "by_cutoff", COLUMN_NUMBER},
	{"BY 2 SD", "by_two_sd", COLUMN_NUMBER},
	{"OUTLIERS", NULL, COLUMN_NUMBER},
	{"MEAN", "mean_ns", COLUMN_NUMBER},
	{"SD", "sd_ns", COLUMN_NUMBER},
	{"BLOCKS", "blocks", COLUMN_NUMBER},
	{"THEIR SD", "blocks_sd_ns", COLUMN_NUMBER},
	{NULL, "blocks_outliers"},
	{NULL, "judged"},
	{"CLOSE", "close"},
	{},
};

static int list_sizes(struct listing **ret, const struct sample_sizes *sizes, struct error *err)
{
	int r = listing_new(ret, columns, analyze_options.json, err);

	for (size_t i = 0; r == 0 && i < sizes->n; i++) {
		const struct sample_size *s = &sizes->rows[i];
		char text[TEXT_TIME_SIZE];

		listing_row(*ret);
		listing_int(*ret, (int64_t)s->n);
		listing_int(*ret, (int64_t)s->by_cutoff);
		listing_int(*ret, (int64_t)s->by_two_sd);
		listing_real(*ret, "%.1f %%", 100 * (double)(s->by_cutoff + s->by_two_sd) / (double)s->n);
		listing_cell(*ret, json_real(s->mean_ns), text_precise(text, s->mean_ns, s->sd_ns));
		listing_cell(*ret, json_real(s->sd_ns), text_precise(text, s->sd_ns, s->sd_ns));
		listing_int(*ret, (int64_t)s->blocks);
		listing_cell(*ret, json_real(s->blocks_sd_ns),
			text_precise(text, s->blocks_sd_ns, s->blocks_sd_ns));
		listing_cell(*ret, json_real(s->blocks_outliers), NULL);
		listing_cell(*ret, json_boolean(s->judged), NULL);
		listing_cell(*ret, json_boolean(s->close), !s->judged ? "-" : s->close ? "yes" : "no");
	}
	return r;
}

/* How many samples a precision needs. */
static int list_needed(struct listing **ret, const struct sample_sizes clocks[2], struct error *err)
{
	static const struct listing_column of[] = {
		{"CI", "half_width"}, {"PT", "pt", COLUMN_NUMBER}, {"ET", "et", COLUMN_NUMBER}, {}};
	int r = listing_new(ret, of, analyze_options.json, err);

	for (size_t i = 0; r == 0 && i < N_HALF_WIDTHS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "± %g %%", 100 * sample_size_half_widths[i]);
		listing_row(*ret);
		listing_cell(*ret, json_real(sample_size_half_widths[i]), text);
		listing_real(*ret, "%.0f", clocks[0].needed[i]);
		listing_real(*ret, "%.0f", clocks[1].needed[i]);
	}
	return r;
}

static void print_suggested(const char *clock, const struct sample_sizes *sizes)
{
	if (sizes->suggested < sizes->rows[0].n)
		printf("%s: %zu samples would have been enough.\n", clock, sizes->suggested);
	else
		printf("%s: no smaller size would have been enough.\n", clock);
}

static int print_sizes(const struct discarding *d, const struct sample_sizes clocks[2], struct listing *pt,
	struct listing *et, struct error *err)
{
	_cleanup_(listing_freep) struct listing *needed = NULL;
	int r;

	printf("Run %" PRId64 " (%s)%s%s\n", d->run.id, terminal_text(d->run.program),
		analyze_options.profile ? ", profile " : ", no profile: only the 2-sd check",
		analyze_options.profile ?: "");
	r = noise_print(stdout, analyze_options.profile, d->blind_ns, d->noise, err);
	if (r < 0)
		return r;
	printf("\nPT\n");
	r = listing_print(pt, stdout, err);
	printf("\nET\n");
	if (r == 0)
		r = listing_print(et, stdout, err);
	if (r < 0)
		return r;
	printf("\n");
	print_suggested("PT", &clocks[0]);
	print_suggested("ET", &clocks[1]);
	printf("Enough: from that size on, the sd of all blocks is within 10 %% of the whole\n"
	       "run's, and the share of outliers within 2.5 percentage points or one sample.\n\n"
	       "Samples needed for a 95 %% CI of the mean:\n");
	r = list_needed(&needed, clocks, err);
	return r < 0 ? r : listing_print(needed, stdout, err);
}

static int report(const struct discarding *d, const struct sample_sizes clocks[2], struct error *err)
{
	_cleanup_(listing_freep) struct listing *pt = NULL, *et = NULL, *needed = NULL;
	json_t *document;
	int r = list_sizes(&pt, &clocks[0], err);

	if (r == 0)
		r = list_sizes(&et, &clocks[1], err);
	if (r < 0)
		return r;
	if (!analyze_options.json)
		return print_sizes(d, clocks, pt, et, err);
	r = list_needed(&needed, clocks, err);
	if (r < 0)
		return r;
	document = json_pack("{s:I, s:s*, s:I, s:I, s:o, s:o, s:o}", "run", (json_int_t)d->run.id, "profile",
		analyze_options.profile, "suggested", (json_int_t)clocks[0].suggested, "suggested_for_et",
		(json_int_t)clocks[1].suggested, "pt", listing_take(pt), "et", listing_take(et), "needed",
		listing_take(needed));
	profile_noise_add_json(document, d->blind_ns, d->noise);
	return json_print_document("emp-sample-size", document, err);
}

static int find(struct book *book, int64_t run, const struct discarding *d, struct error *err)
{
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(sample_sizes_clear) struct sample_sizes pt = {}, et = {};
	size_t n = 0;
	int r;

	r = book_samples(book, run, &samples, &n, err);
	if (r == 0)
		r = sample_sizes_find(&pt, d, samples, n, false, err);
	if (r == 0)
		r = sample_sizes_find(&et, d, samples, n, true, err);
	if (r < 0)
		return r;
	return report(d, (struct sample_sizes[]){pt, et}, err);
}

int verb_sample_size(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(discarding_clear) struct discarding d = {};
	int64_t run;
	int r;

	r = analyze_open(argv[0], &book, &run, err);
	if (r == 0)
		r = analyze_discard(book, run, &d, err);
	return r < 0 ? r : find(book, run, &d, err);
}
