/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PT of a run in units of INC: see inc_units.h. */
#include "lib/duet/inc_units.h"

#include "lib/duet/duet_report.h"

int64_t inc_length_beside(int64_t pt_ns)
{
	const int64_t least_ns = 200 * NS_PER_MS, most_ns = 500 * NS_PER_MS;
	int64_t covered_ns = pt_ns / 10 * 9; /* so that the program is rarely started again */
	int64_t parts = covered_ns / most_ns + 1, times = least_ns / (pt_ns > 0 ? pt_ns : 1) + 1;

	if (covered_ns / parts > least_ns)
		return covered_ns / parts;
	/* so that the last of its runs is complete */
	return pt_ns > 0 ? pt_ns * times / 20 * 21 : least_ns;
}

/* The first INC of a duet, and the row of the run. False: there is no INC beside that run. */
static bool find_inc(const struct duet_report *d, int64_t run, size_t *ret_inc, size_t *ret_program)
{
	size_t inc = SIZE_MAX, program = SIZE_MAX;

	for (size_t i = 0; i < d->n; i++) {
		if (d->rows[i].increments > 0 && inc == SIZE_MAX)
			inc = i;
		if (d->rows[i].run == run)
			program = i;
	}
	*ret_inc = inc;
	*ret_program = program;
	return inc != SIZE_MAX && program != SIZE_MAX && program != inc;
}

int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules,
	struct inc_units *ret, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	size_t inc, program;
	struct comparison c;
	double units;
	int r = duet_report_load(book, run, rules, NULL, &d, err);

	if (r <= 0)
		return r;
	if (!find_inc(&d, run, &inc, &program))
		return 0;

	r = duet_report_compare_pairs(&d, inc, program, COMPARISON_PT, &c, err);
	if (r <= 0 || c.design != DESIGN_DUET)
		return r < 0 ? r : 0;

	units = (double)d.rows[inc].increments / INC_UNIT;
	*ret = (struct inc_units){
		.mean = c.ratio * units,
		.low = c.ratio_low * units,
		.high = c.ratio_high * units,
		.sd = c.log_ratio.sd,
		.error = c.log_ratio.se,
		.n = c.a.n,
		.hidden = c.bias_a / c.mean_a + c.bias_b / c.mean_b,
		.step = (double)c.step_ns * (1 / c.mean_a + 1 / c.mean_b),
		.run = d.rows[inc].run,
		.increments = d.rows[inc].increments,
	};
	return 1;
}

char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *u)
{
	double sd = u->sd * u->mean;
	/* two digits of the sd */
	int decimals = sd > 0 ? (int)fmin(fmax(1 - floor(log10(sd)), 0), 6) : 1;

	if (isnan(u->low))
		snprintf(buffer, INC_UNITS_TEXT_SIZE, "%.4g", u->mean);
	else
		snprintf(buffer, INC_UNITS_TEXT_SIZE, "%.*f ± %.*f   CV %s   95 %% CI %.*f … %.*f",
			decimals, u->mean, decimals, sd, text_percent(u->sd), decimals, u->low,
			decimals, u->high);
	return buffer;
}

json_t *inc_units_as_json(const struct inc_units *u)
{
	return JSON_OBJECT({"mean", json_real_or_null(u->mean)}, {"samples", json_integer(u->n)},
		{"run", json_integer(u->run)}, {"increments", json_integer(u->increments)},
		{"unit_increments", json_integer(INC_UNIT)},
		{"interval", json_interval(u->low, u->high)},
		{"sd", json_real_or_null(u->sd * u->mean)});
}
