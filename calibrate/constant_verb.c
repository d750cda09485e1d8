/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate constant: how many iterations INC makes in a second here. */
#include "calibrate/calibrate.h"
#include "lib/run/constant.h"

#include "lib/base/json.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/subprocess.h"
#include "lib/run/environment.h"

#include <errno.h>

const struct option_row constant_options[] = {
	{0, "cpu", "N", "measure it on this CPU", pinning_option, &calibrate_options.cpu},
	{},
};

static int show(const struct constant *constant, const char *digest, struct error *err)
{
	if (!calibrate_options.json) {
		printf("INC makes %.0f iterations/s in environment %.16s (%s)\n", constant->per_second,
			digest, constant->found_now ? "measured now" : "measured before");
		return 0;
	}
	return json_print_document("emp-constant",
		json_pack("{s:f, s:s, s:b}", "iterations_per_second", constant->per_second, "environment",
			digest, "found_now", constant->found_now),
		err);
}

int verb_constant(int argc, char **argv, struct error *err)
{
	_cleanup_(observer_close) struct observer observer = {};
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *inc = NULL, *digest = NULL;
	struct constant_request request = {.cpu = calibrate_options.cpu, .observer = &observer};
	struct constant constant;
	int r;

	r = suite_tool_find("inc", &inc, err);
	if (r == 0)
		r = book_open(&book, calibrate_options.db, BOOK_WRITE, err);
	if (r == 0)
		r = environment_take(book, &request.environment, &digest, err);
	if (r == 0)
		r = observer_open(&observer, ACCOUNTING_NONE, -1, err);
	if (r < 0)
		return r;
	request.book = book;
	request.environment_digest = digest;
	request.inc_path = inc;
	r = constant_get(&request, &constant, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	return show(&constant, digest, err);
}
