/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a study: see study_picture.h. */
#include "lib/study/study_picture.h"

#include "lib/protocol/sample_size.h"
#include "lib/report/plot.h"
#include "lib/study/paper_numbers.h"
#include "lib/study/study_internal.h"

const char *const study_picture_names[N_STUDY_PICTURES + 1] = {
	[STUDY_PICTURE_CV] = "cv",
	[STUDY_PICTURE_SD] = "sd",
	[STUDY_PICTURE_TIME] = "time",
	[STUDY_PICTURE_SHARES] = "shares",
};

enum study_picture study_picture_for(enum study_kind kind)
{
	return kind == STUDY_ALGORITHMS ? STUDY_PICTURE_TIME : STUDY_PICTURE_CV;
}

/* Points with their intervals, which a line joins; or without it, beside a fit; or a line without
 * points: a fit, or a paper's. */
enum curve_kind { CURVE_JOINED, CURVE_LINE, CURVE_POINTS };

struct curve {
	char *name;
	size_t panel, look; /* look: its colour and mark, from 1 */
	enum curve_kind kind;
	struct curve_point {
		double x, y;
		struct block_interval interval; /* NAN: none */
	} * points;
	size_t n;
};

enum { MOST_PANELS = 2 };

struct curves {
	char *heading;
	const char *x_title;
	bool x_seconds; /* x is in seconds; else a size or a number */
	size_t n_panels;
	struct curve_panel {
		const char *caption, *y_title;
		bool seconds;
	} panels[MOST_PANELS];
	struct curve *items;
	size_t n;
};

static void curves_clear(struct curves *curves)
{
	for (size_t i = 0; i < curves->n; i++) {
		free(curves->items[i].name);
		free(curves->items[i].points);
	}
	free(curves->items);
	free(curves->heading);
}

static struct curve *curve_add(
	struct curves *curves, size_t panel, size_t look, enum curve_kind kind, const char *name)
{
	struct curve *curve = array_add(curves->items, curves->n);

	*curve = (struct curve){.name = xstrdup(name), .panel = panel, .look = look, .kind = kind};
	return curve;
}

/* What has no logarithm is not drawn. */
static void curve_add_point(struct curve *curve, double x, double y, struct block_interval interval)
{
	if (!(x > 0) || !(y > 0) || isinf(y))
		return;
	if (!(interval.low > 0) || isinf(interval.high))
		interval = (struct block_interval){NAN, NAN};
	*array_add(curve->points, curve->n) = (struct curve_point){x, y, interval};
}

/* In seconds, or as it is. */
static struct block_interval scaled(struct block_interval interval, double by)
{
	return (struct block_interval){interval.low * by, interval.high * by};
}

/* Curves of CV, sd or mean against the mean ET of all samples. */
static void add_length_points(const struct study_report *report, struct curve *curve,
	size_t combination, enum study_rule rule, enum study_clock clock,
	enum study_picture picture)
{
	const struct study_data *data = report->data;

	for (size_t s = 0; s < data->n_subjects; s++) {
		const struct study_cell *cell = study_cell_of(data, combination, s);
		struct block_summary b = block_summary_of(&cell->times[rule][clock]);
		struct block_summary x = block_summary_of(&cell->times[STUDY_RULE_ALL][STUDY_ET]);
		double length = x.mean_ns / 1e9;

		if (picture == STUDY_PICTURE_CV)
			curve_add_point(curve, length, 100 * b.cv, scaled(b.cv_interval, 100));
		else if (picture == STUDY_PICTURE_SD)
			curve_add_point(curve, length, b.sd_ns / 1e9, scaled(b.sd_interval, 1e-9));
		else
			curve_add_point(
				curve, length, b.mean_ns / 1e9, scaled(b.mean_interval, 1e-9));
	}
}

static void add_paper_curve(struct curves *curves, size_t look, const char *name, const char *table,
	enum study_picture picture)
{
	struct curve *curve = curve_add(curves, 0, look, CURVE_LINE, name);

	for (const struct paper_row *p = paper_rows; p->table; p++)
		if (!strcmp(p->table, table))
			curve_add_point(curve, p->mean_ms / 1e3,
				picture == STUDY_PICTURE_CV ? 100 * p->sd_ms / p->mean_ms
							    : p->sd_ms / 1e3,
				(struct block_interval){NAN, NAN});
}

