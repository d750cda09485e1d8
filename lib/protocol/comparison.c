/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sets of samples beside each other: see comparison.h. */
#include "lib/protocol/comparison.h"

#include <errno.h>
#include <math.h>

int comparison_times(const struct discarding *d, const struct sample *samples, size_t n,
	enum comparison_clock which, int64_t **ret, size_t *ret_n)
{
	const struct clock_discarding *clock = which == COMPARISON_PT ? &d->pt : &d->et;
	int64_t *times = calloc(n ?: 1, sizeof(*times));
	size_t kept = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (clock->kept[i])
			times[kept++] = which == COMPARISON_PT ? samples[i].pt_ns : samples[i].et_ns;
	*ret = times;
	*ret_n = kept;
	return 0;
}

const char *comparison_verdict(const struct comparison *c)
{
	if (isnan(c->ratio_low))
		return "cannot be told";
	if (c->ratio_low > 1)
		return "slower";
	return c->ratio_high < 1 ? "faster" : "no difference shown";
}

int comparison_table_new(struct table **ret, struct error *err)
{
	static const struct column columns[] = {
		{"BESIDE IT", COLUMN_WRAP},
		{"RATIO", COLUMN_NUMBER},
		{"95 % INTERVAL"},
		{"VERDICT"},
		{"WELCH P", COLUMN_NUMBER},
		{"M-W P", COLUMN_NUMBER},
		{"WOULD SHOW", COLUMN_NUMBER},
		{},
	};

	return table_new(ret, columns, err);
}

int comparison_table_print(struct table *table, struct error *err)
{
	int r = table_print(table, stdout, err);

	if (r == 0)
		printf("RATIO: times as long. M-W: Mann and Whitney. WOULD SHOW: the least that so many samples show.\n");
	return r;
}

static void cell_number(struct table *table, const char *format, double value)
{
	char text[32] = "-";

	if (!isnan(value))
		snprintf(text, sizeof(text), format, value);
	table_cell(table, "%s", text);
}

void comparison_row(struct table *table, const char *name, const struct comparison *c)
{
	table_row(table);
	table_cell(table, "%s", name);
	cell_number(table, "%.4f", c->ratio);
	if (isnan(c->ratio_low))
		table_cell(table, "-");
	else
		table_cell(table, "%.4f to %.4f", c->ratio_low, c->ratio_high);
	table_cell(table, "%s", comparison_verdict(c));
	cell_number(table, "%.2g", c->welch_p);
	cell_number(table, "%.2g", c->mann_whitney_p);
	cell_number(
		table, c->smallest_difference < 0.995 ? "%.2g %%" : "%.0f %%", 100 * c->smallest_difference);
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *c)
{
	return json_pack("{s:s, s:s, s:f, s:[o, o], s:s, s:o, s:o, s:o}", "reference", reference, "command",
		name, "ratio", c->ratio, "interval", number(c->ratio_low), number(c->ratio_high), "verdict",
		comparison_verdict(c), "welch_p", number(c->welch_p), "mann_whitney_p",
		number(c->mann_whitney_p), "smallest_difference", number(c->smallest_difference));
}

int comparison_judge(const struct comparison *c, const struct comparison_limit *limit, struct error *err)
{
	if (limit->percent < 0 || !(c->ratio > 1 + limit->percent / 100) || !(c->ratio_low > 1))
		return 0;
	return error_say(err, COMPARISON_SLOWER,
		"'%s' is slower than '%s' by %.2f %% (95 %% confidence: %.2f to %.2f %%), more than %g %%",
		limit->name, limit->reference, 100 * (c->ratio - 1), 100 * (c->ratio_low - 1),
		100 * (c->ratio_high - 1), limit->percent);
}
