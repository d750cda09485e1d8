/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-study prints: plans, studies that begin and end, the list of all. */
#pragma once

#include "lib/study/study_session.h"

/* The plan of a dry run; `refused`: why run would refuse it, or "". */
void study_show_plan(const struct study_session *session, const char *refused);
/* One line each. */
void study_show_begin(const struct study_session *session);
void study_show_resumed(const struct study_session *session);
void study_show_end(const struct study_session *session);

/* The studies there are to run, and those of the book (NULL: none), as text or as JSON. */
int study_show_list(struct book *book, bool json, struct error *err);
