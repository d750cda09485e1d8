/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A study while it is measured: planned, estimated, measured block by block, resumed. emp-study
 * has a verb for each. A block is measured by a child process, as a rule by emp-measure, which
 * stores its samples in the same book; settings are applied and restored by emp-setup. */
#pragma once

#include "lib/study/study_file.h"

struct study_options {
	const char *db;
	const char *profile; /* of emp-measure; NULL: none */
	int cpu;             /* likewise; -1: not pinned */
	int64_t seed;        /* of the order of the blocks; -1: a new one */
	int64_t max_time_ns; /* 0: as the file says */
	double scale;        /* of the lengths of INC */
	bool dry_run, quiet, json, ignore_lock;
	char *const *command; /* after "--": in place of the study's own programs; NULL: none */
};

struct study_session {
	const struct study_options *options;
	struct book *book;
	struct study_row row;
	struct study_file file;
	struct study_block *blocks;
	size_t n_blocks;
};

#define STUDY_SESSION_NEW ((struct study_session){})

void study_session_close(struct study_session *session);

/* Plans the study `name` and, unless it is a dry run, measures it; a dry run prints the plan. A
 * status of tool.h, or a failure. */
int study_run(struct study_session *session, const struct study_options *options, const char *name,
	struct error *err);
/* Goes on with a study of the book; id 0: the latest that is not finished. */
int study_resume(struct study_session *session, const struct study_options *options, int64_t id,
	struct error *err);
