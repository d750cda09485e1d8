/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations of the clocks, as documents and in the book. */
#include "tests/unit/scratch.h"

#include "lib/base/xalloc.h"
#include "lib/clocks/clocks.h"

#include <errno.h>
#include <math.h>

static struct clocks made_up(void)
{
	struct clocks c = {.made_ns = 1700000000000000000,
		.cpu = 1,
		.full = true,
		.cycles_per_second = 2e9,
		.clocksource = strdup("tsc"),
		.allocator = strdup("libc.so.6"),
		.tick_period_ns = 4e6,
		.ticks = {{3e8, 0}, {4e7, 4e8}}};
	struct clock_source *source = clocks_add_source(&c, "rdtsc");
	struct clock_precision *precision;

	source->median = source->mean = 41;
	source->sd = 5;
	source->min = 39;
	source = clocks_add_source(&c, "getrusage(RUSAGE_SELF)");
	*source = (struct clock_source){
		source->name, 416, 410, 420, 400, 417, 161, 1000, 3, 1000, 5, 9, 0, {1, 1, 1}};
	clocks_add_missing(&c, "taskstats", "needs root");
	precision = clocks_add_precision(&c, 100, 1000);
	precision->mean_ns[1] = 10000;
	precision->sd_ns[1] = 400;
	precision->sd_all_ns[1] = 500;
	*array_add(c.allocations, c.n_allocations) = (struct clock_allocation){100, 591};
	*array_add(c.small_costs, c.n_small_costs) = (struct clock_small_cost){
		strdup("rdtsc"), 591, 0.25};
	return c;
}

static void same_real(double a, double b)
{
	assert_true(a == b || (isnan(a) && isnan(b)));
}

TEST(a_calibration_comes_back_from_its_document)
{
	_cleanup_(clocks_clear) struct clocks c = made_up(), back = {};
	_cleanup_(json_decrefp) json_t *json = clocks_as_json(&c);
	struct error err = {};

	if (clocks_from_json(json, &back, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.made_ns, back.made_ns);
	assert_int_equal(c.cpu, back.cpu);
	assert_int_equal(c.full, back.full);
	assert_string_equal(c.clocksource, back.clocksource);
	assert_string_equal(c.allocator, back.allocator);
	assert_int_equal(c.n_sources, back.n_sources);
	for (size_t i = 0; i < c.n_sources; i++) {
		const double *x = &c.sources[i].median, *y = &back.sources[i].median;

		assert_string_equal(c.sources[i].name, back.sources[i].name);
		for (; x < (const double *)(&c.sources[i] + 1); x++, y++)
			same_real(*x, *y);
		same_real(c.precision[0].sd_ns[i], back.precision[0].sd_ns[i]);
		same_real(c.precision[0].sd_all_ns[i], back.precision[0].sd_all_ns[i]);
		same_real(c.precision[0].mean_ns[i], back.precision[0].mean_ns[i]);
	}
	assert_string_equal(c.missing[0].why, back.missing[0].why);
	assert_int_equal(c.allocations[0].size_bytes, back.allocations[0].size_bytes);
	same_real(c.small_costs[0].zeros, back.small_costs[0].zeros);
	same_real(c.ticks[CLOCK_TICK_RUNNER].tick_ns, back.ticks[CLOCK_TICK_RUNNER].tick_ns);
	same_real(
		json_real_value(json_object_get(
			json_object_get(json_array_get(json_object_get(json, "sources"), 0), "ns"),
			"median")),
		20.5);
}

static void refused(const char *path, json_t *value, const char *words)
{
	_cleanup_(clocks_clear) struct clocks c = made_up(), back = {};
	_cleanup_(json_decrefp) json_t *json = clocks_as_json(&c);
	json_t *at = json;
	char copy[64], *word, *rest = copy;
	struct error err = {};

	snprintf(copy, sizeof(copy), "%s", path);
	for (word = strsep(&rest, "/"); rest; word = strsep(&rest, "/"))
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word))
				       : json_object_get(at, word);
	json_object_set_new(at, word, value);
	assert_int_equal(clocks_from_json(json, &back, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
	assert_null(back.sources);
}

TEST(a_wrong_member_is_named_with_its_place)
{
	refused("cycles_per_second", json_integer(0), "'cycles_per_second' must be above 0");
	refused("sources", json_integer(0), "'sources' must be an array");
	refused("sources/1/cycles", json_string("x"), "sources 2: 'cycles' must be");
	refused("sources/1/cycles/median", json_string("x"),
		"sources 2: 'median' must be a number");
	refused("sources/1/lag_ns", json_string("x"), "sources 2: 'lag_ns' must be a number");
	refused("missing/0/why", json_null(), "missing 1");
	refused("precision/0/sd_ns", json_null(), "precision 1");
	refused("precision/0/primes", json_integer(-1), "'primes' is -1");
	refused("malloc/0/cycles", json_null(), "malloc 1");
	refused("tick/processes", json_array(), "tick, process 1");
	refused("made_ns", json_integer(-1), "'made_ns' is -1");
}

static int64_t put(struct scratch *s, const char *machine, double cycles)
{
	_cleanup_(clocks_clear) struct clocks c = made_up();

	assert_done(
		s, book_put_environment(s->book, machine, machine, NULL, &c.environment, &s->err));
	c.sources[0].median = cycles;
	assert_done(s, book_put_clocks(s->book, &c, &s->err));
	return c.id;
}

TEST_IN_BOOK(the_book_has_the_latest_and_the_one_before_on_the_same_machine)
{
	_cleanup_(clocks_clear) struct clocks first = {}, latest = {}, before = {}, none = {};
	int64_t one;

	assert_int_equal(book_get_clocks(s->book, 0, false, &none, &s->err), 0);
	one = put(s, "a", 11);
	put(s, "b", 22);
	put(s, "a", 33);
	assert_int_equal(book_get_clocks(s->book, 0, false, &latest, &s->err), 1);
	same_real(latest.sources[0].median, 33);
	assert_int_equal(book_get_clocks(s->book, one, false, &first, &s->err), 1);
	same_real(first.sources[0].median, 11);
	assert_int_equal(book_get_clocks(s->book, latest.id, true, &before, &s->err), 1);
	assert_int_equal(before.id, one);
	assert_int_equal(book_get_clocks(s->book, one, true, &none, &s->err), 0);
	assert_int_equal(book_get_clocks(s->book, 99, false, &none, &s->err), 0);
}
