/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of a session's commands with the first one, for the screen and the exports
 * alike. */
#pragma once

#include "measure/session.h"

/* Fills in the comparisons of the clocks that --compare asks for, adjusted for their number.
 * Commands without a sample that is kept are not compared. Returns how many there are. */
int session_compare(const struct session *session, struct error *err);

/* Whether programs of a duet are compared by their runs alone. */
bool session_compared_alone(const struct session *session);

/* Whether a duet would show more: never where one cannot be had, here or with these options, or
 * where it was one. */
struct duet_advice session_advice(const struct session *session);