static const char *picture_title(enum study_picture picture)
{
	static const char *const titles[] = {"CV (%)", "standard deviation", "time"};

	return titles[picture];
}

/* EMP, Tables VI and XIX, as a picture. */
static void draw_lengths(
	const struct study_report *report, struct curves *c, enum study_picture picture)
{
	static const struct {
		const char *name;
		enum study_rule rule;
		enum study_clock clock;
	} rows[] = {{"ET of all samples", STUDY_RULE_ALL, STUDY_ET},
		{"PT of all samples", STUDY_RULE_ALL, STUDY_PT},
		{"PT after both checks", STUDY_RULE_EMP, STUDY_PT}};

	c->n_panels = 1;
	c->panels[0] = (struct curve_panel){
		"", picture_title(picture), picture != STUDY_PICTURE_CV};
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		add_length_points(report, curve_add(c, 0, i + 1, CURVE_JOINED, rows[i].name), 0,
			rows[i].rule, rows[i].clock, picture);
	if (picture == STUDY_PICTURE_TIME)
		return;
	add_paper_curve(c, 2, "the paper's PT (EMP, Table VI)", "VI", picture);
	add_paper_curve(c, 3, "the same after both checks (Table XIX)", "XIX", picture);
}

/* EMP, Figures 9 to 12 and 17: a curve for each combination of settings, of ET and of PT. */
static void draw_versions(
	const struct study_report *report, struct curves *c, enum study_picture picture)
{
	c->n_panels = N_STUDY_CLOCKS;
	for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++) {
		c->panels[clock] = (struct curve_panel){study_clock_names[clock],
			picture_title(picture), picture != STUDY_PICTURE_CV};
		for (size_t i = 0; i < report->data->n_combinations; i++)
			add_length_points(report,
				curve_add(c, clock, i + 1, CURVE_JOINED,
					study_combination_name(report->data, i)),
				i, report->rule, clock, picture);
	}
}

/* EMP, Tables XX to XXIV: what the first samples show. */
static void draw_samples(
	const struct study_report *report, struct curves *c, enum study_picture picture)
{
	const struct study_data *data = report->data;

	c->x_title = "first samples";
	c->x_seconds = false;
	c->n_panels = N_STUDY_CLOCKS;
	for (size_t k = 0; k < N_STUDY_CLOCKS * data->n_subjects; k++) {
		size_t clock = k / data->n_subjects, s = k % data->n_subjects;
		struct sample_sizes sizes;
		struct curve *curve = curve_add(
			c, clock, s + 1, CURVE_JOINED, data->subjects[s].name);

		c->panels[clock] = (struct curve_panel){study_clock_names[clock],
			picture_title(picture), picture != STUDY_PICTURE_CV};
		if (study_sizes(report, s, clock, &sizes, NULL) < 0)
			continue;
		for (size_t i = 0; i < sizes.n; i++) {
			const struct sample_size *first = &sizes.rows[i];
			double y = 100 * first->sd_ns / first->mean_ns;

			if (picture == STUDY_PICTURE_SD)
				y = first->sd_ns / 1e9;
			if (picture == STUDY_PICTURE_TIME)
				y = first->mean_ns / 1e9;
			curve_add_point(
				curve, (double)first->n, y, (struct block_interval){NAN, NAN});
		}
	}
}

enum { FIT_POINTS = 40 };

/* The growth of one program, if it is known, as a line in place of that between its points. */
static void add_fit_line(
	struct curves *c, const struct study_report *report, size_t subject, size_t look, size_t of)
{
	const char *program = report->data->subjects[subject].program;
	_cleanup_(freep) char *name = NULL;
	struct complexity fit;
	double low = INFINITY, high = 0;
	struct curve *line;
	size_t n;

	if (study_fit(report, &subject, &fit, &n, NULL) < 0 || n == 0 ||
		fit.verdict != COMPLEXITY_KNOWN)
		return;
	for (size_t i = 0; i < c->items[of].n; i++) {
		low = fmin(low, c->items[of].points[i].x);
		high = fmax(high, c->items[of].points[i].x);
	}
	c->items[of].kind = CURVE_POINTS;
	name = text_format("%s: fit of %s", program, growth_names[fit.best]);
	line = curve_add(c, 0, look, CURVE_LINE, name);
	for (int i = 0; i < FIT_POINTS; i++) {
		double x = low * pow(high / low, (double)i / (FIT_POINTS - 1));
		double ns = growth_curve_at(&fit.curves[fit.best], fit.best, x);

		curve_add_point(line, x, ns / 1e9, (struct block_interval){NAN, NAN});
	}
}

