/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures. How one looks is a gnuplot file, plots/NAME.gp, which users may change; C writes the
 * data that it draws in front of it: variables, arrays of texts, and data blocks. */
#pragma once

#include "lib/report/axis.h"

/* write(subject, script) writes what the head of the gnuplot file names. A picture is as wide as a
 * column of a paper, so that its texts are as large as those around it. */
struct drawing {
	const char *name; /* of the gnuplot file, without .gp */
	void (*write)(const void *subject, FILE *script);
	const void *subject;
	double height; /* in mm */
};

enum { PLOT_WIDTH = 85, /* in mm */ PLOT_COLUMNS = 54 /* of text in it */ };

/* In mm: of a picture or a panel, with so many lines of its key below it, of one entry each. */
double plot_height(double body, size_t key_lines);

/* Before a long measurement: whether a picture of this name could be drawn. -EINVAL: its ending is
 * unknown; -ENOENT: gnuplot is not installed; or the error of its folder. */
int plot_check(const char *path, struct error *err);

/* Draws it into the file `path`, whose ending is its kind: .png, .svg or .pdf. keep: the script
 * stays, with its data, as path + ".gnuplot", also where gnuplot is missing. */
int plot_drawing(struct drawing drawing, const char *path, bool keep, struct error *err);

/* A variable of gnuplot with a text, or its element i (from 1) if it is an array; i = 0: no array.
 * Nothing in the text runs, and control characters are as terminal_text shows them. */
void plot_text(FILE *script, const char *variable, size_t i, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for the label of a tick, which gnuplot takes for a format, so that % is special. */
void plot_tick_text(FILE *script, const char *variable, size_t i, const char *text);

/* A name for plot_text, shortened in its middle so that it is drawn no wider than so many
 * characters are on average; the caller frees it. */
char *plot_short(const char *name, size_t columns);

/* An axis, as NAME_low, NAME_high, NAME_unit, and NAME_ticks for "set xtics"; or its elements i. */
void plot_axis(FILE *script, const char *name, size_t i, const struct axis *axis);

/* The arrays that plot_axis fills, of n elements. */
void plot_axes(FILE *script, const char *name, size_t n);
