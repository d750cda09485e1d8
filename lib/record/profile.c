/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: the fields for the book and for documents, and freeing. */
#include "lib/record/profile.h"

#include "lib/record/record_internal.h"

const int mdd_sizes[N_MDD] = {5, 10, 20, 40};

static const struct field profile_fields[] = {
	{FIELD(profile, FIELD_INT64, id), ID, .expression = "id", .book_only = true},
	{FIELD(profile, FIELD_TEXT, name)},
	{FIELD(profile, FIELD_INT64, resolution_ns), .min = 1, IS_TIME},
	{FIELD(profile, FIELD_INT64, made_ns), IS_OPTIONAL, .min = 1, IS_MOMENT},
	{FIELD(profile, FIELD_INT, cpu), UNLESS_NEGATIVE, .max = INT32_MAX},
	{FIELD(profile, FIELD_TEXT, environment_digest), IS_OPTIONAL, .book_only = true},
	{FIELD(profile, FIELD_BOOL, by_wait), .presence = FIELD_DEFAULTED},
	{"blind_ns", FIELD_INT64, offsetof(struct profile, mark.blind_ns), sizeof(int64_t),
		IS_OPTIONAL, .min = 1, IS_TIME},
	{"noise", FIELD_TEXT, offsetof(struct profile, mark.noise), sizeof(char *), IS_OPTIONAL},
	CORRELATION(profile),
	{FIELD(profile, FIELD_TEXT, inc_digest), IS_OPTIONAL},
	{FIELD(profile, FIELD_INT64, retired_ns), IS_OPTIONAL, .min = 1, IS_MOMENT,
		.book_only = true},
};
const struct field_table profile_table = FIELD_TABLE(profile, "", profile_fields);

static const struct field profile_run_fields[] = {
	{FIELD(profile_run, FIELD_TEXT, program)},
	{FIELD(profile_run, FIELD_INT64, run), IS_OPTIONAL, ID, .book_only = true},
	{FIELD(profile_run, FIELD_INT64, samples), .max = UINT32_MAX},
	{FIELD(profile_run, FIELD_INT64, floor_ns), IS_OPTIONAL, .min = 1, IS_TIME},
};
const struct field_table profile_run_table = FIELD_TABLE(
	profile_run, "profile, which, ", profile_run_fields);

static const struct field cutoff_fields[] = {
	{FIELD(cutoff, FIELD_TEXT, daemon)},
	{FIELD(cutoff, FIELD_TEXT, unit), IS_OPTIONAL},
	{FIELD(cutoff, FIELD_INT64, short_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(cutoff, FIELD_INT64, long_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(cutoff, FIELD_INT64, period_ns), IS_OPTIONAL, .seconds = "period_s"},
	{FIELD(cutoff, FIELD_BOOL, firm), .presence = FIELD_DEFAULTED},
	{FIELD(cutoff, FIELD_INT64, task_time_ns), IS_OPTIONAL, .seconds = "task_time_s"},
	{FIELD(cutoff, FIELD_INT64, below_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(cutoff, FIELD_INT64, atleast_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(cutoff, FIELD_UINT32, names), IS_OPTIONAL, .min = 2, .max = UINT32_MAX,
		.omitted = true},
	{FIELD(cutoff, FIELD_INT64, short_share_ppm), UNLESS_NEGATIVE, .max = PPM, .omitted = true},
	{FIELD(cutoff, FIELD_INT64, long_share_ppm), UNLESS_NEGATIVE, .max = PPM, .omitted = true},
};
const struct field_table cutoff_table = FIELD_TABLE(
	cutoff, "profile, ", cutoff_fields, .nulls = true);

void cutoff_set_limits(struct cutoff *c)
{
	c->below_ns = c->atleast_ns = c->short_ns > c->long_ns ? c->short_ns : c->long_ns;
	if (c->short_ns >= 0 && c->long_ns >= 0 && c->task_time_ns > 0) {
		c->below_ns = c->short_ns;
		c->atleast_ns = c->long_ns;
	}
}

void profile_for_inc(struct profile *profile, const char *inc_digest)
{
	bool has_mark = !profile->by_wait && profile->mark.blind_ns > 0;
	bool has_figures = has_mark || profile->correlation.samples > 0;

	for (size_t i = 0; i < N_MDD; i++)
		has_figures |= profile->mdd[i].samples > 0;
	if (!has_figures || !strcmp(profile->inc_digest ?: "", inc_digest ?: ""))
		return;
	profile->other_inc = true;
	profile->correlation = (struct correlation){};
	memset(profile->mdd, 0, sizeof(profile->mdd));
	if (has_mark)
		profile->mark.blind_ns = 0;
	/* that stays true */
	if (has_mark && profile->mark.noise && !strstr(profile->mark.noise, "forced"))
		free(TAKE(profile->mark.noise));
}

void profile_clear(struct profile *profile)
{
	fields_free(&cutoff_table, profile->cutoffs, profile->n_cutoffs);
	fields_clear(&profile_run_table, &profile->short_run);
	fields_clear(&profile_run_table, &profile->long_run);
	free(profile->short_run.l_samples);
	free(profile->long_run.l_samples);
	fields_clear(&profile_table, profile);
	*profile = (struct profile){};
}
