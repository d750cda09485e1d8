/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze compare: compares two runs of the book or results of hyperfine, pyperf or emp-measure. It uses process
 * times if both have them, else elapsed times. */
#include "analyze/compare_input.h"

#include "lib/base/json_fields.h"
#include "lib/base/text.h"
#include "lib/report/comparison_report.h"

#include <math.h>

static double fail_if_slower = -1;

const struct option_row compare_options[] = {
	{0, "profile", "NAME", "discard from runs of the book by this profile", NULL,
		&analyze_options.profile},
	{0, "fail-if-slower", "PERCENT", "exit status 2 if B is slower than A by more than this",
		option_percent, &fail_if_slower},
	{},
};

static int print(const struct compare_input *a, const struct compare_input *b, enum comparison_clock clock,
	const struct comparison *c, struct error *err)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	char mean_a[TEXT_TIME_SIZE], mean_b[TEXT_TIME_SIZE];
	int r;

	printf("%s: '%s' %s in %zu sample%s, '%s' %s in %zu\n",
		clock == COMPARISON_PT ? "Process times" : "Elapsed times", a->name,
		text_duration(mean_a, llround(c->a.mean_ns)), c->a.n, c->a.n == 1 ? "" : "s", b->name,
		text_duration(mean_b, llround(c->b.mean_ns)), c->b.n);
	if (clock == COMPARISON_ET && (a->n[COMPARISON_PT] > 0 || b->n[COMPARISON_PT] > 0))
		printf("Only one of them has process times, so elapsed times are compared.\n");
	r = comparison_list_new(&list, false, err);
	if (r < 0)
		return r;
	comparison_list_add(list, a->name, b->name, c);
	return comparison_list_print(list, stdout, err);
}

int verb_compare(int argc, char **argv, struct error *err)
{
	_cleanup_(compare_input_clear) struct compare_input a = {};
	_cleanup_(compare_input_clear) struct compare_input b = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	enum comparison_clock clock;
	struct comparison c;
	int r;

	r = compare_input_read(&a, argv[0], err);
	if (r == 0)
		r = compare_input_read(&b, argv[1], err);
	if (r < 0)
		return r;
	clock = a.n[COMPARISON_PT] > 0 && b.n[COMPARISON_PT] > 0 ? COMPARISON_PT : COMPARISON_ET;
	r = compare(a.times[clock], a.n[clock], b.times[clock], b.n[clock], &c, err);
	if (r < 0)
		return r;
	if (analyze_options.json) {
		document = comparison_as_json(a.name, b.name, &c);
		json_object_set_new(document, "clock", json_string(clock == COMPARISON_PT ? "pt" : "et"));
		r = json_print_document("emp-comparison", TAKE(document), err);
	} else
		r = print(&a, &b, clock, &c, err);
	if (r < 0)
		return r;
	return comparison_judge(&c, &(struct comparison_limit){fail_if_slower, a.name, b.name}, err)
		       ? STATUS_NOT_FIT
		       : 0;
}
