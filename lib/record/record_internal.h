/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that the tables of runs and of profiles have in common. */
#pragma once

/* An id of the book. */
#define ID .min = 1

/* Of a struct with a member `correlation`. */
#define CORRELATION(of)                                                                       \
	{"correlation", FIELD_REAL, offsetof(struct of, correlation.lag1), sizeof(double),    \
		.book_only = true},                                                           \
	{                                                                                     \
		"correlation_samples", FIELD_INT64, offsetof(struct of, correlation.samples), \
			sizeof(int64_t), IS_OPTIONAL, .min = 1, .max = UINT32_MAX,            \
						      .book_only = true                       \
	}
