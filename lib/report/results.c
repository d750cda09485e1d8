/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as members of JSON documents and as tables: see results.h. */
#include "lib/record/profile.h"
#include "lib/report/results.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/protocol/analysis.h"

static json_t *numbers_as_json(const uint32_t *numbers, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_integer(numbers[i]));
	return array;
}

json_t *summary_as_json(const struct summary *s)
{
	bool any = s->n > 0, several = s->n > 1;

	return JSON_OBJECT({"n", json_integer(s->n)}, {"min_ns", json_int_if(any, s->min_ns)},
		{"max_ns", json_int_if(any, s->max_ns)},
		{"mean_ns", json_real_or_null(summary_mean(s))},
		{"median_ns", json_real_or_null(any ? s->median_ns : NAN)},
		{"sd_ns", json_real_or_null(summary_sd(s))},
		{"relative_error", json_real_or_null(several ? s->relative_error : NAN)});
}

static json_t *over_as_json(const struct over_cutoff *over, size_t n, const char *limit)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			array, json_pack("{s:I, s:s, s:s*, s:I, s:I}", "sample",
				       (json_int_t)over[i].sample, "daemon", over[i].daemon, "unit",
				       over[i].unit, "pt_ns", (json_int_t)over[i].pt_ns, limit,
				       (json_int_t)over[i].cutoff_ns));
	return array;
}

json_t *others_as_json(const struct daemons *others, bool unprofiled)
{
	json_t *array = json_array();

	for (size_t i = 0; i < others->n; i++) {
		const struct daemon_statistics *o = &others->items[i];

		if (unprofiled && (o->profiled || !o->long_once))
			continue;
		json_array_append_new(array,
			JSON_OBJECT({"daemon", json_text(o->name)}, {"unit?", json_string(o->unit)},
				{"in_profile", json_boolean(o->profiled)},
				{"disturbed_ns", json_integer(o->disturbed_ns)},
				{"disturbed_most_ns", json_integer(o->disturbed_most_ns)},
				{"total_ns", json_integer(o->total_ns)},
				{"max_ns", json_integer(o->max_ns)},
				{"most_ns", json_integer(o->max_ns)},
				{"sample", json_integer(o->max_sample)},
				{"names?", o->names > 0 ? json_integer(o->names) : NULL}));
	}
	return array;
}

static json_t *between_as_json(const struct run_interval *between)
{
	const struct run_variation *v = &between->variation;

	return JSON_OBJECT({"interval_ns", json_interval(between->low_ns, between->high_ns)},
		{"sd", json_real(v->sd)}, {"df", json_real(v->df)},
		{"runs", json_integer(v->n_runs)});
}

json_t *kept_as_json(const struct clock_discarding *c)
{
	json_t *kept = summary_as_json(&c->kept);
	const struct interval *i = &c->interval;

	json_object_update_new(kept,
		json_pack("{s:o, s:o*, s:o*}", "interval_ns", json_interval(i->low_ns, i->high_ns),
			"lag1", isnan(i->lag1) ? NULL : json_real(i->lag1), "effective_n",
			json_real(i->effective_n)));
	if (c->between.variation.df > 0)
		json_object_set_new(kept, "between_runs", between_as_json(&c->between));
	if (c->adjusted.times_ns)
		json_object_set_new(kept, "as_measured", summary_as_json(&c->adjusted.before));
	return kept;
}

static json_t *clock_as_json(const struct clock_discarding *c)
{
	json_t *clock = summary_as_json(&c->papers), *kept = kept_as_json(c);

	json_object_update_new(clock, json_pack("{s:o, s:o, s:o}", "kept", kept, "by_two_sd",
					      numbers_as_json(c->by_two_sd, c->n_by_two_sd), "raw",
					      summary_as_json(&c->raw)));
	return clock;
}

void noise_add_json(json_t *object, const struct profile_mark *mark)
{
	if (mark->blind_ns > 0)
		json_object_set_new(object, "profile_blind_ns", json_integer(mark->blind_ns));
	if (mark->noise)
		json_object_set_new(object, "profile_noise", json_string(mark->noise));
}

json_t *discarding_as_json(const struct discarding *d)
{
	json_t *document = json_pack("{s:I, s:o, s:o, s:o, s:o}", "run", (json_int_t)d->run.id,
		"by_cutoff", over_as_json(d->over, d->n_over, "cutoff_ns"), "by_unprofiled",
		over_as_json(d->unprofiled, d->n_unprofiled, "limit_ns"), "by_two_sd",
		numbers_as_json(d->pt.by_two_sd, d->pt.n_by_two_sd), "incomplete",
		numbers_as_json(d->incomplete, d->n_incomplete));

	json_object_set_new(
		document, "by_neighbour", numbers_as_json(d->by_neighbour, d->n_by_neighbour));
	if (d->run.kind == RUN_DUET)
		json_object_set_new(document, "by_duet", numbers_as_json(d->by_duet, d->n_by_duet));
	noise_add_json(document, &d->mark);
	json_object_set_new(document, "pt", clock_as_json(&d->pt));
	json_object_set_new(document, "et", clock_as_json(&d->et));
	return document;
}

