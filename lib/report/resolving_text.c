/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve, in words: see resolving_text.h. */
#include "lib/report/resolving_text.h"

#include "lib/base/text.h"

#include <math.h>

void resolving_text_of(char text[RESOLVING_TEXT_SIZE], const struct resolving rows[N_RESOLVING], size_t n)
{
	const struct resolving *row = resolving_for(rows, n);
	char interleaved[TEXT_TIME_SIZE], separate[TEXT_TIME_SIZE];

	*text = '\0';
	if (row)
		snprintf(text, RESOLVING_TEXT_SIZE,
			"%d samples resolve %s interleaved, %s between separate runs", (int)row->samples,
			text_percent(interleaved, fmin(row->interleaved, row->separate)),
			text_percent(separate, row->separate));
}

int resolving_text(struct book *book, int64_t environment, const struct profile *profile, size_t n,
	char ret[RESOLVING_TEXT_SIZE], struct error *err)
{
	struct resolving rows[N_RESOLVING] = {};
	char interleaved[TEXT_TIME_SIZE], separate[TEXT_TIME_SIZE];
	const struct resolving *row;
	int r = book_get_resolving(book, environment, rows, err);

	if (r < 0)
		return r;
	resolving_text_of(ret, rows, n);
	row = !*ret && profile ? resolving_for(profile->resolving, n) : NULL;
	if (row)
		snprintf(ret, RESOLVING_TEXT_SIZE,
			"Profile's environment: %d samples resolve %s interleaved, %s separate",
			(int)row->samples, text_percent(interleaved, row->interleaved),
			text_percent(separate, row->separate));
	return 0;
}
