/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A study while it is measured: planned, estimated, measured block by block, resumed. A block is
 * measured by a child process, as a rule by emp-measure, which stores its samples in the same book;
 * settings are applied and restored by emp-setup. */
#pragma once

#include "lib/base/terminal.h"
#include "lib/run/session.h"
#include "lib/study/study_plan.h"

struct study_options {
	const char *db;
	const char *profile; /* of emp-measure; NULL: none */
	int cpu;             /* likewise; -1: as the file says */
	int64_t seed;        /* of the order of the blocks; -1: a new one */
	int64_t max_time_ns; /* 0: as the file says */
	double scale;        /* of the lengths of INC; 0: as they are */
	bool dry_run, quiet, json, ignore_lock;
	char *const *command; /* after "--": in place of the study's own programs; NULL: none */
};

struct study_session {
	const struct study_options *options;
	struct run_session base; /* the turn, the environment, and: */
	struct book *book;
	struct study_row row;
	struct study_file file;
	struct study_plan plan;
	char *notes;    /* on steps that change nothing here; NULL: none */
	char **measure; /* options of emp-measure, ends with NULL */
	struct study_block *blocks;
	size_t n_blocks;
	/* while it is measured: what blocks are expected to take */
	struct progress progress;
	uint64_t done_ms, total_ms;
	int64_t deadline_ns; /* of a clean room (CLOCK_MONOTONIC); 0: not begun */
};

#define STUDY_SESSION_NEW ((struct study_session){.base = RUN_SESSION_NEW})

void study_session_close(struct study_session *session);

/* Plans the study `name` and, unless it is a dry run, measures it; a dry run prints the plan. A
 * status of tool.h, or a failure. */
int study_run(struct study_session *session, const struct study_options *options, const char *name,
	struct error *err);
/* Goes on with a study of the book; id 0: the latest that is not finished. */
int study_resume(struct study_session *session, const struct study_options *options, int64_t id,
	struct error *err);
/* For study_measure(): a process of its own that measures some blocks, from and to - 1, of a study
 * that another process measures, and ends when that is killed. */
int study_run_blocks(struct study_session *session, const struct study_options *options, int64_t id,
	size_t from, size_t to, struct error *err);

/* The parts of these, for a study of several. `s` has its options and, but to open and to load it,
 * its file. */

/* Opens the book, and waits until nobody else measures. */
int study_open(struct study_session *s, struct error *err);
/* What the options change in the file; asks emp-setup for the steps. */
int study_prepare(struct study_session *s, struct error *err);
/* STATUS_NOT_FIT with a sentence: the steps change nothing here, or this is not root. */
int study_check_steps(const struct study_file *file, struct error *err);
/* Plans it and puts it into the book; what is not known of its programs is found out first. */
int study_begin(struct study_session *s, int64_t limit_ns, struct error *err);
/* A study of the book. */
int study_load(struct study_session *s, int64_t id, struct error *err);
/* Measures what is missing of a study that was loaded. */
int study_go_on(struct study_session *s, struct error *err);
/* After it was measured, with the outcome r, which is returned, with a sentence that says how to go
 * on. */
int study_finish(struct study_session *s, int r, struct error *err);
