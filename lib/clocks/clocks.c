/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a calibration of the clocks found: see clocks.h. */
#include "lib/clocks/clocks.h"

#include "lib/book/sql.h"

#include <math.h>

const char *const clock_tick_names[N_CLOCK_TICKS] = {
	"sleeps over every tick", "runs only at the tick"};

void clocks_clear(struct clocks *c)
{
	for (size_t i = 0; i < c->n_sources; i++)
		free(c->sources[i].name);
	for (size_t i = 0; i < c->n_missing; i++) {
		free(c->missing[i].name);
		free(c->missing[i].why);
	}
	for (size_t i = 0; i < c->n_precision; i++)
		free(c->precision[i].mean_ns);
	for (size_t i = 0; i < c->n_small_costs; i++)
		free(c->small_costs[i].name);
	free(c->sources);
	free(c->missing);
	free(c->precision);
	free(c->allocations);
	free(c->small_costs);
	free(c->clocksource);
	free(c->allocator);
	free(c->tick_why);
	*c = (struct clocks){};
}

struct clock_source *clocks_find(const struct clocks *c, const char *name)
{
	for (size_t i = 0; i < c->n_sources; i++)
		if (!strcmp(c->sources[i].name, name))
			return &c->sources[i];
	return NULL;
}

void clocks_add_missing(struct clocks *c, const char *name, const char *why)
{
	struct clock_missing *missing = array_add(c->missing, c->n_missing);

	missing->name = xstrdup(name);
	missing->why = xstrdup(why);
}

struct clock_precision *clocks_add_precision(struct clocks *c, int64_t primes, int64_t trials)
{
	struct clock_precision *row = array_add(c->precision, c->n_precision);
	size_t n = c->n_sources;

	row->primes = primes;
	row->trials = trials;
	row->mean_ns = xcalloc(3 * n + 1, sizeof(double));
	row->sd_ns = row->mean_ns + n;
	row->sd_all_ns = row->sd_ns + n;
	for (size_t i = 0; i < 3 * n; i++)
		row->mean_ns[i] = NAN;
	return row;
}

/* Calibrations of the clocks as emp-clocks documents, and in the lab book, which has such a
 * document for each. */

/* A number of a struct, and its member in a document. Those that are not required may be
 * missing. */
struct clock_real {
	const char *name;
	size_t offset;
	bool required;
};

#define CLOCK_REAL(of, member, name, ...)                      \
	{                                                      \
		name, offsetof(struct of, member), __VA_ARGS__ \
	}

static const struct clock_real source_reals[] = {
	CLOCK_REAL(clock_source, calls, "calls"),
	CLOCK_REAL(clock_source, interrupted, "interrupted"),
	CLOCK_REAL(clock_source, step_ns, "resolution_ns"),
	CLOCK_REAL(clock_source, lag_ns, "lag_ns"),
	CLOCK_REAL(clock_source, lag_max_ns, "lag_max_ns"),
	CLOCK_REAL(clock_source, backwards, "backwards"),
	{},
};

/* In cycles and, with the rate of the counter, in ns. */
static const struct clock_real cost_reals[] = {
	CLOCK_REAL(clock_source, median, "median", true),
	CLOCK_REAL(clock_source, mean, "mean", true),
	CLOCK_REAL(clock_source, sd, "sd", true),
	CLOCK_REAL(clock_source, min, "min", true),
	CLOCK_REAL(clock_source, low, "low"),
	CLOCK_REAL(clock_source, high, "high"),
	{},
};

static const struct clock_real gain_reals[] = {
	CLOCK_REAL(clock_source, gain.ratio, "ratio", true),
	CLOCK_REAL(clock_source, gain.low, "low"),
	CLOCK_REAL(clock_source, gain.high, "high"),
	{},
};

static const struct clock_real small_cost_reals[] = {
	CLOCK_REAL(clock_small_cost, cycles, "cycles", true),
	CLOCK_REAL(clock_small_cost, zeros, "zero_share"),
	{},
};

static const struct clock_real tick_reals[] = {
	CLOCK_REAL(clock_tick, exact_ns, "exact_ns", true),
	CLOCK_REAL(clock_tick, tick_ns, "tick_ns", true),
	{},
};

struct clock_source *clocks_add_source(struct clocks *c, const char *name)
{
	static const struct clock_real *const all[] = {source_reals, cost_reals, gain_reals};
	struct clock_source *source = array_add(c->sources, c->n_sources);

