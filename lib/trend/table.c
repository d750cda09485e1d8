/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trend as CSV and as a table in Markdown: see trend.h. */
#include "lib/trend/trend_show.h"

#include "lib/base/markup.h"
#include "lib/base/terminal.h"

#include <inttypes.h>
#include <math.h>

bool trend_is_outlier(const struct trend_view *v, size_t i)
{
	return fabs(v->series.items[i].log - v->levels.in_level[i]) > 1e-9;
}

/* In the unit of the series; nothing: not known. */
static void csv_number(FILE *file, double value)
{
	if (isfinite(value))
		fprintf(file, ",%.9g", value);
	else
		fputc(',', file);
}

static void csv_run(FILE *file, const struct trend_view *v, size_t level, size_t i)
{
	const struct level *l = &v->levels.items[level];
	const struct series_run *s = &v->series.items[i];
	char started[TEXT_TIME_SIZE];

	fprintf(file, "%" PRId64 ",", s->run.id);
	markup_csv(file, terminal_text(v->series.name));
	fprintf(file, ",%s,%s,%zu", v->series.unit == SERIES_INC ? "INC" : "s",
		text_rfc3339(started, s->run.started_ns), s->n_samples);
	csv_number(file, exp(s->log));
	fprintf(file, ",%d,%zu", trend_is_outlier(v, i), level + 1);
	csv_number(file, exp(l->mean));
	csv_number(file, exp(l->mean - l->half) > 0 ? exp(l->mean - l->half) : NAN);
	csv_number(file, exp(l->mean + l->half));
	fputc('\n', file);
}

void trend_write_csv(FILE *file, const struct trend_view *v)
{
	fputs("run,command,unit,started,samples,mean,outlier,level,level_mean,level_low,level_high\n", file);
	for (size_t level = 0; level < v->levels.n; level++)
		for (size_t k = 0; k < v->levels.items[level].n; k++)
			csv_run(file, v, level, v->levels.items[level].first + k);
}

static void markdown_level(FILE *file, const struct trend_view *v, size_t i)
{
	const struct level *l = &v->levels.items[i];
	const struct run *first = &v->series.items[l->first].run;
	_cleanup_(freep) char *cause = i > 0 ? trend_cause_text(v, i) : NULL;
	char from[TEXT_TIME_SIZE], mean[TEXT_PAIR_SIZE], interval[TEXT_PAIR_SIZE], change[TEXT_PAIR_SIZE];

	fprintf(file, "| %s | %" PRId64 " | %zu | %s | %s", text_moment(from, first->started_ns), first->id,
		l->n, trend_value_text(mean, v, l->mean, l->half), trend_interval_text(interval, v, l));
	if (i == 0) {
		fputs(" | - | - |\n", file);
		return;
	}
	fprintf(file, " | %s | ", trend_change_text(change, levels_change(&v->levels, i)));
	markup_markdown(file, cause ?: "");
	fputs(" |\n", file);
}

void trend_write_markdown(FILE *file, const struct trend_view *v)
{
	fprintf(file,
		"| From | Run | Runs | Mean PT%s | 95 %% CI | Change | What changed |\n"
		"|:---|---:|---:|---:|---:|---:|:---|\n",
		v->series.unit == SERIES_INC ? " [INC units]" : "");
	for (size_t i = 0; i < v->levels.n; i++)
		markdown_level(file, v, i);
}
