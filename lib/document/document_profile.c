/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cutoff profile as an emp-profile document, and back. */
#include "lib/document/document_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int parse_l_samples(const json_t *array, const char *half, struct profile_run *ret, struct error *err)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		int64_t n = json_integer_value(entry), last = i ? ret->l_samples[i - 1] : 0;
		uint32_t *to;

		if (!json_is_integer(entry) || n < 1 || n > UINT32_MAX)
			return error_say(err, -EINVAL,
				"%s: entry %zu of 'l_samples' must be the number of a sample, 1 or more",
				half, i + 1);
		if (n <= last)
			return error_say(err, -EINVAL,
				"%s: entry %zu of 'l_samples' is %" PRId64 " after %" PRId64
				", and they must be in order and not repeat",
				half, i + 1, n, last);
		to = array_add(ret->l_samples, ret->n_l_samples);
		*to = (uint32_t)n;
	}
	return 0;
}

/* quoted: the name as the place shows it. */
static void parse_half(struct json_fields *f, const char *name, const char *quoted, struct profile_run *ret)
{
	json_t *half = NULL, *l_samples = NULL;
	struct json_fields inner;

	json_fields_object(f, name, &half);
	if (f->r < 0)
		return;
	inner = json_fields_begin(half, (struct json_location){quoted}, f->err);
	document_read_fields(&inner, &profile_run_table, ret);
	json_fields_array(&inner, "l_samples", &l_samples);
	f->r = inner.r < 0 ? inner.r : parse_l_samples(l_samples, quoted, ret, f->err);
}

static int cutoffs_by_daemon(const void *a, const void *b)
{
	const struct cutoff *first = a, *second = b;

	return strcmp(first->daemon, second->daemon);
}

static int parse_cutoffs(const json_t *array, struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		struct cutoff *cutoff = array_add(profile->cutoffs, profile->n_cutoffs);
		struct json_fields f;

		f = json_fields_begin(
			json_array_get(array, i), (struct json_location){"cutoff", (int64_t)i + 1}, err);
		document_read_fields(&f, &cutoff_table, cutoff);
		if (f.r < 0)
			return f.r;
	}
	if (profile->n_cutoffs > 0)
		qsort(profile->cutoffs, profile->n_cutoffs, sizeof(*profile->cutoffs), cutoffs_by_daemon);
	for (size_t i = 1; i < profile->n_cutoffs; i++)
		if (!cutoffs_by_daemon(&profile->cutoffs[i - 1], &profile->cutoffs[i]))
			return error_say(err, -EINVAL, "'cutoffs': there are two for the daemon '%s'",
				profile->cutoffs[i].daemon);
	return 0;
}

enum { MOST_RESOLVING = 1000000 }; /* a share of the mean */

static bool is_resolvable(const json_t *number)
{
	return json_is_number(number) && json_number_value(number) >= 0 &&
	       json_number_value(number) <= MOST_RESOLVING;
}

/* Other sizes than the book's are left out. */
static void parse_resolving(struct json_fields *f, const json_t *array, struct resolving rows[N_RESOLVING])
{
	for (size_t k = 0; f->r == 0 && k < json_array_size(array); k++) {
		const json_t *entry = json_array_get(array, k),
			     *interleaved = json_object_get(entry, "interleaved"),
			     *separate = json_object_get(entry, "separate"),
			     *duet = json_object_get(entry, "duet");
		json_int_t samples = json_integer_value(json_object_get(entry, "samples"));

		if (!is_resolvable(interleaved) || !is_resolvable(separate) ||
			(duet && !is_resolvable(duet))) {
			f->r = error_say(f->err, -EINVAL,
				"entry %zu of 'resolving' must have the numbers 'interleaved' and 'separate', from 0 to %d",
				k + 1, MOST_RESOLVING);
			return;
		}
		for (size_t i = 0; i < N_RESOLVING; i++)
			if (samples == resolving_sizes[i])
				rows[i] = (struct resolving){samples, json_number_value(interleaved),
					json_number_value(separate), json_number_value(duet)};
	}
}

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err)
{
	struct json_fields f = json_fields_begin(document, (struct json_location){}, err);
	_cleanup_(profile_clear) struct profile profile = {};
	json_t *cutoffs = NULL;
	int r;
	const char *digest = NULL;
	json_t *environment = NULL;

	json_fields_header(&f, "emp-profile", 1);
	document_read_fields(&f, &profile_table, &profile);
	json_fields_object_maybe(&f, "environment", &environment);
	if (f.r == 0 && environment) {
		struct json_fields inner = json_fields_begin(
			environment, (struct json_location){"'environment'"}, f.err);

		json_fields_text_maybe(&inner, "digest", &digest);
		f.r = inner.r;
	}
	profile.environment_digest = text_copy(digest);
	parse_half(&f, "short", "'short'", &profile.short_run);
	parse_half(&f, "long", "'long'", &profile.long_run);
	parse_resolving(&f, json_object_get(document, "resolving"), profile.resolving);
	document_read_correlation(&f, &profile.correlation);
	json_fields_array(&f, "cutoffs", &cutoffs);
	r = f.r < 0 ? f.r : parse_cutoffs(cutoffs, &profile, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(profile);
	return 0;
}

/* NULL: it has text that is not UTF-8. */
static json_t *make_half(const struct profile_run *half)
{
	json_t *json = document_new(&profile_run_table, half), *l_samples = json_array();

	for (size_t i = 0; i < half->n_l_samples; i++)
		json_array_append_new(l_samples, json_integer(half->l_samples[i]));
	json_object_set_new(json, "l_samples", l_samples);
	return json;
}

static json_t *make_resolving(const struct resolving rows[N_RESOLVING])
{
	json_t *array = json_array();

	for (size_t i = 0; i < N_RESOLVING; i++)
		if (rows[i].samples > 0)
			json_array_append_new(array,
				json_pack("{s:I, s:f, s:f, s:o*}", "samples", (json_int_t)rows[i].samples,
					"interleaved", rows[i].interleaved, "separate", rows[i].separate,
					"duet", rows[i].duet > 0 ? json_real(rows[i].duet) : NULL));
	return array;
}

int document_make_profile(const struct profile *profile, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp)
		json_t *document = json_pack("{s:s, s:i}", "format", "emp-profile", "version", 1),
		       *resolving = make_resolving(profile->resolving);
	json_t *cutoffs = json_array();
	int r = json_object_update_new(document, document_new(&profile_table, profile));

	if (profile->made_ns)
		document_add_moment(document, "made", profile->made_ns);
	r |= json_object_set_new(document, "short", make_half(&profile->short_run));
	r |= json_object_set_new(document, "long", make_half(&profile->long_run));
	r |= json_object_set_new(
		document, "environment", json_pack("{s:s?}", "digest", profile->environment_digest));
	if (json_array_size(resolving) > 0)
		json_object_set(document, "resolving", resolving);
	document_add_correlation(document, &profile->correlation);
	json_object_set_new(document, "cutoffs", cutoffs);
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		r |= json_array_append_new(cutoffs, document_new(&cutoff_table, &profile->cutoffs[i]));
	if (r < 0)
		return error_say(err, -EINVAL,
			"cannot make the document of the profile '%s': it has text that is not UTF-8",
			profile->name);
	*ret = TAKE(document);
	return 0;
}
