/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze scatter: the scatter plot of dual executions, its zooms, and all samples in the order
 * of time (EMP, Figures 13 to 15). plots/scatter.gp draws them. */
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/report/plot.h"

/* Daemons with a mark of their own (the others share one), and panels of zooms. */
enum {
	FIGURE_DAEMONS = 6,
	MOST_PANELS = 7,
	COLUMNS = 2,
	KEY_NAME = 20,     /* columns of text */
	PROGRAM_NAME = 26, /* likewise */
	MANY = 3000,       /* samples: smaller points */
};

/* Times the reach of the cluster: axes that show more are logarithmic. */
static const double LOGARITHMIC_FROM = 4;

/* Why a sample is where it is. Causes from CAUSE_DAEMON on are daemons: figure->daemons[cause -
 * CAUSE_DAEMON]. */
enum cause {
	CAUSE_NONE,
	CAUSE_UNEXPLAINED,
	CAUSE_BELOW,
	CAUSE_TWO_SD,
	CAUSE_NEIGHBOUR,
	CAUSE_OTHER_DAEMON,
	CAUSE_DAEMON,
	N_CAUSES = CAUSE_DAEMON + FIGURE_DAEMONS
};

enum figure_kind { FIGURE_PAIRS, FIGURE_SAMPLES, FIGURE_ZOOMS };

struct figure {
	const struct analysis *analysis;
	const char *profile; /* marks the samples that it discards; NULL: L-samples are marked */
	enum figure_kind kind;
	/* of FIGURE_ZOOMS: how many of the zooms that led to the central cluster have one; else
	 * 1 */
	size_t panels;
	uint8_t *causes; /* one a sample */
	const char *daemons[FIGURE_DAEMONS];
	size_t n_daemons;
};

/* The daemon that used most CPU time in a sample, among those over their cutoff or, without a
 * profile, among those that ran long. */
struct suspect {
	const struct daemon_statistics *daemon; /* NULL: none */
	int64_t pt_ns;
};

static void suspect(struct suspect *s, const struct daemon_statistics *daemon, int64_t pt_ns)
{
	if (!s->daemon || s->pt_ns < pt_ns)
		*s = (struct suspect){daemon, pt_ns};
}

/* The daemons that are suspects of most samples get marks of their own. */
static void choose_daemons(struct figure *f, const struct suspect *suspects)
{
	const struct analysis *a = f->analysis;
	_cleanup_(freep) size_t *samples = xcalloc(a->n_statistics + 1, sizeof(*samples));

	for (size_t i = 0; i < a->n_samples; i++)
		if (suspects[i].daemon)
			samples[suspects[i].daemon - a->statistics]++;
	while (f->n_daemons < FIGURE_DAEMONS) {
		size_t most = 0;

		for (size_t d = 1; d < a->n_statistics; d++)
			if (samples[d] > samples[most])
				most = d;
		if (samples[most] == 0)
			break;
		samples[most] = 0;
		f->daemons[f->n_daemons++] = a->statistics[most].name;
	}
}

static uint8_t cause_of_daemon(const struct figure *f, const struct daemon_statistics *daemon)
{
	for (size_t i = 0; i < f->n_daemons; i++)
		if (f->daemons[i] == daemon->name)
			return (uint8_t)(CAUSE_DAEMON + i);
	return CAUSE_OTHER_DAEMON;
}

/* Of a sample without a suspect. */
static uint8_t cause_without_daemon(const struct analysis *a, const struct sample *sample)
{
	int64_t et_ns = sample->et_ns;

	if (sample_has_neighbour(sample, run_neighbour_limit_ppm(&a->run)))
		return CAUSE_NEIGHBOUR;
	if (et_ns > a->central.high_ns)
		return CAUSE_UNEXPLAINED;
	return et_ns < a->central.low_ns ? CAUSE_BELOW : CAUSE_NONE;
}

