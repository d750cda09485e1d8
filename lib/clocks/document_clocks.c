/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-clocks documents: see document_clocks.h. */
#include "lib/clocks/document_clocks.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/json_fields.h"
#include "lib/document/document_fields.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A number of a struct and its member. */
struct real {
	const char *name;
	size_t offset;
	bool required;
};

#define REAL(of, member) {#member, offsetof(struct of, member)}
#define REAL_AS(of, member, name) {name, offsetof(struct of, member)}

static const struct real source_reals[] = {
	REAL(clock_source, calls),
	REAL(clock_source, interrupted),
	REAL_AS(clock_source, step_ns, "resolution_ns"),
	REAL(clock_source, lag_ns),
	REAL(clock_source, lag_max_ns),
	REAL(clock_source, backwards),
	{},
};

/* In cycles and, with the rate of the counter, in ns. */
static const struct real cost_reals[] = {
	{"median", offsetof(struct clock_source, median), true},
	{"mean", offsetof(struct clock_source, mean), true},
	{"sd", offsetof(struct clock_source, sd), true},
	{"min", offsetof(struct clock_source, min), true},
	REAL(clock_source, low),
	REAL(clock_source, high),
	{},
};

static const struct real gain_reals[] = {
	{"ratio", offsetof(struct clock_source, gain), true},
	REAL_AS(clock_source, gain_low, "low"),
	REAL_AS(clock_source, gain_high, "high"),
	{},
};

static const struct real small_cost_reals[] = {
	{"cycles", offsetof(struct clock_small_cost, cycles), true},
	REAL_AS(clock_small_cost, zeros, "zero_share"),
	{},
};

static const struct real tick_reals[] = {
	{"exact_ns", offsetof(struct clock_tick, exact_ns), true},
	{"tick_ns", offsetof(struct clock_tick, tick_ns), true},
	{},
};

static json_t *reals_as_json(const struct real *reals, const void *object, double scale)
{
	json_t *json = json_object();

	for (const struct real *real = reals; real->name; real++)
		json_object_set_new(json, real->name,
			json_real_or_null(scale * *(const double *)((const char *)object + real->offset)));
	return json;
}

static void read_reals(struct json_fields *f, const struct real *reals, void *object)
{
	for (const struct real *real = reals; real->name; real++) {
		double *to = (double *)((char *)object + real->offset);

		if (real->required)
			json_fields_real(f, real->name, to);
		else
			json_fields_real_maybe(f, real->name, to);
	}
}

static json_t *source_as_json(const struct clock_source *source, double cycles_per_second)
{
	json_t *json = json_pack("{s:s, s:o, s:o}", "name", source->name, "cycles",
		reals_as_json(cost_reals, source, 1), "ns",
		reals_as_json(cost_reals, source, 1e9 / cycles_per_second));

	json_object_update_new(json, reals_as_json(source_reals, source, 1));
	if (isfinite(source->gain))
		json_object_set_new(json, "precision_gain", reals_as_json(gain_reals, source, 1));
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

static json_t *precision_as_json(const struct clocks *c)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < c->n_precision; i++) {
		const struct clock_precision *row = &c->precision[i];

		json_array_append_new(rows,
			json_pack("{s:I, s:I, s:o, s:o, s:o}", "primes", (json_int_t)row->primes, "trials",
				(json_int_t)row->trials, "sd_ns", by_source(c, row->sd_ns), "sd_all_ns",
				by_source(c, row->sd_all_ns), "mean_ns", by_source(c, row->mean_ns)));
	}
	return rows;
}

static json_t *sources_as_json(const struct clocks *c)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < c->n_sources; i++)
		json_array_append_new(rows, source_as_json(&c->sources[i], c->cycles_per_second));
	return rows;
}

static json_t *missing_as_json(const struct clocks *c)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < c->n_missing; i++)
		json_array_append_new(rows,
			json_pack("{s:s, s:s}", "name", c->missing[i].name, "why", c->missing[i].why));
	return rows;
}

