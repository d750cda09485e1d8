/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed in the environment, and in how runs were made, where a level begins. */
#include "lib/trend/trend_show.h"

#include "lib/base/xalloc.h"
#include "lib/report/notes.h"

#include <string.h>

enum { MOST_DIFFERENCES = 3, MOST_RUNS_OFF = 2 /* a change point may be so far off */ };

static void add_trend_difference(FILE *file, const char *what, const char *before, const char *now)
{
	if (before == now || (before && now && !strcmp(before, now)))
		return;
	fprintf(file, "%s%s was %s, is %s", ftell(file) > 0 ? "; " : "", what, before ?: "nothing",
		now ?: "nothing");
}

/* As the runs themselves were made. */
static void add_run_differences(FILE *file, const struct run *before, const struct run *now)
{
	_cleanup_(freep) char *was = run_command_line(before), *is = run_command_line(now);
	char was_on[16], is_on[16];

	snprintf(was_on, sizeof(was_on), "%d", before->cpu);
	snprintf(is_on, sizeof(is_on), "%d", now->cpu);
	add_trend_difference(file, "command", was, is);
	add_trend_difference(file, "cpu", before->cpu < 0 ? "any" : was_on, now->cpu < 0 ? "any" : is_on);
	add_trend_difference(file, "against", before->kind == RUN_DUET ? "inc" : NULL,
		now->kind == RUN_DUET ? "inc" : NULL);
	add_trend_difference(file, "profile", before->profile, now->profile);
	add_trend_difference(file, "accounting", before->backend, now->backend);
	add_trend_difference(file, "pt_source", before->pt_source, now->pt_source);
}

static int add_environment_differences(
	struct book *book, FILE *file, const struct run *before, const struct run *now, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(freep) char *text = NULL;
	int r;

	if (before->environment == now->environment)
		return 0;
	r = environment_differences(book, before->environment, now->environment, &differences, err);
	if (r > 0 && differences.n > 0)
		text = differences_description(&differences, MOST_DIFFERENCES);
	if (r >= 0 && text)
		fprintf(file, "%s%s", ftell(file) > 0 ? "; " : "", text);
	return r < 0 ? r : 0;
}

/* *ret NULL: nothing. */
static int compare_runs(
	struct book *book, const struct run *before, const struct run *now, char **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);
	int r;

	r = add_environment_differences(book, file, before, now, err);
	add_run_differences(file, before, now);
	text_stream_close(file, &text);
	if (r == 0 && *text)
		*ret = TAKE(text);
	return r;
}

/* The nearest change to the first run of the level, at it or a run or two off, if that is still within both levels. */
static int find_cause(struct book *book, const struct trend_view *view, size_t level, struct trend_cause *ret,
	struct error *err)
{
	const struct level *at = &view->levels.items[level], *last = at - 1;
	int r = 0;

	for (int off = 0; r == 0 && !ret->text && off <= MOST_RUNS_OFF; off = off > 0 ? -off : 1 - off) {
		size_t now = at->first + (size_t)off;

		if (now <= last->first || now >= at->first + at->n)
			continue;
		ret->later = off;
		r = compare_runs(book, &view->series.items[now - 1].run, &view->series.items[now].run,
			&ret->text, err);
	}
	return r;
}

int trend_find_causes(struct book *book, struct trend_view *view, struct error *err)
{
	int r = 0;

	view->causes = xcalloc(view->levels.n + 1, sizeof(*view->causes));
	for (size_t level = 1; r == 0 && level < view->levels.n; level++)
		r = find_cause(book, view, level, &view->causes[level], err);
	return r;
}

void trend_causes_free(struct trend_cause *causes, size_t n)
{
	for (size_t i = 0; causes && i < n; i++)
		free(causes[i].text);
	free(causes);
}
