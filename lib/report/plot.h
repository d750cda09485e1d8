/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture through gnuplot: a script with its data is written in memory, and then drawn, kept, or both. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct plot {
	const char *path; /* of the picture; its ending is its kind: .png, .svg or .pdf */
	FILE *script;     /* write gnuplot commands here */
	char *text;
	size_t size;
};

/* A picture: draw(subject, plot) writes the gnuplot commands. The size is in pixels of a PNG; other kinds have the same
 * shape. */
struct drawing {
	void (*draw)(const void *subject, struct plot *plot);
	const void *subject;
	int width, height;
};

/* Draws it into the file `path`. keep: the script stays, as path + ".gnuplot", also where gnuplot is missing. */
int plot_drawing(struct drawing drawing, const char *path, bool keep, struct error *err);

/* A gnuplot string, whatever the text: nothing in it runs, and control characters are as terminal_text shows them. */
void plot_quote(struct plot *plot, const char *text);
void plot_quote_format(struct plot *plot, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a command: set WHAT "…". what: "title", "xlabel"… */
void plot_set(struct plot *plot, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An axis ("x" or "y") of times in seconds that shows both what is within `linear` of zero and what is many
 * times further out: linear near zero, logarithmic beyond (asinh). A plain linear axis where nothing is
 * further out than four times `linear`. Ticks carry their unit. Whether the axis is logarithmic. */
bool plot_time_axis(struct plot *plot, const char *axis, double linear, double least, double most);

/* One tick more of "set xtics (…": ", '-10 ms' -0.01". sign: "" or "-". */
void plot_tick(struct plot *plot, const char *sign, double seconds);
