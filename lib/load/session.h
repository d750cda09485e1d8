/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load in one call of emp-load, in the lab book as samples of one run of kind `load`;
 * or, to verify it, under known slowdowns. */
#pragma once

#include "lib/load/load_file.h"
#include "lib/load/load_report.h"
#include "lib/run/sampling.h"
#include "lib/stats/compare.h"

/* A worker: a process of its own that follows one script of a load ("slave" in emp-load(1) and in
 * documents, where the coordinator is the "driver"). The coordinator starts it as
 *
 * emp-load slave NUMBER DIRECTORY
 *
 * with a socket as its standard input, from which it gets the memory that all of them share: the
 * barrier, and what each worker tells. On that socket it also tells, by a byte, that something
 * changed there. Moments are CLOCK_MONOTONIC_RAW, 0: not yet. */

struct worker_state {
	int64_t started_ns;                  /* it was released, and ran */
	int64_t finished_ns;                 /* its repetitions were done */
	int64_t repetitions;                 /* complete ones */
	int64_t last_ns[2];                  /* the end of the last of them, in [repetitions % 2] */
	bool is_set_up, is_torn_down;        /* by its own setup, and teardown */
	int64_t major_faults, max_rss_bytes; /* of the commands that have ended */
	char failure[sizeof(((struct error *)NULL)->text)]; /* "": it has not failed */
};

struct worker_memory {
	uint32_t go;              /* a futex: 0, then 1 */
	uint32_t ready, finished; /* how many workers are */
	enum coordination coordination;
	pid_t coordinator;
	bool show_output;
	size_t n; /* workers; the text of the load's file follows them */
	struct worker_state workers[];
};

/* What this process does as a worker; it returns only with a failure. */
int worker_verb(int argc, char **argv, struct error *err);

/* What the limits of the load's workers need: its lines "weight" and "memory", which are limits of
 * their cgroups, and "nice" where another script has a weight. *ret is NULL where it has none. Call
 * this after the cgroup of all workers is made, and pass them on to it. -ENOTSUP, -EBUSY, -EACCES…,
 * each with a sentence that says what is missing. The end puts this process back, once the cgroups
 * of the workers are removed. */
struct load_limits;
int load_limits_begin(struct load_limits **ret, const struct load *load, struct error *err);
int load_limits_pass_on(
	const struct load_limits *limits, const struct cgroup *to, struct error *err);
void load_limits_end(struct load_limits *limits);

struct load_options {
	const char *db, *profile, *export_json;
	bool json; /* the result as a document on standard output */
	int runs, warm_ups;
	int coordination;         /* -1: the file's */
	int64_t page_wait_bin_ns; /* 0: chosen by the waits */
	enum accounting_backend backend;
	bool show_output, quiet, ignore_lock;
};

struct load_session {
	const struct load_options *options;
	struct load load;
	char *text; /* of its file */
	struct run_session base;
	struct profile profile;
	struct page_wait_meter *page_wait_meter; /* NULL: page waits are not watched */
	struct error no_page_waits;              /* why not */
	struct load_limits *limits;              /* NULL: no worker has one */
	struct run run;
	struct load_work work;     /* its workers; nothing of what they did */
	struct load_report report; /* of what was stored */
};

/* Reads the file; its CPUs must be online. */
int load_read(struct load *ret, char **ret_text, const char *path, struct error *err);

/* `session` is {.base = RUN_SESSION_NEW}, and is to be closed also after a failure. */
int load_session_open(struct load_session *session, const struct load_options *options,
	const char *path, struct error *err);
/* Takes all runs; what was taken is in the result even after a failure. Outcomes as
 * sampling_run(). */
int load_session_run(struct load_session *session, struct error *err);
void load_session_close(struct load_session *session);

/* One run of the load, as the lab book has it. */
struct load_result {
	struct raw_sample raw; /* of all workers together */
	struct load_sample start;
	struct sample_program *parts; /* what each worker did */
	size_t n;
	struct page_waits page_waits; /* empty: they were not watched */
};

/* The coordinator: sets the workers of a load up, releases them together, sleeps until the last one
 * has finished, and ends them. This is the sample of that number. -ECANCELED, with a sentence: a
 * worker failed; -ETIMEDOUT with one: it took longer than the load's timeout; -EINTR without one: a
 * signal came for this process. Nothing of the run is left in any case. */
int load_run_once(const struct load_session *session, uint32_t sample, struct load_result *ret,
	struct error *err);
void load_result_clear(struct load_result *result);

/* How long these CPUs have been idle since boot (/proc/stat), all together, whether or not a disk
 * was awaited meanwhile; in ticks of 10 ms. *ret_n: how many of them are online. -1: not known.
 * root_fd as in lib/base/paths.h. */
int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n);

enum { N_SLOWDOWNS = 4 };

/* How accurate a load is: it is run under known slowdowns, in turn, and what it says of them is
 * compared with what they took. */
struct load_verification {
	double taken[N_SLOWDOWNS]; /* shares, means over the rounds */
	/* the rates with those without a slowdown, in pairs */
	struct comparison compared[N_SLOWDOWNS];
	int rounds;
};

/* `session` is open, and stores nothing. Failures as load_run_once(). */
int load_verify(struct load_verification *ret, const struct load_session *session, int rounds,
	struct error *err);
void load_verification_print(
	FILE *file, const struct load_verification *verification, const struct load *load);
