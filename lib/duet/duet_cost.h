/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs: programs that share CPUs share their caches, so that each takes longer than
 * alone. How much longer at most follows from how much memory it touches between two switches.
 *
 * A turn begins with caches that hold what another program left there, and at most as many cache
 * lines have to be read again as the program touches in its turn: from memory, or, if all programs
 * together fit into the core's own cache, from there or from the next one. So the cost of a turn is
 * bounded, and that of a sample falls with the number of turns. The cost itself cannot be had from
 * samples with slices of several lengths: a short turn does not pay for all of its lines.
 *
 * In measurements, a turn cost 45 to 80 ns a line of programs of megabytes (pointers through 1.5 MB
 * 80, xz -1 45), and at most 25 of those that fit together (python and gzip 25, pointers through
 * 128 kB 6, through 400 kB 0). The processor forgets the program's branches, too, and a program may
 * have learned many in little memory: a loop of 18 kB over 8,192 random bits lost 28 +- 8 us a turn
 * more than its partner of 300 branches, twice its bound, and nothing beside INC. So small programs
 * have no lower price, though pointers through 8 and 16 kB and a hash lost 12 ns a line at most.
 *
 * A switch itself costs every program 10 to 17 us alike (INC, which touches two pages, becomes so
 * much longer with each; two INCs differ by 0.2 +- 0.9 us), or 22 to 40 us with the interrupt that
 * ends the turn. The ratio has only what the switches of one take more of its time than those of
 * the other of its.
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
	struct duet_alone *alone; /* its runs alone */
	size_t n_alone;
	int64_t switches; /* away from the CPU, in all samples; -1: not known */
	const struct duet_row *row;
};

struct duet_cost {
	double pt_ns; /* mean; NAN: not known */
	/* share of its ET without another program, 0 to 1; NAN: it has no samples */
	double last;
	/* mean CPU time of a turn while another one ran, too; NAN: not known, or on several CPUs */
	double slice_ns;
	double et_ns;     /* on several CPUs: mean time of its own turns; else NAN */
	double shared;    /* at most this share of its PT is for refilling caches; NAN: not known */
	double switching; /* likewise for switches to it; 0 on several CPUs */
};

/* Of all n programs of a duet. */
void duet_costs_of(const struct duet_program *programs, size_t n, struct duet_cost *ret);

/* By what share of their PT at most each of two of them may have become longer, so that the ratio
 * is another one: for refilling caches, and for the switches that one has more than the other. */
void duet_shares_of_pair(const struct duet_cost *a, const struct duet_cost *b, double ret[2]);

/* What is known of a program before its duet: of a run without its partners. */
struct duet_candidate {
	int64_t pt_ns;
	struct working_set set;
	int64_t et_ns;
	int64_t wait_ns; /* for a CPU; -1: not known */
};

/* The CPUs of a duet. */
struct duet_place {
	int cpus;
	int64_t own_cache; /* as in struct duet_row */
	bool repeat;       /* all are as long as the longest */
};

/* How many bytes it touches in a turn; NAN: not known. cpus: that it shares with its partners. */
double duet_turn_bytes(const struct duet_candidate *program, int64_t slice_ns, int cpus);

/* The slices that a duet may have: 3, 10, 25, 50 or 100 ms. */
enum { N_DUET_SLICES = 5 };
extern const int64_t duet_slices_ns[N_DUET_SLICES];

/* Which of `n` programs would lose the greatest share of its PT in slices of that length, and which
 * share: INFINITY, if it is not known, or if the program has less than four slices. */
double duet_dearest(const struct duet_candidate *programs, size_t n, int64_t slice_ns,
	const struct duet_place *place, size_t *ret);

/* Whether it computes for most of its time, and not waits for something else than a CPU. */
bool duet_computes(const struct duet_candidate *program);

/* A program has so many slices in a duet at least. */
enum { DUET_LEAST_SLICES = 4 };

/* A share that is worth no longer slice, because longer ones cancel less of the machine's noise
 * (with the speeds of recorded series, intervals were twice as wide with 25 ms as with 10); and one
 * with which a duet is still better than samples in turn. */
#define DUET_CHEAP 0.001
#define DUET_BEARABLE 0.005

/* Of a program beside INC whose PT is that long: 10 ms, or 3 ms below 100 ms. */
int64_t duet_slice_for(int64_t pt_ns);