	source->name = xstrdup(name);
	for (size_t i = 0; i < ELEMENTS(all); i++)
		for (const struct clock_real *real = all[i]; real->name; real++)
			*(double *)((char *)source + real->offset) = NAN;
	return source;
}

/* `name`: a further member; NULL: none. */
static json_t *reals_as_json(
	const struct clock_real *reals, const void *object, double scale, const char *name)
{
	json_t *json = json_object();

	for (const struct clock_real *real = reals; real->name; real++)
		json_object_set_new(json, real->name,
			json_real_or_null(
				scale * *(const double *)((const char *)object + real->offset)));
	if (name)
		json_object_set_new(json, "name", json_string(name));
	return json;
}

/* An object of the sources that have a value. */
static json_t *by_source(const struct clocks *c, const double *values)
{
	json_t *json = json_object();

	for (size_t i = 0; i < c->n_sources; i++)
		if (isfinite(values[i]))
			json_object_set_new(json, c->sources[i].name, json_real(values[i]));
	return json;
}

static json_t *source_json(const struct clocks *c, const struct clock_source *s)
{
	double ns_per_cycle = 1e9 / c->cycles_per_second;
	json_t *json = json_pack("{s:s, s:o, s:o}", "name", s->name, "cycles",
		reals_as_json(cost_reals, s, 1, NULL), "ns",
		reals_as_json(cost_reals, s, ns_per_cycle, NULL));

	json_object_update_new(json, reals_as_json(source_reals, s, 1, NULL));
	if (isfinite(s->gain.ratio))
		json_object_set_new(json, "precision_gain", reals_as_json(gain_reals, s, 1, NULL));
	return json;
}

static json_t *precision_json(const struct clocks *c, const struct clock_precision *row)
{
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "primes", (json_int_t)row->primes, "trials",
		(json_int_t)row->trials, "sd_ns", by_source(c, row->sd_ns), "sd_all_ns",
		by_source(c, row->sd_all_ns), "mean_ns", by_source(c, row->mean_ns));
}

static json_t *allocation_json(const struct clock_allocation *allocation)
{
	return json_pack("{s:I, s:o}", "size_bytes", (json_int_t)allocation->size_bytes, "cycles",
		json_real_or_null(allocation->cycles));
}

static json_t *tick_json(const struct clocks *c)
{
	json_t *processes;

	if (c->tick_why)
		return JSON_OBJECT({"missing", json_text(c->tick_why)});
	processes = json_array();
	for (size_t i = 0; i < N_CLOCK_TICKS; i++)
		json_array_append_new(
			processes, reals_as_json(tick_reals, &c->ticks[i], 1, clock_tick_names[i]));
	return json_pack("{s:o, s:o}", "period_ns", json_real_or_null(c->tick_period_ns),
		"processes", processes);
}

json_t *clocks_as_json(const struct clocks *c)
{
	json_t *sources = json_array(), *missing = json_array(), *precision = json_array();
	json_t *allocations = json_array(), *small_costs = json_array(), *json;

	for (size_t i = 0; i < c->n_sources; i++)
		json_array_append_new(sources, source_json(c, &c->sources[i]));
	for (size_t i = 0; i < c->n_missing; i++)
		json_array_append_new(missing, json_pack("{s:s, s:s}", "name", c->missing[i].name,
						       "why", c->missing[i].why));
	for (size_t i = 0; i < c->n_precision; i++)
		json_array_append_new(precision, precision_json(c, &c->precision[i]));
	for (size_t i = 0; i < c->n_allocations; i++)
		json_array_append_new(allocations, allocation_json(&c->allocations[i]));
	for (size_t i = 0; i < c->n_small_costs; i++) {
		const struct clock_small_cost *cost = &c->small_costs[i];

		json_array_append_new(
			small_costs, reals_as_json(small_cost_reals, cost, 1, cost->name));
	}

	json = json_document("emp-clocks",
		JSON_OBJECT({"made_ns", json_integer(c->made_ns)}, {"cpu", json_integer(c->cpu)},
			{"full", json_boolean(c->full)},
			{"cycles_per_second", json_real_or_null(c->cycles_per_second)},
			{"clocksource?", json_string(c->clocksource)},
			{"allocator?", json_string(c->allocator)}, {"sources", sources},
			{"missing", missing}, {"precision", precision}, {"malloc", allocations},
			{"malloc_by_source", small_costs}, {"tick", tick_json(c)},
			{"calibration?", c->id > 0 ? json_integer(c->id) : NULL}));
	document_add_moment(json, "made", c->made_ns);
	return json;
}