/* EMP, Figure 19, and SEDONA, Figure 5: PT and its CV by the size of the work. */
static void draw_algorithms(
	const struct study_report *report, struct curves *c, enum study_picture picture)
{
	const struct study_data *data = report->data;
	bool time = picture == STUDY_PICTURE_TIME;
	size_t look = 0;

	c->x_title = "size";
	c->x_seconds = false;
	c->n_panels = time ? 2 : 1;
	c->panels[0] = (struct curve_panel){
		"PT", picture_title(picture), picture != STUDY_PICTURE_CV};
	c->panels[1] = (struct curve_panel){"relative error of PT", "CV (%)", false};
	for (size_t s = 0; s < data->n_subjects;) {
		const char *program = data->subjects[s].program;
		size_t first = c->n, first_subject = s;

		curve_add(c, 0, ++look, CURVE_JOINED, program);
		if (time)
			curve_add(c, 1, look, CURVE_JOINED, program);
		for (; s < data->n_subjects && !strcmp(data->subjects[s].program, program); s++) {
			struct block_summary b = block_summary_of(
				study_times(report, 0, s, STUDY_PT));
			double size = data->subjects[s].size;
			struct curve *curve = &c->items[first];

			if (time) {
				curve_add_point(curve, size, b.mean_ns / 1e9,
					scaled(b.mean_interval, 1e-9));
				curve_add_point(
					curve + 1, size, 100 * b.cv, scaled(b.cv_interval, 100));
			} else if (picture == STUDY_PICTURE_CV)
				curve_add_point(
					curve, size, 100 * b.cv, scaled(b.cv_interval, 100));
			else
				curve_add_point(
					curve, size, b.sd_ns / 1e9, scaled(b.sd_interval, 1e-9));
		}
		if (time)
			add_fit_line(c, report, first_subject, look, first);
	}
}

/* The axis of all x (panel < 0), or of all y of a panel. False: it has no points. */
static bool find_axis(const struct curves *c, int panel, struct axis *ret)
{
	struct axis axis = {.scale = AXIS_LOGARITHMIC, .low = INFINITY, .high = 0, .room = 6};

	axis.seconds = panel < 0 ? c->x_seconds : c->panels[panel].seconds;
	for (const struct curve *curve = c->items; curve < c->items + c->n; curve++)
		for (size_t i = 0; i < curve->n; i++) {
			const struct curve_point *p = &curve->points[i];
			double low = panel < 0 ? p->x : fmin(p->y, p->interval.low);
			double high = panel < 0 ? p->x : fmax(p->y, p->interval.high);

			if (panel >= 0 && curve->panel != (size_t)panel)
				continue;
			axis.low = fmin(axis.low, low);
			axis.high = fmax(axis.high, high);
		}
	if (axis.high <= 0)
		return false;
	if (axis.high < 1.5 * axis.low) {
		axis.low /= 1.5;
		axis.high *= 1.5;
	}
	*ret = axis_with_margin(axis, 0.05);
	return true;
}

/* Large sizes are shown in thousands, for which their axis has room. */
static void shorten_sizes(struct curves *c)
{
	struct axis axis;

	if (c->x_seconds || !find_axis(c, -1, &axis) || axis.high < 1e5)
		return;
	c->x_title = text_brief("%s (thousands)", c->x_title);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->items[i].n; k++)
			c->items[i].points[k].x /= 1e3;
}

static size_t key_lines(const struct curves *c)
{
	size_t lines = 0;

	for (size_t i = 0; i < c->n; i++)
		lines += c->items[i].n > 0 && c->items[i].panel == 0;
	return lines;
}

enum { PANEL_HEIGHT = 42, HEADING_HEIGHT = 4, BELOW_HEIGHT = 9 }; /* mm */

static double curves_height(const struct curves *c)
{
	return plot_height(
		HEADING_HEIGHT + PANEL_HEIGHT * (double)c->n_panels + BELOW_HEIGHT, key_lines(c));
}

