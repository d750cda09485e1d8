/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate neighbour: how much of the time somebody uses the other hardware thread of a CPU's
 * core. */
#include "calibrate/options.h"

#include "lib/host/process/signals.h"
#include "lib/neighbour/observation_show.h"

static struct calibrate_cpus neighbour_cpus;
static int64_t neighbour_for_ns = 60 * NS_PER_S;
static const int64_t LEAST_NS = NS_PER_S / 10; /* some twenty readings */

static const struct option_row neighbour_options[] = {
	{0, "cpu", "LIST", "observe these CPUs, such as 1 or 2-5 (default: all)",
		calibrate_cpus_option, &neighbour_cpus},
	{0, "for", "TIME", "how long to observe, such as 10min (default 1min)", option_duration,
		&neighbour_for_ns},
	{},
};

static int calibrate_neighbour_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(neighbour_observation_clear) struct neighbour_observation observation = {};
	int r;

	if (neighbour_for_ns < LEAST_NS)
		return error_say(
			err, -EINVAL, "--for must be 0.1s or more: a neighbour comes and goes");
	r = calibrate_cpus_default(&neighbour_cpus, err);
	if (r == 0)
		r = neighbour_observe(
			&(struct neighbour_request){neighbour_cpus.items, neighbour_cpus.n,
				neighbour_for_ns, 5 * NS_PER_MS, calibrate_options.quiet},
			&observation, err);
	free(neighbour_cpus.items);
	if (r < 0)
		return r;
	if (calibrate_options.json)
		r = json_print_document(
			"emp-neighbour", neighbour_observation_json(&observation), err);
	else
		neighbour_observation_print(&observation);
	return r == 0 && observation.interrupted ? STATUS_INTERRUPTED : r;
}

const struct verb calibrate_neighbour = {
	.name = "neighbour",
	.summary = "measure how much of the time somebody shares a CPU's core, and when",
	.options = neighbour_options,
	.run = calibrate_neighbour_verb,
	.without = "db verbose",
};
