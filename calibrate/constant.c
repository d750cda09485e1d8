/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate constant: how many increments INC makes in a second here. */
#include "calibrate/calibration.h"
#include "calibrate/options.h"

#include "lib/host/process/pinning.h"
#include "lib/base/terminal.h"

static const struct option_row constant_options[] = {
	{0, "cpu", "N", "measure it on this CPU", pinning_option, &calibrate_options.cpu},
	{},
};

static int calibrate_constant_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	struct run_session *session = &calibration.base;
	struct inc *inc = &calibration.inc;
	int r = calibration_open(&calibration, RUN_LOCK_IGNORED, err);

	inc->cpu = calibrate_options.cpu;
	if (r == 0)
		r = run_session_environment(session, err);
	if (r == 0)
		r = observer_open(&session->observer, ACCOUNTING_NONE, -1, err);
	if (r == 0)
		r = inc_find_constant(inc, session, session->environment, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (inc->found_now && session->beside)
		terminal_remark(
			"measured beside %s, so that each disturbed the other", session->beside);
	if (calibrate_options.json)
		return json_print_document("emp-constant",
			json_pack("{s:f, s:s, s:b, s:s?}", "iterations_per_second", inc->per_second,
				"environment", session->environment_digest, "found_now",
				inc->found_now, "inc_digest", session->inc_digest),
			err);
	terminal_say(stdout, 2, "INC: %.0f increments/s (%s), environment %.16s", inc->per_second,
		inc->found_now ? "measured now" : "measured before", session->environment_digest);
	return 0;
}

const struct verb calibrate_constant = {
	.name = "constant",
	.summary = "measure and store INC's increments per second",
	.options = constant_options,
	.run = calibrate_constant_verb,
	.without = "verbose",
};
