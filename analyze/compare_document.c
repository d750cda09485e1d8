/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results in documents of hyperfine, pyperf and emp-measure: see compare_document.h. */
#include "analyze/compare_document.h"
#include "lib/record/profile.h"

/* A list of numbers times `scale` (1e9 for seconds), appended. */
static int append_times(
	const json_t *numbers, double scale, struct comparison_side *side, struct error *err)
{
	json_t *number;
	size_t i;

	json_array_foreach (numbers, i, number) {
		double ns = json_number_value(number) * scale;
		struct comparison_time *time;

		if (!json_is_number(number) || !(ns >= 0 && ns <= (double)JSON_TIME_MAX))
			return error_say(err, -EINVAL,
				"number %zu of its times is not a valid time, from 0 to a year",
				i + 1);
		time = array_add(side->items, side->n);
		*time = (struct comparison_time){.n = (uint32_t)side->n, .time_ns = llround(ns)};
	}
	return 0;
}

/* Marks the samples that a list names, by their numbers or as {"sample": 3, …}. n 0: they are not
 * known. */
static int mark_samples(struct json_fields *f, const char *list, bool *marks, size_t n)
{
	const json_t *array = json_fields_array(f, text_brief("%s?", list));
	json_t *entry;
	size_t i;

	json_array_foreach (array, i, entry) {
		const json_t *number = json_is_object(entry) ? json_object_get(entry, "sample")
							     : entry;
		json_int_t value = json_integer_value(number);

		if (!json_is_integer(number) || value < 1 || (n > 0 && (size_t)value > n))
			return json_fields_refuse(f, -EINVAL,
				": entry %zu of '%s' is not the number of one of its samples",
				i + 1, list);
		if (n > 0)
			marks[value - 1] = true;
	}
	return f->r;
}

/* The i-th of an array of times; 0: there is none. */
static int64_t time_at(struct json_fields *f, const json_t *array, size_t i, int64_t max)
{
	const json_t *number = json_array_get(array, i);
	json_int_t value = json_integer_value(number);

	if (number && (!json_is_integer(number) || value < 0 || value > max))
		json_fields_refuse(f, -EINVAL,
			": entry %zu of 'start_ns', 'et_ns' or 'wait_ns' is not a valid time in "
			"nanoseconds",
			i + 1);
	return f->r < 0 ? 0 : value;
}

/* When samples started, and how long they took; NULL: the document does not have it. */
struct moments {
	const json_t *starts, *ets;
	const struct comparison_side *et; /* the member "times", used where `ets` is NULL */
};

static void set_moments(
	struct comparison_side *side, const struct moments *m, struct json_fields *f)
{
	for (size_t i = 0; i < side->n; i++) {
		struct comparison_time *item = &side->items[i];
		int64_t et_ns = 0;

		item->start_ns = time_at(f, m->starts, i, JSON_MOMENT_MAX);
		if (i < json_array_size(m->ets))
			et_ns = time_at(f, m->ets, i, JSON_TIME_MAX);
		else if (i < m->et->n)
			et_ns = m->et->items[i].time_ns;
		item->end_ns = item->start_ns + et_ns;
	}
}

/* W of the samples that are kept, as far as it is known. */
static void set_wait(struct comparison_side *side, struct json_fields *f)
{
	const json_t *waits = json_fields_array(f, "wait_ns?");
	const char *source = NULL;
	size_t n_known = 0;

	json_fields_text_or_empty(f, "wait_source?", &source);
	if (!wait_source_is_exact(source))
		return;
	for (size_t i = 0; i < side->n; i++) {
		size_t at = side->items[i].n - 1;

		if (!json_is_integer(json_array_get(waits, at)))
			continue;
		side->wait_ns += (double)time_at(f, waits, at, JSON_TIME_MAX) / (double)side->n;
		n_known++;
	}
	side->knows_wait = n_known == side->n;
}

/* Moves the samples that are discarded or late from side->items to side->discarded. late NULL: late
 * ones stay. Returns how many are discarded. */