json_t *analysis_as_json(const struct analysis *a)
{
	const struct cluster *c = &a->central;
	bool any = c->n_central > 0;
	json_t *zooms = json_array(),
	       *frequent = a->verdict == VERDICT_FREQUENT ? json_array() : NULL;

	for (size_t i = 0; frequent && i < a->n_statistics; i++)
		if (a->statistics[i].frequent)
			json_array_append_new(frequent, json_string(a->statistics[i].name));
	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];

		json_array_append_new(
			zooms, json_pack("{s:I, s:I, s:I, s:s}", "samples", (json_int_t)z->left,
				       "low_ns", (json_int_t)z->low_ns, "high_ns",
				       (json_int_t)z->high_ns, "next", zoom_why(z)));
	}
	return JSON_OBJECT({"run", json_integer(a->run.id)},
		{"program?", json_string(a->run.program)}, {"samples", json_integer(a->n_samples)},
		{"shape", json_text(verdict_name(a->verdict))}, {"why", json_text(a->why)},
		{"noisy", json_boolean(a->noise.noisy)},
		{"blind_ns", json_int_if(a->noise.blind_ns > 0, a->noise.blind_ns)},
		{"pt_sd", json_real_or_null(a->noise.pt_sd)},
		{"central", JSON_OBJECT({"samples", json_integer(c->n_central)},
				    {"pairs_in_arms", json_integer(c->n_arms)},
				    {"pairs_upper_right", json_integer(c->n_corners)},
				    {"low_ns", json_int_if(any, c->low_ns)},
				    {"high_ns", json_int_if(any, c->high_ns)},
				    {"median_ns", json_int_if(any, c->median_ns)})},
		{"by_wait", json_boolean(a->by_wait)},
		{"usual_ns?", a->by_wait ? json_integer(a->median_rest_ns) : NULL},
		{"frequent?", frequent}, {"zooms", zooms},
		{"l_samples", numbers_as_json(a->l_samples, a->n_l_samples)},
		{"unexplained", numbers_as_json(a->unexplained, a->n_unexplained)});
}

void daemon_print(FILE *file, const char *name, uint32_t names, const char *unit)
{
	fprintf(file, "%s%s", terminal_text(name), family_size_text(names));
	if (unit)
		fprintf(file, " (%s)", terminal_text(unit));
}

void cutoffs_print(const struct profile *profile, bool details, FILE *file)
{
	const struct column columns[] = {
		{"DAEMON"},
		{"SHORT", COLUMN_NUMBER},
		{"LONG", COLUMN_NUMBER},
		{details ? NULL : "SHARE", COLUMN_NUMBER, ""},
		{"PERIOD", COLUMN_NUMBER},
		{"FIRM"},
		{"TASK TIME", COLUMN_NUMBER},
		{details ? "BELOW" : NULL, COLUMN_NUMBER, ""},
		{details ? "FROM" : NULL, COLUMN_NUMBER, ""},
		{},
	};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < profile->n_cutoffs; i++) {
		const struct cutoff *c = &profile->cutoffs[i];
		bool periodic = c->period_ns > 0;
		int64_t share_ppm = cutoff_share_ppm(c);
		const char *firm = c->firm ? "yes" : "no";
		_cleanup_(freep) char *daemon = text_format(
			"%s%s", c->daemon, family_size_text(c->names));

		table_row(table, columns, TEXT(daemon), TIME(c->short_ns), TIME(c->long_ns),
			TEXT(share_ppm < 0 ? "-" : text_percent((double)share_ppm / PPM)),
			TIME(periodic ? c->period_ns : -1), TEXT(periodic ? firm : "-"),
			TIME(c->task_time_ns > 0 ? c->task_time_ns : -1), TIME(c->below_ns),
			TIME(c->atleast_ns));
	}
	table_print(table, file);
}

void cutoffs_print_omitted(
	const struct profile *profile, const struct cutoffs *left_out, FILE *file)
{
	/* of a forced profile it is the floor of what disturbed the runs */
	bool forced = profile->mark.noise && strstr(profile->mark.noise, "forced");
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; left_out && i < left_out->n; i++) {
		const struct cutoff *c = &left_out->items[i];

		text_append(&text, ", ", "%s%s (%s)", c->daemon, family_size_text(c->names),
			text_percent((double)cutoff_share_ppm(c) / PPM));
	}
	if (text)
		terminal_wrap(file, text, (size_t)fprintf(file, "  "), 2);
	if (!forced && profile->short_run.floor_ns > 0 && profile->long_run.floor_ns > 0)
		terminal_say(file, 2,
			"Floor: executions below %s (short run), %s (long run) give no cutoff",
			text_duration(profile->short_run.floor_ns),
			text_duration(profile->long_run.floor_ns));
}
