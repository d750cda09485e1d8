/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking up and freeing an analysis: see analysis.h. */
#include "lib/protocol/analysis.h"

#include "lib/protocol/name_families.h"

#include "lib/base/json_fields.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_L] = "L",
		[VERDICT_CLEAN] = "clean",
		[VERDICT_FREQUENT] = "frequent",
		[VERDICT_DRIFT] = "drift",
		[VERDICT_STEP] = "step",
		[VERDICT_BUSY] = "busy",
	};

	return names[verdict];
}

static int by_name(const void *name, const void *daemon)
{
	return strcmp(name, ((const struct daemon_statistics *)daemon)->name);
}

const struct daemon_statistics *analysis_daemon(const struct analysis *analysis, const char *name)
{
	if (analysis->n_statistics == 0)
		return NULL;
	return bsearch(
		name, analysis->statistics, analysis->n_statistics, sizeof(*analysis->statistics), by_name);
}

const struct daemon_statistics *analysis_daemon_of(
	const struct analysis *analysis, const struct name_pattern *patterns, const struct source *source)
{
	const struct daemon_statistics *daemon = analysis_daemon(
		analysis, name_group(patterns, source->name));

	for (size_t i = 0; !daemon && i < analysis->n_statistics; i++)
		if (analysis->statistics[i].names > 0 &&
			name_family_has(analysis->statistics[i].name, source))
			daemon = &analysis->statistics[i];
	return daemon;
}

void analysis_clear(struct analysis *analysis)
{
	for (size_t i = 0; i < analysis->n_statistics; i++) {
		free(analysis->statistics[i].name);
		free(analysis->statistics[i].unit);
		free(analysis->statistics[i].longs);
	}
	free(analysis->statistics);
	free(analysis->l_samples);
	free(analysis->unexplained);
	free(analysis->samples);
	cluster_clear(&analysis->central);
	run_clear(&analysis->run);
	*analysis = (struct analysis){};
}

double analysis_period_ns(const struct analysis *analysis, const struct daemon_statistics *daemon)
{
	double ns = daemon->period.ns > 0 ? daemon->period.ns : daemon->period.samples * analysis->spacing_ns;

	return fmin(ns, (double)JSON_MOMENT_MAX);
}

char *analysis_period_text(
	char text[PERIOD_TEXT_SIZE], const struct analysis *analysis, const struct daemon_statistics *daemon)
{
	char period[TEXT_TIME_SIZE], why[PERIOD_WHY_SIZE], samples[32] = "";

	if (daemon->period.samples > 0)
		snprintf(samples, sizeof(samples), "%g samples = ", daemon->period.samples);
	snprintf(text, PERIOD_TEXT_SIZE, "every %s%s, %s", samples,
		text_duration(period, (int64_t)analysis_period_ns(analysis, daemon)),
		period_why(why, &daemon->period));
	return text;
}
