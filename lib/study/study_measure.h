/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the blocks of a study, each by a child process of emp-measure; those under a step of
 * settings by an emp-study of its own below emp-setup, which restores whatever happens. */
#pragma once

#include "lib/study/study_session.h"

/* The command of a block: its words, and the file to execute; programs of EMP itself are found
 * beside it. The caller frees both. */
int study_block_argv(
	const struct study_block *block, char ***ret, char **ret_path, struct error *err);

/* The CPU that programs are pinned to by the study's options of emp-measure; -1: none. */
int study_cpu(const struct study_session *session);

/* Whether emp-measure takes the options of the study. */
int study_check_options(const struct study_session *session, struct error *err);

/* Measures what is missing of the blocks from..to - 1, all under the same settings, which are
 * applied already. -EINTR after a signal. */
int study_measure_blocks(struct study_session *session, size_t from, size_t to, struct error *err);

/* Measures what is missing of all blocks, in their order. */
int study_measure(struct study_session *session, struct error *err);

/* How long one execution takes, of the subjects of which the file does not say so: by earlier studies
 * of this book (NULL: none), or, `run`, by running each once. */
int study_find_durations(
	struct study_session *session, struct book *book, bool run, struct error *err);
