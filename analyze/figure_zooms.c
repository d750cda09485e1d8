/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The successive zooms of cluster detection in one picture, as in EMP's Figure 14: a panel each, with linear axes and
 * the frame of the next zoom; the title says what that excludes. The key has a separate panel. */
#include "analyze/figure_marks.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

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
	char median[TEXT_TIME_SIZE];

	lay_out(panels, &columns, &rows);
	fprintf(plot->script, "set multiplot layout %zu,%zu title ", rows, columns);
	plot_quote_format(plot,
		"%s, run %" PRId64
		": %s of the first (x) and second sample (y) of a pair, minus the median (%s)",
		f->analysis->run.program, f->analysis->run.id, time_name(f), median_text(median, f));
	fputs("\nset size square\nunset key\n", plot->script);
	for (size_t i = 0; i < panels; i++) {
		const struct zoom *z = &f->analysis->central.zooms[chosen[i]];
		double low = beyond_median(f, z->low_ns), high = beyond_median(f, z->high_ns);
		double reach = central_reach(f);
		char gap[TEXT_TIME_SIZE];

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
				z->below ? "shorter" : "longer", text_duration(gap, z->gap_ns));
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
	marks_plot_key(f, &marks, plot);
	fputs("unset multiplot\n", plot->script);
}

struct drawing figure_zooms(const struct figure *f)
{
	size_t chosen[MOST_PANELS], columns, rows;

	lay_out(choose_zooms(f->analysis->central.n_zooms, chosen), &columns, &rows);
	return (struct drawing){draw_zooms, f, 400 * (int)columns, 40 + 420 * (int)rows};
}
