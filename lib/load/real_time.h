/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This process in real time for a moment, then again under the policy that it had. */
#pragma once

#include <sched.h>
#include <stdbool.h>

struct real_time {
	bool raised;
	int policy; /* before */
	struct sched_param param;
};

/* -errno: it may not. A process that has a real-time policy keeps it. */
int real_time_begin(struct real_time *ret);
void real_time_end(const struct real_time *real_time);
