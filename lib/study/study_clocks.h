/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The study of clocks: the same executions of a program, timed by each clock of this machine. */
#pragma once

#include "lib/study/study_session.h"

/* Takes samples from number `first` on, until the block has as many as it is to have, and stores
 * their readings. -EINTR after a signal. */
int study_clocks_measure(struct study_session *session, const struct study_block *block,
	uint32_t first, struct error *err);
