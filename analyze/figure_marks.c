/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the samples of each cause are marked: see figure_marks.h. */
#include "analyze/figure_marks.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

static const struct look {
	const char *title;
	int point;
	const char *colour;
} looks[N_CAUSES] = {
	[CAUSE_NONE] = {"central cluster", 7, "#7a9cc6"},
	[CAUSE_UNEXPLAINED] = {"long, not explained", 1, "#404040"},
	[CAUSE_BELOW] = {"shorter than the central cluster", 2, "#404040"},
	[CAUSE_TWO_SD] = {"beyond two sd of PT (papers' check)", 6, "#202020"},
	[CAUSE_OTHER_DAEMON] = {"other daemons", 3, "#808080"},
	[CAUSE_DAEMON] = {NULL, 9, "#d62728"},
	[CAUSE_DAEMON + 1] = {NULL, 5, "#e6a000"},
	[CAUSE_DAEMON + 2] = {NULL, 13, "#2ca02c"},
	[CAUSE_DAEMON + 3] = {NULL, 11, "#9467bd"},
	[CAUSE_DAEMON + 4] = {NULL, 15, "#8c564b"},
	[CAUSE_DAEMON + 5] = {NULL, 8, "#e377c2"},
};

const char *time_name(const struct figure *f)
{
	return f->analysis->by_wait ? "W" : "ET";
}

double central_reach(const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;
	double reach = fmax(beyond_median(f, c->high_ns), -beyond_median(f, c->low_ns));

	return reach > 0 ? reach : fmax((double)f->analysis->noise.blind_ns, 1) / 1e9;
}

double beyond_median(const struct figure *f, int64_t et_ns)
{
	return (double)(et_ns - f->analysis->central.median_ns) / 1e9;
}

char *median_text(char text[40], const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;

	if (f->analysis->by_wait)
		return text_duration(text, c->median_ns - f->analysis->median_rest_ns);
	return text_precise(text, (double)c->median_ns, (double)(c->high_ns - c->low_ns) / 10);
}

/* The cause of a pair is that of its longer sample. */
static uint8_t pair_cause(const struct figure *f, size_t i)
{
	const struct sample *s = f->analysis->samples;
	uint8_t a = f->causes[i], b = f->causes[i + 1];

	if (a == CAUSE_NONE || b == CAUSE_NONE)
		return a == CAUSE_NONE ? b : a;
	return s[i].et_ns >= s[i + 1].et_ns ? a : b;
}

static void begin_point(struct marks *marks, uint8_t cause, struct plot *plot)
{
	if (marks->n[cause]++ == 0)
		fprintf(plot->script, "$cause%d << EOD\n", cause);
}

static void end_points(const struct marks *marks, uint8_t cause, struct plot *plot)
{
	if (marks->n[cause] > 0)
		fputs("EOD\n", plot->script);
}

struct marks marks_of_pairs(const struct figure *f, struct plot *plot)
{
	const struct sample *s = f->analysis->samples;
	struct marks marks = {};

	for (uint8_t cause = 0; cause < N_CAUSES; cause++) {
		for (size_t i = 0; i + 1 < f->analysis->n_samples; i += 2) {
			if (pair_cause(f, i) != cause)
				continue;
			begin_point(&marks, cause, plot);
			fprintf(plot->script, "%.9f %.9f %" PRIu32 " %" PRIu32 "\n",
				beyond_median(f, s[i].et_ns), beyond_median(f, s[i + 1].et_ns), s[i].n,
				s[i + 1].n);
		}
		end_points(&marks, cause, plot);
	}
	return marks;
}

struct marks marks_of_samples(const struct figure *f, struct plot *plot)
{
	const struct sample *s = f->analysis->samples;
	struct marks marks = {};

	for (uint8_t cause = 0; cause < N_CAUSES; cause++) {
		for (size_t i = 0; i < f->analysis->n_samples; i++) {
			if (f->causes[i] != cause)
				continue;
			begin_point(&marks, cause, plot);
			fprintf(plot->script, "%" PRIu32 " %.9f\n", s[i].n, beyond_median(f, s[i].et_ns));
		}
		end_points(&marks, cause, plot);
	}
	return marks;
}

static void print_plot(
	const struct figure *f, const struct marks *marks, const char *data, bool titles, struct plot *plot)
{
	size_t drawn = 0;

	for (size_t cause = 0; cause < N_CAUSES; cause++) {
		if (marks->n[cause] == 0)
			continue;
		fputs(drawn++ > 0 ? ", " : "plot ", plot->script);
		if (data)
			fputs(data, plot->script);
		else
			fprintf(plot->script, "$cause%zu using 1:2", cause);
		fprintf(plot->script, " with points pt %d ps %s lc rgb '%s'", looks[cause].point,
			cause == CAUSE_NONE ? "0.6" : "1.3", looks[cause].colour);
		if (titles) {
			const char *name = cause < CAUSE_DAEMON ? looks[cause].title
								: f->daemons[cause - CAUSE_DAEMON];

			if (cause == CAUSE_UNEXPLAINED && f->profile)
				name = "long, but kept";
			fputs(" title ", plot->script);
			plot_quote_format(plot, "%s (%zu)", name, marks->n[cause]);
		} else
			fputs(" notitle", plot->script);
	}
	fputc('\n', plot->script);
}

void marks_plot(const struct figure *f, const struct marks *marks, bool titles, struct plot *plot)
{
	print_plot(f, marks, NULL, titles, plot);
}

void marks_plot_key(const struct figure *f, const struct marks *marks, struct plot *plot)
{
	print_plot(f, marks, "NaN", true, plot);
}