/* What made each sample long; the caller frees f->causes. discarding NULL: without a profile. */
static void find_causes(struct figure *f, const struct discarding *discarding)
{
	const struct analysis *a = f->analysis;
	_cleanup_(freep) struct suspect *suspects = xcalloc(a->n_samples, sizeof(*suspects));

	/* of a run in progress there may be samples by now that the analysis has not */
	for (size_t i = 0, at = 0; discarding && i < discarding->n_over; i++) {
		const struct over_cutoff *over = &discarding->over[i];

		while (at < a->n_samples && a->samples[at].n < over->sample)
			at++;
		if (at < a->n_samples)
			suspect(&suspects[at], analysis_daemon(a, over->daemon), over->pt_ns);
	}
	for (size_t i = 0; !discarding && i < a->n_statistics; i++) {
		const struct daemon_statistics *d = &a->statistics[i];

		for (size_t k = 0; k < d->n_long_executions; k++)
			suspect(&suspects[d->long_executions[k].at], d,
				d->long_executions[k].pt_ns);
	}
	choose_daemons(f, suspects);
	f->causes = xcalloc(a->n_samples, sizeof(*f->causes));
	for (size_t i = 0; i < a->n_samples; i++) {
		const struct suspect *s = &suspects[i];

		f->causes[i] = s->daemon ? cause_of_daemon(f, s->daemon)
					 : cause_without_daemon(a, &a->samples[i]);
		if (discarding && f->causes[i] == CAUSE_NONE && !discarding->out[i] &&
			!discarding->pt.in_papers[i])
			f->causes[i] = CAUSE_TWO_SD;
	}
}

static double beyond_median(const struct figure *f, int64_t et_ns)
{
	return (double)(et_ns - f->analysis->central.median_ns) / 1e9;
}

/* The cause of a single sample, or of a pair: that of its longer sample. */
static uint8_t cause_of_point(const struct figure *f, size_t i)
{
	const struct sample *s = f->analysis->samples;
	uint8_t a = f->causes[i], b = f->kind == FIGURE_SAMPLES ? a : f->causes[i + 1];

	if (a == CAUSE_NONE || b == CAUSE_NONE)
		return a == CAUSE_NONE ? b : a;
	return a == b || s[i].et_ns >= s[i + 1].et_ns ? a : b;
}

static size_t count_kinds(const struct figure *f)
{
	bool single = f->kind == FIGURE_SAMPLES, seen[N_CAUSES] = {};
	size_t n = 0;

	for (size_t i = 0; i + !single < f->analysis->n_samples; i += single ? 1 : 2)
		seen[cause_of_point(f, i)] = true;
	for (size_t cause = 0; cause < N_CAUSES; cause++)
		n += seen[cause];
	return n;
}

/* The points of each cause that has some, pairs (with the cause of their longer sample) or single
 * samples, and its name. */
static void write_points(const struct figure *f, FILE *script)
{
	static const char *const names[CAUSE_DAEMON] = {"in the central cluster",
		"long, not explained", "shorter than it", "beyond two sd of PT (papers' check)",
		"beside a neighbour", "other daemons"};
	const struct sample *s = f->analysis->samples;
	bool single = f->kind == FIGURE_SAMPLES;
	size_t n[N_CAUSES] = {}, n_causes = 0;

	fputs("$points << EOD\n", script);
	for (uint8_t cause = 0; cause < N_CAUSES; cause++) {
		for (size_t i = 0; i + !single < f->analysis->n_samples; i += single ? 1 : 2) {
			if (cause_of_point(f, i) != cause)
				continue;
			if (n[cause]++ == 0 && n_causes++ > 0)
				fputs("\n\n", script); /* the next index */
			if (single)
				fprintf(script, "%" PRIu32 " %.9f\n", s[i].n,
					beyond_median(f, s[i].et_ns));
			else
				fprintf(script, "%.9f %.9f %" PRIu32 " %" PRIu32 "\n",
					beyond_median(f, s[i].et_ns),
					beyond_median(f, s[i + 1].et_ns), s[i].n, s[i + 1].n);
		}
	}

	fprintf(script, "EOD\nn_causes = %zu\narray causes[n_causes]\narray names[n_causes]\n",
		n_causes);
	n_causes = 0;
	for (size_t cause = 0; cause < N_CAUSES; cause++) {
		if (n[cause] == 0)
			continue;
		fprintf(script, "causes[%zu] = %zu\n", ++n_causes, cause + 1);
		if (cause >= CAUSE_DAEMON) {
			_cleanup_(freep) char *name = plot_short(
				f->daemons[cause - CAUSE_DAEMON], KEY_NAME);

			plot_text(script, "names", n_causes, "%s (%zu)", name, n[cause]);
			continue;
		}
		plot_text(script, "names", n_causes, "%s (%zu)",
			cause == CAUSE_UNEXPLAINED && f->profile ? "long, but kept" : names[cause],
			n[cause]);
	}
}