static void read_reals(struct json_fields *f, const struct clock_real *reals, void *object)
{
	for (const struct clock_real *real = reals; real->name; real++)
		if (real->required || json_fields_has(f, real->name))
			json_fields_real(f, real->name, (double *)((char *)object + real->offset));
}

/* Goes to the i-th object of an array; false: there is none, or the one before it is wrong. */
static bool read_row(struct json_fields *f, const char *name, size_t i, struct json_fields *row)
{
	const json_t *array;

	if (i > 0)
		f->r = row->r;
	array = json_fields_array(f, name);
	if (f->r < 0 || i >= json_array_size(array))
		return false;
	*row = json_fields_begin(
		json_array_get(array, i), (struct json_location){name, (int64_t)i + 1}, f->err);
	f->r = row->r;
	return f->r == 0;
}

static void read_sources(struct json_fields *f, struct clocks *c)
{
	struct json_fields row;

	for (size_t i = 0; read_row(f, "sources", i, &row); i++) {
		const char *name = "";
		struct clock_source *source;
		json_t *cycles, *gain;

		json_fields_text(&row, "name", &name);
		cycles = json_fields_object(&row, "cycles");
		gain = json_fields_object(&row, "precision_gain?");
		source = clocks_add_source(c, name);
		read_reals(&row, source_reals, source);
		row.object = cycles;
		read_reals(&row, cost_reals, source);
		row.object = gain;
		if (gain)
			read_reals(&row, gain_reals, source);
	}
}

static void read_precision(struct json_fields *f, struct clocks *c)
{
	static const char *const names[] = {"sd_ns", "sd_all_ns", "mean_ns"};
	struct json_fields row;

	for (size_t i = 0; read_row(f, "precision", i, &row); i++) {
		const json_t *whole = row.object;
		struct clock_precision *precision;
		int64_t primes = 0, trials = 0;

		json_fields_int(&row, "primes", 1, INT32_MAX, &primes);
		json_fields_int(&row, "trials", 1, INT32_MAX, &trials);
		precision = clocks_add_precision(c, primes, trials);
		double *const values[] = {
			precision->sd_ns, precision->sd_all_ns, precision->mean_ns};

		for (size_t k = 0; k < ELEMENTS(names); k++) {
			row.object = whole;
			row.object = json_fields_object(&row, names[k]);
			for (size_t s = 0; row.r == 0 && s < c->n_sources; s++)
				if (json_fields_has(&row, c->sources[s].name))
					json_fields_real(&row, c->sources[s].name, &values[k][s]);
		}
	}
}

static void read_tick(struct json_fields *f, struct clocks *c)
{
	const json_t *whole = f->object;
	const char *why = NULL;
	json_t *rows = NULL;

	f->object = json_fields_object(f, "tick");
	json_fields_text_or_empty(f, "missing?", &why);
	c->tick_why = text_copy(why);
	if (!why) {
		json_fields_real(f, "period_ns", &c->tick_period_ns);
		rows = json_fields_array(f, "processes");
	}
	for (size_t i = 0; rows && f->r == 0 && i < N_CLOCK_TICKS; i++) {
		struct json_fields row = json_fields_begin(json_array_get(rows, i),
			(struct json_location){"tick, process", (int64_t)i + 1}, f->err);

		if (row.r == 0)
			read_reals(&row, tick_reals, &c->ticks[i]);
		f->r = row.r;
	}
	f->object = whole;
}

static void read_missing_sources(struct json_fields *f, struct clocks *c)
{
	struct json_fields row;

	for (size_t i = 0; read_row(f, "missing", i, &row); i++) {
		const char *name = "", *why = "";

		json_fields_text(&row, "name", &name);
		json_fields_text(&row, "why", &why);
		clocks_add_missing(c, name, why);
	}
}

static void read_allocations(struct json_fields *f, struct clocks *c)
{
	struct json_fields row;

	for (size_t i = 0; read_row(f, "malloc", i, &row); i++) {
		struct clock_allocation *allocation = array_add(c->allocations, c->n_allocations);

		json_fields_int(&row, "size_bytes", 0, INT32_MAX, &allocation->size_bytes);
		json_fields_real(&row, "cycles", &allocation->cycles);
	}
	for (size_t i = 0; read_row(f, "malloc_by_source", i, &row); i++) {
		struct clock_small_cost *cost = array_add(c->small_costs, c->n_small_costs);
		const char *name = "";

		json_fields_text(&row, "name", &name);
		*cost = (struct clock_small_cost){xstrdup(name), NAN, NAN};
		read_reals(&row, small_cost_reals, cost);
	}
}

