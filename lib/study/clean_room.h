/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The study clean-room: EMP and other tools compare a program with itself, and with copies that are
 * slower by a known share, where nothing is planted and beside a planted daemon. Who claims a
 * difference that is not there, and who misses one that is? The comparisons are in random order; a
 * round has one of each kind. */
#pragma once

#include "lib/study/study_session.h"

/* By how much the copies are slower. */
enum { N_ROOM_SLOWDOWNS = 3 };
extern const double room_slowdowns[N_ROOM_SLOWDOWNS];

/* The share of the CPU that the planted daemon takes. */
#define ROOM_DAEMON_SHARE 0.05

/* Shows what would be compared, how, and by whom. */
int clean_room_describe(FILE *file, struct study_session *session, struct error *err);

/* Measures the session's study (or describes it, for a dry run), and shows the result. A status of
 * tool.h, or a failure. */
int clean_room_study(struct study_session *session, struct error *err);

/* Measures a new study whose file is read, and stores it in the session's book; or, if the session
 * has blocks, those that are not finished. -EINTR: the study can be resumed. */
int clean_room_run(struct study_session *session, struct error *err);