static size_t drop_samples(struct comparison_side *side, const bool *discarded, const bool *late)
{
	size_t kept = 0, n_discarded = 0;

	for (size_t i = 0; i < side->n; i++) {
		bool is_late = late && late[i] && !discarded[i];

		n_discarded += discarded[i];
		side->n_late += is_late;
		if (discarded[i] || is_late)
			*array_add(side->discarded, side->n_discarded) = side->items[i];
		else
			side->items[kept++] = side->items[i];
	}
	side->n = kept;
	return n_discarded;
}

/* A number of an object, from 0 to `most`, or `otherwise` if there is none. */
static double number_in(struct json_fields *f, const json_t *object, const char *name, double most,
	double otherwise)
{
	const json_t *number = json_object_get(object, name);
	bool given = number && !json_is_null(number);
	double value = given ? json_number_value(number) : otherwise;

	if (given && (!json_is_number(number) || !(value >= 0 && value <= most)))
		json_fields_refuse(f, -EINVAL, ": '%s' must be a number from 0 to %g", name, most);
	return f->r < 0 ? otherwise : value;
}

/* The share of each sample with a neighbour; of those that were not probed, the mean of the others
 * that are kept. */
static void read_shares(struct json_fields *f, const bool *discarded, double *shares, size_t n)
{
	const json_t *array = json_fields_array(f, "neighbour_ppm?");
	double sum = 0;
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *number = json_array_get(array, i);

		shares[i] = json_is_number(number) ? json_number_value(number) / PPM : -1;
		if (shares[i] > 1)
			json_fields_refuse(f, -EINVAL,
				": entry %zu of 'neighbour_ppm' is above a million", i + 1);
		if (shares[i] < 0 || discarded[i])
			continue;
		sum += shares[i];
		n_known++;
	}
	for (size_t i = 0; i < n; i++)
		if (shares[i] < 0)
			shares[i] = n_known > 0 ? sum / (double)n_known : 0;
}

/* Takes the neighbour out of the times, which a document has as they were measured, if emp-measure
 * did so. */
static void take_neighbour_out(
	struct compare_input *input, struct json_fields *f, const bool *discarded)
{
	const json_t *neighbour = json_fields_object(f, "neighbour?");
	const char *done = json_string_value(json_object_get(neighbour, "done")) ?: "";
	struct comparison_side *pt = &input->sides[COMPARISON_PT],
			       *et = &input->sides[COMPARISON_ET];
	_cleanup_(freep) double *shares = xcalloc(pt->n + 1, sizeof(*shares));
	struct neighbour_slope *slope = &input->discarding.pt.adjusted.by.slope;
	double beside_ns = 0;
	size_t kept = 0;

	if (strcmp(done, neighbour_rule_names[NEIGHBOUR_ADJUST]) != 0)
		return;
	slope->k = number_in(f, neighbour, "slope", NEIGHBOUR_MOST_SLOPE, 0);
	slope->error = number_in(f, neighbour, "slope_error", 1, 0);
	slope->df = fmax(1, number_in(f, neighbour, "slope_df", 1e6, NEIGHBOUR_STORED_DF));
	read_shares(f, discarded, shares, pt->n);
	if (f->r < 0)
		return;
	for (size_t i = 0; i < pt->n; i++) {
		int64_t *pt_ns = &pt->items[i].time_ns, *et_ns = &et->items[i].time_ns;
		int64_t before_ns = *pt_ns;

		if (discarded[i])
			continue;
		beside_ns += (double)before_ns * shares[i];
		kept++;
		*pt_ns = llround(neighbour_without((double)before_ns, shares[i], slope->k));
		*et_ns -= before_ns - *pt_ns;
		*et_ns = *et_ns > 0 ? *et_ns : 0;
	}
	if (kept > 0)
		pt->error = et->error = (struct mean_error){
			pow(slope->error * beside_ns / (double)kept, 2), slope->df};
}

/* The samples of both clocks: when they started and ended. Those that are marked are discarded from
 * both, late ones from ET only. */
