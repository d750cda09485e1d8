/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run against its baseline: as text and as JSON. --between as JSON, too. */
#include "lib/jitter/jitter_show.h"

#include "lib/base/text.h"
#include "lib/jitter/jitter_json.h"

#include <inttypes.h>
#include <math.h>

/* "0.034", "0.21", "4.90", "16". */
const char *jitter_ratio_text(char text[TEXT_TIME_SIZE], double ratio)
{
	snprintf(text, TEXT_TIME_SIZE, ratio < 0.095 ? "%.2g" : ratio < 9.995 ? "%.2f" : "%.0f", ratio);
	return text;
}

/* "0.21 … 0.35"; without one of the bounds "< 0.35" or "> 4.90". */
const char *jitter_ratio_interval(char text[TEXT_TIME_SIZE], const struct jitter_change *c)
{
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];

	jitter_ratio_text(low, c->low);
	jitter_ratio_text(high, c->high);
	if (c->low > 0 && isfinite(c->high))
		snprintf(text, TEXT_TIME_SIZE, "%.12s … %.12s", low, high);
	else if (isfinite(c->high))
		snprintf(text, TEXT_TIME_SIZE, "< %.12s", high);
	else
		snprintf(text, TEXT_TIME_SIZE, c->low > 0 ? "> %.12s" : "-", low);
	return text;
}

const struct source *jitter_change_source(const struct jitter_change *c)
{
	return c->after ? c->after->source : c->before->source;
}

static void add_change(struct table *table, const struct jitter_change *c)
{
	const struct source *source = jitter_change_source(c);
	_cleanup_(freep) char *name = text_format(
		source->unit ? "%s (%s)" : "%s", source->name, source->unit);
	char text[TEXT_TIME_SIZE];

	table_row(table);
	table_cell_text(table, name ?: source->name);
	table_cell_text(table, jitter_change_names[c->kind]);
	table_cell(table, "%s", c->before ? text_percent(text, c->before_share) : "-");
	table_cell(table, "%s", c->after ? text_percent(text, c->after_share) : "-");
	table_cell(table, "%s", c->before && c->after ? jitter_ratio_text(text, c->ratio) : "-");
	table_cell(table, "%s", jitter_ratio_interval(text, c));
	table_cell(table, c->p < 0.001 ? "<0.001" : "%.3f", c->p);
}

static void print_limits(const struct jitter_pair *pair)
{
	const struct jitter_cpu *a = &pair->baseline->all, *b = &pair->run->all;
	char long_a[TEXT_TIME_SIZE], long_b[TEXT_TIME_SIZE];

	printf("Run %" PRId64 " (%s sampled) against its baseline, run %" PRId64 " (%s)\n", pair->run->run.id,
		text_duration(long_b, b->sampled_ns), pair->baseline->run.id,
		text_duration(long_a, a->sampled_ns));
	if (a->cpu != b->cpu)
		printf("Warning: the two runs did not observe the same CPU\n");
	if (a->lost > 0 || b->lost > 0)
		printf("Warning: events were lost (%" PRId64 " of the baseline, %" PRId64 " of the run)\n",
			a->lost, b->lost);
}

static size_t count(const struct jitter_changes *changes, enum jitter_change_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < changes->n; i++)
		n += changes->items[i].kind == kind;
	return n;
}

/* What did not change, or only by chance perhaps, is listed only if it took much. */
static bool is_listed(const struct jitter_change *c)
{
	const double MUCH = 0.001, MOST = 0.01;
	bool most = fmax(c->before ? c->before->share : 0, c->after ? c->after->share : 0) > MOST;

	if (c->kind == CHANGE_UNCLEAR)
		return most || fmax(c->before_share, c->after_share) > MUCH;
	return c->kind != CHANGE_NONE || most;
}

/* All sources that events name. */
static double share_of_all(const struct jitter_run *run)
{
	return run->all.sampled_ns > 0 ? (double)run->frequency.total_ns / (double)run->all.sampled_ns : 0;
}

static void print_counts(const struct jitter_pair *pair)
{
	const struct jitter_changes *changes = &pair->changes;
	char before[TEXT_TIME_SIZE], after[TEXT_TIME_SIZE];

	printf("Shares are of the sampled time. All sources took %s before, %s after.\n",
		text_percent(before, share_of_all(pair->baseline)),
		text_percent(after, share_of_all(pair->run)));
	if (count(changes, CHANGE_NONE) == changes->n)
		printf("None of %zu sources is new, gone, grown or shrunk.\n", changes->n);
	else
		printf("Of %zu sources, %zu did not change by more than chance and a factor of %g.\n",
			changes->n, count(changes, CHANGE_NONE), JITTER_MARGIN);
	if (count(changes, CHANGE_UNCLEAR) > 0)
		printf("Unclear (%zu): in one run only, but so rarely or in so few bursts that it may\n"
		       "be chance; longer runs would show.\n",
			count(changes, CHANGE_UNCLEAR));
}

int jitter_print_changes(const struct jitter_pair *pair, bool all, struct error *err)
{
	static const struct column columns[] = {{"SOURCE", COLUMN_WRAP}, {"CHANGE"},
		{"BEFORE", COLUMN_NUMBER}, {"AFTER", COLUMN_NUMBER}, {"RATIO", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"P", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	const struct jitter_changes *changes = &pair->changes;
	size_t listed = 0;

	print_limits(pair);
	for (size_t i = 0; i < changes->n; i++)
		if (all || is_listed(&changes->items[i])) {
			add_change(table, &changes->items[i]);
			listed++;
		}
	if (listed > 0)
		table_print(table, stdout);
	if (listed < changes->n)
		printf("and %zu more that took little (--all lists them)\n", changes->n - listed);
	print_counts(pair);
	return 0;
}

static json_t *change_json(const struct jitter_change *c)
{
	return json_pack("{s:s, s:s, s:s?, s:s, s:f, s:f, s:o, s:f, s:o, s:f}", "name",
		jitter_change_source(c)->name, "kind", source_kind_names[jitter_change_source(c)->kind],
		"unit", jitter_change_source(c)->unit, "change", jitter_change_names[c->kind],
		"baseline_time_share", c->before_share, "time_share", c->after_share, "ratio",
		json_real_or_null(c->ratio), "ratio_low", c->low, "ratio_high", json_real_or_null(c->high),
		"p", c->p);
}

json_t *jitter_changes_as_json(const struct jitter_pair *pair)
{
	json_t *array = json_array();

	for (size_t i = 0; i < pair->changes.n; i++)
		json_array_append_new(array, change_json(&pair->changes.items[i]));
	return json_pack("{s:I, s:I, s:f, s:o}", "run", (json_int_t)pair->run->run.id, "baseline",
		(json_int_t)pair->baseline->run.id, "new_share", pair->changes.new_share, "sources", array);
}

json_t *jitter_peak_as_json(const struct jitter_run *run, const struct jitter_peak *peak)
{
	json_t *sources = jitter_table_as_json(run, &peak->table), *source;
	size_t i;

	json_array_foreach (sources, i, source) { /* buckets do not know these */
		json_object_del(source, "min_ns");
		json_object_del(source, "max_ns");
		json_object_del(source, "sd_ns");
		json_object_del(source, "period_ns");
	}
	return json_pack("{s:I, s:I, s:I, s:{s:I, s:I}, s:o}", "run", (json_int_t)run->run.id, "low_ns",
		(json_int_t)peak->low_ns, "high_ns", (json_int_t)peak->high_ns, "gaps", "count",
		(json_int_t)peak->gaps, "total_ns", (json_int_t)peak->gaps_ns, "sources", sources);
}
