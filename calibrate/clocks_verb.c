/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate clocks: measures the sources of time of this machine, and stores the result with
 * its environment. */
#include "calibrate/options.h"

#include "lib/clocks/bench.h"
#include "lib/clocks/clocks_report.h"
#include "lib/host/process/pinning.h"
#include "lib/run/sampling.h"

#include <math.h>

static bool full;

static const struct option_row clocks_options[] = {
	{0, "cpu", "N", "measure on this CPU", pinning_option, &calibrate_options.cpu},
	{0, "full", NULL, "sizes and trials of the paper; takes ten minutes or more", NULL, &full},
	{},
};

static int calibrate_clocks_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(run_session_close) struct run_session session = RUN_SESSION_NEW;
	_cleanup_(clocks_clear) struct clocks clocks = {
		.cpu = calibrate_options.cpu, .full = full, .tick_period_ns = NAN};
	int r = run_session_open(&session, calibrate_options.db, BOOK_WRITE, RUN_LOCK_TAKEN, err);

	if (r == 0)
		r = run_session_environment(&session, err);
	clocks.environment = session.environment;
	if (r == 0)
		r = clocks_measure(&clocks, calibrate_options.quiet, err);
	if (r == 0)
		r = book_put_clocks(session.book, &clocks, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	return clocks_print(session.book, &clocks, calibrate_options.json, err);
}

const struct verb calibrate_clocks = {
	.name = "clocks",
	.summary = "measure what reading each clock costs, and how precise it is",
	.options = clocks_options,
	.run = calibrate_clocks_verb,
	.without = "verbose",
};
