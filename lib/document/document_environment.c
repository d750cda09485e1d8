/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where something was measured, in documents: the machine, its fingerprint, what was measured of
 * it, and its profile. */
#include "lib/book/sql.h"
#include "lib/document/document_internal.h"

/* quoted: the name as the place shows it. */
static void parse_half(
	struct json_fields *f, const char *name, const char *quoted, struct profile_run *ret)
{
	json_t *half = json_fields_object(f, name), *l_samples;
	struct json_fields inner;

	if (f->r < 0)
		return;
	inner = json_fields_begin(half, (struct json_location){quoted}, f->err);
	document_read_fields(&inner, &profile_run_table, ret);
	l_samples = json_fields_array(&inner, "l_samples");
	for (size_t i = 0; inner.r >= 0 && i < json_array_size(l_samples); i++) {
		const json_t *entry = json_array_get(l_samples, i);
		int64_t n = json_integer_value(entry), last = i ? ret->l_samples[i - 1] : 0;

		if (!json_is_integer(entry) || n < 1 || n > UINT32_MAX)
			inner.r = error_say(f->err, -EINVAL,
				"%s: entry %zu of 'l_samples' must be the number of a sample, 1 or more",
				quoted, i + 1);
		else if (n <= last)
			inner.r = error_say(f->err, -EINVAL,
				"%s: entry %zu of 'l_samples' is %" PRId64 " after %" PRId64
				", and they must be in order and not repeat",
				quoted, i + 1, n, last);
		else
			*array_add(ret->l_samples, ret->n_l_samples) = (uint32_t)n;
	}
	f->r = inner.r;
}

static int cutoffs_by_daemon(const void *a, const void *b)
{
	const struct cutoff *first = a, *second = b;

	return strcmp(first->daemon, second->daemon);
}

enum { MOST_RESOLVING = 1000000 }; /* a share of the mean */

static bool is_resolvable(const json_t *number)
{
	return json_is_number(number) && json_number_value(number) >= 0 &&
	       json_number_value(number) <= MOST_RESOLVING;
}

/* Other sizes than the book's are left out. */
static void parse_mdd(struct json_fields *f, struct mdd rows[N_MDD])
{
	const json_t *array = json_fields_array(f, "resolving?");

	for (size_t k = 0; f->r == 0 && k < json_array_size(array); k++) {
		const json_t *entry = json_array_get(array, k),
			     *interleaved = json_object_get(entry, "interleaved"),
			     *separate = json_object_get(entry, "separate"),
			     *duet = json_object_get(entry, "duet");
		json_int_t samples = json_integer_value(json_object_get(entry, "samples"));

		if (!is_resolvable(interleaved) || !is_resolvable(separate) ||
			(duet && !json_is_null(duet) && !is_resolvable(duet))) {
			f->r = error_say(f->err, -EINVAL,
				"entry %zu of 'resolving' must have the numbers 'interleaved' and 'separate', from 0 to %d",
				k + 1, MOST_RESOLVING);
			return;
		}
		if (samples < 1) {
			f->r = error_say(f->err, -EINVAL,
				"entry %zu of 'resolving' must have 'samples', a whole number from 1",
				k + 1);
			return;
		}
		for (size_t i = 0; i < N_MDD; i++)
			if (samples == mdd_sizes[i])
				rows[i] = (struct mdd){samples, json_number_value(interleaved),
					json_number_value(separate), json_number_value(duet)};
	}
}

/* The digest of a fingerprint. */
static void read_digest(struct json_fields *f, const json_t *environment, const char **ret)
{
	struct json_fields inner = json_fields_begin(
		environment, (struct json_location){"'environment'"}, f->err);

	json_fields_text_or_empty(&inner, "digest?", ret);
	f->r = inner.r;
}

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err)
{
	struct json_fields f = json_fields_begin(document, (struct json_location){}, err);
	_cleanup_(profile_clear) struct profile profile = {};
	json_t *cutoffs, *environment;
	const char *digest = NULL;

	json_fields_header(&f, "emp-profile", 1);
	document_read_fields(&f, &profile_table, &profile);
	environment = json_fields_object(&f, "environment?");
	if (f.r == 0 && environment)
		read_digest(&f, environment, &digest);
	profile.environment_digest = text_copy(digest);
	parse_half(&f, "short", "'short'", &profile.short_run);
	parse_half(&f, "long", "'long'", &profile.long_run);
	parse_mdd(&f, profile.mdd);
	document_read_correlation(&f, &profile.correlation);
	cutoffs = json_fields_array(&f, "cutoffs");
	if (f.r < 0)
		return f.r;
	for (size_t i = 0; i < json_array_size(cutoffs); i++) {
		struct cutoff *cutoff = array_add(profile.cutoffs, profile.n_cutoffs);

		f = json_fields_begin(json_array_get(cutoffs, i),
			(struct json_location){"cutoff", (int64_t)i + 1}, err);
		document_read_fields(&f, &cutoff_table, cutoff);
		if (f.r < 0)
			return f.r;
	}
	if (profile.n_cutoffs > 0)
		qsort(profile.cutoffs, profile.n_cutoffs, sizeof(*profile.cutoffs),
			cutoffs_by_daemon);
	for (size_t i = 1; i < profile.n_cutoffs; i++)
		if (!cutoffs_by_daemon(&profile.cutoffs[i - 1], &profile.cutoffs[i]))
			return error_say(err, -EINVAL,
				"'cutoffs': there are two for the daemon '%s'",
				profile.cutoffs[i].daemon);
	*ret = TAKE_STRUCT(profile);
	return 0;
}

