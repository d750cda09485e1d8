/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC in a duet with itself: how small a difference a duet can resolve on this machine. */
#pragma once

#include "calibrate/calibration.h"
#include "lib/record/profile.h"
#include "lib/report/run_result.h"

/* How long the rounds take. */
int64_t calibration_duet_ns(const struct calibration *calibration);

/* Measures the smallest difference that a duet detects on this machine, and adds it to the rows.
 * Does nothing if the rows are unknown or no duet is possible. INC runs as long as in the short
 * run. -EINTR without a sentence. */
int calibration_duet(struct calibration *calibration, struct mdd rows[N_MDD], struct error *err);
