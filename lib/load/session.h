/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load in one call of emp-load, in the lab book as samples of one run of kind `load`. */
#pragma once

#include "lib/load/drive.h"

#include "lib/load/load_report.h"

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
	struct error no_page_waits; /* why there is none */
	struct cgroup_controllers *controllers; /* NULL: no slave has a limit */
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