int clocks_from_json(const json_t *json, struct clocks *ret, struct error *err)
{
	_cleanup_(clocks_clear) struct clocks c = {.tick_period_ns = NAN};
	struct json_fields f = json_fields_begin(json, (struct json_location){}, err);
	const char *clocksource = NULL, *allocator = NULL;

	if (f.r == 0)
		json_fields_header(&f, "emp-clocks", 1);
	json_fields_int(&f, "made_ns", 0, JSON_MOMENT_MAX, &c.made_ns);
	json_fields_int(&f, "cpu", 0, INT32_MAX, &c.cpu);
	json_fields_flag(&f, "full?", &c.full);
	json_fields_real(&f, "cycles_per_second", &c.cycles_per_second);
	json_fields_text_or_empty(&f, "clocksource?", &clocksource);
	json_fields_text_or_empty(&f, "allocator?", &allocator);
	c.clocksource = text_copy(clocksource);
	c.allocator = text_copy(allocator);
	if (f.r == 0 && !(c.cycles_per_second > 0))
		return error_say(err, -EINVAL, "the document: 'cycles_per_second' must be above 0");

	read_sources(&f, &c);
	read_missing_sources(&f, &c);
	read_precision(&f, &c);
	read_allocations(&f, &c);
	read_tick(&f, &c);
	if (f.r == 0)
		*ret = TAKE_STRUCT(c);
	return f.r;
}

int book_put_clocks(struct book *book, struct clocks *clocks, struct error *err)
{
	_cleanup_(json_decrefp) json_t *json = clocks_as_json(clocks);
	_cleanup_(freep) char *text = json_dumps(json, JSON_COMPACT | JSON_PRESERVE_ORDER);
	int r = sql_row(book, err,
		"INSERT INTO clock_calibration(environment, made_ns, document)"
		" VALUES (?, ?, ?) RETURNING id",
		"iit:I", clocks->environment, clocks->made_ns, text, &clocks->id);

	return r < 0 ? r : 0;
}

int book_get_clocks(
	struct book *book, int64_t id, bool before, struct clocks *ret, struct error *err)
{
	static const char one_before[] =
		"SELECT b.id, b.environment, b.document FROM clock_calibration AS a"
		" JOIN environment AS ea ON ea.id = a.environment"
		" JOIN clock_calibration AS b ON b.id < a.id"
		" JOIN environment AS eb ON eb.id = b.environment"
		" WHERE a.id = ? AND ea.machine IS eb.machine ORDER BY b.id DESC LIMIT 1";
	static const char this_or_latest[] =
		"SELECT id, environment, document FROM clock_calibration"
		" WHERE ?1 IS NULL OR id = ?1 ORDER BY id DESC LIMIT 1";
	const char *sql = before ? one_before : this_or_latest;
	_cleanup_(json_decrefp) json_t *json = NULL;
	_cleanup_(freep) char *text = NULL;
	int64_t environment;
	json_error_t e;
	int r = sql_row(book, err, sql, "u:IIT", id, &id, &environment, &text);

	if (r <= 0)
		return r;
	json = json_loads(text ?: "", JSON_REJECT_DUPLICATES, &e);
	r = json ? clocks_from_json(json, ret, err) : error_say(err, -EBADMSG, "%s", e.text);
	if (r < 0)
		return error_prefix(err, r,
			"calibration %" PRId64 " of the clocks in the lab book '%s'", id,
			book_file(book));
	ret->id = id;
	ret->environment = environment;
	return 1;
}

static int import_clocks(struct book *book, const json_t *document, int64_t *ret, struct error *err)
{
	_cleanup_(clocks_clear) struct clocks clocks = {};
	int r = clocks_from_json(document, &clocks, err);

	if (r >= 0)
		r = document_put_environment(book, document, &clocks.environment, NULL, err);
	if (r >= 0 && clocks.environment == 0)
		r = book_put_environment(book, NULL, NULL, NULL, &clocks.environment, err);
	if (r >= 0)
		r = book_put_clocks(book, &clocks, err);
	if (r >= 0)
		*ret = clocks.id;
	return r;
}

const struct document_feature clocks_feature = {.format = "emp-clocks", .import = import_clocks};