/* One panel, from least to most; low above high: without a frame. If it shows much more than
 * `linear`, it is linear as far as that, and logarithmic beyond: one picture then shows a cluster
 * of milliseconds and arms of minutes. */
static void write_panel(FILE *script, size_t i, struct axis axis, double low, double high)
{
	if (fmax(axis.high, -axis.low) > LOGARITHMIC_FROM * axis.linear)
		axis.scale = AXIS_ARSINH;
	axis = axis_with_margin(axis, 0.05);
	plot_axis(script, "axis", i, &axis);
	fprintf(script, "linear[%zu] = %.9g\nlow[%zu] = %.9g\nhigh[%zu] = %.9g\n", i,
		axis.scale == AXIS_LINEAR ? 0 : axis.linear, i, low, i, high);
}

/* What the next zoom leaves out. */
static const char *zoom_text(const struct zoom *z)
{
	switch (z->end) {
	case ZOOM_GAP:
		return text_brief("%zu %s, gap of %s", z->beyond, z->below ? "shorter" : "longer",
			text_duration(z->gap_ns));
	case ZOOM_DAEMONS:
		return text_brief(
			"%zu longer, %.0f %% explained by daemons", z->beyond, 100 * z->explained);
	case ZOOM_HAND:
		return text_brief("%zu longer than the given bound", z->beyond);
	default:
		return "the central cluster";
	}
}

/* A panel for each zoom; of too many, for the first, the last and some between. In each is the
 * frame of the next zoom, and the caption says which samples that leaves out. */
static void write_zooms(const struct figure *f, double reach, FILE *script)
{
	size_t panels = f->panels, n = f->analysis->central.n_zooms;

	for (size_t i = 1; i <= panels; i++) {
		size_t chosen = panels == 1 ? 0 : (i - 1) * (n - 1) / (panels - 1);
		const struct zoom *z = &f->analysis->central.zooms[chosen];
		double low = beyond_median(f, z->low_ns), high = beyond_median(f, z->high_ns);
		bool last = z->end == ZOOM_LAST, point = high <= low;

		low -= point ? reach : 0;
		high += point ? reach : 0;
		write_panel(script, i,
			(struct axis){.seconds = true,
				.low = low,
				.high = high,
				.linear = high - low,
				.room = 6},
			last ? 1 : beyond_median(f, z[1].low_ns),
			last ? 0 : beyond_median(f, z[1].high_ns));
		plot_text(script, "captions", i, "zoom %zu: %s", chosen + 1,
			text_count(z->left, "sample"));
		plot_text(script, "second_lines", i, "%s", zoom_text(z));
	}
}

/* The distance of the cluster's farther bound from its median; of a point, the detection limit of
 * the analysis. */
static double figure_reach(const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;
	double reach = fmax(beyond_median(f, c->high_ns), -beyond_median(f, c->low_ns));

	if (reach > 0)
		return reach;
	return fmax((double)f->analysis->noise.blind_ns, 1) / 1e9;
}

static const char *figure_median(const struct analysis *a)
{
	const struct cluster *c = &a->central;

	if (a->by_wait)
		return text_duration(c->median_ns - a->median_rest_ns);
	return text_precise((double)c->median_ns, (double)(c->high_ns - c->low_ns) / 10);
}

/* One panel with all samples, and the frame of the cluster. */
static void write_whole(
	const struct figure *f, double reach, const char *program, const char *time, FILE *script)
{
	const struct analysis *a = f->analysis;
	const bool pairs = f->kind == FIGURE_PAIRS;
	const size_t n = pairs ? a->n_samples / 2 : a->n_samples;
	const double low = beyond_median(f, a->central.low_ns);
	const double high = beyond_median(f, a->central.high_ns);
	struct axis shown = {.seconds = true, .low = low, .high = high, .linear = reach, .room = 8};
	struct axis numbers = {.low = 0, .high = a->samples[a->n_samples - 1].n + 1, .room = 7};

	for (size_t i = 0; i < a->n_samples; i++) {
		shown.low = fmin(shown.low, beyond_median(f, a->samples[i].et_ns));
		shown.high = fmax(shown.high, beyond_median(f, a->samples[i].et_ns));
	}
	if (shown.high <= shown.low)
		shown.high = shown.low + reach;

	plot_text(script, "captions", 1, "%s, run %" PRId64 ": %s%s%s", program, a->run.id,
		text_count((int64_t)n, pairs ? "pair" : "sample"),
		f->profile ? ", by profile " : "", f->profile ?: "");
	plot_text(script, "second_lines", 1, "%s axis linear up to %s from the median, log beyond",
		time, text_duration(llround(reach * 1e9)));
	write_panel(script, 1, shown, low, high);
	plot_axis(script, "number", 0, &numbers);
}

