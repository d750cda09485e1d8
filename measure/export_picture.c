/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of --plot: see export_picture.h. */
#include "measure/export_picture.h"

#include "measure/session_compare.h"
#include "lib/report/comparison_picture.h"

int export_picture(const struct session *s, struct error *err)
{
	size_t n = session_n_shown(s), n_sides = N_COMPARISON_CLOCKS * n;
	_cleanup_(freep) struct pictured_program *programs = xcalloc(n, sizeof(*programs));
	_cleanup_(freep) struct comparison_side *sides = xcalloc(n_sides, sizeof(*sides));
	struct comparison_picture picture = {.programs = programs};
	int r = s->options->plot ? session_compare(s, err) : 0;

	if (r < 0 || !s->options->plot)
		return r;
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &s->tasks[i];
		const struct run_result *run = &t->result;
		struct pictured_program *program = &programs[picture.n];

		if (run->n_samples == 0)
			continue;
		program->name = t->name;
		program->discarding = &run->discarding;
		program->sides = &sides[N_COMPARISON_CLOCKS * picture.n++];
		program->means[COMPARISON_PT] = &run->discarding.pt;
		program->means[COMPARISON_ET] = &run->discarding.et;
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
			const struct comparison *c = &s->comparisons[clock * s->n + i];

			sides[program->sides - sides + clock] = comparison_side_make(
				&run->discarding, run->samples, run->n_samples, clock);
			if (i > 0 && comparison_is_made(c)) {
				program->comparisons[clock] = c;
				picture.clocks |= 1u << clock;
			}
		}
	}
	if (!picture.clocks) /* of one program as of two of the same */
		picture.clocks = s->options->compare
					 ?: comparison_clocks(COMPARE_DEFAULT, sides, sides);
	r = picture.n > 0 ? comparison_picture_draw(&picture, s->options->plot, false, err) : 0;
	for (size_t i = 0; i < n_sides; i++)
		comparison_side_clear(&sides[i]);
	return r;
}
