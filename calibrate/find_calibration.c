/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the book's calibrations is meant: see find_calibration.h. */
#include "calibrate/find_calibration.h"

#include <string.h>

struct wish {
	int64_t run;
	const char *profile;
	bool any;
};

static bool fits(const struct calibration *c, const struct wish *wish)
{
	if (wish->run)
		return c->parts[SHORT_PART].run == wish->run || c->parts[LONG_PART].run == wish->run;
	if (wish->profile && strcmp(c->profile, wish->profile))
		return false;
	return wish->any || !strcmp(c->state, "open");
}

static int pick(struct book *book, const struct wish *wish, struct calibration *ret, struct error *err)
{
	struct calibration *all;
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
			calibration_clear(&all[i]);
	free(all);
	return found;
}

int pick_calibration(struct book *book, int64_t run, bool any, struct calibration *ret, struct error *err)
{
	return pick(book, &(struct wish){.run = run, .any = any}, ret, err);
}

int pick_calibration_for(struct book *book, const char *profile, struct calibration *ret, struct error *err)
{
	return pick(book, &(struct wish){.profile = profile}, ret, err);
}
