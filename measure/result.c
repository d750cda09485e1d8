/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of one command: see result.h. */
#include "measure/result.h"

void result_clear(struct result *r)
{
	run_result_clear(&r->run);
	*r = (struct result){};
}

struct result_means result_means(const struct result *result)
{
	const struct run_result *run = &result->run;
	struct result_means m = {};

	for (size_t i = 0; i < run->n_samples; i++) {
		m.user_ns += (double)run->samples[i].user_ns / (double)run->n_samples;
		m.system_ns += (double)run->samples[i].system_ns / (double)run->n_samples;
	}
	return m;
}

double result_off_cpu(const struct result *result)
{
	const struct run_result *run = &result->run;
	double et = 0, pt = 0;

	for (size_t i = 0; i < run->n_samples; i++) {
		et += (double)run->samples[i].et_ns;
		pt += (double)run->samples[i].pt_ns;
	}
	return et > 0 ? 1 - pt / et : 0;
}
