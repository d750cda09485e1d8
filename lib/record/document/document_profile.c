/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cutoff profile as an emp-profile document, and back. */
#include "lib/record/document/document.h"
#include "lib/record/document/json_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int copy(char **ret, const char *text, struct error *err)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? error_os(err, -ENOMEM, "cannot read a profile") : 0;
}

static int parse_l_samples(
	const json_t *half, const struct place *at, struct profile_run *ret, struct error *err)
{
	char where[PLACE_SIZE];
	json_t *array = NULL;
	int r;

	r = member_array(half, at, "l_samples", &array, err);
	if (r < 0)
		return r;
	ret->l_samples = calloc(json_array_size(array) ?: 1, sizeof(*ret->l_samples));
	if (!ret->l_samples)
		return error_os(err, -ENOMEM, "cannot read a profile");
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *entry = json_array_get(array, i);
		int64_t n = json_integer_value(entry), last = i ? ret->l_samples[i - 1] : 0;

		if (!json_is_integer(entry) || n < 1 || n > UINT32_MAX)
			return error_say(err, -EINVAL,
				"%s: entry %zu of 'l_samples' must be the number of a sample, 1 or more",
				place_text(where, at), i + 1);
		if (n <= last)
			return error_say(err, -EINVAL,
				"%s: entry %zu of 'l_samples' is %" PRId64 " after %" PRId64
				", and they must be in order and not repeat",
				place_text(where, at), i + 1, n, last);
		ret->l_samples[ret->n_l_samples++] = (uint32_t)n;
	}
	return 0;
}

/* quoted: the name as the place shows it. */
static int parse_half(const json_t *document, const char *name, const char *quoted, struct profile_run *ret,
	struct error *err)
{
	const struct place at = {.what = quoted};
	const char *program;
	json_t *half = NULL;
	int r;

	r = member_object(document, &(struct place){}, name, &half, err);
	if (r >= 0)
		r = member_text(half, &at, "program", &program, err);
	if (r >= 0)
		r = member_int(half, &at, "samples", 0, UINT32_MAX, &ret->samples, err);
	if (r >= 0)
		r = copy(&ret->program, program, err);
	return r < 0 ? r : parse_l_samples(half, &at, ret, err);
}

static int parse_cutoff(const json_t *json, int64_t entry, struct cutoff *cutoff, struct error *err)
{
	const struct place at = {.what = "cutoff", .number = entry};
	const char *daemon = NULL, *unit = NULL;
	int r;

	*cutoff = (struct cutoff){.short_ns = -1, .long_ns = -1, .below_ns = -1, .atleast_ns = -1};
	r = member_is_object(json, &at, err);
	if (r >= 0)
		r = member_text(json, &at, "daemon", &daemon, err);
	if (r >= 0)
		r = member_text_maybe(json, &at, "unit", &unit, err);
	if (r >= 0)
		r = member_int_maybe(json, &at, "short_ns", 0, MEMBER_TIME_MAX, &cutoff->short_ns, err);
	if (r >= 0)
		r = member_int_maybe(json, &at, "long_ns", 0, MEMBER_TIME_MAX, &cutoff->long_ns, err);
	if (r >= 0)
		r = member_seconds_maybe(json, &at, "period_s", &cutoff->period_ns, err);
	if (r >= 0)
		r = member_flag_maybe(json, &at, "firm", &cutoff->firm, err);
	if (r >= 0)
		r = member_seconds_maybe(json, &at, "task_time_s", &cutoff->task_time_ns, err);
	if (r >= 0)
		r = member_int_maybe(json, &at, "below_ns", 0, MEMBER_TIME_MAX, &cutoff->below_ns, err);
	if (r >= 0)
		r = member_int_maybe(json, &at, "atleast_ns", 0, MEMBER_TIME_MAX, &cutoff->atleast_ns, err);
	if (r >= 0)
		r = copy(&cutoff->daemon, daemon, err);
	return r < 0 ? r : copy(&cutoff->unit, unit, err);
}

static int by_daemon(const void *a, const void *b)
{
	const struct cutoff *first = a, *second = b;

	return strcmp(first->daemon, second->daemon);
}

