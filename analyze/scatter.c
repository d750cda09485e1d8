/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze scatter: the scatter plot of dual executions (EMP, Figures 13 to 15). This file chooses the
 * drawing; figure.c draws it. */
#include "analyze/scatter.h"

#include "analyze/analyze.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

static double beyond_median(const struct figure *f, int64_t et_ns);

/* It is the one that used most CPU time in the
 * sample, among those over their cutoff or, without a profile, among those that ran long. */

/* What a sample is marked as. Causes from CAUSE_DAEMON on are daemons: figure->daemons[cause - CAUSE_DAEMON].
 */
enum cause { CAUSE_NONE, CAUSE_UNEXPLAINED, CAUSE_BELOW, CAUSE_TWO_SD, CAUSE_OTHER_DAEMON, CAUSE_DAEMON };

struct suspect {
	const struct daemon_statistics *daemon; /* NULL: none */
	int64_t pt_ns;
};

static size_t index_of(const struct analysis *analysis, uint32_t number)
{
	size_t low = 0, high = analysis->n_samples;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (analysis->samples[middle].n < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void suspect(struct suspect *s, const struct daemon_statistics *daemon, int64_t pt_ns)
{
	if (!s->daemon || s->pt_ns < pt_ns)
		*s = (struct suspect){daemon, pt_ns};
}

static uint8_t cause_of(const struct figure *f, const struct suspect *s, size_t sample)
{
	const struct cluster *c = &f->analysis->central;
	int64_t et_ns = f->analysis->samples[sample].et_ns;

	for (size_t d = 0; s->daemon && d < f->n_daemons; d++)
		if (f->daemons[d] == s->daemon->name)
			return (uint8_t)(CAUSE_DAEMON + d);
	if (s->daemon)
		return CAUSE_OTHER_DAEMON;
	if (et_ns > c->high_ns)
		return CAUSE_UNEXPLAINED;
	return et_ns < c->low_ns ? CAUSE_BELOW : CAUSE_NONE;
}

/* discarding and profile: both or neither. Both must outlive the figure. */
static void figure_prepare(struct figure *f, const struct analysis *analysis,
	const struct discarding *discarding, const char *profile)
{
	_cleanup_(freep) struct suspect *suspects = xcalloc(analysis->n_samples, sizeof(*suspects));

	f->analysis = analysis;
	f->profile = profile;
	f->causes = xcalloc(analysis->n_samples, sizeof(*f->causes));
	for (size_t i = 0; discarding && i < discarding->n_over; i++) {
		const struct over_cutoff *over = &discarding->over[i];

		suspect(&suspects[index_of(analysis, over->sample)], analysis_daemon(analysis, over->daemon),
			over->pt_ns);
	}
	for (size_t i = 0; !discarding && i < analysis->n_statistics; i++) {
		const struct daemon_statistics *h = &analysis->statistics[i];

		for (size_t j = 0; j < h->n_longs; j++)
			suspect(&suspects[index_of(analysis, h->longs[j].sample)], h, h->longs[j].pt_ns);
	}

	/* The daemons that are suspects of most samples get marks of their own. */
	const struct analysis *daemons_analysis = f->analysis;
	_cleanup_(freep) size_t *samples = xcalloc(daemons_analysis->n_statistics + 1, sizeof(*samples));

	for (size_t i = 0; i < daemons_analysis->n_samples; i++)
		if (suspects[i].daemon)
			samples[suspects[i].daemon - daemons_analysis->statistics]++;
	while (f->n_daemons < FIGURE_DAEMONS) {
		size_t most = 0;

		for (size_t h = 1; h < daemons_analysis->n_statistics; h++)
			if (samples[h] > samples[most])
				most = h;
		if (samples[most] == 0)
			break;
		samples[most] = 0;
		f->daemons[f->n_daemons++] = daemons_analysis->statistics[most].name;
	}
	for (size_t i = 0; i < analysis->n_samples; i++)
		f->causes[i] = cause_of(f, &suspects[i], i);
	if (discarding) {
		for (size_t i = 0; i < discarding->pt.n_by_two_sd; i++) {
			uint8_t *cause = &f->causes[index_of(f->analysis, discarding->pt.by_two_sd[i])];

			if (*cause == CAUSE_NONE)
				*cause = CAUSE_TWO_SD;
		}
	}
}

static void figure_clear(struct figure *f)
{
	free(f->causes);
	*f = (struct figure){};
}

/* How the samples of each cause are marked, alike in every picture; the data of the pictures, and the
 * command that plots them. */

enum { N_CAUSES = CAUSE_DAEMON + FIGURE_DAEMONS };

/* How many points each cause has in a picture. */
struct marks {
	size_t n[N_CAUSES];
};

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

/* What the axes show: "ET", or "W". */
static const char *time_name(const struct figure *f)
{
	return f->analysis->by_wait ? "W" : "ET";
}

/* How far the central cluster reaches from its median, in seconds; if it is a point, what matters to the analysis. */
static double central_reach(const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;
	double reach = fmax(beyond_median(f, c->high_ns), -beyond_median(f, c->low_ns));

	return reach > 0 ? reach : fmax((double)f->analysis->noise.blind_ns, 1) / 1e9;
}

/* ET or W of a sample beyond the median of the central cluster, in seconds. */
static double beyond_median(const struct figure *f, int64_t et_ns)
{
	return (double)(et_ns - f->analysis->central.median_ns) / 1e9;
}

/* "128.2503 s": the central median with the digits that the cluster calls for. */
static const char *median_text(const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;

	if (f->analysis->by_wait)
		return text_duration(c->median_ns - f->analysis->median_rest_ns);
	return text_precise((double)c->median_ns, (double)(c->high_ns - c->low_ns) / 10);
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

/* Data blocks of pairs (x, y: ETs beyond the central median, in seconds) or of single samples (x: number). */
static struct marks marks_of_pairs(const struct figure *f, struct plot *plot)
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

/* "plot" with all causes that have points. titles: with their names in the key. */
static void marks_plot(const struct figure *f, const struct marks *marks, bool titles, struct plot *plot)
{
	print_plot(f, marks, NULL, titles, plot);
}

/* The scatter of dual executions in one view, and all samples in the order of time. The axes are linear near the
 * centre and logarithmic further out, so that one picture shows a cluster of milliseconds and arms of minutes. */

/* The axis of a picture, in seconds from the central median. */
struct extent {
	double low, high;   /* of the central cluster */
	double least, most; /* of all samples */
	double linear;      /* up to here the axis is linear */
};

static struct extent extent_of(const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;
	struct extent e = {.low = beyond_median(f, c->low_ns), .high = beyond_median(f, c->high_ns)};

	e.least = e.low;
	e.most = e.high;
	for (size_t i = 0; i < f->analysis->n_samples; i++) {
		e.least = fmin(e.least, beyond_median(f, f->analysis->samples[i].et_ns));
		e.most = fmax(e.most, beyond_median(f, f->analysis->samples[i].et_ns));
	}
	e.linear = central_reach(f);
	if (e.most <= e.least)
		e.most = e.least + e.linear;
	return e;
}

/* A title of two lines; `logarithmic`: it mentions the logarithmic axes. */
static void print_title(
	const struct figure *f, const char *what, const struct extent *e, bool logarithmic, struct plot *plot)
{
	fputs("set title ", plot->script);
	plot_quote_format(plot, "%s, run %" PRId64 ": %s, %s%s", f->analysis->run.program,
		f->analysis->run.id, what,
		f->profile ? "discarded by profile " : "L-samples marked by daemon", f->profile ?: "");
	if (logarithmic) {
		fputs(" . \"\\n\" . ", plot->script);
		plot_quote_format(plot, "%s axis linear up to %s from the median, logarithmic beyond",
			time_name(f), text_duration(llround(e->linear * 1e9)));
	}
	fputc('\n', plot->script);
}

static void draw_scatter(const void *subject, struct plot *plot)
{
	const struct figure *f = subject;
	struct extent e = extent_of(f);
	bool logarithmic = plot_time_axis(plot, "x", e.linear, e.least, e.most);
	_cleanup_(freep) char *what = text_format("%zu pairs of samples", f->analysis->n_samples / 2);
	struct marks marks;

	plot_time_axis(plot, "y", e.linear, e.least, e.most);
	print_title(f, what ?: "", &e, logarithmic, plot);
	plot_set(plot, "xlabel", "%s of the first sample of a pair, minus the median (%s)", time_name(f),
		median_text(f));
	plot_set(plot, "ylabel", "%s of the second sample of a pair, minus the median", time_name(f));
	fputs("set key outside right top reverse Left title 'pairs (number)'\nset size square\n",
		plot->script);
	fprintf(plot->script,
		"set object 1 rectangle from %.9g,%.9g to %.9g,%.9g behind fc rgb '#dce9f7' fs solid border lc rgb '#5580b0'\n",
		e.low, e.low, e.high, e.high);
	marks = marks_of_pairs(f, plot);
	marks_plot(f, &marks, true, plot);
}

static void draw_samples(const void *subject, struct plot *plot)
{
	const struct figure *f = subject;
	struct extent e = extent_of(f);
	bool logarithmic = plot_time_axis(plot, "y", e.linear, e.least, e.most);
	_cleanup_(freep) char *what = text_format("%zu samples", f->analysis->n_samples);
	struct marks marks;
	struct marks samples_marks = {};

	print_title(f, what ?: "", &e, logarithmic, plot);
	plot_set(plot, "ylabel", "%s minus the median of the central cluster (%s)", time_name(f),
		median_text(f));
	fprintf(plot->script,
		"set xlabel 'sample'\nset xrange [0:%" PRIu32
		"]\nset key outside right top reverse Left title 'samples (number)'\n"
		"set object 1 rectangle from graph 0,first %.9g to graph 1,first %.9g behind fc rgb '#dce9f7' fs solid noborder\n",
		f->analysis->samples[f->analysis->n_samples - 1].n + 1, e.low, e.high);

	const struct sample *s = f->analysis->samples;

	for (uint8_t cause = 0; cause < N_CAUSES; cause++) {
		for (size_t i = 0; i < f->analysis->n_samples; i++) {
			if (f->causes[i] != cause)
				continue;
			begin_point(&samples_marks, cause, plot);
			fprintf(plot->script, "%" PRIu32 " %.9f\n", s[i].n, beyond_median(f, s[i].et_ns));
		}
		end_points(&samples_marks, cause, plot);
	}
	marks = samples_marks;
	marks_plot(f, &marks, true, plot);
}

/* The successive zooms of cluster detection in one picture, as in EMP's Figure 14: a panel each, with linear axes and
 * the frame of the next zoom; the title says what that excludes. The key has a separate panel. */

enum { MOST_PANELS = 8, MOST_COLUMNS = 3 };

/* Which zooms are drawn: all, or the first, the last and some between. */
static size_t choose_zooms(size_t n, size_t *chosen)
{
	size_t panels = n < MOST_PANELS ? n : MOST_PANELS;

	for (size_t i = 0; i < panels; i++)
		chosen[i] = panels == 1 ? 0 : i * (n - 1) / (panels - 1);
	return panels;
}

/* Room for the panels and the key. */
static void lay_out(size_t panels, size_t *columns, size_t *rows)
{
	*columns = panels + 1 < MOST_COLUMNS ? panels + 1 : MOST_COLUMNS;
	*rows = (panels + *columns) / *columns;
}

static void draw_zooms(const void *subject, struct plot *plot)
{
	const struct figure *f = subject;
	size_t chosen[MOST_PANELS], panels = choose_zooms(f->analysis->central.n_zooms, chosen), columns,
				    rows;
	struct marks marks = marks_of_pairs(f, plot);

	lay_out(panels, &columns, &rows);
	fprintf(plot->script, "set multiplot layout %zu,%zu title ", rows, columns);
	plot_quote_format(plot,
		"%s, run %" PRId64
		": %s of the first (x) and second sample (y) of a pair, minus the median (%s)",
		f->analysis->run.program, f->analysis->run.id, time_name(f), median_text(f));
	fputs("\nset size square\nunset key\n", plot->script);
	for (size_t i = 0; i < panels; i++) {
		const struct zoom *z = &f->analysis->central.zooms[chosen[i]];
		double low = beyond_median(f, z->low_ns), high = beyond_median(f, z->high_ns);
		double reach = central_reach(f);

		if (high <= low) {
			low -= reach;
			high += reach;
		}
		fputs("set title ", plot->script);
		plot_quote_format(
			plot, "zoom %zu: %zu sample%s", chosen[i] + 1, z->left, z->left == 1 ? "" : "s");
		fputs(" . \"\\n\" . ", plot->script);
		if (z->end == ZOOM_GAP)
			plot_quote_format(plot, "%zu %s samples beyond a gap of %s", z->beyond,
				z->below ? "shorter" : "longer", text_duration(z->gap_ns));
		else if (z->end == ZOOM_DAEMONS)
			plot_quote_format(plot, "%zu longer samples, %.0f %% explained by daemons", z->beyond,
				100 * z->explained);
		else if (z->end == ZOOM_HAND)
			plot_quote_format(plot, "%zu samples longer than the given bound", z->beyond);
		else
			plot_quote(plot, "the central cluster");
		fputc('\n', plot->script);
		plot_time_axis(plot, "x", high - low, low, high);
		plot_time_axis(plot, "y", high - low, low, high);
		fputs("unset object\n", plot->script);
		if (z->end != ZOOM_LAST)
			fprintf(plot->script,
				"set object 1 rectangle from %.9g,%.9g to %.9g,%.9g front fs empty border lc rgb '#5580b0'\n",
				beyond_median(f, z[1].low_ns), beyond_median(f, z[1].low_ns),
				beyond_median(f, z[1].high_ns), beyond_median(f, z[1].high_ns));
		marks_plot(f, &marks, false, plot);
	}
	fputs("unset object\nunset title\nunset border\nunset tics\nunset grid\nset xrange [0:1]\nset yrange [0:1]\n"
	      "set key center center reverse Left title 'pairs (number)'\n",
		plot->script);
	/* The same without points: a key alone. */
	print_plot(f, &marks, "NaN", true, plot);
	fputs("unset multiplot\n", plot->script);
}

/* The zooms that led to the central cluster, a panel each (Figure 14). */
static struct drawing figure_zooms(const struct figure *f)
{
	size_t chosen[MOST_PANELS], columns, rows;

	lay_out(choose_zooms(f->analysis->central.n_zooms, chosen), &columns, &rows);
	return (struct drawing){draw_zooms, f, 400 * (int)columns, 40 + 420 * (int)rows};
}

static struct {
	const char *output;
	int64_t central_max_ns;
	bool zooms, samples, script;
} options;

const struct option_row scatter_options[] = {
	{'o', "output", "FILE", "the picture: .png, .svg or .pdf", NULL, &options.output},
	{0, "profile", "NAME", "mark the samples that this profile discards, by daemon", NULL,
		&analyze_options.profile},
	{0, "central-max", "TIME", "longest ET of the central cluster, set by hand", option_duration,
		&options.central_max_ns},
	OTHER_CPUS_OPTION,
	BY_WAIT_OPTIONS,
	{0, "zooms", NULL, "draw each zoom of cluster detection in a panel of its own", NULL, &options.zooms},
	{0, "samples", NULL, "draw single samples in order of time", NULL, &options.samples},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{},
};

int verb_scatter(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clear) struct analysis analysis = {};
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(figure_clear) struct figure figure = {};
	const struct analysis_options how = {.central_max_ns = options.central_max_ns};
	int r;

	if (!options.output)
		return error_say(err, -EINVAL, "name the picture with -o FILE.png (or .svg, .pdf)");
	if (options.zooms && options.samples)
		return error_say(err, -EINVAL, "--zooms and --samples are two pictures; choose one");
	r = analyze_load(argv[0], &how, &book, &analysis, err);
	if (r == 0 && analyze_options.profile)
		r = analyze_discard(book, analysis.run.id, &d, err);
	if (r < 0)
		return r;
	figure_prepare(&figure, &analysis, analyze_options.profile ? &d : NULL, analyze_options.profile);
	/* One point a sample, in the order of time (Figure 13). */
	/* One point a pair, relative to the median of the central cluster (EMP, Figure 14). */
	return plot_drawing(options.zooms     ? figure_zooms(&figure)
			    : options.samples ? ((struct drawing){draw_samples, &figure, 1300, 600})
					      : ((struct drawing){draw_scatter, &figure, 1100, 800}),
		options.output, options.script, err);
}