static void set_samples(struct compare_input *input, struct json_fields *f, bool duet,
	const bool *discarded, const bool *late)
{
	struct comparison_side *et = &input->sides[COMPARISON_ET];
	const struct moments moments = {
		json_fields_array(f, "start_ns?"), json_fields_array(f, "et_ns?"), et};
	const json_t *held_back = json_fields_object(f, "held_back?");
	bool unmeasurable = json_is_true(json_object_get(held_back, "unmeasurable"));
	const char *by = json_string_value(json_object_get(held_back, "by"));
	double shared = number_in(f, f->object, "refill", 1, NAN);
	int64_t cpu = -1;

	json_fields_int(f, "cpu?", 0, INT32_MAX, &cpu);
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		struct comparison_side *side = &input->sides[clock];
		size_t n = side->n, n_discarded;

		side->duet = duet;
		side->shared = shared;
		side->origin = (struct comparison_origin){
			.call = input->call, .machine = input->digest, .cpu = (int)cpu};
		set_moments(side, &moments, f);
		n_discarded = drop_samples(side, discarded, side == et ? late : NULL);
		set_wait(side, f);
		if (unmeasurable)
			side->unmeasurable = comparison_held_back(by);
		else if (n > 0 && n_discarded == n)
			side->unmeasurable = UNMEASURABLE_DISTURBED;
	}
}

/* The member "emp", which emp-measure writes beside hyperfine's: process times, the moments when
 * samples started, the machine, the mark of the profile, and the samples that were discarded for a
 * cause, which are dropped from both clocks. Documents from before 0.3.0 do not say which call took
 * the samples. Results of one duet are of one call then; other results need not be, even in one
 * file, because files can be merged. */
static int read_emp(
	const json_t *emp, const char *path, struct compare_input *input, struct error *err)
{
	static const char *const lists[] = {
		"incomplete", "by_cutoff", "by_unprofiled", "by_neighbour", "by_duet"};
	struct json_fields f = json_fields_begin(emp, (struct json_location){"'emp'"}, err);
	struct comparison_side *pt = &input->sides[COMPARISON_PT],
			       *et = &input->sides[COMPARISON_ET];
	const char *profile = NULL, *noise = NULL, *environment = NULL, *program = NULL;
	const char *output = NULL, *call = NULL;
	bool duet = json_is_array(json_object_get(emp, "by_duet"));
	_cleanup_(freep) bool *discarded = NULL, *late = NULL;
	int64_t blind_ns = 0;
	size_t n;
	int r;

	json_fields_text_or_empty(&f, "profile?", &profile);
	json_fields_text_or_empty(&f, "profile_noise?", &noise);
	json_fields_text_or_empty(&f, "environment?", &environment);
	json_fields_text_or_empty(&f, "call?", &call);
	json_fields_text_or_empty(&f, "program_digest?", &program);
	json_fields_text_or_empty(&f, "output_digest?", &output);
	json_fields_int(&f, "profile_blind_ns?", 0, JSON_TIME_MAX, &blind_ns);
	r = append_times(json_fields_array(&f, "pt_ns?"), 1, pt, err);
	r = f.r < 0 ? f.r : r;
	if (r == 0 && pt->n > 0 && pt->n != et->n)
		r = json_fields_refuse(&f, -EINVAL,
			" has %zu times in 'pt_ns', not %zu as in 'times'", pt->n, et->n);
	if (r < 0)
		return r;

	n = pt->n > 0 ? pt->n : et->n;
	discarded = xcalloc(n + 1, sizeof(*discarded));
	late = xcalloc(n + 1, sizeof(*late));
	for (size_t k = 0; r == 0 && k < ELEMENTS(lists); k++)
		r = mark_samples(&f, lists[k], discarded, n);
	if (r == 0)
		r = mark_samples(&f, "ended_late", late, n);

	if (r == 0)
		take_neighbour_out(input, &f, discarded);
	input->digest = text_copy(environment);
	if (!call && duet)
		call = path;
	input->call = text_copy(call);
	set_samples(input, &f, duet, discarded, late);
	input->discarding.run.program_digest = text_copy(program);
	input->discarding.run.output_digest = text_copy(output);
	if (!profile || (!noise && blind_ns <= 0))
		return f.r;
	input->discarding.mark = (struct profile_mark){blind_ns, text_copy(noise)};
	input->profile = text_copy(profile);
	return f.r;
}

