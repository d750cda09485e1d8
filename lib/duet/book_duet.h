/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet records in addition to its runs. Each program has a run of its own; the samples of
 * one number were taken together. */
#pragma once

#include "lib/document/document.h"

/* One of its runs. */
struct duet_row {
	int64_t reference;  /* the run of its first program, the same in all its runs */
	bool frozen;        /* slices: by the freezer, else the scheduler's */
	int64_t slice_ns;   /* as requested */
	int64_t increments; /* INC's, each time it runs; 0: another program */
	int cpus;           /* that they shared; 0: one */
	bool signalled;     /* slices: by signals */
	/* bytes that the program touches in a slice (working_set.h); -1: not known */
	int64_t working_set;
	/* bytes of the largest cache that the core has for itself; -1: not known, or several
	 * CPUs */
	int64_t own_cache;
	int64_t run; /* not stored, but read */
};

struct duet_sample {
	uint32_t sample;     /* its n */
	int position;        /* that the program started in, from 1 */
	int repetitions;     /* complete ones; the sample's times are their means */
	int64_t together_ns; /* of its ET, while there was another program */
	/* how often it got the CPU after another program, in all complete repetitions; -1: not
	 * known */
	int64_t turns;
};

/* A run of a program without the others, which is no sample. */
struct duet_alone {
	uint32_t n;     /* from 1 */
	uint32_t after; /* the last sample before it; 0: none */
	int64_t start_ns, et_ns, pt_ns;
};

extern const struct field_table duet_table, duet_sample_table, duet_alone_table;
extern const struct document_feature duet_feature;

/* All runs of the duet that this one belongs to, in their order; none: it is of no duet. The caller
 * frees the array. */
int book_duet(
	struct book *book, int64_t run, struct duet_row **ret, size_t *ret_n, struct error *err);
