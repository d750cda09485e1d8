/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screen says of made-up observations. */
#include "lib/neighbour/observation_show.h"

#include "tests/unit/check.h"

static char *screen_of(const struct neighbour_observation *observation)
{
	FILE *screen = stdout;

	return PRINTED(stream, stdout = stream; neighbour_observation_print(observation);
		       stdout = screen);
}

static void assert_says(const char *screen, const char *text)
{
	if (!strstr(screen, text))
		fail_msg("'%s' is not in:\n%s", text, screen);
}

/* A CPU in whose minute each second has 1 s - `with` without a neighbour, then `with` with one. */
static struct observed_cpu observed(int cpu, double with, double cycle_ps)
{
	struct observed_cpu made = {.stolen = NAN};
	struct neighbour_series series = {.cpu = cpu};

	for (int64_t at_ns = 0; at_ns <= 60 * NS_PER_S; at_ns += 5 * NS_PER_MS) {
		bool there = (double)(at_ns % NS_PER_S) >= (1 - with) * 1e9;
		struct neighbour_reading reading = {.at_ns = at_ns,
			.turn_ps = cycle_ps * (there ? 2 : 1),
			.cycle_ps = cycle_ps};

		reading.for_ns = neighbour_uninterrupted_ns(&reading);
		*array_add(series.readings, series.n) = reading;
		cycle_ps += cycle_ps > 300 ? 0.01 : 0; /* its frequency falls */
	}
	neighbour_account_make(&made.account, &series, 0, 60 * NS_PER_S);
	neighbour_series_clear(&series);
	return made;
}

TEST(siblings_that_are_seen_are_listed)
{
	struct neighbour_observation o = {.made_ns = 1700000000 * NS_PER_S,
		.took_ns = 60 * NS_PER_S,
		.cpus = xcalloc(2, sizeof(*o.cpus)),
		.n_cpus = 2};
	_cleanup_(freep) char *screen = NULL;
	_cleanup_(json_decrefp) json_t *json = NULL;

	o.cpus[0] = observed(1, 0.2, 271);
	o.cpus[1] = observed(6, 0, 301);
	*array_add(o.cpus[0].siblings, o.cpus[0].n_siblings) = (struct core_sibling){5, 0.213};
	o.cpus[1].stolen = 0.031;
	screen = screen_of(&o);
	assert_says(screen, "\n  1 20 % (15 … 26) ");
	assert_says(screen, "\n  6 0 % (below 4.8 %) ");
	assert_says(screen, "3.69\n");
	assert_says(screen, "2.38 … 3.31\n");
	assert_says(screen, "CPU 6: no neighbour seen in 12001 readings. There is less than one");
	assert_says(screen, "CPU  OTHER THREAD    BUSY\n  1             5  21.3 %\n");
	assert_says(screen, "The frequency of CPU 6 changed, or the host held it back.");
	assert_says(screen, "The host took CPU 6 away for 3.1 % of the time.");
	assert_says(screen, "the whole CPU was slower in ");
	assert_null(strstr(screen, "Only the host")); /* it is a physical machine */
	assert_null(strstr(screen, "is not known"));  /* the sibling is */

	json = neighbour_observation_json(&o);
	json_t *sibling = json_array_get(
		json_object_get(json_array_get(json_object_get(json, "cpus"), 0), "siblings"), 0);
	assert_int_equal(json_integer_value(json_object_get(sibling, "sibling")), 5);
	assert_close(json_real_value(json_object_get(sibling, "busy")), 0.213, 1e-12);
	neighbour_observation_clear(&o);
}

TEST(who_slows_a_core_down_is_not_always_known)
{
	struct neighbour_observation o = {.made_ns = 1700000000 * NS_PER_S,
		.took_ns = 60 * NS_PER_S,
		.interrupted = true,
		.cpus = xcalloc(1, sizeof(*o.cpus)),
		.n_cpus = 1};
	_cleanup_(freep) char *physical = NULL, *virtual = NULL, *stopped = NULL;

	o.cpus[0] = observed(0, 0.5, 271);
	physical = screen_of(&o);
	assert_says(physical, "(interrupted)");
	assert_says(physical, "This machine sees no other threads of these cores");
	assert_says(physical, "500.0 ms at ");
	o.virtual = true;
	virtual = screen_of(&o);
	assert_says(virtual, "Only the host of this virtual machine knows who the neighbour is.");
	o.took_ns = 90 * NS_PER_S; /* stopped for half a minute */
	stopped = screen_of(&o);
	assert_says(stopped, "Nothing is known of 30.00 s of the time on CPU 0");
	neighbour_observation_clear(&o);
}
