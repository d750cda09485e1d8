/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load in one call of emp-load, in the lab book as samples of one run of kind `load`; or, to verify it, under known
 * slowdowns. */
#pragma once

#include "lib/load/coordinator.h"
#include "lib/load/load_report.h"
#include "lib/stats/compare.h"

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
	char *text;
	struct book *book;
	struct profile profile;
	struct observer observer;
	struct page_wait_meter *page_wait_meter;
	struct error no_page_waits;             /* why there is none */
	struct cgroup_controllers *controllers; /* NULL: no worker has a limit */
	struct run run;
	struct run_program *programs;
	struct load_report report; /* of what was stored */
};

/* Reads the file; its CPUs must be online. */
int load_read(struct load *ret, char **ret_text, const char *path, struct error *err);

int load_session_open(
	struct load_session *ret, const struct load_options *options, const char *path, struct error *err);
/* Takes all runs; what was taken is in the result even after a failure. Outcomes as sampling_run(). */
int load_session_run(struct load_session *session, struct error *err);
void load_session_close(struct load_session *session);

enum { N_SLOWDOWNS = 4 };

/* How accurate a load is: it is run under known slowdowns, in turn, and what it says of them is compared with what they took. */
struct load_verification {
	struct load_rates rates[N_SLOWDOWNS];
	double taken[N_SLOWDOWNS];               /* shares, means over the rounds */
	struct comparison compared[N_SLOWDOWNS]; /* the rates with those without a slowdown, in pairs */
	int rounds;
};

/* `session` is open, and stores nothing. Failures as load_run_once(). */
int load_verify(struct load_verification *ret, struct load_session *session, int rounds, struct error *err);
void load_verification_clear(struct load_verification *verification);
void load_verification_print(
	FILE *file, const struct load_verification *verification, const struct load *load);