static json_t *allocations_as_json(const struct clocks *c)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < c->n_allocations; i++)
		json_array_append_new(rows,
			json_pack("{s:I, s:o}", "size_bytes", (json_int_t)c->allocations[i].size_bytes,
				"cycles", json_real_or_null(c->allocations[i].cycles)));
	return rows;
}

static json_t *small_costs_as_json(const struct clocks *c)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < c->n_small_costs; i++) {
		json_t *row = reals_as_json(small_cost_reals, &c->small_costs[i], 1);

		json_object_set_new(row, "name", json_string(c->small_costs[i].name));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *tick_as_json(const struct clocks *c)
{
	json_t *rows = json_array();

	if (c->tick_why)
		return json_pack("{s:s}", "missing", c->tick_why);
	for (size_t i = 0; i < N_CLOCK_TICKS; i++) {
		json_t *row = reals_as_json(tick_reals, &c->ticks[i], 1);

		json_object_set_new(row, "name", json_string(clock_tick_names[i]));
		json_array_append_new(rows, row);
	}
	return json_pack("{s:o, s:o}", "period_ns", json_real_or_null(c->tick_period_ns), "processes", rows);
}

json_t *clocks_as_json(const struct clocks *c)
{
	json_t *json = json_pack("{s:s, s:i, s:I, s:I, s:b, s:f, s:s*, s:s*, s:o, s:o, s:o, s:o, s:o, s:o}",
		"format", "emp-clocks", "version", 1, "made_ns", (json_int_t)c->made_ns, "cpu",
		(json_int_t)c->cpu, "full", c->full, "cycles_per_second", c->cycles_per_second, "clocksource",
		c->clocksource, "allocator", c->allocator, "sources", sources_as_json(c), "missing",
		missing_as_json(c), "precision", precision_as_json(c), "malloc", allocations_as_json(c),
		"malloc_by_source", small_costs_as_json(c), "tick", tick_as_json(c));

	if (json && c->id > 0)
		json_object_set_new(json, "calibration", json_integer(c->id));
	if (json)
		document_add_moment(json, "made", c->made_ns);
	return json;
}

/* Calls `read` for each object of an array. */
static int read_array(struct json_fields *f, const char *name, struct clocks *c,
	int (*read)(struct json_fields *, struct clocks *))
{
	json_t *array = NULL, *item;
	size_t i;

	json_fields_array(f, name, &array);
	if (f->r < 0)
		return f->r;
	json_array_foreach (array, i, item) {
		struct json_fields row =
			json_fields_begin(item, (struct json_location){name, (int64_t)i + 1}, f->err);
		int r = row.r < 0 ? row.r : read(&row, c);

		if (r < 0)
			return f->r = r == -ENOMEM ? error_oom(f->err) : r;
	}
	return 0;
}

static int read_source(struct json_fields *f, struct clocks *c)
{
	json_t *cycles = NULL, *gain = NULL;
	const char *name = NULL;
	struct clock_source *source;

	json_fields_text(f, "name", &name);
	json_fields_object(f, "cycles", &cycles);
	json_fields_object_maybe(f, "precision_gain", &gain);
	if (f->r < 0)
		return f->r;
	source = clocks_add_source(c, name);
	if (!source)
		return -ENOMEM;
	read_reals(f, source_reals, source);
	f->object = cycles;
	read_reals(f, cost_reals, source);
	f->object = gain;
	if (gain)
		read_reals(f, gain_reals, source);
	return f->r;
}

static int read_missing(struct json_fields *f, struct clocks *c)
{
	const char *name = NULL, *why = NULL;

	json_fields_text(f, "name", &name);
	json_fields_text(f, "why", &why);
	return f->r < 0 ? f->r : clocks_add_missing(c, name, why);
}

static void read_by_source(
	struct json_fields *f, const char *name, const struct clocks *c, double *values)
{
	const json_t *row = f->object;
	json_t *object = NULL;

	json_fields_object(f, name, &object);
	if (f->r < 0)
		return;
	f->object = object;
	for (size_t i = 0; i < c->n_sources; i++)
		json_fields_real_maybe(f, c->sources[i].name, &values[i]);
	f->object = row;
}

static int read_precision(struct json_fields *f, struct clocks *c)
{
	struct clock_precision *row;
	int64_t primes = 0, trials = 0;

	json_fields_int(f, "primes", 1, INT32_MAX, &primes);
	json_fields_int(f, "trials", 1, INT32_MAX, &trials);
	if (f->r < 0)
		return f->r;
	row = clocks_add_precision(c, primes, trials);
	if (!row)
		return -ENOMEM;
	read_by_source(f, "sd_ns", c, row->sd_ns);
	read_by_source(f, "sd_all_ns", c, row->sd_all_ns);
	read_by_source(f, "mean_ns", c, row->mean_ns);
	return f->r;
}

static int read_allocation(struct json_fields *f, struct clocks *c)
{
	struct clock_allocation *allocation = array_add(c->allocations, c->n_allocations);

	json_fields_int(f, "size_bytes", 0, INT32_MAX, &allocation->size_bytes);
	json_fields_real(f, "cycles", &allocation->cycles);
	return f->r;
}

static int read_small_cost(struct json_fields *f, struct clocks *c)
{
	struct clock_small_cost *cost;
	const char *name = NULL;

	json_fields_text(f, "name", &name);
	if (f->r < 0)
		return f->r;
	cost = clocks_add_small_cost(c, name);
	if (!cost)
		return -ENOMEM;
	read_reals(f, small_cost_reals, cost);
	return f->r;
}

static void read_tick(struct json_fields *f, struct clocks *c)
{
	const json_t *whole = f->object;
	json_t *tick = NULL, *rows = NULL;
	const char *why = NULL;

	json_fields_object(f, "tick", &tick);
	if (f->r < 0)
		return;
	f->object = tick;
	json_fields_text_maybe(f, "missing", &why);
	if (f->r == 0 && why) {
		c->tick_why = xstrdup(why);
		f->r = 0;
	} else {
		json_fields_real(f, "period_ns", &c->tick_period_ns);
		json_fields_array(f, "processes", &rows);
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

static void read_text(struct json_fields *f, const char *name, char **ret)
{
	const char *text = NULL;

	json_fields_text_maybe(f, name, &text);
	if (f->r == 0 && text && !(*ret = xstrdup(text)))
		f->r = error_oom(f->err);
}

int clocks_from_json(const json_t *json, struct clocks *ret, struct error *err)
{
	_cleanup_(clocks_clear) struct clocks c = {.tick_period_ns = NAN};
	struct json_fields f = json_fields_begin(json, (struct json_location){}, err);

	if (f.r == 0)
		json_fields_header(&f, "emp-clocks", 1);
	json_fields_int(&f, "made_ns", 0, JSON_MOMENT_MAX, &c.made_ns);
	json_fields_int(&f, "cpu", 0, INT32_MAX, &c.cpu);
	json_fields_flag_maybe(&f, "full", &c.full);
	json_fields_real(&f, "cycles_per_second", &c.cycles_per_second);
	read_text(&f, "clocksource", &c.clocksource);
	read_text(&f, "allocator", &c.allocator);
	if (f.r == 0 && !(c.cycles_per_second > 0))
		return error_say(err, -EINVAL, "the document: 'cycles_per_second' must be above 0");
	if (f.r < 0 || read_array(&f, "sources", &c, read_source) < 0 ||
		read_array(&f, "missing", &c, read_missing) < 0 ||
		read_array(&f, "precision", &c, read_precision) < 0 ||
		read_array(&f, "malloc", &c, read_allocation) < 0 ||
		read_array(&f, "malloc_by_source", &c, read_small_cost) < 0)
		return f.r;
	read_tick(&f, &c);
	if (f.r == 0)
		*ret = TAKE_STRUCT(c);
	return f.r;
}
