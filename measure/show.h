/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as text: the first screen of each program, then the comparisons. With
 * --verbose also the details. */
#pragma once

#include "measure/session.h"

/* Prints every result, then the comparisons. The status of the verdict, with a sentence where it is
 * not STATUS_DONE. */
int show_session(const struct session *session, struct error *err);
