/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs: programs that share CPUs share their caches, so that each takes longer than
 * alone. How much longer at most follows from how much memory it touches between two switches.
 *
 * A turn begins with caches that hold what another program left there, and at most as many cache
 * lines have to be read from memory again as the program touches in its turn. So the cost of a turn
 * is bounded, and that of a sample falls with the number of turns. The cost itself cannot be had
 * from samples with slices of several lengths: a short turn does not pay for all of its lines. In
 * measurements, a turn cost 0.2 to 0.8 of the bound: pointers through 1.5 MB 1.9 of 2.4 ms, xz -1
 * 3.7 of 8.3, gzip 0.25 of 1.0, sha256sum 0.06 of 0.17, INC 0.012 of 0.03 ms.
 *
 * On several CPUs, each of them may have to read again what the program touches. */
#pragma once

#include "lib/duet/book_duet.h"
#include "lib/host/process/working_set.h"
#include "lib/record/run.h"

/* One program of a duet, as the book has it; of one in turn, only its samples. */
struct duet_program {
	const struct sample *samples;
	const bool *out; /* by index into the samples: discarded */
	size_t n_samples;
	struct duet_sample *together; /* of each sample */
	size_t n_together;
	struct duet_alone *alone; /* of duets of older versions */
	size_t n_alone;
	int64_t switches; /* away from the CPU, in all samples; -1: not known */
	/* how often others had the CPU after it in all samples, at most; -1: not known */
	int64_t partners_turns;
	const struct duet_row *row;
};

struct duet_cost {
	double pt_ns; /* mean; NAN: not known */
	/* share of its ET without another program, 0 to 1; NAN: it has no samples */
	double last;
	/* mean time between two switches while another one ran, too; NAN: not known, or on several
	 * CPUs */
	double slice_ns;
	double et_ns;  /* on several CPUs: mean time of its own turns; else NAN */
	double shared; /* at most this share of its PT is for refilling caches; NAN: not known */
};

struct duet_cost duet_cost_of(const struct duet_program *program);

/* The share of a turn that refilling caches takes at most, of a program that touches so much memory
 * in it. */
double duet_refill_share(double bytes, int64_t turn_ns);

/* What is known of a program before its duet: of a run without its partners. */
struct duet_candidate {
	int64_t pt_ns;
	int64_t switches; /* -1: not known */
	struct working_set set;
	int64_t et_ns;
	int64_t wait_ns; /* for a CPU; -1: not known */
};

/* How many bytes it touches in a turn; NAN: not known. cpus: that it shares with its partners. */
double duet_turn_bytes(const struct duet_candidate *program, int64_t slice_ns, int cpus);

/* The slices that a duet may have: 3, 10, 25, 50 or 100 ms. */
enum { N_DUET_SLICES = 5 };
extern const int64_t duet_slices_ns[N_DUET_SLICES];

/* Which of `n` programs would lose the greatest share of its PT in slices of that length, which
 * on one CPU other processes interrupt, and which share: INFINITY, if it is not known, or if the
 * program has less than four slices. */
double duet_dearest(
	const struct duet_candidate *programs, size_t n, int64_t slice_ns, int cpus, size_t *ret);

/* Whether it computes for most of its time, and not waits for something else than a CPU. */
bool duet_computes(const struct duet_candidate *program);

/* A program has so many slices in a duet at least. */
enum { DUET_LEAST_SLICES = 4 };

/* A share that is worth no longer slice, and one with which a duet is still better than samples in
 * turn. */
#define DUET_CHEAP 0.0005
#define DUET_BEARABLE 0.005

/* Of a program beside INC whose PT is that long: 10 ms, or 3 ms below 100 ms. */
int64_t duet_slice_for(int64_t pt_ns);
