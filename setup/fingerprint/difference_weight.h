/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much a difference between two fingerprints matters to a cutoff profile. */
#pragma once

#include "lib/protocol/environment_diff.h"

enum weight {
	WEIGHT_NONE,  /* the profile stands */
	WEIGHT_SHORT, /* other daemons, or other times of them: the short run must be looked at again */
	WEIGHT_ALL,   /* other times of everything */
};

/* *ret_why is a reason in words. */
enum weight difference_weigh(const struct difference *difference, const char **ret_why);
