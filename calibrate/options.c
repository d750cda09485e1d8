/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-calibrate: see options.h. */
#include "calibrate/options.h"

struct calibrate_options calibrate_options = {.cpu = -1};

const char *const calibrate_backends[] = {"auto", "bpf", "taskstats", NULL};

int calibrate_operand(
	const char *operand, int64_t *ret_run, const char **ret_profile, struct error *err)
{
	*ret_run = 0;
	*ret_profile = NULL;
	if (!operand || !strcmp(operand, "last"))
		return 0;
	if (!operand[strspn(operand, "0123456789")])
		return text_parse_int(operand, "RUN", 1, INT64_MAX, ret_run, err);
	*ret_profile = operand;
	return 0;
}