/* hyperfine's results[]: seconds in times. */
static int read_hyperfine(
	const json_t *result, const char *path, struct compare_input *side, struct error *err)
{
	const json_t *emp = json_object_get(result, "emp");
	struct json_fields fields = json_fields_begin(
		result, (struct json_location){"the result"}, err);
	int r = append_times(
		json_fields_array(&fields, "times"), 1e9, &side->sides[COMPARISON_ET], err);

	r = fields.r < 0 ? fields.r : r;
	return r == 0 && emp && !json_is_null(emp) ? read_emp(emp, path, side, err) : r;
}

/* pyperf's benchmarks[]: seconds in the values of each run; runs that only calibrate have none. */
static int read_pyperf(
	const json_t *benchmark, const char *path, struct compare_input *side, struct error *err)
{
	struct json_fields fields = json_fields_begin(
		benchmark, (struct json_location){"the benchmark"}, err);
	const json_t *runs = json_fields_array(&fields, "runs");
	json_t *run;
	size_t i;
	int r = fields.r;

	json_array_foreach (runs, i, run) {
		struct json_fields of_run = json_fields_begin(
			run, (struct json_location){"its run", (int64_t)i + 1}, err);

		if (r == 0)
			r = append_times(json_fields_array(&of_run, "values?"), 1e9,
				&side->sides[COMPARISON_ET], err);
		r = of_run.r < 0 ? of_run.r : r;
	}
	return r;
}

/* The formats, by the member that has the results. */
static const struct format {
	const char *member;
	const char *unnamed; /* of a result without a name */
	int (*read)(const json_t *result, const char *path, struct compare_input *side,
		struct error *err);
} formats[] = {
	{"results", "?", read_hyperfine},
	{"benchmarks", "benchmark", read_pyperf},
};

/* Documents of emp-measure have a 'format', except those of 0.1.0; those of hyperfine have neither
 * 'format' nor 'version'. */
static int find_format(
	const json_t *document, const char *path, const struct format **ret, struct error *err)
{
	const json_t *its_format = json_object_get(document, "format"),
		     *version = json_object_get(document, "version");
	const struct format *format = formats;
	const char *other = json_string_value(its_format), *hint = "";

	while (format < formats + ELEMENTS(formats) &&
		!json_is_array(json_object_get(document, format->member)))
		format++;
	if (other && !strcmp(other, "emp-run"))
		hint = "; 'emp-analyze import' brings it into the book, whose runs are compared";
	if (other && strcmp(other, "emp-measure"))
		return error_say(err, -EINVAL,
			"'%s' is not JSON of emp-measure, hyperfine or pyperf: its 'format' is "
			"'%s'%s",
			path, other, hint);
	if (format == formats + ELEMENTS(formats))
		return error_say(err, -EINVAL,
			"'%s' is not JSON of emp-measure, hyperfine or pyperf: it has no "
			"'results' and no 'benchmarks'",
			path);
	if (its_format) {
		struct json_fields f = json_fields_begin(document, (struct json_location){}, err);

		json_fields_header(&f, "emp-measure", 1);
		if (f.r < 0)
			return error_prefix(err, f.r, "'%s'", path);
	} else if (version && format->read == read_hyperfine) {
		return error_say(err, -EINVAL,
			"'%s' is not JSON of emp-measure or hyperfine: it has a 'version', and no "
			"'format'",
			path);
	} else if (version && strcmp(json_string_value(version) ?: "", "1.0")) {
		return error_say(err, -EINVAL,
			"'%s' is not JSON of pyperf that this EMP reads: its 'version' is not "
			"\"1.0\"",
			path);
	}
	*ret = format;
	return 0;
}

/* A text member of a result. In pyperf's documents it may also stand in the metadata of the result,
 * of its first run or of the whole document. NULL: it is nowhere. */