int document_make_profile(const struct profile *profile, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp)
		json_t *document = json_pack("{s:s, s:i}", "format", "emp-profile", "version", 1),
		       *mdd = json_array();
	json_t *cutoffs = json_array();
	int r = json_object_update_new(document, document_new(&profile_table, profile));

	if (profile->made_ns)
		document_add_moment(document, "made", profile->made_ns);
	for (int i = 0; i < 2; i++) {
		const struct profile_run *half = i ? &profile->long_run : &profile->short_run;
		json_t *json = document_new(&profile_run_table, half), *l_samples = json_array();

		for (size_t k = 0; k < half->n_l_samples; k++)
			json_array_append_new(l_samples, json_integer(half->l_samples[k]));
		json_object_set_new(json, "l_samples", l_samples);
		r |= json_object_set_new(document, i ? "long" : "short", json);
	}
	r |= json_object_set_new(document, "environment",
		json_pack("{s:s?}", "digest", profile->environment_digest));
	for (size_t i = 0; i < N_MDD; i++) {
		const struct mdd *row = &profile->mdd[i];

		if (row->samples > 0)
			json_array_append_new(
				mdd, json_pack("{s:I, s:f, s:f, s:o*}", "samples",
					     (json_int_t)row->samples, "interleaved",
					     row->interleaved, "separate", row->separate, "duet",
					     row->duet > 0 ? json_real(row->duet) : NULL));
	}
	if (json_array_size(mdd) > 0)
		json_object_set(document, "resolving", mdd);
	document_add_correlation(document, &profile->correlation);
	json_object_set_new(document, "cutoffs", cutoffs);
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		r |= json_array_append_new(
			cutoffs, document_new(&cutoff_table, &profile->cutoffs[i]));
	if (r < 0)
		return error_say(err, -EINVAL,
			"cannot make the document of the profile '%s': it has text that is not UTF-8",
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

/* Members of a context, and where they are in a fingerprint. */
static const struct {
	const char *name, *path[3];
} context_members[] = {
	{"host_name", {"volatile", "host_name"}},
	{"system", {"identity", "system", "name"}},
	{"kernel", {"identity", "kernel", "release"}},
	{"cpu_model", {"identity", "cpu", "name"}},
	{"cpus", {"settings", "cpus", "online"}},
};

/* Statements are known by the address of their text. */
static const char measurement_select[] = "WHERE environment = ? ORDER BY name, inc_digest",
		  measurement_replace[] = "ON CONFLICT DO UPDATE SET value = excluded.value";

int document_read_environment(
	struct book *book, int64_t environment, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t wrong;
	int r = book_get_environment(book, environment, NULL, NULL, &text, err);

	if (r < 0)
		return r;
	*ret = text ? json_loads(text, JSON_DECODE_ANY, &wrong) : NULL;
	if (text && !*ret)
		return error_say(err, -EBADMSG,
			"environment %" PRId64 " of the lab book cannot be read: %s", environment,
			wrong.text);
	return 0;
}

int document_make_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *fingerprint = NULL;
	json_t *context;
	int r = document_read_environment(book, environment, &fingerprint, err);

	if (r < 0)
		return r;
	context = json_object();
	if (when_ns > 0)
		document_add_moment(context, "date", when_ns);
	for (size_t i = 0; i < ELEMENTS(context_members); i++) {
		json_t *value = fingerprint;

		for (size_t k = 0;
			k < ELEMENTS(context_members[i].path) && context_members[i].path[k]; k++)
			value = json_object_get(value, context_members[i].path[k]);
		if (json_is_string(value))
			json_object_set(context, context_members[i].name, value);
	}
	json_object_set_new(context, "emp_version", json_string(EMP_VERSION));
	*ret = context;
	return 0;
}