static void write_curves(const void *subject, FILE *script)
{
	const struct curves *c = subject;
	struct axis axis;
	size_t n = 0;

	plot_text(script, "heading", 0, "%s", c->heading);
	plot_text(script, "x_title", 0, "%s", c->x_title);
	find_axis(c, -1, &axis);
	plot_axis(script, "x", 0, &axis);
	fprintf(script, "heading_share = %.4f\npanel_share = %.4f\n",
		HEADING_HEIGHT / curves_height(c), PANEL_HEIGHT / curves_height(c));
	fprintf(script, "panels = %zu\nkey_lines = %zu\narray captions[%zu]\narray y_titles[%zu]\n",
		c->n_panels, key_lines(c), c->n_panels, c->n_panels);
	plot_axes(script, "y", c->n_panels);
	for (size_t p = 0; p < c->n_panels; p++) {
		plot_text(script, "captions", p + 1, "%s", c->panels[p].caption);
		plot_text(script, "y_titles", p + 1, "%s", c->panels[p].y_title);
		if (find_axis(c, (int)p, &axis))
			plot_axis(script, "y", p + 1, &axis);
	}
	fprintf(script,
		"n_curves = %zu\narray names[%zu]\narray panel[%zu]\narray looks[%zu]\n"
		"array kinds[%zu]\n$curves << EOD\n",
		c->n, c->n, c->n, c->n, c->n);
	for (size_t i = 0; i < c->n; i++) {
		if (c->items[i].n == 0)
			fputs("NaN NaN NaN NaN\n", script);
		for (size_t k = 0; k < c->items[i].n; k++) {
			const struct curve_point *p = &c->items[i].points[k];
			bool known = !isnan(p->interval.low);

			fprintf(script, "%.9g %.9g %.9g %.9g\n", p->x, p->y,
				known ? p->interval.low : p->y, known ? p->interval.high : p->y);
		}
		fputs("\n\n", script);
	}
	fputs("EOD\n", script);
	for (const struct curve *curve = c->items; curve < c->items + c->n; curve++) {
		_cleanup_(freep) char *name = plot_short(curve->name, 44);

		plot_text(script, "names", ++n, "%s", curve->n > 0 ? name : "");
		fprintf(script, "panel[%zu] = %zu\nlooks[%zu] = %zu\nkinds[%zu] = %d\n", n,
			curve->panel + 1, n, (curve->look - 1) % 8 + 1, n, curve->kind);
	}
}

/* Rows of a label, with one or two values and their intervals each. */
struct picture_rows {
	char *heading;
	const char *title; /* of the axis */
	bool logarithmic, seconds;
	double mark; /* a line at this value; NAN: none */
	const char *series[2];
	size_t n_series;
	struct picture_row {
		char *label;
		double values[2];
		struct block_interval intervals[2];
	} * items;
	size_t n;
};

static void picture_rows_clear(struct picture_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(rows->items[i].label);
	free(rows->items);
	free(rows->heading);
}

static void set_row_value(struct picture_row *row, size_t series, const struct block_summary *b,
	enum study_picture picture)
{
	row->values[series] = picture == STUDY_PICTURE_CV ? 100 * b->cv : b->sd_ns / 1e9;
	row->intervals[series] = picture == STUDY_PICTURE_CV ? scaled(b->cv_interval, 100)
							     : scaled(b->sd_interval, 1e-9);
	if (picture == STUDY_PICTURE_TIME) {
		row->values[series] = b->mean_ns / 1e9;
		row->intervals[series] = scaled(b->mean_interval, 1e-9);
	}
}

static void list_clock_rows(
	const struct study_report *report, struct picture_rows *rows, enum study_picture picture)
{
	const struct study_data *data = report->data;

	rows->series[0] = "of each clock";
	rows->n_series = 1;
	for (size_t i = 0; i < study_n_clocks(data); i++) {
		struct study_clock_times of = study_clock(report, i);
		struct block_summary b = block_summary_of(&of.times);
		struct picture_row *row;

		if (b.n == 0)
			continue;
		row = array_add(rows->items, rows->n);
		row->label = xstrdup(of.name);
		if (data->n_subjects > 1)
			text_append(&row->label, ", ", "%s", data->subjects[of.subject].name);
		set_row_value(row, 0, &b, picture);
	}
}

