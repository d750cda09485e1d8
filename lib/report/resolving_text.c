/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve, in words: see resolving_text.h. */
#include "lib/report/resolving_text.h"

#include "lib/base/text.h"

#include <math.h>

/* Samples in turn resolve what separate runs do, or less. */
static void describe_resolving(
	char text[RESOLVING_TEXT_SIZE], const char *whose, const struct resolving *row)
{
	char interleaved[TEXT_TIME_SIZE], separate[TEXT_TIME_SIZE], duet[TEXT_TIME_SIZE];
	_cleanup_(freep) char *line = NULL;

	text_percent(interleaved, fmin(row->interleaved, row->separate));
	text_percent(separate, row->separate);
	text_percent(duet, row->duet);
	if (row->duet > 0)
		line = text_format("%s%d samples resolve %s by duet, %s interleaved%s%s%s", whose,
			(int)row->samples, duet, interleaved, *whose ? "" : ", ", *whose ? "" : separate,
			*whose ? "" : " separate");
	else
		line = text_format("%s%d samples resolve %s interleaved, %s %s", whose, (int)row->samples,
			interleaved, separate, *whose ? "separate" : "between separate runs");
	snprintf(text, RESOLVING_TEXT_SIZE, "%s", line ?: "");
}

void resolving_text_of(char text[RESOLVING_TEXT_SIZE], const struct resolving rows[N_RESOLVING], size_t n)
{
	const struct resolving *row = resolving_for(rows, n);

	*text = '\0';
	if (row)
		describe_resolving(text, "", row);
}

int resolving_text(struct book *book, int64_t environment, const struct profile *profile, size_t n,
	char ret[RESOLVING_TEXT_SIZE], struct error *err)
{
	struct resolving rows[N_RESOLVING] = {};
	const struct resolving *row;
	int r = book_get_resolving(book, environment, rows, err);

	if (r < 0)
		return r;
	resolving_text_of(ret, rows, n);
	row = !*ret && profile ? resolving_for(profile->resolving, n) : NULL;
	if (row)
		describe_resolving(ret, "Profile's environment: ", row);
	return 0;
}
