/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes as a table and as JSON: see jitter_change_show.h. */
#include "lib/jitter/jitter_change_show.h"

#include "lib/base/table.h"
#include "lib/base/tool.h"

#include <math.h>

/* What did not change, or only by chance perhaps, is listed only if it took much. */
static bool change_is_listed(const struct jitter_change *c)
{
	const double MUCH = 0.001, MOST = 0.01;
	double before = c->before ? c->before->share : 0, after = c->after ? c->after->share : 0;
	bool most = fmax(before, after) > MOST;

	if (c->kind == CHANGE_UNCLEAR)
		return most || fmax(c->before_share, c->after_share) > MUCH;
	return c->kind != CHANGE_NONE || most;
}

/* The runs, and what makes them hard to compare. */
static void print_pair(const struct jitter_pair *pair)
{
	const struct jitter_cpu *before = &pair->baseline->all, *after = &pair->run->all;

	terminal_say(stdout, 2,
		"Run %" PRId64 " (%s sampled) against its baseline, run %" PRId64 " (%s)",
		pair->run->run.id, text_duration(after->sampled_ns), pair->baseline->run.id,
		text_duration(before->sampled_ns));
	if (before->cpu != after->cpu)
		terminal_say(stdout, 2, "Warning: the two runs did not observe the same CPU");
	if (before->lost > 0 || after->lost > 0)
		terminal_say(stdout, 2,
			"Warning: events were lost (%" PRId64 " of the baseline, %" PRId64
			" of the run)",
			before->lost, after->lost);
}

static const struct column change_columns[] = {{"SOURCE", COLUMN_WRAP}, {"CHANGE"},
	{"BEFORE", COLUMN_NUMBER}, {"AFTER", COLUMN_NUMBER}, {"RATIO", COLUMN_NUMBER},
	{"95 % CI", COLUMN_NUMBER}, {"P", COLUMN_NUMBER}, {}};

static void add_change_row(struct table *table, const struct jitter_change *c)
{
	const struct source *source = c->source;
	_cleanup_(freep) char *name = text_format(
		source->unit ? "%s (%s)" : "%s", source->name, source->unit);
	const char *before = c->before ? text_percent(c->before_share) : NULL;
	const char *after = c->after ? text_percent(c->after_share) : NULL;
	const char *ratio = c->before && c->after ? jitter_ratio_text(c->ratio) : NULL;

	table_row(table, change_columns, TEXT(name), TEXT(jitter_change_names[c->kind]),
		TEXT(before), TEXT(after), TEXT(ratio), TEXT(jitter_ratio_interval(c)),
		TEXT(text_brief(c->p < 0.001 ? "<0.001" : "%.3f", c->p)));
}

static void print_changes_conclusion(const struct jitter_changes *changes)
{
	size_t counts[N_CHANGE_KINDS] = {};

	for (size_t i = 0; i < changes->n; i++)
		counts[changes->items[i].kind]++;
	if (counts[CHANGE_NONE] == changes->n)
		terminal_say(stdout, 2, "None of %zu sources is new, gone, grown or shrunk.",
			changes->n);
	else
		terminal_say(stdout, 2,
			"Of %zu sources, %zu did not change by more than chance and a factor of "
			"%g.",
			changes->n, counts[CHANGE_NONE], JITTER_MARGIN);
	if (counts[CHANGE_UNCLEAR] > 0)
		terminal_say(stdout, 2,
			"Unclear (%zu): in one run only, but so rarely or in so few bursts that it "
			"may be chance; longer runs would show.",
			counts[CHANGE_UNCLEAR]);
}

static void print_changes(const struct jitter_pair *pair, bool all)
{
	const struct jitter_run *before = pair->baseline, *after = pair->run;
	const struct jitter_changes *changes = &pair->changes;
	_cleanup_(table_freep) struct table *table = table_new(change_columns);
	size_t listed = 0;

	print_pair(pair);
	for (size_t i = 0; i < changes->n; i++) {
		const struct jitter_change *c = &changes->items[i];

		if (!all && !change_is_listed(c))
			continue;
		listed++;
		add_change_row(table, c);
	}
	table_print(table, stdout);
	if (listed < changes->n)
		printf("and %zu more that took little (--all lists them)\n", changes->n - listed);

	terminal_say(stdout, 2,
		"Shares are of the sampled time. All sources took %s before, %s after.",
		text_percent(jitter_share(before->frequency.total_ns, before->all.sampled_ns)),
		text_percent(jitter_share(after->frequency.total_ns, after->all.sampled_ns)));
	print_changes_conclusion(changes);
}

static json_t *changes_json(const struct jitter_pair *pair)
{
	json_t *array = json_array();

	for (size_t i = 0; i < pair->changes.n; i++) {
		const struct jitter_change *c = &pair->changes.items[i];

		json_array_append_new(
			array, JSON_OBJECT({"name", json_text(c->source->name)},
				       {"kind", json_text(source_kind_names[c->source->kind])},
				       {"unit", json_text(c->source->unit)},
				       {"change", json_text(jitter_change_names[c->kind])},
				       {"baseline_time_share", json_real_or_null(c->before_share)},
				       {"time_share", json_real_or_null(c->after_share)},
				       {"ratio", json_real_or_null(c->ratio)},
				       {"ratio_low", json_real_or_null(c->low)},
				       {"ratio_high", json_real_or_null(c->high)},
				       {"p", json_real_or_null(c->p)}));
	}
	return json_pack("{s:I, s:I, s:f, s:o}", "run", (json_int_t)pair->run->run.id, "baseline",
		(json_int_t)pair->baseline->run.id, "new_share", pair->changes.new_share, "sources",
		array);
}

int jitter_changes_show(
	const struct jitter_pair *pair, const struct jitter_view *view, struct error *err)
{
	double new_share = pair->changes.new_share;
	int r = 0;

	if (view->json)
		r = json_print_document("emp-jitter-changes", changes_json(pair), err);
	else
		print_changes(pair, view->all);
	if (r < 0 || view->fail_if_new < 0 || new_share * 100 <= view->fail_if_new)
		return r;
	return error_say(err, STATUS_NOT_FIT,
		"new sources took %s of the time of all interruptions, more than %s",
		text_percent(new_share), text_percent(view->fail_if_new / 100));
}