static void list_suite_rows(
	const struct study_report *report, struct picture_rows *rows, enum study_picture picture)
{
	const struct study_data *data = report->data;

	rows->series[0] = "ET of all samples";
	rows->series[1] = "PT";
	rows->n_series = 2;
	for (size_t s = 0; s < data->n_subjects; s++) {
		struct block_summary et = block_summary_of(
			&study_cell_of(data, 0, s)->times[STUDY_RULE_ALL][STUDY_ET]);
		struct block_summary pt = block_summary_of(study_times(report, 0, s, STUDY_PT));
		struct picture_row *row;

		if (et.n == 0)
			continue;
		row = array_add(rows->items, rows->n);
		row->label = xstrdup(data->subjects[s].name);
		set_row_value(row, 0, &et, picture);
		set_row_value(row, 1, &pt, picture);
	}
}

/* The share of variance that each step removes, of each program: of ET and of PT. */
static void list_share_rows(const struct study_report *report, struct picture_rows *rows)
{
	const struct study_data *data = report->data;

	rows->series[0] = "ET";
	rows->series[1] = "PT";
	rows->n_series = 2;
	rows->logarithmic = rows->seconds = false;
	rows->mark = 0;
	rows->title = "variance removed (%; intervals cut at ±100)";
	for (size_t k = 0; k < data->n_contrasts * data->n_subjects; k++) {
		size_t s = k % data->n_subjects;
		const struct study_contrast *c = &data->contrasts[k / data->n_subjects];
		struct picture_row *row = array_add(rows->items, rows->n);

		row->label = text_format("%s: %s", c->name, data->subjects[s].name);
		for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++) {
			struct step_shares shares = step_shares_of(
				study_times(report, c->before, s, clock),
				study_times(report, c->after, s, clock),
				study_times(report, 0, s, clock));

			row->values[clock] = 100 * shares.removed.share;
			row->intervals[clock] = scaled(shares.removed.interval, 100);
		}
	}
}

/* Intervals of which little is known would leave no room for the values: those of shares are shown
 * up to 100 %. */
static bool find_rows_axis(const struct picture_rows *rows, struct axis *ret)
{
	struct axis axis = {.scale = rows->logarithmic ? AXIS_LOGARITHMIC : AXIS_LINEAR,
		.seconds = rows->seconds,
		.low = INFINITY,
		.high = -INFINITY,
		.room = 4};

	for (size_t k = 0; k < rows->n * rows->n_series; k++) {
		const struct picture_row *row = &rows->items[k / rows->n_series];
		size_t series = k % rows->n_series;
		struct block_interval i = row->intervals[series];
		double value = row->values[series];

		if (isnan(value) || (rows->logarithmic && value <= 0))
			continue;
		if (!rows->logarithmic) {
			i.low = fmax(i.low, -100);
			i.high = fmin(i.high, 100);
		}
		axis.low = fmin(
			axis.low, rows->logarithmic && i.low <= 0 ? value : fmin(value, i.low));
		axis.high = fmax(axis.high, fmax(value, i.high));
	}
	if (!isnan(rows->mark)) {
		axis.low = fmin(axis.low, rows->mark);
		axis.high = fmax(axis.high, rows->mark);
	}
	if (!(axis.low <= axis.high))
		return false;
	if (rows->logarithmic && axis.high < 1.5 * axis.low) {
		axis.low /= 1.5;
		axis.high *= 1.5;
	} else if (!rows->logarithmic && axis.high - axis.low < 1) {
		axis.low -= 1;
		axis.high += 1;
	}
	*ret = axis_with_margin(axis, 0.05);
	return true;
}

static void write_picture_rows(const void *subject, FILE *script)
{
	const struct picture_rows *rows = subject;
	struct axis axis;

	plot_text(script, "heading", 0, "%s", rows->heading);
	plot_text(script, "x_title", 0, "%s", rows->title);
	find_rows_axis(rows, &axis);
	plot_axis(script, "x", 0, &axis);
	fprintf(script,
		"logarithmic = %d\nmarked = %d\nmark = %g\nn_series = %zu\nn_rows = %zu\n"
		"array names[%zu]\narray labels[%zu]\n$rows << EOD\n",
		rows->logarithmic, !isnan(rows->mark), isnan(rows->mark) ? 0 : rows->mark,
		rows->n_series, rows->n, rows->n_series, rows->n);
	for (size_t series = 0; series < rows->n_series; series++) {
		for (size_t i = 0; i < rows->n; i++) {
			const struct picture_row *row = &rows->items[i];
			double value = row->values[series];
			struct block_interval ci = row->intervals[series];
			bool known = !isnan(ci.low) && !isinf(ci.low) && !isinf(ci.high);

			if (isnan(value) || isinf(value))
				fputs("NaN NaN NaN NaN\n", script);
			else
				fprintf(script, "%zu %.9g %.9g %.9g\n", i + 1, value,
					known ? ci.low : value, known ? ci.high : value);
		}
		fputs("\n\n", script);
	}
	fputs("EOD\n", script);
	for (size_t series = 0; series < rows->n_series; series++)
		plot_text(script, "names", series + 1, "%s", rows->series[series]);
	for (size_t i = 0; i < rows->n; i++) {
		_cleanup_(freep) char *label = plot_short(rows->items[i].label, 16);

		plot_tick_text(script, "labels", i + 1, label);
	}
}

