/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ticks of a picture's axis: four or more where its range permits, as many as have room, all in
 * the one unit that the title of the axis names. */
#pragma once

#include "lib/base/base.h"

enum axis_scale {
	AXIS_LINEAR,
	AXIS_LOGARITHMIC,
	AXIS_ARSINH, /* linear about 0, logarithmic beyond on both sides */
};

struct axis {
	enum axis_scale scale;
	bool seconds;     /* what it shows is in seconds; else a number without a unit */
	double low, high; /* what it shows; low < high, and above 0 if it is logarithmic */
	double linear;    /* AXIS_ARSINH: about as far as this it is linear */
	size_t room;      /* for so many labels */
};

enum { AXIS_MOST_TICKS = 40 };

struct axis_ticks {
	struct axis_tick {
		double at;
		char label[24]; /* in the unit */
	} items[AXIS_MOST_TICKS];
	size_t n;
	const char *unit; /* "ms"; "": none */
	double per;       /* units in what the axis shows: 1000 of "ms" */
};

struct axis_ticks axis_ticks_of(const struct axis *axis);

/* What the axis must show for `share` of its length to be free on both sides. */
struct axis axis_with_margin(struct axis axis, double share);
