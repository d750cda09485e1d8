/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the samples of a session's commands, by the loop of lib/run/sampling.h, with what is run
 * and kept between them, and reads the results. */
#pragma once

#include "measure/session.h"

/* Takes all samples, then reads the results, also those of interrupted runs that have samples. A
 * duet that would cost the programs too much is taken in turn. 0, or a status of lib/base/tool.h or
 * negative errno with a sentence. */
int session_run(struct session *session, struct error *err);

/* With --same-output or --check: how the work of command i differs from that of the first, or of
 * one of them between its samples, as a sentence that the caller frees. NULL: it does not, or is
 * not compared. */
char *session_different_work(const struct session *session, size_t i);
