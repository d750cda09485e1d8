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

/* Finds the tools that are here, and plans the blocks of as many rounds as fit into the time
 * (limit_ns; 0: as the file says). The session has its file, its seed and its book. */
int clean_room_plan(struct study_session *session, int64_t limit_ns, struct error *err);
/* Measures blocks that are not finished, until the time is over. -EINTR after a signal. */
int clean_room_measure(struct study_session *session, struct error *err);
/* Prints the result. */
int clean_room_show(const struct study_session *session, struct error *err);

/* The CPU that a study of the book used; -1: not known. */
int64_t clean_room_cpu(const struct study_row *row);
