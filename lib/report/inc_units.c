/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See inc_units.h. */
#include "lib/report/inc_units.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/duet/book_duet.h"
#include "lib/duet/duet_report.h"

#include <math.h>

static int compare_with_inc(
	const struct duet_report *d, size_t inc, size_t program, struct inc_units *u, struct error *err)
{
	double units = (double)u->increments / INC_UNIT;
	struct comparison c;
	int r = duet_report_compare_together(d, inc, program, &c, err);

	if (r <= 0 || c.design != DESIGN_DUET)
		return r;
	u->mean = c.ratio * units;
	u->low = c.ratio_low * units;
	u->high = c.ratio_high * units;
	u->sd = c.log_ratio.sd;
	u->n = c.a.n;
	return 1;
}

/* The index of INC among the programs; d->n: it is none of them. */
static int find_inc(struct book *book, const struct duet_report *d, size_t *ret, int64_t *ret_increments,
	struct error *err)
{
	for (size_t i = 0; i < d->n; i++) {
		struct duet_row row = {};
		int r = book_get_duet(book, d->runs[i], &row, err);

		if (r < 0)
			return r;
		*ret = i;
		*ret_increments = row.increments;
		if (r > 0 && row.increments > 0)
			return 0;
	}
	*ret = d->n;
	return 0;
}

int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules, struct inc_units *ret,
	struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	struct inc_units u = {};
	size_t inc = 0, program = 0;
	int r = duet_report_load(book, run, rules, &d, err);

	if (r <= 0)
		return r;
	r = find_inc(book, &d, &inc, &u.increments, err);
	while (program < d.n && d.runs[program] != run)
		program++;
	if (r < 0 || inc == d.n || program == d.n || program == inc)
		return r;
	u.run = d.runs[inc];
	r = compare_with_inc(&d, inc, program, &u, err);
	if (r > 0)
		*ret = u;
	return r;
}

/* Decimals that show two digits of the sd. */
static int decimals_for(double sd)
{
	int decimals = sd > 0 ? 1 - (int)floor(log10(sd)) : 1;

	return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *u)
{
	double sd = u->sd * u->mean;
	int decimals = decimals_for(sd);
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
