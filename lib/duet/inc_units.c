/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See inc_units.h. */
#include "lib/duet/inc_units.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/run/duet.h"
#include "lib/duet/duet_report.h"

#include <math.h>

int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules, struct inc_units *ret,
	struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	struct duet_row row = {};
	struct comparison c;
	size_t inc = 0, program = 0;
	double units;
	int r = duet_report_load(book, run, rules, &d, err);

	if (r <= 0)
		return r;
	for (; inc < d.n; inc++) {
		row = (struct duet_row){};
		r = book_get_duet(book, d.runs[inc], &row, err);
		if (r < 0)
			return r;
		if (r > 0 && row.increments > 0)
			break;
	}
	while (program < d.n && d.runs[program] != run)
		program++;
	if (inc == d.n || program == d.n || program == inc)
		return 0;
	r = duet_report_compare_together(&d, inc, program, &c, err);
	if (r <= 0)
		return r;
	if (c.design != DESIGN_DUET)
		return 0;
	units = (double)row.increments / INC_UNIT;
	*ret = (struct inc_units){
		.mean = c.ratio * units,
		.low = c.ratio_low * units,
		.high = c.ratio_high * units,
		.sd = c.log_ratio.sd,
		.n = c.a.n,
		.run = d.runs[inc],
		.increments = row.increments,
	};
	return 1;
}

/* Decimals that show two digits of the sd. */
static int decimals_for_sd(double sd)
{
	int decimals = sd > 0 ? 1 - (int)floor(log10(sd)) : 1;

	return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *u)
{
	double sd = u->sd * u->mean;
	int decimals = decimals_for_sd(sd);
	char cv[TEXT_TIME_SIZE];

	if (isnan(u->low))
		snprintf(buffer, INC_UNITS_TEXT_SIZE, "%.4g", u->mean);
	else
		snprintf(buffer, INC_UNITS_TEXT_SIZE, "%.*f ± %.*f   CV %s   95 %% CI %.*f … %.*f", decimals,
			u->mean, decimals, sd, text_percent(cv, u->sd), decimals, u->low, decimals, u->high);
	return buffer;
}

json_t *inc_units_as_json(const struct inc_units *u)
{
	json_t *object = json_pack("{s:f, s:I, s:I, s:I, s:i}", "mean", u->mean, "samples", (json_int_t)u->n,
		"run", (json_int_t)u->run, "increments", (json_int_t)u->increments, "unit_increments",
		INC_UNIT);

	json_object_set_new(object, "interval", json_interval(u->low, u->high));
	json_object_set_new(object, "sd", json_real_or_null(u->sd * u->mean));
	return object;
}