static int parse_cutoffs(const json_t *document, struct profile *profile, struct error *err)
{
	json_t *array = NULL;
	int r;

	r = member_array(document, &(struct place){}, "cutoffs", &array, err);
	if (r < 0)
		return r;
	profile->cutoffs = calloc(json_array_size(array) ?: 1, sizeof(*profile->cutoffs));
	if (!profile->cutoffs)
		return error_os(err, -ENOMEM, "cannot read a profile");
	for (size_t i = 0; i < json_array_size(array); i++) {
		r = parse_cutoff(json_array_get(array, i), (int64_t)i + 1,
			&profile->cutoffs[profile->n_cutoffs++], err);
		if (r < 0)
			return r;
	}
	qsort(profile->cutoffs, profile->n_cutoffs, sizeof(*profile->cutoffs), by_daemon);
	for (size_t i = 1; i < profile->n_cutoffs; i++)
		if (!by_daemon(&profile->cutoffs[i - 1], &profile->cutoffs[i]))
			return error_say(err, -EINVAL, "'cutoffs': there are two for the daemon '%s'",
				profile->cutoffs[i].daemon);
	return 0;
}

static int parse_head(const json_t *document, struct profile *profile, struct error *err)
{
	const struct place top = {};
	const char *name = NULL, *digest = NULL;
	json_t *environment = NULL;
	int r;

	r = member_header(document, "emp-profile", 1, err);
	if (r >= 0)
		r = member_text(document, &top, "name", &name, err);
	if (r >= 0)
		r = member_int(
			document, &top, "resolution_ns", 1, MEMBER_TIME_MAX, &profile->resolution_ns, err);
	if (r >= 0)
		r = member_int_maybe(document, &top, "made_ns", 1, MEMBER_MOMENT_MAX, &profile->made_ns, err);
	if (r >= 0)
		r = member_object_maybe(document, &top, "environment", &environment, err);
	if (r >= 0 && environment)
		r = member_text_maybe(
			environment, &(struct place){.what = "'environment'"}, "digest", &digest, err);
	if (r >= 0)
		r = copy(&profile->name, name, err);
	return r < 0 ? r : copy(&profile->environment_digest, digest, err);
}

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err)
{
	_cleanup_(profile_clearp) struct profile profile = {};
	int r;

	r = parse_head(document, &profile, err);
	if (r >= 0)
		r = parse_half(document, "short", "'short'", &profile.short_run, err);
	if (r >= 0)
		r = parse_half(document, "long", "'long'", &profile.long_run, err);
	if (r >= 0)
		r = parse_cutoffs(document, &profile, err);
	if (r < 0)
		return r;
	*ret = profile;
	profile = (struct profile){};
	return 0;
}

static json_t *make_half(const struct profile_run *half)
{
	json_t *l_samples = json_array();

	for (size_t i = 0; i < half->n_l_samples; i++)
		if (json_array_append_new(l_samples, json_integer(half->l_samples[i])) < 0) {
			json_decref(l_samples);
			return NULL;
		}
	return json_pack("{s:s, s:I, s:o}", "program", half->program, "samples", (json_int_t)half->samples,
		"l_samples", l_samples);
}

static json_t *known(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *known_seconds(int64_t ns)
{
	return ns == 0 ? json_null() : member_from_ns(ns);
}

/* Every cutoff has the same members, null where there is nothing to say. */
static json_t *make_cutoff(const struct cutoff *cutoff)
{
	return json_pack("{s:s, s:s*, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "daemon", cutoff->daemon, "unit",
		cutoff->unit, "short_ns", known(cutoff->short_ns), "long_ns", known(cutoff->long_ns),
		"period_s", known_seconds(cutoff->period_ns), "firm", cutoff->firm, "task_time_s",
		known_seconds(cutoff->task_time_ns), "below_ns", known(cutoff->below_ns), "atleast_ns",
		known(cutoff->atleast_ns));
}

static json_t *make_head(const struct profile *profile)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:I}", "format", "emp-profile", "version", 1, "name",
		profile->name, "resolution_ns", (json_int_t)profile->resolution_ns);
	int r = json ? 0 : -1;

	if (profile->made_ns)
		r |= json_object_set_new(json, "made_ns", json_integer(profile->made_ns));
	r |= json_object_set_new(json, "short", make_half(&profile->short_run));
	r |= json_object_set_new(json, "long", make_half(&profile->long_run));
	if (profile->environment_digest)
		r |= json_object_set_new(
			json, "environment", json_pack("{s:s}", "digest", profile->environment_digest));
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

int document_make_profile(const struct profile *profile, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = make_head(profile);
	json_t *cutoffs = json_array();
	int r = json_object_set_new(document, "cutoffs", cutoffs);

	for (size_t i = 0; r == 0 && i < profile->n_cutoffs; i++)
		r = json_array_append_new(cutoffs, make_cutoff(&profile->cutoffs[i]));
	if (r < 0)
		return error_say(err, -EINVAL,
			"cannot make the document of the profile '%s': there is no memory for it, or it has text that is not UTF-8",
			profile->name);
	*ret = TAKE(document);
	return 0;
}