static char *picture_heading(const struct study_report *report)
{
	const struct study_data *data = report->data;
	/* each curve of lengths has its own */
	bool one_rule = data->study.what != STUDY_LENGTHS;

	return text_format("Study %" PRId64 ": %s%s%s%s", data->study.id, data->study.name,
		one_rule ? " (rule: " : "", one_rule ? study_rule_names[report->rule] : "",
		one_rule ? ")" : "");
}

static int nothing_to_draw(
	const struct study_report *report, enum study_picture picture, struct error *err)
{
	return error_say(err, -EINVAL, "study %" PRId64 " (%s) has nothing for a picture of '%s'",
		report->data->study.id, report->data->study.name, study_picture_names[picture]);
}

static int draw_rows(const struct study_report *report, enum study_picture picture,
	const char *path, bool keep, struct error *err)
{
	_cleanup_(picture_rows_clear) struct picture_rows rows = {
		.heading = picture_heading(report),
		.title = picture_title(
			picture == STUDY_PICTURE_SHARES ? STUDY_PICTURE_CV : picture),
		.logarithmic = true,
		.seconds = picture != STUDY_PICTURE_CV,
		.mark = NAN};
	struct axis axis;

	if (picture == STUDY_PICTURE_SHARES)
		list_share_rows(report, &rows);
	else if (report->data->study.what == STUDY_CLOCKS)
		list_clock_rows(report, &rows, picture);
	else
		list_suite_rows(report, &rows, picture);
	if (rows.n == 0 || !find_rows_axis(&rows, &axis))
		return nothing_to_draw(report, picture, err);
	return plot_drawing((struct drawing){"study-rows", write_picture_rows, &rows,
				    plot_height(20 + 4.5 * (double)rows.n, rows.n_series)},
		path, keep, err);
}

static int draw_curves(const struct study_report *report, enum study_picture picture,
	const char *path, bool keep, struct error *err)
{
	_cleanup_(curves_clear) struct curves curves = {.heading = picture_heading(report),
		.x_title = "length (mean ET)",
		.x_seconds = true};
	struct axis axis;

	switch (report->data->study.what) {
	case STUDY_LENGTHS:
		draw_lengths(report, &curves, picture);
		break;
	case STUDY_SAMPLES:
		draw_samples(report, &curves, picture);
		break;
	case STUDY_ALGORITHMS:
		draw_algorithms(report, &curves, picture);
		break;
	default:
		draw_versions(report, &curves, picture);
	}
	for (size_t p = 0; p < curves.n_panels; p++)
		if (!find_axis(&curves, (int)p, &axis))
			return nothing_to_draw(report, picture, err);
	shorten_sizes(&curves);
	return plot_drawing(
		(struct drawing){"study-curves", write_curves, &curves, curves_height(&curves)},
		path, keep, err);
}

int study_draw(const struct study_report *report, enum study_picture picture, const char *path,
	bool keep_script, struct error *err)
{
	enum study_kind what = report->data->study.what;

	if (what == STUDY_CLEAN_ROOM)
		return error_say(err, -EINVAL,
			"study %" PRId64 " (%s) is a clean room, which has no picture",
			report->data->study.id, report->data->study.name);
	if (picture == STUDY_PICTURE_SHARES && report->data->n_contrasts == 0)
		return nothing_to_draw(report, picture, err);
	if (picture == STUDY_PICTURE_SHARES || what == STUDY_CLOCKS || what == STUDY_SUITE)
		return draw_rows(report, picture, path, keep_script, err);
	return draw_curves(report, picture, path, keep_script, err);
}
