/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan of a study: see study_plan.h. */
#include "lib/study/study_plan.h"

#include "lib/record/run.h"

#include <math.h>

/* What emp-measure needs besides the program, and what emp-setup takes to apply and to restore:
 * roughly, on a small machine. */
enum { START_MS = 300, SAMPLE_MS = 20, SETTINGS_MS = 2000 };

/* With fewer samples of a program in all, no interval is of use. */
enum { LEAST_SAMPLES = 3 };

int64_t study_block_expected(int64_t one_ns, uint32_t samples)
{
	return START_MS * NS_PER_MS + (samples + 1) * (one_ns + SAMPLE_MS * NS_PER_MS);
}

static uint32_t samples_of_round(uint32_t samples, int rounds, int round)
{
	return samples / (uint32_t)rounds + ((uint32_t)round <= samples % (uint32_t)rounds);
}

/* How long it takes in so many rounds, if each subject has that share of its samples. */
static int64_t plan_duration(
	struct study_plan *plan, const struct study_file *file, int rounds, double share)
{
	const int64_t combinations = (int64_t)study_n_measured_combinations(file);
	int64_t sum_ns = file->n_steps ? rounds * (combinations - 1) * SETTINGS_MS * NS_PER_MS : 0;

	plan->rounds = rounds;
	for (size_t i = 0; i < file->n_subjects; i++) {
		const struct study_subject *subject = &file->subjects[i];
		const uint32_t wanted = subject->samples ?: file->samples;
		double samples = floor(wanted * share);
		double least = rounds > LEAST_SAMPLES ? rounds : LEAST_SAMPLES;

		if (samples < least)
			samples = wanted < least ? fmax(wanted, rounds) : least;
		plan->samples[i] = (uint32_t)samples;
		for (int round = 1; round <= rounds; round++)
			sum_ns += combinations *
				  study_block_expected(subject->expected_ns,
					  samples_of_round(plan->samples[i], rounds, round));
	}
	/* the study of clocks takes each sample twice */
	return file->what == STUDY_CLOCKS ? 2 * sum_ns : sum_ns;
}

/* The greatest share of the samples with which it takes no longer than the limit; below 0: none. */
static double share_within(
	struct study_plan *plan, const struct study_file *file, int rounds, int64_t limit_ns)
{
	double low = 0, high = 1;

	if (plan_duration(plan, file, rounds, high) <= limit_ns)
		return high;
	if (plan_duration(plan, file, rounds, low) > limit_ns)
		return -1;
	for (int i = 0; i < 30; i++) {
		double middle = (low + high) / 2;

		*(plan_duration(plan, file, rounds, middle) <= limit_ns ? &low : &high) = middle;
	}
	return low;
}

int study_plan_make(
	struct study_plan *ret, const struct study_file *file, int64_t limit_ns, struct error *err)
{
	struct study_plan plan = {.samples = xcalloc(file->n_subjects, sizeof(*plan.samples))};
	double share = 1;
	int rounds = file->rounds;

	limit_ns = limit_ns ?: file->max_time_ns ?: INT64_MAX;
	while ((share = share_within(&plan, file, rounds, limit_ns)) < 0 && rounds > 1)
		rounds--;
	plan.expected_ns = plan_duration(&plan, file, rounds, share < 0 ? 0 : share);
	plan.shortened = share < 1 || rounds < file->rounds;
	for (size_t i = 0; i < file->n_subjects; i++)
		plan.n_unknown += !file->subjects[i].expected_ns;
	*ret = plan;
	if (share >= 0)
		return 0;
	error_say(err, -E2BIG,
		"'%s' takes %s with %d samples of each program, and the limit is %s: raise it with "
		"--max-time, shorten INC with --scale, or copy the file (emp-study show %s) and "
		"drop programs",
		file->name, text_duration(plan.expected_ns), LEAST_SAMPLES, text_duration(limit_ns),
		file->name);
	study_plan_clear(ret);
	return -E2BIG;
}

void study_plan_clear(struct study_plan *plan)
{
	free(plan->samples);
	*plan = (struct study_plan){};
}

/* The numbers below n in a random order, which the caller frees. */
static size_t *random_order(size_t n, uint64_t *state)
{
	size_t *order = xcalloc(n, sizeof(*order));

	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)(random_unit(state) * (double)(i + 1));

		order[i] = order[at];
		order[at] = i;
	}
	return order;
}

struct study_block *study_plan_blocks(
	const struct study_plan *plan, const struct study_file *file, uint64_t seed, size_t *ret_n)
{
	const size_t n_combinations = study_n_combinations(file);
	struct study_block *blocks = NULL, *block;
	uint64_t state = seed;
	size_t n = 0;

	for (int round = 1; round <= plan->rounds; round++) {
		_cleanup_(freep) size_t *steps = random_order(n_combinations, &state);

		for (size_t i = 0; i < n_combinations; i++) {
			_cleanup_(freep) size_t *order = random_order(file->n_subjects, &state);

			for (size_t k = 0; k < file->n_subjects; k++) {
				const struct study_subject *subject = &file->subjects[order[k]];
				uint32_t samples = samples_of_round(
					plan->samples[order[k]], plan->rounds, round);

				if (samples == 0 || study_combination_is_empty(file, steps[i]))
					continue;
				block = array_add(blocks, n);
				*block = (struct study_block){.position = (uint32_t)n,
					.round = round,
					.step = study_combination_label(file, steps[i]),
					.subject = xstrdup(subject->name),
					.size = subject->size,
					.command = run_command_json(subject->argv),
					.samples = samples};
			}
		}
	}
	*ret_n = n;
	return blocks;
}