static void write_figure(const void *subject, FILE *script)
{
	static const char *const kinds[] = {"pairs", "samples", "zooms"};
	const struct figure *f = subject;
	const struct analysis *a = f->analysis;
	const size_t room = f->profile ? KEY_NAME : PROGRAM_NAME;
	const char *time = a->by_wait ? "W" : "ET";
	const double reach = figure_reach(f);
	_cleanup_(freep) char *program = plot_short(a->run.program, room);

	fprintf(script,
		"kind = '%s'\ntime = '%s'\npanels = %zu\nmany = %d\n"
		"array linear[panels]\narray low[panels]\narray high[panels]\n"
		"array captions[panels]\narray second_lines[panels]\n",
		kinds[f->kind], time, f->panels, a->n_samples > MANY);
	plot_axes(script, "axis", f->panels);
	plot_text(script, "median", 0, "%s", figure_median(a));

	if (f->kind == FIGURE_ZOOMS) {
		plot_text(script, "heading", 0, "%s, run %" PRId64, program, a->run.id);
		write_zooms(f, reach, script);
	} else
		write_whole(f, reach, program, time, script);
	write_points(f, script);
}

static struct {
	const char *output;
	bool zooms, samples, script;
} options;

static const struct option_row scatter_options[] = {
	{'o', "output", "FILE", "the picture: .png, .svg or .pdf", NULL, &options.output},
	{0, "profile", "NAME", "mark the samples that this profile discards, by daemon", NULL,
		&analyze_options.profile},
	{0, "central-max", "TIME", "longest ET of the central cluster, set by hand",
		option_duration, &analyze_options.analysis.central_max_ns},
	OTHER_CPUS_OPTION,
	EXECUTION_CLOCK_OPTION,
	BY_WAIT_OPTIONS,
	{0, "zooms", NULL, "draw each zoom of cluster detection in a panel of its own", NULL,
		&options.zooms},
	{0, "samples", NULL, "draw single samples in order of time", NULL, &options.samples},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&options.script},
	LAST_RUN_OPTION,
	{},
};

static int analyze_scatter_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clear) struct analysis analysis = {};
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(freep) uint8_t *causes = NULL;
	struct figure f = {.analysis = &analysis, .profile = analyze_options.profile, .panels = 1};
	struct drawing drawing = {"scatter", write_figure, &f, 0};
	const struct option_rule rules[] = {
		{!options.output, "name the picture with -o FILE.png (or .svg, .pdf)"},
		{options.zooms && options.samples,
			"--zooms and --samples are two pictures; choose one"},
	};
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = analyze_load_run(argv[0], &book, &analysis, err);
	if (r == 0 && f.profile)
		r = analyze_discard_run(book, analysis.run.id, &result, err);
	if (r < 0)
		return r;
	if (analysis.n_samples < 2 && !options.samples)
		return error_say(err, -EINVAL,
			"run %" PRId64
			" has one sample, which makes no pair; --samples draws single samples",
			analysis.run.id);
	find_causes(&f, f.profile ? &result.discarding : NULL);
	causes = f.causes;
	if (options.samples)
		f.kind = FIGURE_SAMPLES;
	else if (options.zooms)
		f.kind = FIGURE_ZOOMS;
	/* a line for each kind of points, and one for the bounds */
	drawing.height = plot_height(options.samples ? 58 : 84, count_kinds(&f) + 1);
	if (options.zooms) {
		size_t n = analysis.central.n_zooms;

		f.panels = n < MOST_PANELS ? n : MOST_PANELS; /* and one for the key */
		drawing.height = 4 + 46 * (double)((f.panels + COLUMNS) / COLUMNS);
	}
	return plot_drawing(drawing, options.output, options.script, err);
}

const struct verb analyze_scatter = {
	.name = "scatter",
	.args = "RUN -o FILE",
	.summary = "draw the scatter plot of dual executions",
	.min_args = 1,
	.max_args = 1,
	.options = scatter_options,
	.run = analyze_scatter_verb,
	.without = "json",
};
