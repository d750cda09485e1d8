/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles as documents: see document_profile.h. */
#include "lib/document/document_profile.h"

#include "lib/book/book_profiles.h"
#include "lib/book/sql.h"
#include "lib/document/document_environment.h"
#include "lib/document/document_fields.h"
#include "lib/record/profile.h"

/* Reads the numbers of the L-samples. `quoted`: the name of the run as messages show it. */
static void parse_l_samples(struct json_fields *f, const char *quoted, struct profile_run *ret)
{
	const json_t *array = json_fields_array(f, "l_samples");
	int64_t last = 0;

	for (size_t i = 0; f->r >= 0 && i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		int64_t n = json_integer_value(entry);

		if (!json_is_integer(entry) || n < 1 || n > UINT32_MAX)
			f->r = error_say(f->err, -EINVAL,
				"%s: entry %zu of 'l_samples' must be the number of a sample, 1 or "
				"more",
				quoted, i + 1);
		else if (n <= last)
			f->r = error_say(f->err, -EINVAL,
				"%s: entry %zu of 'l_samples' is %" PRId64 " after %" PRId64
				", and they must be in order and not repeat",
				quoted, i + 1, n, last);
		else
			*array_add(ret->l_samples, ret->n_l_samples) = (uint32_t)n;
		last = n;
	}
}

/* Reads the short or the long run. */
static void parse_profile_run(
	struct json_fields *f, const char *name, const char *quoted, struct profile_run *ret)
{
	json_t *run = json_fields_object(f, name);
	struct json_fields inner;

	if (f->r < 0)
		return;
	inner = json_fields_begin(run, (struct json_location){quoted}, f->err);
	document_read_fields(&inner, &profile_run_table, ret);
	parse_l_samples(&inner, quoted, ret);
	f->r = inner.r;
}

static int cutoffs_by_daemon(const void *a, const void *b)
{
	const struct cutoff *first = a, *second = b;

	return strcmp(first->daemon, second->daemon);
}

enum { MOST_MDD = 1000000 }; /* a minimum detectable difference, as a share of the mean */

static bool is_mdd(const json_t *number)
{
	return json_is_number(number) && json_number_value(number) >= 0 &&
	       json_number_value(number) <= MOST_MDD;
}

/* Reads the minimum detectable differences; those of numbers of samples that a profile does not
 * have are left out. */
static void parse_mdd(struct json_fields *f, struct mdd rows[N_MDD])
{
	const json_t *array = json_fields_array(f, "resolving?");

	for (size_t k = 0; f->r == 0 && k < json_array_size(array); k++) {
		const json_t *entry = json_array_get(array, k),
			     *interleaved = json_object_get(entry, "interleaved"),
			     *separate = json_object_get(entry, "separate"),
			     *duet = json_object_get(entry, "duet");
		json_int_t samples = json_integer_value(json_object_get(entry, "samples"));
		bool is_wrong_duet = duet && !json_is_null(duet) && !is_mdd(duet);

		if (!is_mdd(interleaved) || !is_mdd(separate) || is_wrong_duet) {
			f->r = error_say(f->err, -EINVAL,
				"entry %zu of 'resolving' must have the numbers 'interleaved' and "
				"'separate', from 0 to %d",
				k + 1, MOST_MDD);
			return;
		}
		if (samples < 1) {
			f->r = error_say(f->err, -EINVAL,
				"entry %zu of 'resolving' must have 'samples', a whole number from "
				"1",
				k + 1);
			return;
		}
		for (size_t i = 0; i < N_MDD; i++)
			if (samples == mdd_sizes[i])
				rows[i] = (struct mdd){samples, json_number_value(interleaved),
					json_number_value(separate), json_number_value(duet)};
	}
}

