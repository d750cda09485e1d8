/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load in one call of emp-load, in the lab book as samples of one run of kind
 * `load`. */
#pragma once

#include "lib/load/cgroup_limits.h"
#include "lib/load/coordinator.h"
#include "lib/load/load_report.h"
#include "lib/record/profile.h"

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

/* One run of the load, again if this process was stopped (^Z) meanwhile: the workers went on
 * without their coordinator. Failures as load_run_once(). */
int load_run_unstopped(const struct load_session *session, uint32_t sample, struct load_result *ret,
	struct error *err);
