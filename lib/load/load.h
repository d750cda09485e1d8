/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a load records in addition to its samples: each run of the load is a sample of one run in the book, and its slaves are the
 * programs of that run (programs.h). */
#pragma once

#include "lib/record/fields.h"

enum coordination {
	LOAD_CONSTANT,    /* a slave that has finished repeats its work until the last one has finished */
	LOAD_NO_TEARDOWN, /* it waits; the meters stop before the slaves are torn down */
	LOAD_BEFORE,      /* the meters run until all slaves have been torn down */
	N_COORDINATIONS
};

extern const char *const coordination_names[N_COORDINATIONS];

/* A run in the book. */
struct load_row {
	enum coordination coordination;
	char *cpus;          /* that its slaves were pinned to, as its file says; NULL: all */
	char *file;          /* its text */
	char *no_page_waits; /* why they were not measured; NULL: they were */
};

struct load_sample {
	uint32_t sample;    /* its n */
	int64_t release_ns; /* how long it took to wake all slaves */
	int64_t driver_ns;  /* CPU time of the driver while the meters ran */
	int64_t idle_ns;    /* of the CPUs that its slaves could run on, meanwhile; -1: not known */
	int64_t cpus;       /* how many they were; likewise */
};

extern const struct field_table load_table, load_sample_table;

void load_row_clear(struct load_row *row);