int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err)
{
	_cleanup_(freep) char *machine = NULL, *text = NULL, *digest = NULL;
	struct measurement *rows = NULL;
	json_t *array, *described, *environment;
	size_t n;
	int r = book_get_environment(book, id, &digest, &machine, &text, err);
	if (r < 0)
		return r;
	described = machine && *machine == '{' ? json_loads(machine, 0, NULL)
					       : NULL; /* it is more than a name */
	if (machine)
		json_object_set_new(document, "machine", described ?: json_string(machine));
	environment = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	if (text && !environment)
		return document_not_made(err);
	if (text)
		json_object_set_new(document, "environment", environment);
	if (digest && !(text && strstr(text, digest)))
		json_object_set_new(document, "environment_digest", json_string(digest));
	r = sql_all(book, err, &measurement_table, measurement_select, &rows, &n, "i", id);
	if (r < 0 || n == 0)
		return r;
	array = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, document_new(&measurement_table, &rows[i]));
	json_object_set_new(document, "measurements", array);
	fields_free(&measurement_table, rows, n);
	return 0;
}

int document_add_origin(struct book *book, int64_t environment, int64_t when_ns, json_t *document,
	struct error *err)
{
	json_t *context = NULL;
	int r = document_make_context(book, environment, when_ns, &context, err);

	if (r < 0)
		return r;
	json_object_set_new(document, "context", context);
	return environment ? document_add_environment(book, environment, document, err) : 0;
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

/* The profile that the run was measured with, which 'profile' must name. If the book has another
 * one of that name, this is kept for the run only. */
static int put_profile_of_run(
	struct book *book, const json_t *head, int64_t *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	struct json_fields f = json_fields_begin(head, (struct json_location){}, err);
	const json_t *document = json_object_get(head, "profile_document");
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

/* The profile would put its own measurements in place of those that the environment has here, or
 * had where it comes from. */
int document_put_environment(struct book *book, const json_t *document, int64_t *ret,
	int64_t *ret_profile, struct error *err)
{
	_cleanup_(freep) char *machine = NULL, *fingerprint = NULL;
	const char *digest = NULL, *name = NULL;
	struct json_fields f = json_fields_begin(document, (struct json_location){}, err);
	const json_t *its_machine = json_object_get(document, "machine");
	json_t *environment = json_object_get(document, "environment"), *measurements, *row;
	struct measurement *before = NULL;
	size_t i, n = 0;
	int r;

	/* A name or a digest is enough; a whole document is stored unchanged. */
	*ret = 0;
	if (!json_is_object(its_machine))
		json_fields_text_or_empty(&f, "machine?", &name);
	if (f.r == 0)
		machine = json_is_object(its_machine) ? json_dumps(its_machine, JSON_COMPACT)
						      : text_copy(name);
	json_fields_text_or_empty(&f, "environment_digest?", &digest);
	if (f.r >= 0 && environment && !json_is_null(environment)) {
		if (json_is_string(environment) && !digest)
			json_fields_text(&f, "environment", &digest);
		else if (!json_is_string(environment))
			environment = json_fields_object(&f, "environment");
		if (f.r == 0 && json_is_object(environment) && !digest)
			read_digest(&f, environment, &digest);
		if (f.r == 0)
			fingerprint = json_dumps(environment, JSON_COMPACT | JSON_ENCODE_ANY);
	}
	measurements = json_fields_array(&f, "measurements?");
	r = f.r;
	if (r == 0 && (machine || fingerprint || digest))
		r = book_put_environment(book, digest, machine, fingerprint, ret, err);
	if (r == 0 && *ret)
		r = sql_all(
			book, err, &measurement_table, measurement_select, &before, &n, "i", *ret);
	if (r == 0 && ret_profile)
		r = put_profile_of_run(book, document, ret_profile, err);
	if (r == 0)
		r = sql_insert(
			book, err, &measurement_table, measurement_replace, before, n, "i", *ret);
	if (r == 0 && *ret && n == 0)
		json_array_foreach (measurements, i, row) {
			struct measurement measurement;

			f = json_fields_begin(row,
				(struct json_location){"'measurements', entry", (int64_t)i + 1},
				err);
			document_read_fields(&f, &measurement_table, &measurement);
			r = f.r < 0 ? f.r
				    : sql_insert(book, err, &measurement_table, measurement_replace,
					      &measurement, 1, "i", *ret);
			fields_clear(&measurement_table, &measurement);
			if (r < 0)
				break;
		}
	fields_free(&measurement_table, before, n);
	return r;
}
