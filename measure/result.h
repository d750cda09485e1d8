/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the samples of one command come to, read back from the book. */
#pragma once

#include "measure/command.h"

#include "lib/report/analysis_load.h"
#include "lib/protocol/disturbances.h"

/* A daemon that the profile does not know, and that took much of a sample. */
struct stranger {
	char *name;
	char *unit;       /* NULL: none or unknown */
	int64_t most_ns;  /* of one execution */
	uint32_t sample;  /* in which it took that */
	size_t n_samples; /* in which it took much */
};

struct result {
	const struct command *command;
	const char *name;
	struct discarding discarding;
	struct sample *samples; /* all, in order */
	size_t n_samples;
	struct stranger *strangers; /* the greatest first */
	size_t n_strangers;
	struct sample_counters *counters; /* of each sample */
	size_t n_counters;
	struct disturbances moves; /* which of them moved enough to be told */
	int64_t observer_ns;       /* a sample */
	int64_t lost;
	int failures, left_behind, killed, again;
};

/* Fills what the book tells of run `id`: all but command, name and the counts of its series. profile may be
 * NULL. */
int result_read(struct book *book, int64_t id, const struct profile *profile, struct result *result,
	struct error *err);
void result_clear(struct result *result);

/* Means of all samples. */
struct result_means {
	double user_ns, system_ns;
};
struct result_means result_means(const struct result *result);

/* Share of ET that the program was not on a CPU, in all samples; below 0 where it ran on several. */
double result_off_cpu(const struct result *result);
