/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of one command: the samples from the book, and what only this session knows. */
#pragma once

#include "measure/command.h"

#include "lib/report/run_result.h"

struct result {
	const struct command *command;
	const char *name;
	struct run_result run;
	int64_t observer_ns; /* a sample */
	int64_t lost;
	int failures, left_behind, killed, again;
};

void result_clear(struct result *result);

/* Means of all samples. */
struct result_means {
	double user_ns, system_ns;
};
struct result_means result_means(const struct result *result);

/* Share of ET that the program was not on a CPU, in all samples; below 0 where it ran on several. */
double result_off_cpu(const struct result *result);
