/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run as it happens: warm-ups, then samples one after another, each observed and stored before the next
 * starts, so that whatever ends the run, the book holds every sample before it. */
#pragma once

#include "lib/run/observer.h"
#include "lib/host/system/counters.h"
#include "lib/record/book/book.h"

struct sampling {
	struct book *book;
	struct run *run; /* begun by sampling_run, its n_samples kept up to date */
	const struct spawn *spawn;
	struct counter_reader *counters; /* the observer's */
	int warm_ups;
	int samples;         /* how many to take */
	bool ignore_failure; /* samples of a program that fails count all the same */
	bool quiet;          /* no progress */
	int64_t observer_ns; /* out: CPU time of the observer, all samples */
	int64_t lost;        /* out: exit records lost, all samples */
	int failures;        /* out: samples whose program failed */
	int left_behind,
		killed; /* out: processes that outlived a sample, and of those the ones that were ended */
	int again;      /* out: samples and warm-ups that were stopped (^Z), and not kept */
};

/* Warm-ups and samples one after another, with progress, from begin to end. Errors as below. */
int sampling_run(struct sampling *series, struct error *err);

/* The same step by step, for whoever takes turns between several. A run that has an id is gone on with. A
 * warm-up (number i, from 1) and a sample return 0, -EINTR without a sentence after INT, TERM or HUP,
 * -ETIMEDOUT with one when the program ran over spawn->timeout_ns, -ECANCELED when it failed. 1: we were
 * stopped meanwhile, it does not count and is to be taken again. The samples before are in the book in every
 * case. */
int sampling_begin(struct sampling *series, struct error *err);
int sampling_warm_up(struct sampling *series, int i, struct error *err);
int sampling_sample(struct sampling *series, struct error *err);

/* Marks the run "done" (outcome 0), "interrupted" (-EINTR) or "failed", and returns outcome or what failed
 * now. */
int sampling_end(struct sampling *series, int outcome, struct error *err);
