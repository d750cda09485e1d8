/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a calibration in the book: see find_calibration.h. */
#include "calibrate/find_calibration.h"

#include <string.h>

static bool fits(const struct calibration_plan *c, const struct calibration_wish *wish)
{
	if (wish->run)
		return c->phases[SHORT_PHASE].run == wish->run || c->phases[LONG_PHASE].run == wish->run;
	if (wish->profile && strcmp(c->profile, wish->profile))
		return false;
	return wish->any || c->state == CALIBRATION_OPEN;
}

int find_calibration(struct book *book, const struct calibration_wish *wish, struct calibration_plan *ret,
	struct error *err)
{
	struct calibration_plan *all;
	size_t n;
	int r, found = 0;

	r = book_calibrations(book, &all, &n, err);
	if (r < 0)
		return r;
	for (size_t i = n; i-- > 0;)
		if (!found && fits(&all[i], wish)) {
			*ret = all[i];
			found = 1;
		} else
			calibration_plan_clear(&all[i]);
	free(all);
	return found;
}