/* Reads the cutoffs, and sorts them by their daemons. */
static int parse_cutoffs(const json_t *array, struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		struct cutoff *cutoff = array_add(profile->cutoffs, profile->n_cutoffs);
		struct json_fields f = json_fields_begin(json_array_get(array, i),
			(struct json_location){"cutoff", (int64_t)i + 1}, err);

		document_read_fields(&f, &cutoff_table, cutoff);
		if (f.r < 0)
			return f.r;
		if (cutoff->below_ns < 0 && cutoff->atleast_ns < 0)
			cutoff_set_limits(cutoff);
		if (cutoff->below_ns < 0 && cutoff->atleast_ns < 0)
			return error_say(err, -EINVAL,
				"cutoff %zu ('%s') would discard nothing: it has none of "
				"'below_ns', 'atleast_ns', 'short_ns' and 'long_ns'",
				i + 1, cutoff->daemon);
	}
	if (profile->n_cutoffs > 0)
		qsort(profile->cutoffs, profile->n_cutoffs, sizeof(*profile->cutoffs),
			cutoffs_by_daemon);
	for (size_t i = 1; i < profile->n_cutoffs; i++)
		if (!cutoffs_by_daemon(&profile->cutoffs[i - 1], &profile->cutoffs[i]))
			return error_say(err, -EINVAL,
				"'cutoffs': there are two for the daemon '%s'",
				profile->cutoffs[i].daemon);
	return 0;
}

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err)
{
	struct json_fields f = json_fields_begin(document, (struct json_location){}, err);
	_cleanup_(profile_clear) struct profile profile = {};
	json_t *cutoffs, *environment;
	const char *digest = NULL;

	int r;

	json_fields_header(&f, "emp-profile", 1);
	document_read_fields(&f, &profile_table, &profile);
	environment = json_fields_object(&f, "environment?");
	if (f.r == 0 && environment)
		document_read_digest(&f, environment, &digest);
	profile.environment_digest = text_copy(digest);
	parse_profile_run(&f, "short", "'short'", &profile.short_run);
	parse_profile_run(&f, "long", "'long'", &profile.long_run);
	parse_mdd(&f, profile.mdd);
	document_read_correlation(&f, &profile.correlation);
	cutoffs = json_fields_array(&f, "cutoffs");
	if (f.r < 0)
		return f.r;
	r = parse_cutoffs(cutoffs, &profile, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(profile);
	return 0;
}

static json_t *profile_run_json(const struct profile_run *run)
{
	json_t *json = document_new(&profile_run_table, run), *l_samples = json_array();

	for (size_t i = 0; i < run->n_l_samples; i++)
		json_array_append_new(l_samples, json_integer(run->l_samples[i]));
	json_object_set_new(json, "l_samples", l_samples);
	return json;
}

/* NULL: none is known. */
static json_t *mdd_json(const struct mdd rows[N_MDD])
{
	json_t *array = NULL;

	for (const struct mdd *row = rows; row < rows + N_MDD; row++) {
		json_t *duet;

		if (row->samples == 0)
			continue;
		duet = row->duet > 0 ? json_real(row->duet) : NULL;
		array = array ?: json_array();
		json_array_append_new(
			array, json_pack("{s:I, s:f, s:f, s:o*}", "samples",
				       (json_int_t)row->samples, "interleaved", row->interleaved,
				       "separate", row->separate, "duet", duet));
	}
	return array;
}

int document_make_profile(const struct profile *profile, json_t **ret, struct error *err)
{
	json_t *members = document_new(&profile_table, profile);
	_cleanup_(json_decrefp) json_t *document = json_document("emp-profile", members);
	json_t *cutoffs = json_array(), *mdd = mdd_json(profile->mdd);
	int r = members ? 0 : -1;

	if (profile->made_ns)
		document_add_moment(document, "made", profile->made_ns);
	r |= json_object_set_new(document, "short", profile_run_json(&profile->short_run));
	r |= json_object_set_new(document, "long", profile_run_json(&profile->long_run));
	r |= json_object_set_new(document, "environment",
		json_pack("{s:s?}", "digest", profile->environment_digest));
	if (mdd)
		json_object_set_new(document, "resolving", mdd);
	document_add_correlation(document, &profile->correlation);

	json_object_set_new(document, "cutoffs", cutoffs);
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		r |= json_array_append_new(
			cutoffs, document_new(&cutoff_table, &profile->cutoffs[i]));
	if (r < 0)
		return error_say(err, -EINVAL,
			"cannot make the document of the profile '%s': it has text that is not "
			"UTF-8",
			profile->name);
	*ret = TAKE(document);
	return 0;
}

int document_print_profile(const struct profile *profile, struct error *err)
{
	json_t *document;
	int r = document_make_profile(profile, &document, err);

	return r < 0 ? r : json_print_digits(document, stdout, 0, err);
}

int document_find_profile(struct book *book, const struct profile *profile, int64_t *ret,
	int64_t *ret_current, struct error *err)
{
	_cleanup_(json_decrefp) json_t *its = NULL;
	struct profile *stored = NULL; /* of the same name */
	size_t n = 0;
	int r = document_make_profile(profile, &its, err);

	*ret = *ret_current = 0;
	if (r == 0)
		r = book_profiles(book, profile->name, &stored, &n, err);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(json_decrefp) json_t *ours = NULL;

		if (r == 0 && *ret == 0) {
			r = document_make_profile(&stored[i], &ours, err);
			if (json_equal(its, ours))
				*ret = stored[i].id;
		}
		if (stored[i].retired_ns == 0)
			*ret_current = stored[i].id;
		profile_clear(&stored[i]);
	}
	free(stored);
	return r;
}

int document_put_profile_of_run(
	struct book *book, const json_t *run, int64_t *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	struct json_fields f = json_fields_begin(run, (struct json_location){}, err);
	const json_t *document = json_object_get(run, "profile_document");
	const char *name = NULL;
	int64_t current;
	int r;

	*ret = 0;
	if (!document || json_is_null(document))
		return 0;
	r = document_parse_profile(document, &profile, err);
	if (r < 0)
		return error_prefix(err, r, "'profile_document'");
	json_fields_text_or_empty(&f, "profile?", &name);
	if (f.r == 0 && (!name || strcmp(name, profile.name)))
		json_fields_refuse(&f, -EINVAL,
			": 'profile' must be '%s', as its 'profile_document' is, and is %s%s%s",
			profile.name, name ? "'" : "", name ?: "missing", name ? "'" : "");
	json_fields_int(&f, "profile_retired_ns?", 1, JSON_MOMENT_MAX, &profile.retired_ns);
	r = f.r < 0 ? f.r : document_find_profile(book, &profile, ret, &current, err);
	if (r < 0 || *ret)
		return r;
	if (current && profile.retired_ns == 0)
		profile.retired_ns = clock_ns(CLOCK_REALTIME);
	r = book_put_profile(book, &profile, false, err);
	if (r >= 0)
		r = sql_row(book, err, "SELECT max(id) FROM profile", ":I", ret);
	return r < 0 ? r : 0;
}
