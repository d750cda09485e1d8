/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a table of a session's results has of each command. */
#pragma once

#include "measure/session.h"

/* One command. */
struct export_row {
	const struct result *result;
	double mean_ns, sd_ns, median_ns, user_ns, system_ns, min_ns, max_ns;
	double relative,
		relative_sd; /* to the reference, else to the fastest; sd NAN: this is the reference */
	double pt_mean_ns, pt_sd_ns, pt_samples, discarded;
	double memory_bytes; /* peak, the mean of the samples kept; NAN: not known */
	double pt_ratio, pt_ratio_low, pt_ratio_high; /* of a duet, to the first command; NAN: none */
};

struct export_rows {
	struct export_row *items;
	size_t n;
};

/* Of the commands that have samples, in their order. */
int export_rows_make(const struct session *session, struct export_rows *ret, struct error *err);
void export_rows_sort(struct export_rows *rows); /* the fastest first */
void export_rows_clear(struct export_rows *rows);
