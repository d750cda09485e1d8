/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads in the lab book: what they record in addition to their samples. Each run of the load is a
 * sample of one run in the book, and its workers are the programs of that run; what its runs waited
 * for pages and disks, as counts and times by kind, and as histograms. */
#pragma once

#include "lib/document/document.h"
#include "lib/load/page_wait_meter.h"

enum coordination {
	/* a worker that has finished repeats its work until the last one has finished */
	LOAD_CONSTANT,
	LOAD_NO_TEARDOWN, /* it waits; the measurement stops before the workers are torn down */
	LOAD_BEFORE,      /* the measurement ends when all workers have been torn down */
	N_COORDINATIONS
};

extern const char *const coordination_names[]; /* and NULL */

/* A run in the book. */
struct load_row {
	enum coordination coordination;
	char *cpus;          /* that its workers were pinned to, as its file says; NULL: all */
	char *file;          /* its text */
	char *no_page_waits; /* why they were not measured; NULL: they were */
};

struct load_sample {
	uint32_t sample;    /* its n */
	int64_t release_ns; /* how long it took to wake all workers */
	int64_t driver_ns;  /* CPU time of the coordinator during the measurement */
	/* of the CPUs that its workers could run on, meanwhile; -1: not known */
	int64_t idle_ns;
	int64_t cpus; /* how many they were; likewise */
};

extern const char *const page_wait_kind_names[N_PAGE_WAIT_KINDS]; /* "slave", "read", "write" */

/* All of one kind in one sample: those that ended in it. There is no such row for a kind that was
 * not measured. */
struct page_wait {
	uint32_t sample; /* its n */
	enum page_wait_kind kind;
	int64_t count, total_ns;
	/* of these: the page was there, and the task waited for a CPU; -1: not known */
	int64_t ready_ns;
	int64_t lost; /* waits that were not timed */
};

/* low_ns <= wait < high_ns. Bins that hold nothing are left out. They are narrower than those that
 * are shown, and multiples of 10 us, from 1 ms on of 100 us, from 10 ms on of 1 ms. */
struct page_wait_bin {
	uint32_t sample;
	enum page_wait_kind kind;
	int64_t low_ns;
	int64_t high_ns; /* -1: the last one, which is open-ended */
	int64_t count, total_ns;
};

/* Of a run in the book, or of one sample of it. None: they were not watched. */
struct page_waits {
	struct page_wait *items; /* by sample, and by the name of the kind */
	size_t n;
	struct page_wait_bin *bins; /* likewise */
	size_t n_bins;
};

extern const struct field_table load_table, load_sample_table, page_wait_table, page_wait_bin_table;

void page_waits_clear(struct page_waits *waits);

extern const struct document_feature load_feature;

/* 1: found, fields_clear() frees it; 0: the run is no load, or was imported. */
int book_get_load(struct book *book, int64_t run, struct load_row *ret, struct error *err);