static const char *result_text(const json_t *document, const json_t *result, const char *name)
{
	const json_t *run = json_array_get(json_object_get(result, "runs"), 0);
	const json_t *places[] = {result, json_object_get(result, "metadata"),
		json_object_get(run, "metadata"), json_object_get(document, "metadata")};
	const char *text = NULL;

	for (size_t i = 0; !text && i < ELEMENTS(places); i++)
		text = json_string_value(json_object_get(places[i], name));
	return text;
}

int compare_document_open(
	struct compare_document *ret, const json_t *document, const char *path, struct error *err)
{
	const struct format *format = NULL;
	int r = find_format(document, path, &format, err);
	json_t *result;
	size_t i;

	if (r < 0)
		return r;
	*ret = (struct compare_document){.document = document, .path = path, .format = format};
	json_array_foreach (json_object_get(document, format->member), i, result) {
		const bool pyperf = format->read == read_pyperf;
		const char *unit = result_text(document, result, "unit");
		const char *name = result_text(document, result, pyperf ? "name" : "command");

		if (unit && (!pyperf || !strcmp(unit, "second")))
			unit = NULL;
		*array_add(ret->results, ret->n) = (struct compare_result){
			.json = result, .name = name ?: format->unnamed, .unit = unit};
	}
	return 0;
}

void compare_document_close(struct compare_document *document)
{
	free(document->results);
	*document = (struct compare_document){};
}

/* The results of a document, to name one. */
static int refuse_several(const struct compare_document *d, struct error *err)
{
	enum { MOST = 6 };
	_cleanup_(freep) char *list = NULL;

	for (size_t i = 0; i < d->n && i < MOST; i++)
		text_append(&list, ", ", "%s:%zu (%s)", d->path, i + 1, d->results[i].name);
	return error_say(err, -EINVAL, "'%s': it has %zu results; name one: %s%s", d->path, d->n,
		list, d->n > MOST ? ", …" : "");
}

int compare_document_read(struct compare_input *ret, const struct compare_document *d,
	int64_t number, struct error *err)
{
	const struct compare_result *result;
	int r;

	if (number == 0 && d->n > 1)
		return refuse_several(d, err);
	number = number ?: 1;
	if ((uint64_t)number > d->n)
		return error_say(err, -EINVAL, "'%s': it has %s, but no number %" PRId64, d->path,
			text_count((int64_t)d->n, "result"), number);
	result = &d->results[number - 1];
	if (result->unit)
		return error_say(err, -EINVAL,
			"'%s': the values of '%s' are no times: their unit is '%s', and "
			"'emp-analyze compare' compares times",
			d->path, result->name, result->unit);
	ret->sides[COMPARISON_ET].clock = COMPARISON_ET;
	r = d->format->read(result->json, d->path, ret, err);
	if (r < 0)
		return error_prefix(err, r, "'%s'", d->path);
	ret->name = xstrdup(result->name);
	return 0;
}

/* By name; results of one name keep their order. */
static int by_name(const void *a, const void *b, void *data)
{
	const struct compare_document *d = data;
	size_t first = *(const size_t *)a, second = *(const size_t *)b;
	int order = strcmp(d->results[first].name, d->results[second].name);

	return order ?: (first > second) - (first < second);
}

static size_t *sorted_results(const struct compare_document *d)
{
	size_t *order = xcalloc(d->n + 1, sizeof(*order));

	for (size_t i = 0; i < d->n; i++)
		order[i] = i;
	qsort_r(order, d->n, sizeof(*order), by_name, (void *)d);
	return order;
}

size_t compare_document_match(struct compare_document *a, struct compare_document *b)
{
	_cleanup_(freep) size_t *of_a = sorted_results(a), *of_b = sorted_results(b);
	size_t n = 0;

	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		struct compare_result *first = &a->results[of_a[i]], *second = &b->results[of_b[k]];
		int order = strcmp(first->name, second->name);

		if (order == 0) {
			first->match = of_b[k] + 1;
			second->match = of_a[i] + 1;
			n++;
		}
		i += order <= 0;
		k += order >= 0;
	}
	return n;
}
