/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures. How one looks is a gnuplot file, plots/NAME.gp, which users may change; C writes the data that it draws in front
 * of it: variables, arrays of texts, and data blocks. */
#pragma once

#include "lib/base/base.h"

/* write(subject, script) writes what the head of the gnuplot file names. The size is in pixels of a PNG; other kinds have
 * the same shape. */
struct drawing {
	const char *name; /* of the gnuplot file, without .gp */
	void (*write)(const void *subject, FILE *script);
	const void *subject;
	int width, height;
};

/* Draws it into the file `path`, whose ending is its kind: .png, .svg or .pdf. keep: the script stays, with its data, as
 * path + ".gnuplot", also where gnuplot is missing. */
int plot_drawing(struct drawing drawing, const char *path, bool keep, struct error *err);

/* A variable of gnuplot with a text, or its element i (from 1) if it is an array; i = 0: no array. Nothing in the text
 * runs, and control characters are as terminal_text shows them. */
void plot_text(FILE *script, const char *variable, size_t i, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
