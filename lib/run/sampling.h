/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling loop: warm-ups, then samples of one run or of several in turn. Each sample is stored
 * in the book before the next starts, so that no complete sample is lost, however the sampling
 * ends. */
#pragma once

#include "lib/run/observer.h"
#include "lib/run/session.h"

enum order {
	/* one sample of each run in a round, so that slow changes affect all of them, in the order
	 * of turns.h */
	ORDER_INTERLEAVE,
	ORDER_SHUFFLE,  /* the same in a random order, a new one each round */
	ORDER_SEQUENCE, /* all samples of one run before the first of the next */
	ORDER_DUET,     /* in a round, the programs of all runs alternate on the same CPUs */
	ORDER_AUTO,     /* the caller makes it one of the others before it takes samples */
};

/* One of the runs that are sampled. */
struct sampling {
	struct run *run; /* begun here unless it has an id; n_samples is kept up to date */
	const struct command_spec *spec;
	const char *command; /* in messages; NULL: the program's name */
	int warm_ups;
	uint32_t samples; /* how many the run is to have; see `more` below */
	/* By exit status, as process_exit_status: samples that end so count all the same; NULL:
	 * only 0 does. */
	const bool *ignored_status;
	int64_t increments;  /* that INC makes each time it runs; 0: another program */
	int64_t working_set; /* bytes that the program touches in a slice; -1: not known */
	void *data;          /* the caller's */

	/* While the loop runs. */
	int warm_up;        /* the warm-up under way, from 1; 0: a sample */
	int64_t begun_ns;   /* CLOCK_MONOTONIC before the first sample; 0: not begun */
	pid_t pid;          /* of the first process of the last sample */
	int64_t last_pt_ns; /* of the last warm-up, or of the last run alone */
	int64_t last_et_ns, last_wait_ns; /* likewise; W -1: not known */
	/* ORDER_DUET: a run without the others, which is no sample, is under way */
	bool alone;
	uint32_t n_alone; /* number taken */

	/* Sums over all samples. */
	int64_t observer_ns; /* CPU time of the observer */
	/* CPU time of the program's process before execve, which is not in PT */
	int64_t before_ns;
	int64_t pt_ns, et_ns;
	/* how long this process waited for a CPU after the ends, which is not in ET */
	int64_t end_delay_ns;
	int64_t waited_ns; /* for neighbours to go, before samples */
	uint32_t taken;    /* samples */
	int left_behind;   /* processes that outlived the program */
	int killed;        /* of those, the ones that were killed */
	int escaped;       /* samples in which some of the program ran outside its cgroup */
	char escapee[16];  /* a process that did, "": not known */
	/* samples in which a memory limit killed a process of a program that did not fail */
	int limited;
	char limit[128]; /* that limit, as holdback_killer */
	/* samples and warm-ups that were stopped (^Z), dropped and taken again */
	int again;
};

/* The caller's work in between; NULL: nothing. The first failure, negative and with a sentence,
 * ends the sampling. */
struct sampling_hooks {
	/* before the run and its first warm-up */
	int (*begin)(struct sampling *s, struct error *err);
	int (*prepare)(struct sampling *s, struct error *err);  /* before each warm-up and sample */
	int (*conclude)(struct sampling *s, struct error *err); /* after each of them */
	/* After a sample was stored; what it points to is valid until the next. */
	int (*taken)(struct sampling *s, const struct sample *sample,
		const struct execution *executions, size_t n_executions, struct error *err);
	/* Asked when a run has `samples` samples: 1 for another one, 0 for no more. */
	int (*more)(struct sampling *s, struct error *err);
	/* After the run has ended, also after a failure; then a failure here is not reported. */
	int (*end)(struct sampling *s, struct error *err);
	/* ORDER_DUET, with the first run: once, after all warm-ups. It may change
	 * together->plan. 1: the samples are to be taken in turn after all. */
	int (*ready)(struct sampling *s, struct error *err);
};

/* Stores what only runs of ORDER_DUET have, besides their samples. */
struct together_store {
	/* Of each run, once, before its first sample. `reference`: the id of the first run. */
	int (*run)(struct book *book, const struct sampling *s, int64_t reference,
		const struct alternation_plan *plan, struct error *err);
	/* Of each sample, by its n, within the transaction that stores it. */
	int (*part)(struct book *book, int64_t run, uint32_t n, const struct alternation_part *part,
		struct error *err);
	/* Of a run without the others. */
	int (*alone)(struct book *book, const struct sampling *s, const struct exec_result *exec,
		struct error *err);
};

/* ORDER_DUET: how the programs of all runs share a CPU. */
struct sampling_together {
	const struct alternation_plan *plan; /* .first is set by the loop */
	/* what the programs have in common; see observe_together */
	const struct command_spec *all;
	/* how often each program also runs alone, spread over the samples */
	uint32_t alone;
	const struct together_store *store;
};

struct sampling_plan {
	struct run_session *session;
	struct sampling *items;
	size_t n;
	enum order order;
	uint64_t seed;                     /* of the random orders */
	struct sampling_together together; /* with ORDER_DUET */
	struct sampling_hooks hooks;
	const char *label; /* of the progress bar; NULL: the program's name */
	bool quiet;        /* no progress */
};

/* Takes all samples. -EINTR without a sentence after INT, TERM or HUP, -ETIMEDOUT with one when a
 * program ran over spec->timeout_ns, -ECANCELED when it failed, other failures. Every run that was
 * begun is marked as done, interrupted or failed, and keeps its samples. */
int sampling_run(const struct sampling_plan *plan, struct error *err);

/* For callers with a loop of their own: stores the rows of sample n of a run, inside the caller's
 * transaction. */
int sample_store_rows(
	struct book *book, int64_t run, uint32_t n, struct raw_sample *o, struct error *err);
